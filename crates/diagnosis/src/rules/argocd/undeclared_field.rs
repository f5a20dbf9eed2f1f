//! AR-OS-007: a manifest has a field that its kind's schema doesn't have, and a server-side apply refuses it. A client-side apply drops it,
//! which is AR-OS-002.
//!
//! Argo CD applies in this way with the sync option `ServerSideApply=true`, and compares in this way with that option or with the compare
//! option `ServerSideDiff=true`, as soon as the object is on the destination (v3.2, v3.5).

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::application::{ApplicationView, ResourceResult};
use super::field_differences::{is_built_in, last_applied};
use super::live_objects::ManagedResource;
use super::names::object_names;
use crate::kinds::CRD;
use crate::object::text_field;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::kubectl;
use crate::rules::pattern::{group, pattern};
use crate::{Evidence, JsonRef, Object};

/// Sync option of a server-side apply.
const SERVER_SIDE_APPLY: &str = "ServerSideApply=true";

/// Annotation of an Application with its compare options.
const COMPARE_OPTIONS: &str = "argocd.argoproj.io/compare-options";

/// Number of fields that a sentence names.
const MOST_NAMED: usize = 3;

/// Field that the API server's message, or that of Argo CD's structured merge, names. No other field has it.
static FIELD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\.(?<path>[^\s:]\S*): field not declared in schema"));

/// Object that the API server's message names. A structured merge names none (v3.2, v3.5).
static OBJECT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"typed patch object \((?<namespace>[^/\s;]*)/(?<name>[^;\s]+); (?<version>[^,\s]+), Kind=(?<kind>\w+)\)")
});

/// True if a message tells of a field that a schema doesn't have.
pub(super) fn is_undeclared(message: &str) -> bool {
    FIELD.is_match(message)
}

/// True if an Application's comparison has failed for such a field, so that its objects are worth a look.
pub(super) fn has_failed_comparison(application: Object<'_>) -> bool {
    application.list("/status/conditions").iter().any(|condition| is_undeclared(text_field(condition, "message")))
}

/// Creates the finding for a failed comparison.
pub(super) fn failed_comparison(
    application: ApplicationView<'_>,
    message: &str,
    evidence: &[Evidence],
) -> Option<FindingDraft> {
    let fields = fields(message);
    if fields.is_empty() {
        return None;
    }
    let resource = resource_of(application, message, &fields);
    let kind = resource.map(|resource| [resource.text("group"), resource.text("kind")]);
    let undeclared = Undeclared {
        objects: resource.map(ManagedResource::object).unwrap_or_default(),
        reference: resource.map(ManagedResource::reference).unwrap_or_default(),
        live: resource.and_then(|resource| resource.live(application)),
        kind,
        fields,
        is_applied: false,
    };
    Some(undeclared.draft(application, evidence.to_vec()))
}

/// Creates the finding for resources that couldn't be applied.
pub(super) fn failed_resources(application: ApplicationView<'_>, results: &[ResourceResult<'_>]) -> FindingDraft {
    let mut evidence = vec![application.quote_operation()];
    evidence.extend(results.iter().map(|result| application.quote_result(*result)));
    let first = results.first();
    let live = first.and_then(|result| {
        let [group, kind, name] = ["group", "kind", "name"].map(|field| result.text(field));
        application.destination().object(group, kind, result.namespace(), name)
    });
    let undeclared = Undeclared {
        objects: object_names(results),
        reference: first.map(|result| result.reference()).unwrap_or_default(),
        live,
        kind: first.map(|result| [result.text("group"), result.text("kind")]),
        fields: first.map(|result| fields(result.message())).unwrap_or_default(),
        is_applied: true,
    };
    undeclared.draft(application, evidence)
}

/// Object with fields that its schema doesn't have.
struct Undeclared<'a> {
    /// Names of the objects; empty if nothing tells which it is.
    objects: String,
    reference: Vec<String>,
    /// Object on the destination, if it is there and was read.
    live: Option<Object<'a>>,
    /// Group and kind.
    kind: Option<[&'a str; 2]>,
    fields: Vec<&'a str>,
    /// True if the apply failed, and false if the comparison did.
    is_applied: bool,
}

impl Undeclared<'_> {
    fn draft(&self, application: ApplicationView<'_>, mut evidence: Vec<Evidence>) -> FindingDraft {
        let (object, quote) = (application.object, application.quote());
        if has_option(object) {
            evidence.push(quote.field(object, "spec.syncPolicy.syncOptions"));
        }
        let compares = object.annotation(COMPARE_OPTIONS).filter(|options| options.contains("ServerSideDiff=true"));
        let path = format!("metadata.annotations[{COMPARE_OPTIONS}]");
        evidence.extend(compares.map(|options| quote.text(object, &path, options.to_owned(), None)));
        if let Some(live) = self.live {
            let absent = self.fields.iter().take(MOST_NAMED).filter(|field| !has(live.value(), field));
            let quote = application.destination().quote();
            evidence.extend(absent.map(|field| quote.text(live, field, "(absent)".to_owned(), None)));
        }
        let custom = self.kind.filter(|[group, _]| !is_built_in(group));
        let names = json!({
            "objects": self.objects,
            "fields": self.fields.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", "),
            "applied": self.is_applied,
            "by_diff": !self.is_applied && compares.is_some(),
            "kind": self.kind.map(|[_, kind]| kind).unwrap_or_default(),
            "custom": custom.is_some(),
            "crd_ref": custom.map(|[group, kind]| crd(group, kind)).unwrap_or_default(),
            "live_ref": if self.live.is_some() { self.reference.clone() } else { Vec::new() },
        });
        application.draft(RuleCode::AR_OS_007, &names, evidence)
    }
}

fn crd(group: &str, kind: &str) -> Vec<String> {
    kubectl::reference_by_name(CRD.group, CRD.kind, None, &format!("{}.{group}", kubectl::plural(kind)))
}

fn has_option(application: Object<'_>) -> bool {
    let options = application.list("/spec/syncPolicy/syncOptions");
    options.iter().any(|option| option.as_str() == Some(SERVER_SIDE_APPLY))
}

fn fields(message: &str) -> Vec<&str> {
    FIELD.captures_iter(message).filter_map(|found| found.name("path")).map(|path| path.as_str()).collect()
}

/// Returns the resource that a message is about: the one that it names, or the one of which Argo CD has applied the field before, or the
/// Application's only one.
fn resource_of<'a>(application: ApplicationView<'a>, message: &str, fields: &[&str]) -> Option<ManagedResource<'a>> {
    let all: Vec<_> = ManagedResource::all(application.object).filter(|resource| !resource.is_hook()).collect();
    if let Some(found) = OBJECT.captures(message) {
        let [namespace, name, version, kind] = ["namespace", "name", "version", "kind"].map(|part| group(&found, part));
        let of_version = version.rsplit_once('/').map_or("", |(group, _)| group);
        return all.into_iter().find(|resource| {
            resource.namespace().unwrap_or_default() == namespace
                && [resource.text("group"), resource.text("kind"), resource.text("name")] == [of_version, kind, name]
        });
    }
    if let [only] = all.as_slice() {
        return Some(*only);
    }
    let has_applied = |resource: &&ManagedResource<'_>| {
        let applied: Option<Value> = resource.live(application).and_then(last_applied);
        applied.is_some_and(|applied| fields.iter().any(|field| has(JsonRef::from(&applied), field)))
    };
    all.iter().find(has_applied).copied()
}

/// True if an object has a field, by a path as in `spec.template.spec.containers[name="web"].tty`. Keys that aren't plain text are taken
/// for ones that no entry has.
fn has(value: JsonRef<'_>, path: &str) -> bool {
    let path = path.trim_start_matches('.');
    if let Some(rest) = path.strip_prefix('[') {
        let Some((selector, rest)) = rest.split_once(']') else { return false };
        let Some((key, wanted)) = selector.split_once('=') else { return false };
        let entries = value.as_array().unwrap_or_default();
        let wanted = wanted.trim_matches('"');
        return entries.iter().filter(|entry| text_field(*entry, key) == wanted).any(|entry| has(entry, rest));
    }
    if path.is_empty() {
        return true;
    }
    let end = path.find(['.', '[']).unwrap_or(path.len());
    value.get(&path[..end]).is_some_and(|field| has(field, &path[end..]))
}
