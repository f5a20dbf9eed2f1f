//! AR-AS-001 to 005: errors of generators, templates and Applications, which an ApplicationSet's controller reports, and an ApplicationSet
//! that generates nothing, of which it reports nothing. Facts are from v3.2.11 and v3.5.7.

use std::sync::LazyLock;

use jiff::SignedDuration;
use regex::Regex;
use serde_json::json;

use super::application::ApplicationView;
use super::application_set_view::ApplicationSetView;
use super::{kept_applications, progressive_sync};
use crate::object::text_field;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::fleet::FleetView;
use crate::rules::message::{for_sentence, last_description};
use crate::rules::outcome::ERROR_LIMIT;
use crate::rules::pattern::{group, pattern};
use crate::{APPLICATION, Condition, Evidence, JsonRef};

/// Time that the controller has from its first report to its Applications in the snapshot. It reports after it has made them, but the lists of
/// a snapshot are read one after the other.
const NEW_SET: SignedDuration = SignedDuration::from_secs(10);

static DUPLICATE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"contains applications with duplicate name: (?<name>\S+)"));
static NO_PROJECT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"application references project (?<project>\S+) which does not exist"));
static MORE: LazyLock<Regex> = LazyLock::new(|| pattern(r" \(and (?<count>\d+) more\)$"));

pub(super) fn rule<'a>(fleet: FleetView<'a>, applications: &'a [ApplicationView<'a>]) -> Vec<FindingDraft> {
    ApplicationSetView::all(fleet, applications).flat_map(findings).collect()
}

fn findings(set: ApplicationSetView<'_>) -> Vec<FindingDraft> {
    let reported = match set.error() {
        Some(error) => error_finding(set, &error),
        None => nothing(set),
    };
    let mut drafts: Vec<FindingDraft> = reported.into_iter().collect();
    drafts.extend(kept_applications::rule(set));
    drafts.extend(progressive_sync::rule(set));
    drafts
}

/// Creates the finding for an error that the controller reports. It reports one error at a time.
fn error_finding(set: ApplicationSetView<'_>, error: &Condition) -> Option<FindingDraft> {
    match error.reason.as_str() {
        "ApplicationGenerationFromParamsError" => Some(generator(set, error)),
        "RenderTemplateParamsError" => Some(template(set, error)),
        "ApplicationValidationError" if DUPLICATE.is_match(&error.message) => Some(duplicate(set, error)),
        "ApplicationValidationError" => Some(application(set, error)),
        // The controller tries again, at first within milliseconds: a conflict with another writer has passed by then.
        _ => error.last_transition_time.filter(|at| set.fleet.age(*at) >= ERROR_LIMIT).map(|_| application(set, error)),
    }
}

/// AR-AS-001: a generator fails.
fn generator(set: ApplicationSetView<'_>, error: &Condition) -> FindingDraft {
    let mut evidence = vec![set.quote().condition(set.object, error)];
    let generated = set.object.condition("ParametersGenerated");
    evidence.extend(generated.iter().map(|condition| set.quote().condition(set.object, condition)));
    let mut sources = Vec::new();
    for (number, generator) in set.object.list("/spec/generators").iter().enumerate() {
        let Some(git) = generator.get("git") else { continue };
        let url = text_field(git, "repoURL");
        sources.push(url);
        let path = format!("spec.generators[{number}].git.repoURL");
        evidence.push(set.quote().text(set.object, &path, url.to_owned(), None));
    }
    let names = json!({
        "why": for_sentence(last_description(&error.message)), "sources": sources.join(", "), "kept": kept(set),
    });
    set.draft(RuleCode::AR_AS_001, &names, evidence)
}

/// AR-AS-002: the generators succeed, and there is no Application.
fn nothing(set: ApplicationSetView<'_>) -> Option<FindingDraft> {
    let up_to_date = set.up_to_date()?;
    let is_new = up_to_date.last_transition_time.is_none_or(|at| set.fleet.age(at) < NEW_SET);
    let unread = || set.fleet.hub.unread.iter().any(|unread| unread.resource == "applications.argoproj.io");
    // Pull requests and repositories come and go: none is as normal as some.
    let may_be_empty = set.generators().iter().any(|kind| ["pullRequest", "scmProvider"].contains(kind));
    if set.owned().next().is_some() || is_new || may_be_empty || unread() {
        return None;
    }
    let mut evidence = vec![set.quote().condition(set.object, &up_to_date)];
    let generators = set.object.at("/spec/generators").map(JsonRef::to_text).unwrap_or_default();
    evidence.push(set.quote().text(set.object, "spec.generators", generators, None));
    // v3.2.11 writes the list before it deletes Applications, and doesn't correct it before the next reconciliation.
    let lost: Vec<&str> = set.object.list("/status/resources").iter().map(|r| text_field(r, "name")).collect();
    for name in &lost {
        evidence.push(set.quote().absent(APPLICATION.kind, set.object.namespace(), name));
    }
    let names = json!({"lost": lost.join(", "), "kinds": set.generators().join(" and ")});
    let draft = set.draft(RuleCode::AR_AS_002, &names, evidence);
    Some(if lost.is_empty() { draft } else { draft.into_failure() })
}

/// AR-AS-003: two elements give one name.
fn duplicate(set: ApplicationSetView<'_>, error: &Condition) -> FindingDraft {
    let name = DUPLICATE.captures(&error.message).map(|found| group(&found, "name").to_owned()).unwrap_or_default();
    let mut evidence = vec![set.quote().condition(set.object, error)];
    let template = "spec.template.metadata.name";
    evidence.push(set.quote().field(set.object, template));
    let there = set.application(&name);
    evidence.extend(there.map(|application| set.quote_owner(application)));
    let names = json!({
        "name": name, "exists": there.is_some(), "more": more(&error.message),
        "template": set.object.str("/spec/template/metadata/name").unwrap_or_default(),
    });
    set.draft(RuleCode::AR_AS_003, &names, evidence)
}

/// AR-AS-004: the template can't be rendered.
fn template(set: ApplicationSetView<'_>, error: &Condition) -> FindingDraft {
    let mut evidence = vec![set.quote().condition(set.object, error)];
    if set.object.at("/spec/goTemplateOptions").is_some() {
        evidence.push(set.quote().field(set.object, "spec.goTemplateOptions"));
    }
    let names = json!({"why": for_sentence(&error.message), "kept": kept(set)});
    set.draft(RuleCode::AR_AS_004, &names, evidence)
}

/// AR-AS-005: an Application that is generated can't be made or changed.
fn application(set: ApplicationSetView<'_>, error: &Condition) -> FindingDraft {
    let mut evidence = vec![set.quote().condition(set.object, error)];
    let project = NO_PROJECT.captures(&error.message).map(|found| group(&found, "project").to_owned());
    let owned: Vec<ApplicationView<'_>> = set.owned().collect();
    let invalid: Vec<_> = owned.iter().copied().filter(|a| a.conditions("InvalidSpecError").next().is_some()).collect();
    for application in &invalid {
        evidence.extend(application.conditions("InvalidSpecError").map(|c| application.quote_condition(c)));
    }
    let is_validation = error.reason == "ApplicationValidationError";
    let why = MORE.replace(&error.message, "");
    let names = json!({
        "why": for_sentence(&why), "project": project.clone().unwrap_or_default(), "more": more(&error.message),
        "is_validation": is_validation, "namespace": set.object.namespace().unwrap_or_default(),
        "applications": ApplicationSetView::names_of(&owned),
    });
    let draft = set.draft(RuleCode::AR_AS_005, &names, evidence);
    // What is wrong with an Application that exists is its own finding.
    invalid.into_iter().fold(draft, |draft, application| draft.depends_on(application.sync_part()))
}

/// Returns the number of further errors that a message counts.
fn more(message: &str) -> u64 {
    MORE.captures(message).and_then(|found| group(&found, "count").parse().ok()).unwrap_or_default()
}

/// Returns the Applications that stay as they are, for a sentence; empty if there are none.
fn kept(set: ApplicationSetView<'_>) -> String {
    ApplicationSetView::names_of(&set.owned().collect::<Vec<_>>())
}

/// Quotes an Application's health and sync status.
pub(super) fn quote_state(application: ApplicationView<'_>) -> Vec<Evidence> {
    let fields = ["status.sync.status", "status.health.status"];
    fields.map(|field| application.quote().field(application.object, field)).to_vec()
}
