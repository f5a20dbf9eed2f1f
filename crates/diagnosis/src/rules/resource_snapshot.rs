//! Resource snapshots that are gone although a binding wants them, and members that have got nothing.

use jiff::SignedDuration;
use serde_json::json;

use super::code::RuleCode;
use super::draft::FindingDraft;
use super::fleet::{FleetView, MemberPlacement, PlacementView, UpdateRunView};
use super::{eviction, kubectl};
use crate::Object;
use crate::command::RemedyCommand;

/// Time in which a binding gets a snapshot that exists, and a member its Work.
const SETTLE_LIMIT: SignedDuration = SignedDuration::from_secs(15);

/// Time after an eviction in which the placement's status follows, on a busy hub too.
const EVICTION_LIMIT: SignedDuration = SignedDuration::from_secs(60);

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        for status in placement.clusters() {
            drafts
                .extend(pruned_snapshot(fleet, placement, status).or_else(|| nothing_placed(fleet, placement, status)));
        }
    }
    drafts
}

/// KF-RO-003: the binding for a member wants a resource snapshot that doesn't exist any more.
fn pruned_snapshot(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
) -> Option<FindingDraft> {
    let failed = ["RolloutStarted", "Overridden", "WorkSynchronized"]
        .into_iter()
        .find_map(|type_| status.condition(type_).filter(|c| c.status == "False"))?;
    // A rolling update that is held back gives the member the latest snapshot as soon as it goes on, whatever became of the older ones.
    if failed.type_ == "RolloutStarted" && !placement.is_external() {
        return None;
    }
    if fleet.age(failed.last_transition_time?) < SETTLE_LIMIT {
        return None;
    }
    let (binding, wanted) = missing_snapshot(fleet, placement, status.member)?;
    let kind = placement.scope.resource_snapshot();
    let quote = fleet.quote();
    let mut evidence = placement.symptom(fleet, status, &failed);
    evidence.push(quote.field(binding, "spec.resourceSnapshotName"));
    evidence.push(quote.absent(kind, placement.object.namespace(), wanted));
    evidence.push(quote.field(placement.object, "spec.revisionHistoryLimit"));
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": status.member,
        "snapshot": wanted,
        "indices": placement.indices(fleet),
        "limit": placement.object.at("/spec/revisionHistoryLimit").map_or("10".to_owned(), |value| value.to_string()),
        "is_external": placement.is_external(),
        "run_kind": placement.scope.run(),
        "stuck_run_refs": stuck_run_references(fleet, placement),
        "again": new_run(fleet, placement),
    });
    let draft = FindingDraft::new(RuleCode::KF_RO_003, placement.subject(fleet, Some(status.member)), &names, evidence);
    Some(draft.affects(placement.part_on(status.member)))
}

/// Returns the binding of a placement for a member, and the name of the resource snapshot that the binding wants; `None`
/// if the snapshot exists, or no snapshot of the placement was read.
pub(super) fn missing_snapshot<'a>(
    fleet: FleetView<'a>,
    placement: PlacementView<'a>,
    member: &str,
) -> Option<(Object<'a>, &'a str)> {
    let binding = placement.binding(fleet, member)?;
    let wanted = snapshot_name(binding)?;
    let kind = placement.scope.resource_snapshot();
    let exists = fleet.placement_object(kind, placement.object.namespace(), wanted).is_some();
    (!exists && !placement.indices(fleet).is_empty()).then_some((binding, wanted))
}

/// True if an eviction of the placement from the member was executed just now. The placement's status follows within seconds.
fn was_just_evicted(fleet: FleetView<'_>, placement: PlacementView<'_>, status: MemberPlacement<'_>) -> bool {
    eviction::last_executed(fleet, placement, status.member).is_some_and(|at| fleet.age(at) < EVICTION_LIMIT)
}

/// KF-WS-011: the placement reports that its resources are available on a member, and there is no Work for them.
fn nothing_placed(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
) -> Option<FindingDraft> {
    let available = status.condition("Available").filter(|c| c.status == "True")?;
    // With strategy External, the status lists no resources while members have different snapshots (v0.1.2).
    let selected = placement.object.list("/status/selectedResources");
    let selects_nothing = selected.is_empty() && !placement.is_external();
    if selects_nothing || fleet.age(available.last_transition_time?) < SETTLE_LIMIT {
        return None;
    }
    // A member that a run has never served shows by that list alone. Any other Work that is missing is found where all Works were
    // read.
    let shows_by_itself = placement.is_external() && selected.is_empty();
    if !shows_by_itself && !fleet.hub.read.is_everything() {
        return None;
    }
    // A namespace that is gone has a finding of its own, and a new one gets its Works within seconds.
    let namespace = fleet.member_namespace(status.member).filter(|namespace| namespace.deleted_at().is_none())?;
    let is_new = namespace.created_at().is_some_and(|created| fleet.age(created) < SETTLE_LIMIT);
    if is_new || was_just_evicted(fleet, placement, status) || !placement.works(fleet, status.member).is_empty() {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence = vec![quote.condition_in(placement.object, status.place(), &available)];
    let binding = placement.binding(fleet, status.member);
    evidence.extend(binding.map(|binding| quote.field(binding, "spec.resourceSnapshotName")));
    evidence.push(quote.absent("Work", Some(namespace.name()), placement.object.name()));
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": status.member,
        "namespace": namespace.name(),
        "objects": selected.len(),
        "snapshot": binding.and_then(snapshot_name).unwrap_or_default(),
        "is_external": placement.is_external(),
        "run_kind": placement.scope.run(),
        "again": new_run(fleet, placement),
    });
    let draft = FindingDraft::new(RuleCode::KF_WS_011, placement.subject(fleet, Some(status.member)), &names, evidence);
    Some(draft.affects(placement.part_on(status.member)))
}

/// Returns the references of the placement's runs that haven't finished.
pub(super) fn stuck_run_references(fleet: FleetView<'_>, placement: PlacementView<'_>) -> Vec<Vec<String>> {
    placement.runs(fleet).filter(|run| !run.is_finished()).map(UpdateRunView::reference).collect()
}

/// Returns the command that creates a run for the latest resource snapshot: with the spec of the placement's newest run, or
/// without a run, with the word STRATEGY.
pub(super) fn new_run(fleet: FleetView<'_>, placement: PlacementView<'_>) -> Option<RemedyCommand> {
    if !placement.is_external() {
        return None;
    }
    let Some(newest) = placement.runs(fleet).max_by_key(|run| run.object.created_at()) else {
        return Some(kubectl::first_run_command(placement));
    };
    // v0.14.0 needs the index, and later versions take the latest snapshot without one.
    let latest = placement.indices(fleet).last().copied().unwrap_or_default();
    let index = if newest.requested_index().is_some() { latest } else { "" };
    Some(kubectl::rerun_command(fleet, newest, Some(index)))
}

fn snapshot_name(binding: Object<'_>) -> Option<&str> {
    binding.str("/spec/resourceSnapshotName").filter(|name| !name.is_empty())
}
