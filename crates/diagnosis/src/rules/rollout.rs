//! Rollouts that don't reach a member's Works, because an override fails or the placement's own limits hold the rollout
//! back.

use std::cell::LazyCell;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::availability::PATIENCE;
use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, MemberPlacement, PlacementView};
use super::outcome::DELETION_LIMIT;
use super::{drift, foreign_finalizer, kubectl, resource_snapshot};
use crate::kubefleet::PLACEMENT_GROUP;
use crate::object::text_field;
use crate::{Condition, JsonRef, Object};

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
            drafts.extend(override_failed(fleet, placement, status));
            if let Some(held) = status.condition("RolloutStarted").filter(|c| c.status == "False") {
                drafts.extend(match foreign_finalizer::predecessor(fleet, placement, status) {
                    Some(old) => waits_for_predecessor(fleet, placement, status, &held, old),
                    None => held_back(fleet, placement, status, &held, &unavailable),
                });
            }
        }
    }
    drafts
}

/// KF-OV-001: an override can't be applied.
fn override_failed(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
) -> Option<FindingDraft> {
    let failed = status.condition("Overridden").filter(|c| c.status == "False")?;
    // The condition also stands for a resource snapshot that is gone (v0.1.2).
    if resource_snapshot::missing_snapshot(fleet, placement, status.member).is_some() {
        return None;
    }
    let mut evidence = placement.symptom(fleet, status, &failed);
    let mut refs = Vec::new();
    for field in ["applicableResourceOverrides", "applicableClusterResourceOverrides"] {
        for named in status.list(field) {
            // A placement's status has the names of override snapshots: NAME-INDEX.
            let (namespace, snapshot) = match named.as_str() {
                Some(name) => (None, name),
                None => (named.get("namespace").and_then(JsonRef::as_str), text_field(named, "name")),
            };
            let name = snapshot.rsplit_once('-').map_or(snapshot, |(name, _)| name);
            let kind = if namespace.is_some() { "ResourceOverride" } else { "ClusterResourceOverride" };
            evidence.push(fleet.quote().text(
                placement.object,
                &format!("{}.{field}", status.place().field_path()),
                snapshot.to_owned(),
                None,
            ));
            refs.push(kubectl::reference_by_name(PLACEMENT_GROUP, kind, namespace, name));
        }
    }
    let names = json!({
        "placement": placement.full_name(),
        "member": status.member,
        "message": failed.message,
        "overrides": refs,
    });
    let draft = FindingDraft::new(RuleCode::KF_OV_001, placement.subject(fleet, Some(status.member)), &names, evidence);
    Some(draft.affects(placement.part_on(status.member)))
}

/// KF-DL-004: the member was selected again, and the binding by which it was selected before doesn't go.
fn waits_for_predecessor(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    held: &Condition,
    old: Object<'_>,
) -> Option<FindingDraft> {
    if fleet.age(old.deleted_at()?) < DELETION_LIMIT {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence = placement.symptom(fleet, status, held);
    evidence.extend([quote.deletion(old), quote.field(old, "metadata.finalizers")]);
    let finalizers: Vec<_> = old.list("/metadata/finalizers").iter().filter_map(JsonRef::as_str).collect();
    let names = json!({
        "placement": placement.full_name(),
        "member": status.member,
        "binding": old.path().to_string(),
        "binding_ref": kubectl::reference(old),
        "finalizers": finalizers,
        "is_explained": false,
    });
    let mut names_if_explained = names.clone();
    names_if_explained["is_explained"] = true.into();
    let draft = FindingDraft::new(RuleCode::KF_DL_004, placement.subject(fleet, Some(status.member)), &names, evidence)
        .with_texts_if_explained(&names_if_explained)
        .depends_on(AffectedPart::HubAgent)
        .depends_on(foreign_finalizer::part_of_binding(old));
    Some(draft)
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
        "is_explained": false,
    });
    let mut names_if_explained = names.clone();
    names_if_explained["is_explained"] = true.into();
    let draft = FindingDraft::new(RuleCode::KF_RO_002, placement.subject(fleet, Some(status.member)), &names, evidence)
        .with_texts_if_explained(&names_if_explained)
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
    let is_accounted = unavailable.iter().any(|other| other.status.member != status.member) || is_short(placement);
    if is_accounted { HOLD_LIMIT } else { unavailable_period(placement) + HOLD_LIMIT }
}

/// Returns the usual time of a rollout that hasn't started on a member; `None` if the condition isn't about that.
pub(super) fn usual_hold_time(
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    condition: &Condition,
) -> Option<SignedDuration> {
    let unavailable: Vec<_> = placement.clusters().filter_map(UnavailableMember::new).collect();
    let is_held = condition.type_ == "RolloutStarted" && condition.status == "False";
    is_held.then(|| hold_time(placement, status, &unavailable))
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

/// Member to which the placement is rolled out, but on which it isn't available.
struct UnavailableMember<'a> {
    status: MemberPlacement<'a>,
    /// First condition after the rollout's start that isn't True; `None` if no such condition exists yet.
    condition: Option<Condition>,
    /// Time of the last transition of `condition`, or of the rollout's start if there is no `condition`.
    since: Option<Timestamp>,
}

impl<'a> UnavailableMember<'a> {
    fn new(status: MemberPlacement<'a>) -> Option<Self> {
        let started = status.condition("RolloutStarted").filter(|c| c.status == "True")?;
        if READY.into_iter().any(|type_| status.condition(type_).is_some_and(|c| c.status == "True")) {
            return None;
        }
        let behind = ["Overridden", "WorkSynchronized", "Applied", "Available", "DiffReported"];
        let condition = behind.into_iter().filter_map(|type_| status.condition(type_)).find(|c| c.status != "True");
        let since = condition.as_ref().map_or(started.last_transition_time, |c| c.last_transition_time);
        Some(Self { status, condition, since })
    }

    /// True if the placement may still become available on the member without anybody's help.
    fn is_young(&self, fleet: FleetView<'_>) -> bool {
        self.since.is_some_and(|since| fleet.now().duration_since(since) <= PATIENCE)
    }
}
