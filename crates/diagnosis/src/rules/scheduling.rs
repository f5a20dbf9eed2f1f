//! Placements for which not all clusters could be found.

use serde_json::{Value, json};

use super::draft::{Draft, Topic};
use super::fleet::{CLUSTER, Fleet, Placement};
use super::kubectl;
use crate::{Condition, conditions};

pub(super) fn rule(fleet: Fleet<'_>) -> Vec<Draft> {
    let failed = |p: &Placement<'_>| p.condition("Scheduled").filter(|c| c.status == "False");
    fleet.placements().filter_map(|p| Some(unfulfilled(fleet, p, &failed(&p)?))).collect()
}

/// KF-SC-001: fewer clusters than the policy asks for. KF-SC-002: the policy names a cluster that doesn't exist.
fn unfulfilled(fleet: Fleet<'_>, placement: Placement<'_>, failed: &Condition) -> Draft {
    let quote = fleet.quote();
    let object = placement.object;
    let asked = object.list("/spec/policy/clusterNames").iter().filter_map(Value::as_str);
    let unknown: Vec<_> =
        asked.clone().filter(|n| fleet.hub.object(CLUSTER, "MemberCluster", None, n).is_none()).collect();
    let mut evidence = vec![quote.condition(object, failed)];
    for status in object.list("/status/placementStatuses").iter().filter(|s| s.get("clusterName").is_none()) {
        for condition in conditions(Some(status)).iter().filter(|c| c.observed_generation == object.generation()) {
            evidence.push(quote.condition_in(object, "status.placementStatuses[(none)]", condition));
        }
    }
    let fixed = object.str("/spec/policy/placementType") == Some("PickFixed");
    let field = if fixed { "spec.policy.clusterNames" } else { "spec.policy" };
    evidence.push(quote.field(object, field));
    evidence.extend(unknown.iter().map(|name| quote.absent("MemberCluster", None, name)));
    let code = if unknown.is_empty() { "KF-SC-001" } else { "KF-SC-002" };
    let wanted = object.at("/spec/policy/numberOfClusters").and_then(Value::as_i64);
    let known: Vec<_> = asked.clone().filter(|n| !unknown.contains(n)).collect();
    let narrowed = json!({"spec": {"policy": {"clusterNames": known}}}).to_string();
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(object),
        "wanted": wanted.map_or_else(|| asked.clone().count().to_string(), |n| n.to_string()),
        "found": placement.clusters().count(),
        "unknown": unknown.join(", "),
        "patch": narrowed,
    });
    let draft = Draft::new(code, placement.subject(fleet, None), &names, evidence).about(placement.topic());
    asked.fold(draft, |draft, member| draft.follows(Topic::Member(member.to_owned())))
}
