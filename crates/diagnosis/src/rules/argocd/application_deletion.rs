//! Applications that are being deleted and don't go (AR-DL-001 to AR-DL-005). Argo CD writes a condition for an error alone: it writes
//! nothing while an object, an operation or a confirmation holds the deletion (v3.2 and v3.5).

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;
use serde_json::json;

use super::application::{ApplicationCondition, ApplicationView};
use super::live_objects::{ManagedResource, object_names};
use crate::rules::code::RuleCode;
use crate::rules::deletion::{holders, holding_evidence, is_held, references};
use crate::rules::draft::FindingDraft;
use crate::rules::message::for_sentence;
use crate::rules::outcome::DELETION_LIMIT;
use crate::rules::pattern::pattern;
use crate::{Evidence, Object};

/// Part of the names of Argo CD's finalizers of Applications. Without one of them, Argo CD doesn't work on the deletion.
const ARGO_CD: &str = "argocd.argoproj.io";

/// Part of the names of the finalizers that wait for hooks of the deletion.
const HOOKS: [&str; 2] = ["post-delete-finalizer", "pre-delete-finalizer"];

/// Annotation with the time at which a person has confirmed the deletion.
const APPROVED: &str = "argocd.argoproj.io/deletion-approved";

/// Errors of hooks: their manifests can't be rendered, or they fail (v3.5; v3.2 takes a failed hook for a finished one).
static HOOK_ERROR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"failed to generate manifest|error executing (?:pre|post)-delete hooks|(?:Pre|Post)Delete hook\(s\) failed|(?:Pre|Post)Delete hook \S+ is not permitted",
    )
});

/// Errors of the destination: it doesn't answer, or refuses Argo CD's identity.
static DESTINATION_ERROR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"failed to get cluster info|failed to get api resource|failed to discover server resources|is forbidden|Unauthorized|dial tcp|x509|asked for the client to provide credentials|connection refused|context deadline exceeded",
    )
});

/// Returns the reason why an Application that is being deleted doesn't go.
pub(super) fn rule(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let deleted_at = application.object.deleted_at()?;
    if application.fleet.age(deleted_at) < DELETION_LIMIT || !has_finalizer(application, ARGO_CD) {
        return None;
    }
    // While an operation is set, Argo CD doesn't begin with the deletion. An error of an earlier attempt stays in the conditions, so
    // that an object which is being deleted says more.
    held_by_operation(application)
        .or_else(|| held_by_objects(application))
        .or_else(|| unconfirmed(application, deleted_at))
        .or_else(|| failed(application))
}

/// AR-DL-004: an operation is set and not finished.
fn held_by_operation(application: ApplicationView<'_>) -> Option<FindingDraft> {
    application.object.at("/operation")?;
    let message = application.operation_field("message");
    let quote = application.quote();
    let evidence = vec![
        quote.deletion(application.object),
        application.quote_operation(),
        quote.field(application.object, "operation"),
    ];
    Some(application.draft_beside_sync(RuleCode::AR_DL_004, &json!({"message": for_sentence(message)}), evidence))
}

/// AR-DL-001: objects on the destination are being deleted, and something holds them.
fn held_by_objects(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let destination = application.destination();
    let is_late =
        |object: &Object<'_>| object.deleted_at().is_some_and(|since| application.fleet.age(since) >= DELETION_LIMIT);
    let held: Vec<Object<'_>> = ManagedResource::all(application.object)
        .filter_map(|resource| resource.live(application))
        .filter(|object| is_held(*object) && is_late(object))
        .collect();
    let first = held.first()?;
    let quote = application.quote();
    let mut evidence = vec![quote.deletion(application.object), quote.field(application.object, "metadata.finalizers")];
    evidence.extend(held.iter().flat_map(|object| holding_evidence(destination.quote(), *object)));
    let finalizers: Vec<&str> = held.iter().flat_map(|object| object.finalizers()).collect();
    let names = json!({
        "object": first.path().to_string(),
        "holders": holders(&held),
        "holder_refs": references(&held),
        "is_namespace": finalizers.is_empty(),
    });
    let cause = format!("{} {}", destination.name(), finalizers.join(" "));
    Some(application.draft_beside_sync(RuleCode::AR_DL_001, &names, evidence).common_cause(cause))
}

/// Returns the time at which a person has confirmed the deletion of an application's resources last.
pub(in crate::rules) fn approved_at(application: Object<'_>) -> Option<Timestamp> {
    application.annotation(APPROVED).and_then(|time| time.parse().ok())
}

/// AR-DL-005: resources are deleted only after a person has confirmed it.
fn unconfirmed(application: ApplicationView<'_>, deleted_at: Timestamp) -> Option<FindingDraft> {
    let approved = approved_at(application.object);
    if approved.is_some_and(|approved| approved >= deleted_at) {
        return None;
    }
    let waiting: Vec<ManagedResource<'_>> = ManagedResource::all(application.object)
        .filter(|resource| resource.requires_deletion_confirmation())
        .filter(|resource| resource.live(application).is_none_or(|live| live.deleted_at().is_none()))
        .collect();
    if waiting.is_empty() {
        return None;
    }
    let quote = application.quote();
    let mut evidence = vec![quote.deletion(application.object)];
    evidence.extend(waiting.iter().map(|resource| {
        let path = format!("status.resources[{}].requiresDeletionConfirmation", resource.object());
        quote.text(application.object, &path, "true".to_owned(), None)
    }));
    let names = json!({
        "objects": object_names(&waiting),
        "earlier": approved.is_some(),
        "confirm": super::names::confirm_commands(application),
    });
    Some(application.draft_beside_sync(RuleCode::AR_DL_005, &names, evidence))
}

/// AR-DL-002 and AR-DL-003: Argo CD reports an error of the deletion.
fn failed(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let condition = application.conditions("DeletionError").next()?;
    let hooks = HOOKS.iter().any(|finalizer| has_finalizer(application, finalizer));
    if hooks && HOOK_ERROR.is_match(condition.message) {
        return Some(failed_hooks(application, condition));
    }
    if !DESTINATION_ERROR.is_match(condition.message) {
        return None;
    }
    let evidence = error_evidence(application, condition);
    let names = json!({"message": for_sentence(condition.message)});
    let cause = application.destination().name().to_owned();
    Some(application.draft_beside_sync(RuleCode::AR_DL_002, &names, evidence).common_cause(cause))
}

/// AR-DL-003: a hook of the deletion can't be rendered, or fails.
fn failed_hooks(application: ApplicationView<'_>, condition: ApplicationCondition<'_>) -> FindingDraft {
    let is_for_hooks = |name: &&str| HOOKS.iter().any(|hook| name.starts_with(hook));
    let others: Vec<&str> = application.object.finalizers().filter(|name| !is_for_hooks(name)).collect();
    let mut evidence = error_evidence(application, condition);
    evidence.push(application.quote().field(application.object, "metadata.finalizers"));
    let names = json!({
        "message": for_sentence(condition.message),
        "is_render": condition.message.contains("failed to generate manifest"),
        "patch": json!({"metadata": {"finalizers": others}}).to_string(),
    });
    application.draft_beside_sync(RuleCode::AR_DL_003, &names, evidence)
}

fn error_evidence(application: ApplicationView<'_>, condition: ApplicationCondition<'_>) -> Vec<Evidence> {
    vec![application.quote().deletion(application.object), application.quote_condition(condition)]
}

fn has_finalizer(application: ApplicationView<'_>, part: &str) -> bool {
    application.object.finalizers().any(|finalizer| finalizer.contains(part))
}
