//! Applications that are in sync and not healthy (AR-HL-001 to AR-HL-003, AR-HL-005), and whose objects somebody has deleted
//! (AR-HL-004). What an operation waits for, or has failed with, belongs to AR-SF.

use jiff::SignedDuration;
use serde_json::json;

use super::application::{ApplicationView, OperationState};
use super::live_objects::{ManagedResource, object_names};
use super::resource_health::{ObjectHealth, Trouble, in_words, unhealthy};
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::fleet::full_name;
use crate::rules::kubectl;
use crate::rules::message::for_sentence;
use crate::rules::pods::{self, WorkloadState};
use crate::{Evidence, Object, PATIENCE};

/// Time for which an Application may be Degraded: a Pod that is replaced makes it so for a moment. Nothing that is Degraded for longer
/// gets well in its own time, so this is shorter than the time for Progressing.
const DEGRADED_LIMIT: SignedDuration = SignedDuration::from_secs(30);

/// Object of an Application that isn't healthy.
struct UnhealthyObject<'a> {
    object: Object<'a>,
    health: ObjectHealth,
}

pub(super) fn rule(application: ApplicationView<'_>) -> Vec<FindingDraft> {
    if application.operation_state() != OperationState::Fine || application.operation_field("phase") == "Terminating" {
        return Vec::new();
    }
    if let Some(missing) = missing_objects(application) {
        return vec![missing];
    }
    let status = application.object.str("/status/health/status").unwrap_or_default();
    let is_synced = application.object.str("/status/sync/status") == Some("Synced");
    if !is_synced || !["Degraded", "Progressing", "Suspended"].contains(&status) {
        return Vec::new();
    }
    let objects: Vec<UnhealthyObject<'_>> = ManagedResource::all(application.object)
        .filter(|resource| !resource.is_hook())
        .filter_map(|resource| resource.live(application))
        .filter(|object| object.deleted_at().is_none())
        .filter_map(|object| Some(UnhealthyObject { object, health: unhealthy(object)? }))
        .collect();
    let of = |trouble: Trouble| -> Vec<&UnhealthyObject<'_>> {
        objects.iter().filter(|unhealthy| unhealthy.health.trouble == trouble).collect()
    };
    // A Service without an address may be what the Pods wait for, and not the other way round.
    [
        workloads(application, &of(Trouble::Workload)),
        without_address(application, &of(Trouble::NoAddress)),
        others(application, &of(Trouble::Other)),
        suspended(application, status, &of(Trouble::Suspended)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// AR-HL-002: workloads that have failed, or whose Pods aren't ready.
fn workloads(application: ApplicationView<'_>, all: &[&UnhealthyObject<'_>]) -> Option<FindingDraft> {
    let cluster = application.destination().cluster?;
    let first = all.first()?;
    let mut state = WorkloadState::default();
    for unhealthy in all {
        let of_object = pods::workload_state(cluster, unhealthy.object);
        state.evidence.extend(of_object.evidence);
        state.image = state.image.or(of_object.image);
        state.waiting_pod = state.waiting_pod.or(of_object.waiting_pod);
        state.failed_container = state.failed_container.or(of_object.failed_container);
        state.refusal = state.refusal.or(of_object.refusal);
    }
    // A Pod whose image can't be had doesn't start, however long one waits.
    if state.image.is_none() && !is_late(application, all) {
        return None;
    }
    let mut evidence = symptom(application, all);
    evidence.extend(state.evidence.iter().filter(|one| !evidence.contains(one)).cloned().collect::<Vec<_>>());
    let image = state.image.clone().unwrap_or_default();
    let names = json!({
        "objects": names_of(all),
        "ref": kubectl::reference(first.object),
        "is_degraded": is_degraded(all),
        "why": state.reason().map(|reason| for_sentence(&reason)).unwrap_or_default(),
        "value": for_sentence(&first.health.value),
        "path": first.health.path,
        "image": image.name,
        "pod_look": image.describe,
    });
    let draft = application.draft_beside_sync(RuleCode::AR_HL_002, &names, evidence);
    Some(if image.name.is_empty() { draft } else { draft.common_cause(image.name) })
}

/// AR-HL-001: Services and Ingresses that get no address.
fn without_address(application: ApplicationView<'_>, all: &[&UnhealthyObject<'_>]) -> Option<FindingDraft> {
    let first = all.first().filter(|_| is_late(application, all))?;
    let names = json!({
        "objects": names_of(all),
        "refs": all.iter().map(|unhealthy| kubectl::reference(unhealthy.object)).collect::<Vec<_>>(),
        "kind": first.object.kind(),
        "class": first.object.str("/spec/ingressClassName").or(first.object.str("/spec/loadBalancerClass")).unwrap_or_default(),
        "minutes": minutes(application),
    });
    Some(application.draft_beside_sync(RuleCode::AR_HL_001, &names, symptom(application, all)))
}

/// AR-HL-003: claims, autoscalers and Jobs that say themselves what is wrong.
fn others(application: ApplicationView<'_>, all: &[&UnhealthyObject<'_>]) -> Option<FindingDraft> {
    let first = all.first().filter(|_| is_late(application, all))?;
    let names = json!({
        "objects": names_of(all),
        "refs": all.iter().map(|unhealthy| kubectl::reference(unhealthy.object)).collect::<Vec<_>>(),
        "says": for_sentence(&in_words(first.object, &first.health)),
        "kind": first.object.kind(),
    });
    Some(application.draft_beside_sync(RuleCode::AR_HL_003, &names, symptom(application, all)))
}

/// AR-HL-005: workloads that somebody has paused.
fn suspended(application: ApplicationView<'_>, status: &str, all: &[&UnhealthyObject<'_>]) -> Option<FindingDraft> {
    let first = all.first().filter(|_| status == "Suspended" && is_older_than(application, PATIENCE))?;
    let names = json!({
        "objects": names_of(all),
        "ref": kubectl::reference(first.object),
        "kind": first.object.kind(),
        "minutes": minutes(application),
    });
    Some(application.draft_beside_sync(RuleCode::AR_HL_005, &names, symptom(application, all)))
}

/// AR-HL-004: objects that the last operation has applied aren't on the destination any more.
fn missing_objects(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let is_out_of_sync = application.object.str("/status/sync/status") == Some("OutOfSync");
    let is_whole = application.object.list("/status/operationState/operation/sync/resources").is_empty();
    let has_synced = application.operation_field("phase") == "Succeeded"
        && is_whole
        && !application.target_commits().is_empty()
        && application.operated_commits() == application.target_commits();
    let destination = application.destination();
    // Self-heal creates them again.
    if !is_out_of_sync || !has_synced || application.self_heals() || !destination.is_read() {
        return None;
    }
    let all: Vec<ManagedResource<'_>> =
        ManagedResource::all(application.object).filter(|resource| !resource.is_hook()).collect();
    let missing: Vec<ManagedResource<'_>> = all
        .iter()
        .copied()
        .filter(|resource| resource.is_out_of_sync() && !resource.requires_pruning())
        .filter(|resource| was_applied(application, *resource))
        .filter(|resource| resource.is_absent(application))
        .collect();
    if missing.is_empty() {
        return None;
    }
    let quote = application.quote();
    let mut evidence = Vec::new();
    for resource in &missing {
        let path = format!("status.resources[{}].status", resource.object());
        evidence.push(quote.text(application.object, &path, resource.text("status").to_owned(), None));
        evidence.push(destination.quote().absent(resource.text("kind"), resource.namespace(), resource.text("name")));
    }
    evidence.push(application.quote_operation());
    let names = json!({"objects": object_names(&missing), "all": missing.len() == all.len()});
    Some(application.draft_beside_sync(RuleCode::AR_HL_004, &names, evidence))
}

/// True if the last operation has applied a resource.
fn was_applied(application: ApplicationView<'_>, resource: ManagedResource<'_>) -> bool {
    application.results().any(|result| result.text("status") == "Synced" && result.key() == resource.key())
}

/// True if the Application's health has lasted longer than it may: [`DEGRADED_LIMIT`] if an object has failed, and otherwise [`PATIENCE`].
fn is_late(application: ApplicationView<'_>, all: &[&UnhealthyObject<'_>]) -> bool {
    is_older_than(application, if is_degraded(all) { DEGRADED_LIMIT } else { PATIENCE })
}

fn is_degraded(all: &[&UnhealthyObject<'_>]) -> bool {
    all.iter().any(|unhealthy| unhealthy.health.is_degraded)
}

fn is_older_than(application: ApplicationView<'_>, limit: SignedDuration) -> bool {
    application.health_since().is_some_and(|since| application.fleet.age(since) > limit)
}

fn minutes(application: ApplicationView<'_>) -> i64 {
    application.health_since().map(|since| application.fleet.age(since).as_mins()).unwrap_or_default()
}

/// Quotes the Application's health, and what each object shows.
fn symptom(application: ApplicationView<'_>, all: &[&UnhealthyObject<'_>]) -> Vec<Evidence> {
    let health = application.quote().field(application.object, "status.health.status");
    let mut evidence = vec![Evidence { at: application.health_since(), ..health }];
    let quote = application.destination().quote();
    evidence.extend(all.iter().map(|unhealthy| {
        let UnhealthyObject { object, health } = unhealthy;
        let type_ = health.path.strip_prefix("status.conditions[").map(|path| path.trim_end_matches(']'));
        match type_.and_then(|type_| object.condition(type_)) {
            Some(condition) => quote.condition(*object, &condition),
            None => quote.text(*object, &health.path, health.value.clone(), None),
        }
    }));
    evidence
}

fn names_of(all: &[&UnhealthyObject<'_>]) -> String {
    all.iter().map(|unhealthy| name_of(unhealthy.object)).collect::<Vec<_>>().join(", ")
}

/// Returns `Kind name` or `Kind namespace/name`.
pub(super) fn name_of(object: Object<'_>) -> String {
    format!("{} {}", object.kind(), full_name(object.namespace(), object.name()))
}
