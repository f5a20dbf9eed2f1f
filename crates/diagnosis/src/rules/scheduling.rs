//! Placements that the scheduler can't fulfil: too few clusters, or selectors that are invalid.

use record::ConditionPlace;
use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, PlacementView};
use super::kubectl;
use crate::kubefleet::CLUSTER_GROUP;
use crate::{Condition, JsonRef, conditions};

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        let failed = placement.condition("Scheduled").filter(|c| c.status == "False");
        drafts.extend(failed.map(|failed| match failed.reason.as_str() {
            "InvalidResourceSelectors" => invalid_selectors(fleet, placement, &failed),
            _ => unfulfilled(fleet, placement, &failed),
        }));
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

/// KF-SC-001: the policy asks for more clusters than were found. KF-SC-002: the policy names a cluster that doesn't
/// exist.
fn unfulfilled(fleet: FleetView<'_>, placement: PlacementView<'_>, failed: &Condition) -> FindingDraft {
    let quote = fleet.quote();
    let object = placement.object;
    let asked = object.list("/spec/policy/clusterNames").iter().filter_map(JsonRef::as_str);
    let unknown: Vec<_> =
        asked.clone().filter(|n| fleet.hub.object(CLUSTER_GROUP, "MemberCluster", None, n).is_none()).collect();
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
    evidence.extend(unknown.iter().map(|name| quote.absent("MemberCluster", None, name)));
    let code = if unknown.is_empty() { RuleCode::KF_SC_001 } else { RuleCode::KF_SC_002 };
    let wanted = object.at("/spec/policy/numberOfClusters").and_then(JsonRef::as_i64);
    let known: Vec<_> = asked.clone().filter(|n| !unknown.contains(n)).collect();
    let narrowed = json!({"spec": {"policy": {"clusterNames": known}}}).to_string();
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(object),
        "wanted": wanted.map_or_else(|| asked.clone().count().to_string(), |n| n.to_string()),
        "found": placement.clusters().count(),
        "unknown": unknown.join(", "),
        "known": known.join(", "),
        "patch": narrowed,
    });
    let draft = FindingDraft::new(code, placement.subject(fleet, None), &names, evidence).affects(placement.part());
    asked.fold(draft, |draft, member| draft.depends_on(AffectedPart::Member(member.to_owned())))
}
