//! AR-AS-006: Applications that an ApplicationSet owns and no longer generates, and that its policy keeps. The controller reports nothing of
//! them: all conditions are as if they were generated, and `status.resources` has them (v3.2.11 and v3.5.7).
//!
//! Which Applications are generated is known for list generators whose template puts fields of the elements into the name. For others it
//! would have to be read from where the generator reads it.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::json;

use super::application::ApplicationView;
use super::application_set::quote_state;
use super::application_set_view::ApplicationSetView;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::pattern::pattern;
use crate::{Evidence, JsonRef};

/// Finalizer by which the end of an Application is the end of what it has deployed.
const CASCADE: &str = "resources-finalizer.argocd.argoproj.io";

/// Field of an element in a template: `{{.name}}`, or `{{name}}` without Go templates.
static FIELD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{\{-?\s*\.?(?<field>[A-Za-z_][A-Za-z0-9_]*)\s*-?\}\}"));

/// AR-AS-006.
pub(super) fn rule(set: ApplicationSetView<'_>) -> Option<FindingDraft> {
    let policy = set.sync_policy();
    if !policy.keeps_applications {
        return None;
    }
    let generated = generated_names(set)?;
    let owned = set.owned().filter(|application| application.object.deleted_at().is_none());
    let orphans: Vec<ApplicationView<'_>> =
        owned.filter(|application| !generated.iter().any(|name| name == application.object.name())).collect();
    if orphans.is_empty() {
        return None;
    }
    let mut evidence = Vec::new();
    for orphan in &orphans {
        evidence.push(set.quote_owner(*orphan));
        evidence.extend(quote_state(*orphan));
        evidence.extend(quote_finalizer(*orphan));
    }
    evidence.push(set.quote().field(set.object, "spec.generators"));
    evidence.push(set.quote().field(set.object, "spec.syncPolicy.applicationsSync"));
    let cascading: Vec<ApplicationView<'_>> = orphans.iter().copied().filter(|orphan| cascades(*orphan)).collect();
    let names = json!({
        "orphans": ApplicationSetView::names_of(&orphans),
        "orphan_refs": orphans.iter().map(|orphan| orphan.reference()).collect::<Vec<_>>(),
        "cascading": ApplicationSetView::names_of(&cascading),
        "all": orphans.len() == set.owned().count(),
        "generated": generated.join(", "),
        "policy": policy.name,
        "destinations": destinations(&cascading),
    });
    Some(set.draft(RuleCode::AR_AS_006, &names, evidence))
}

/// Returns the names of the Applications that the generators produce; `None` if they can't be told.
fn generated_names(set: ApplicationSetView<'_>) -> Option<Vec<String>> {
    let template = set.object.str("/spec/template/metadata/name")?;
    // A patch may change the name, and a policy may be newer than the last reconciliation.
    if set.object.at("/spec/templatePatch").is_some() || set.up_to_date().is_none() {
        return None;
    }
    set.list_elements()?.into_iter().map(|element| rendered(template, element)).collect()
}

/// Puts an element's fields into a template; `None` if the template has more than fields, or the element lacks one.
fn rendered(template: &str, element: JsonRef<'_>) -> Option<String> {
    let mut is_known = true;
    let name = FIELD.replace_all(template, |found: &Captures<'_>| {
        let value = element.get(&found["field"]).and_then(JsonRef::as_str);
        is_known &= value.is_some();
        value.unwrap_or_default().to_owned()
    });
    (is_known && !name.contains("{{")).then(|| name.into_owned())
}

fn cascades(application: ApplicationView<'_>) -> bool {
    application.object.finalizers().any(|finalizer| finalizer.starts_with(CASCADE))
}

fn quote_finalizer(application: ApplicationView<'_>) -> Option<Evidence> {
    let all: Vec<&str> = application.object.finalizers().collect();
    let quote = || application.quote().text(application.object, "metadata.finalizers", all.join(", "), None);
    (!all.is_empty()).then(quote)
}

/// Returns the destinations of Applications, for a sentence.
fn destinations(applications: &[ApplicationView<'_>]) -> String {
    let mut all: Vec<&str> = applications.iter().map(|application| application.destination().name()).collect();
    all.sort_unstable();
    all.dedup();
    all.join(", ")
}
