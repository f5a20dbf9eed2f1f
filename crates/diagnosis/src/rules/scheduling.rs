//! Placements that the scheduler can't fulfil: too few clusters, selectors that are invalid, or a policy that lacks what it
//! needs.

use jiff::SignedDuration;
use record::ConditionPlace;
use serde_json::{Value, json};

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, MemberPlacement, PlacementView};
use super::kubectl;
use super::not_taken::{Group, by_code};
use super::shortage::{Shortage, policy_names};
use crate::{Condition, Evidence, JsonRef, conditions};

/// Time in which the rollout of a placement to a member is usually decided.
const DECISION_LIMIT: SignedDuration = SignedDuration::from_secs(15);

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        let scheduled = placement.condition("Scheduled");
        let is_false = scheduled.as_ref().is_some_and(|c| c.status == "False");
        match scheduled {
            Some(failed) if is_false && failed.reason == "InvalidResourceSelectors" => {
                drafts.push(invalid_selectors(fleet, placement, &failed));
            }
            Some(failed) if is_false => drafts.extend(unfulfilled(fleet, placement, &failed)),
            scheduled => drafts.extend(incomplete_policy(fleet, placement, scheduled.as_ref())),
        }
    }
    drafts
}

/// KF-SC-003: the placement's resource selectors are invalid, so nothing is scheduled.
fn invalid_selectors(fleet: FleetView<'_>, placement: PlacementView<'_>, failed: &Condition) -> FindingDraft {
    let quote = fleet.quote();
    let evidence =
        vec![quote.condition(placement.object, failed), quote.field(placement.object, "spec.resourceSelectors")];
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "message": failed.message,
    });
    let draft = FindingDraft::new(RuleCode::KF_SC_003, placement.subject(fleet, None), &names, evidence);
    draft.affects(placement.part())
}

/// KF-SC-012: the policy lacks the number or the names of the clusters, so the scheduler leaves it alone. Without the number, the rollout
/// controller ends with a panic (`calculateRealTarget` in `pkg/controllers/rollout`, v0.1.2, v0.3.1), so that a placement which was
/// scheduled before isn't rolled out any more.
fn incomplete_policy(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    scheduled: Option<&Condition>,
) -> Option<FindingDraft> {
    let object = placement.object;
    let type_ = object.str("/spec/policy/placementType")?;
    let lacks = match type_ {
        "PickN" if object.at("/spec/policy/numberOfClusters").is_none() => "numberOfClusters",
        "PickFixed" if policy_names(placement).next().is_none() => "clusterNames",
        _ => return None,
    };
    let is_scheduled = scheduled.is_some_and(|scheduled| scheduled.status == "True");
    // A placement that was complete before keeps its members.
    if is_scheduled && (lacks == "clusterNames" || placement.is_external()) {
        return None;
    }
    let undecided = if is_scheduled { Some(undecided_rollout(fleet, placement)?) } else { None };
    let quote = fleet.quote();
    let mut evidence: Vec<_> = scheduled.map(|scheduled| quote.condition(object, scheduled)).into_iter().collect();
    evidence.extend(undecided.map(|(status, started)| quote.condition_in(object, status.place(), &started)));
    evidence.push(quote.field(object, &format!("spec.policy.{lacks}")));
    evidence.push(quote.field(object, "spec.policy"));
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(object),
        "type": type_,
        "lacks": lacks,
        "is_scheduled": is_scheduled,
    });
    let draft = FindingDraft::new(RuleCode::KF_SC_012, placement.subject(fleet, None), &names, evidence);
    Some(draft.affects(placement.part()))
}

/// Returns a member on which the rollout has been undecided for long, with its condition.
fn undecided_rollout<'a>(
    fleet: FleetView<'_>,
    placement: PlacementView<'a>,
) -> Option<(MemberPlacement<'a>, Condition)> {
    placement.clusters().find_map(|status| {
        let started = status.condition("RolloutStarted").filter(|started| started.status == "Unknown")?;
        (fleet.age(started.last_transition_time?) > DECISION_LIMIT).then_some((status, started))
    })
}

/// KF-SC-001, 002 and 004 to 009: the policy asks for clusters that the scheduler doesn't find. One finding for each cause that
/// has to go so that there are enough.
fn unfulfilled(fleet: FleetView<'_>, placement: PlacementView<'_>, failed: &Condition) -> Vec<FindingDraft> {
    let shortage = Shortage::of(fleet, placement);
    // A hub without members is rather one whose members couldn't be read.
    let members_read = shortage.fleet_size > 0;
    let is_named = placement.object.str("/spec/policy/placementType") == Some("PickFixed");
    let mut drafts = Vec::new();
    if !shortage.unknown.is_empty() {
        drafts.push(unknown_names(fleet, placement, &shortage, failed));
    }
    let mut missing = shortage.missing(fleet).saturating_sub(shortage.unknown.len());
    if missing == 0 {
        return drafts;
    }
    if members_read && (is_named || shortage.wanted <= shortage.fleet_size) {
        for group in by_code(&shortage, missing) {
            missing = missing.saturating_sub(group.members.len());
            drafts.push(not_taken(fleet, placement, &shortage, failed, &group));
        }
    }
    if missing > 0 {
        drafts.push(too_few(fleet, placement, &shortage, failed, members_read));
    }
    drafts
}

/// KF-SC-004 to 009: members that the policy doesn't take for one reason.
fn not_taken(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    shortage: &Shortage<'_>,
    failed: &Condition,
    group: &Group<'_>,
) -> FindingDraft {
    let mut evidence = symptom(fleet, placement, failed);
    evidence.extend(group.evidence(fleet, placement));
    let mut names = names(placement, shortage);
    group.add_names(placement, &mut names);
    let draft = FindingDraft::new(group.code, placement.subject(fleet, None), &names, evidence);
    let draft = draft.affects(placement.part()).depends_on(AffectedPart::HubAgentClock);
    group.parts().fold(draft, FindingDraft::depends_on)
}

/// KF-SC-002: the policy names a cluster that doesn't exist.
fn unknown_names(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    shortage: &Shortage<'_>,
    failed: &Condition,
) -> FindingDraft {
    let mut evidence = symptom(fleet, placement, failed);
    evidence.extend(shortage.unknown.iter().map(|name| fleet.quote().absent("MemberCluster", None, name)));
    let known: Vec<_> = policy_names(placement).filter(|name| !shortage.unknown.contains(name)).collect();
    let mut names = names(placement, shortage);
    names["unknown"] = shortage.unknown.join(", ").into();
    names["known"] = known.join(", ").into();
    names["patch"] = json!({"spec": {"policy": {"clusterNames": known}}}).to_string().into();
    let draft = FindingDraft::new(RuleCode::KF_SC_002, placement.subject(fleet, None), &names, evidence);
    policy_names(placement).fold(draft.affects(placement.part()), |draft, member| {
        draft.depends_on(AffectedPart::Member(member.to_owned()))
    })
}

/// KF-SC-001: the fleet has fewer members than the policy asks for, or the reason isn't known.
fn too_few(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    shortage: &Shortage<'_>,
    failed: &Condition,
    members_read: bool,
) -> FindingDraft {
    let evidence = symptom(fleet, placement, failed);
    let mut names = names(placement, shortage);
    let is_small = members_read && shortage.wanted > shortage.fleet_size;
    names["fleet_size"] = if is_small { shortage.fleet_size.into() } else { Value::Null };
    let draft = FindingDraft::new(RuleCode::KF_SC_001, placement.subject(fleet, None), &names, evidence);
    let draft = draft.affects(placement.part()).depends_on(AffectedPart::HubAgentClock);
    policy_names(placement).fold(draft, |draft, member| draft.depends_on(AffectedPart::Member(member.to_owned())))
}

/// Returns the evidence with which each of these findings begins: the placement's condition, those of the entries without a
/// cluster, and the policy.
fn symptom(fleet: FleetView<'_>, placement: PlacementView<'_>, failed: &Condition) -> Vec<Evidence> {
    let quote = fleet.quote();
    let object = placement.object;
    let mut evidence = vec![quote.condition(object, failed)];
    let unnamed = ConditionPlace::Member { member: "(none)".to_owned() };
    for status in object.list("/status/placementStatuses").iter().filter(|s| s.get("clusterName").is_none()) {
        for condition in conditions(Some(status)).iter().filter(|c| c.observed_generation == object.generation()) {
            evidence.push(quote.condition_in(object, unnamed.clone(), condition));
        }
    }
    let fixed = object.str("/spec/policy/placementType") == Some("PickFixed");
    let field = if fixed { "spec.policy.clusterNames" } else { "spec.policy" };
    evidence.push(quote.field(object, field));
    evidence
}

/// Returns the names that each of these findings needs.
fn names(placement: PlacementView<'_>, shortage: &Shortage<'_>) -> Value {
    let named = policy_names(placement).count();
    let wanted = placement.object.at("/spec/policy/numberOfClusters").and_then(JsonRef::as_i64);
    json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "wanted": wanted.map_or_else(|| named.to_string(), |n| n.to_string()),
        "found": shortage.found,
    })
}
