//! AR-SF-003: the destination doesn't have a kind, or not in the version that is asked for.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::application::{ApplicationView, ResourceResult};
use super::names::object_names;
use crate::Object;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::pattern::{group as regex_group, pattern_of_any_case};

const CRD: (&str, &str) = ("apiextensions.k8s.io", "CustomResourceDefinition");

/// Messages of Argo CD, of kubectl and of the API server.
static MISSING: LazyLock<Regex> = LazyLock::new(|| {
    pattern_of_any_case(
        r"could not find .* for requested resource|no matches for kind|server could not find the requested resource|ensure CRDs are installed",
    )
});
static INSTALLED: LazyLock<Regex> =
    LazyLock::new(|| pattern_of_any_case(r#"version "(?<version>[^"]+)" of (?:(?<group>[^\s/]*)/)?\S+ is installed"#));

pub(super) fn is_missing_kind(message: &str) -> bool {
    MISSING.is_match(message)
}

pub(super) fn draft(application: ApplicationView<'_>, results: &[ResourceResult<'_>]) -> FindingDraft {
    let destination = application.destination();
    let first = results[0];
    let (group, kind) = (first.text("group"), first.text("kind"));
    let found = INSTALLED.captures(first.message());
    let [installed_version, installed_group] =
        ["version", "group"].map(|part| found.as_ref().map_or("", |captures| regex_group(captures, part)));
    // Argo CD searches by kind only, and reports a kind of the same name in another group as another version.
    let elsewhere = Some(installed_group).filter(|g| !installed_version.is_empty() && *g != group);
    let installed = if elsewhere.is_some() { "" } else { installed_version };
    // A snapshot needs only the metadata of definitions, so the definition is found by its name: PLURAL.GROUP.
    let crd = format!("{}.{group}", plural(kind));
    let there = destination.object(CRD.0, CRD.1, None, &crd);
    let mut evidence = vec![application.quote_operation()];
    evidence.extend(results.iter().map(|r| application.quote_result(*r)));
    let any = destination.of_kind(CRD.0, CRD.1).next().is_some();
    match there {
        Some(there) => evidence.push(destination.quote().field(there, "metadata.creationTimestamp")),
        // A definition counts as missing only if definitions could be read.
        None if any => evidence.push(destination.quote().absent(CRD.1, None, &crd)),
        None => {}
    }
    let names = json!({
        "objects": object_names(results),
        // With SkipDryRunOnMissingResource, the kind is found missing only by the apply, when other resources may
        // already be applied.
        "before": first.text("hookPhase").is_empty(),
        "kind": kind,
        "group": group,
        "version": first.text("version"),
        "installed": installed,
        "elsewhere": elsewhere.unwrap_or_default(),
        "crd": crd,
        "there": installed.is_empty() && there.is_some_and(|crd| came_later(crd, application)),
    });
    application.draft(RuleCode::AR_SF_003, &names, evidence)
}

/// True if the definition wasn't created before the operation started.
fn came_later(crd: Object<'_>, application: ApplicationView<'_>) -> bool {
    crd.created_at().zip(application.started_at()).is_some_and(|(made, began)| made >= began)
}

/// Returns the plural of a kind, by the rules that almost all definitions follow.
fn plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    match kind.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{stem}ies"),
        _ if kind.ends_with(['s', 'x']) || kind.ends_with("ch") => format!("{kind}es"),
        _ => format!("{kind}s"),
    }
}
