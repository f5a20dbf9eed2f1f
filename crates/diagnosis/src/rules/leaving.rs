//! Members that a placement has left and whose bindings stay, because the rollout's limits keep them or something holds them.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::availability::PATIENCE;
use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, MemberPlacement, PlacementView};
use super::member::JOIN_LIMIT;
use super::outcome::DELETION_LIMIT;
use super::{foreign_finalizer, kubectl, rollout};
use crate::kubefleet::CLUSTER_GROUP;
use crate::{Condition, Object};

/// Time for which a rollout may keep a member that is left without counting as a failure.
const SETTLE_LIMIT: SignedDuration = SignedDuration::from_secs(15);

/// Time in which a binding that somebody's finalizer holds counts as about to go. One that only the hub-agent holds takes longer
/// on a busy hub: 32 s after an eviction.
const HELD_BINDING_LIMIT: SignedDuration = SignedDuration::from_secs(20);

/// Conditions of a binding in the order in which the controllers reach them.
const STEPS: [&str; 4] = ["Overridden", "WorkSynchronized", "Applied", "Available"];

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        if !placement.is_external() {
            drafts.extend(kept_members(fleet, placement));
        }
        drafts.extend(placement.clusters().filter_map(|status| old_binding(fleet, placement, status)));
    }
    drafts
}

/// KF-RO-004: members that the placement doesn't select any more, and whose bindings the rollout doesn't delete. It deletes a binding only
/// while enough members are available, and where no member is selected, only one that is available itself (`calculateMaxToRemove` in
/// `pkg/controllers/rollout`, v0.1.2, v0.3.1).
fn kept_members<'a>(fleet: FleetView<'a>, placement: PlacementView<'a>) -> Vec<FindingDraft> {
    let is_scheduled = placement.condition("Scheduled").is_some_and(|c| c.reason != "InvalidResourceSelectors");
    let others: Vec<_> = placement.clusters().filter(|status| !rollout::is_ready(*status)).collect();
    // With all of its members available, a rollout deletes the bindings of others at once.
    let is_suspicious = placement.clusters().next().is_none() || !others.is_empty();
    if !is_scheduled || !is_suspicious {
        return Vec::new();
    }
    let on_their_way = others.iter().any(|other| rollout::may_get_ready(fleet, placement, *other));
    let bindings = fleet.index.all_bindings(placement.key()).into_iter();
    let left = bindings.filter(|b| b.str("/spec/state") == Some("Unscheduled") && b.deleted_at().is_none());
    left.filter_map(|binding| kept_member(fleet, placement, binding, &others, on_their_way)).collect()
}

fn kept_member(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    binding: Object<'_>,
    others: &[MemberPlacement<'_>],
    on_their_way: bool,
) -> Option<FindingDraft> {
    let member = binding.str("/spec/targetCluster")?;
    // Its bindings wait for the end of the member itself.
    let membership = fleet.hub.object(CLUSTER_GROUP, "MemberCluster", None, member);
    if membership.is_some_and(|membership| membership.deleted_at().is_some()) {
        return None;
    }
    // A member that joins again is looked at by the scheduler once it has joined.
    let joins_again = |at: Timestamp| Some(at) > binding.changed_at() && fleet.age(at) < JOIN_LIMIT;
    if membership.and_then(|membership| membership.created_at()).is_some_and(joins_again) {
        return None;
    }
    if fleet.age(binding.changed_at()?) < SETTLE_LIMIT || placement.clusters().any(|status| status.member == member) {
        return None;
    }
    let unmet = unmet_condition(binding);
    let waits =
        unmet.as_ref().is_some_and(|condition| condition.type_ == "Available" || condition.reason == "ApplyInProgress");
    let since = unmet.as_ref().and_then(|condition| condition.last_transition_time);
    if others.is_empty() && (unmet.is_none() || (waits && since.is_some_and(|since| fleet.age(since) <= PATIENCE))) {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence = vec![quote.field(binding, "spec.state")];
    evidence.extend(unmet.as_ref().map(|condition| quote.condition(binding, condition)));
    evidence.extend(others.iter().take(3).filter_map(|other| {
        let condition = STEPS.iter().filter_map(|type_| other.condition(type_)).find(|c| c.status != "True")?;
        Some(quote.condition_in(placement.object, other.place(), &condition))
    }));
    evidence.push(quote.field(placement.object, "spec.policy"));
    evidence.push(quote.field(placement.object, "spec.strategy.rollingUpdate"));
    let names = json!({
        "placement": placement.full_name(),
        "member": member,
        "others": others.iter().take(3).map(|other| other.member).collect::<Vec<_>>(),
        "is_available": unmet.is_none(),
        "selects_none": placement.clusters().next().is_none(),
        "binding_ref": kubectl::reference(binding),
    });
    let draft = FindingDraft::new(RuleCode::KF_RO_004, placement.subject(fleet, Some(member)), &names, evidence)
        .affects(placement.part_on(member))
        .depends_on(AffectedPart::Member(member.to_owned()));
    let draft = others.iter().fold(draft, |draft, other| {
        draft.depends_on(placement.part_on(other.member)).depends_on(AffectedPart::Member(other.member.to_owned()))
    });
    Some(if on_their_way { draft.only_as_consequence() } else { draft })
}

/// Returns the first condition of a binding's generation that isn't True; `None` if the binding is available.
fn unmet_condition(binding: Object<'_>) -> Option<Condition> {
    STEPS.iter().filter_map(|type_| binding.current_condition(type_)).find(|condition| condition.status != "True")
}

/// KF-DL-004: the member was selected again, and the binding by which it was selected before doesn't go. Until it is gone, the rollout
/// controller decides nothing for the placement (`waitForResourcesToCleanUp` in `pkg/controllers/rollout`, v0.1.2, v0.3.1).
fn old_binding(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
) -> Option<FindingDraft> {
    let held = status.condition("RolloutStarted").filter(|c| c.status != "True")?;
    let old = foreign_finalizer::predecessor(fleet, placement, status)?;
    let limit = if foreign_finalizer::is_held_by_others(old) { HELD_BINDING_LIMIT } else { DELETION_LIMIT };
    if fleet.age(old.deleted_at()?) < limit || fleet.age(held.last_transition_time?) < SETTLE_LIMIT {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence = placement.symptom(fleet, status, &held);
    evidence.extend([quote.deletion(old), quote.field(old, "metadata.finalizers")]);
    let finalizers: Vec<_> = old.finalizers().collect();
    let names = json!({
        "placement": placement.full_name(),
        "member": status.member,
        "binding": old.path().to_string(),
        "binding_ref": kubectl::reference(old),
        "finalizers": finalizers,
        "is_explained": false,
    });
    let draft = FindingDraft::new(RuleCode::KF_DL_004, placement.subject(fleet, Some(status.member)), &names, evidence)
        .with_texts_if_explained(&names)
        .affects(placement.part_on(status.member))
        .depends_on(AffectedPart::HubAgent)
        .depends_on(foreign_finalizer::part_of_binding(old));
    // Undecided for one member is undecided for all.
    if held.status != "Unknown" {
        return Some(draft);
    }
    Some(placement.parts().fold(draft, FindingDraft::affects))
}
