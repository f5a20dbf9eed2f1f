//! Rollouts that don't reach a member's Works, because the placement's own limits hold them back.

use std::cell::LazyCell;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::availability::PATIENCE;
use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, MemberPlacement, PlacementView};
use super::{drift, foreign_finalizer, kubectl};
use crate::{Condition, JsonRef};

/// Time for which a rollout may be held back without counting as a failure, beyond the time that it has to wait. Members are
/// updated one after the other.
const HOLD_LIMIT: SignedDuration = SignedDuration::from_secs(15);

/// Default of a placement's `spec.strategy.rollingUpdate.unavailablePeriodSeconds`.
const DEFAULT_UNAVAILABLE_PERIOD: i64 = 60;

/// Conditions one of which makes a member count as available in a rollout. A placement that only compares has the second one.
const READY: [&str; 2] = ["Available", "DiffReported"];

/// Number of unavailable members that a finding names and quotes.
const MAX_NAMED_MEMBERS: usize = 3;

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        let unavailable = LazyCell::new(|| placement.clusters().filter_map(UnavailableMember::new).collect::<Vec<_>>());
        for status in placement.clusters() {
            if let Some(held) = status.condition("RolloutStarted").filter(|c| c.status == "False") {
                // The rollout doesn't go on before the binding of before is gone: KF-DL-004.
                if foreign_finalizer::predecessor(fleet, placement, status).is_none() {
                    drafts.extend(held_back(fleet, placement, status, &held, &unavailable));
                }
            }
        }
    }
    drafts
}

/// KF-RO-002: the placement's own limits keep the rollout from the member.
fn held_back(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    held: &Condition,
    unavailable: &[UnavailableMember<'_>],
) -> Option<FindingDraft> {
    let since = held.last_transition_time?;
    if fleet.now().duration_since(since) < hold_time(placement, status, unavailable) {
        return None;
    }
    let others: Vec<&UnavailableMember<'_>> =
        unavailable.iter().filter(|other| other.status.member != status.member).collect();
    let mut named: Vec<String> =
        others.iter().take(MAX_NAMED_MEMBERS).map(|other| other.status.member.to_owned()).collect();
    if others.len() > MAX_NAMED_MEMBERS {
        named.push(format!("{} more", others.len() - MAX_NAMED_MEMBERS));
    }
    let quote = fleet.quote();
    let mut evidence = placement.symptom(fleet, status, held);
    evidence.extend(others.iter().take(MAX_NAMED_MEMBERS).filter_map(|other| {
        Some(quote.condition_in(placement.object, other.status.place(), other.condition.as_ref()?))
    }));
    evidence.push(quote.field(placement.object, "spec.strategy.rollingUpdate"));
    evidence.push(quote.field(placement.object, "spec.policy"));
    let wanted = placement.object.at("/spec/policy/numberOfClusters").and_then(JsonRef::as_u64);
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": status.member,
        "wanted": wanted.map(|n| n.to_string()).unwrap_or_default(),
        "found": placement.clusters().count(),
        "limit": placement.object.at("/spec/strategy/rollingUpdate/maxUnavailable").map_or("25%".to_owned(), JsonRef::to_text),
        "unavailable": named,
        "is_short": is_short(placement),
        "is_zero": is_zero(placement),
        "is_explained": false,
    });
    let draft = FindingDraft::new(RuleCode::KF_RO_002, placement.subject(fleet, Some(status.member)), &names, evidence)
        .with_texts_if_explained(&names)
        // Members that the scheduler can't find count as unavailable.
        .depends_on(placement.part())
        // A member on which nothing could be compared counts as unavailable, and isn't updated itself.
        .depends_on(placement.part_on(status.member));
    let of_comparison = placement.clusters().filter(|_| drift::compares_only(placement));
    let draft = of_comparison.fold(draft, |draft, other| draft.depends_on(placement.part_on(other.member)));
    let draft = others.iter().fold(draft, |draft, other| {
        draft
            .depends_on(placement.part_on(other.status.member))
            .depends_on(AffectedPart::Member(other.status.member.to_owned()))
    });
    // While the rollout to another member is still in progress, this one will go on by itself.
    let is_on_its_way = is_held_back_by_rollout(placement, fleet, status, held);
    Some(if is_on_its_way { draft.only_as_consequence() } else { draft })
}

/// True if the placement asks for more members than the scheduler has found.
fn is_short(placement: PlacementView<'_>) -> bool {
    let wanted = placement.object.at("/spec/policy/numberOfClusters").and_then(JsonRef::as_u64);
    wanted.is_some_and(|wanted| wanted > placement.clusters().count() as u64)
}

/// True if the placement lets no member be unavailable, not even while it is updated.
fn is_zero(placement: PlacementView<'_>) -> bool {
    let limit = placement.object.at("/spec/strategy/rollingUpdate/maxUnavailable").map(JsonRef::to_text);
    limit.is_some_and(|limit| limit.trim_end_matches('%') == "0")
}

/// Returns the time after which the hub-agent looks again at a rollout that it has held back. It waits as long for members that the
/// placement has just left (61 s, v0.1.2).
fn unavailable_period(placement: PlacementView<'_>) -> SignedDuration {
    let seconds =
        placement.object.at("/spec/strategy/rollingUpdate/unavailablePeriodSeconds").and_then(JsonRef::as_i64);
    SignedDuration::from_secs(seconds.unwrap_or(DEFAULT_UNAVAILABLE_PERIOD).clamp(0, 24 * 3600))
}

/// Returns the time for which the rollout to a member may be held back without counting as a failure: the longer one where no
/// unavailable member accounts for it.
fn hold_time(
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    unavailable: &[UnavailableMember<'_>],
) -> SignedDuration {
    let has_cause = is_short(placement) || is_zero(placement);
    let is_accounted = has_cause || unavailable.iter().any(|other| other.status.member != status.member);
    if is_accounted { HOLD_LIMIT } else { unavailable_period(placement) + HOLD_LIMIT }
}

/// Returns the usual time of a rollout that hasn't started on a member; `None` if the condition isn't about that.
pub(super) fn usual_hold_time(
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    condition: &Condition,
) -> Option<SignedDuration> {
    let is_held = condition.type_ == "RolloutStarted" && condition.status == "False";
    is_held.then(|| hold_time_of(placement, status))
}

/// Returns the [`hold_time`] of a member among all members of its placement.
fn hold_time_of(placement: PlacementView<'_>, status: MemberPlacement<'_>) -> SignedDuration {
    let unavailable: Vec<_> = placement.clusters().filter_map(UnavailableMember::new).collect();
    hold_time(placement, status, &unavailable)
}

/// True if the rollout to a member hasn't started because the rollout to another member is still in progress, or has just
/// ended.
pub(super) fn is_held_back_by_rollout(
    placement: PlacementView<'_>,
    fleet: FleetView<'_>,
    status: MemberPlacement<'_>,
    condition: &Condition,
) -> bool {
    let mut others = placement.clusters().filter(|other| other.member != status.member);
    condition.type_ == "RolloutStarted"
        && condition.status == "False"
        && others.any(|other| {
            let ended = READY.into_iter().find_map(|type_| other.condition(type_));
            let just_ended = ended.and_then(|ended| ended.last_transition_time);
            UnavailableMember::new(other).is_some_and(|other| other.is_young(fleet))
                || just_ended.is_some_and(|at| fleet.age(at) < unavailable_period(placement) + HOLD_LIMIT)
        })
}

/// True if the rollout may still start on a member, or the placement become available there, without anybody's help.
pub(super) fn may_get_ready(fleet: FleetView<'_>, placement: PlacementView<'_>, status: MemberPlacement<'_>) -> bool {
    if let Some(unavailable) = UnavailableMember::new(status) {
        return unavailable.is_young(fleet);
    }
    let held = status.condition("RolloutStarted").filter(|c| c.status != "True");
    let since = held.and_then(|held| held.last_transition_time);
    since.is_some_and(|since| fleet.age(since) < hold_time_of(placement, status))
}

/// True if a member counts as available in a rollout.
pub(super) fn is_ready(status: MemberPlacement<'_>) -> bool {
    READY.into_iter().any(|type_| status.condition(type_).is_some_and(|c| c.status == "True"))
}

/// Member to which the placement is rolled out, but on which it isn't available.
pub(super) struct UnavailableMember<'a> {
    status: MemberPlacement<'a>,
    /// First condition after the rollout's start that isn't True; `None` if no such condition exists yet.
    condition: Option<Condition>,
    /// Time of the last transition of `condition`, or of the rollout's start if there is no `condition`.
    since: Option<Timestamp>,
}

impl<'a> UnavailableMember<'a> {
    pub(super) fn new(status: MemberPlacement<'a>) -> Option<Self> {
        let started = status.condition("RolloutStarted").filter(|c| c.status == "True")?;
        if is_ready(status) {
            return None;
        }
        let behind = ["Overridden", "WorkSynchronized", "Applied", "Available", "DiffReported"];
        let condition = behind.into_iter().filter_map(|type_| status.condition(type_)).find(|c| c.status != "True");
        let since = condition.as_ref().map_or(started.last_transition_time, |c| c.last_transition_time);
        Some(Self { status, condition, since })
    }

    /// True if the placement may still become available on the member without anybody's help.
    pub(super) fn is_young(&self, fleet: FleetView<'_>) -> bool {
        self.since.is_some_and(|since| fleet.now().duration_since(since) <= PATIENCE)
    }
}
