use serde_json::{Value, json};

use crate::shapes::{condition, green, in_both_scopes, member_cluster, placement, with};

fn unfulfilled(policy: Value, clusters: &[(&str, Value)]) -> Value {
    let text = "could not find all clusters needed as specified by the scheduling policy, found 1 cluster(s) instead";
    let top = condition("ClusterResourcePlacementScheduled", "False", "SchedulingPolicyUnfulfilled", text);
    with(placement("web", json!([top]), clusters), "/spec/policy", policy)
}

#[test]
fn too_few_clusters_are_found_in_both_scopes() {
    let policy = json!({"placementType": "PickN", "numberOfClusters": 3});
    let objects = [member_cluster("member-1"), unfulfilled(policy, &[("member-1", json!([]))])];
    in_both_scopes(&objects, &["KF-SC-001 {c}ResourcePlacement/{ns}web"]);
    let cause = diagnosis::diagnose(&crate::shapes::hub(objects.to_vec()))[0].cause.clone();
    assert_eq!(cause, "Placement web asks for 3 clusters, and only 1 could be found.");
}

#[test]
fn a_name_that_no_cluster_has_is_told_apart() {
    let policy = json!({"placementType": "PickFixed", "clusterNames": ["member-1", "nosuch"]});
    let mut short = unfulfilled(policy, &[("member-1", json!([])), ("", json!([]))]);
    let failed = condition("Scheduled", "False", "ScheduleFailed", "Specified cluster \"nosuch\" is not found");
    short["status"]["placementStatuses"][1] = json!({"conditions": [failed]});
    let objects = [member_cluster("member-1"), short];
    in_both_scopes(&objects, &["KF-SC-002 {c}ResourcePlacement/{ns}web"]);
    let findings = diagnosis::diagnose(&crate::shapes::hub(objects.to_vec()));
    assert!(findings[0].evidence[1].value.ends_with("\"nosuch\" is not found"));
    assert!(findings[0].remedies[0].commands[0].ends_with(r#"-p '{"spec":{"policy":{"clusterNames":["member-1"]}}}'"#));
}

#[test]
fn what_is_fulfilled_or_of_an_older_generation_says_nothing() {
    in_both_scopes(&[member_cluster("member-1"), green("web", &["member-1"])], &[]);
    let policy = json!({"placementType": "PickN", "numberOfClusters": 3});
    in_both_scopes(&[with(unfulfilled(policy, &[]), "/metadata/generation", 2)], &[]);
}

#[test]
fn invalid_selectors_are_no_lack_of_clusters() {
    let text = "failed to get GVR of the selector: no matches for kind \"Widget\" in version \"example.com/v1\"";
    let top = condition("ClusterResourcePlacementScheduled", "False", "InvalidResourceSelectors", text);
    let selectors = json!([{"group": "example.com", "version": "v1", "kind": "Widget", "name": "web"}]);
    let invalid = with(placement("web", json!([top]), &[]), "/spec/resourceSelectors", selectors);
    let objects = [member_cluster("member-1"), invalid.clone()];
    in_both_scopes(&objects, &["KF-SC-003 {c}ResourcePlacement/{ns}web"]);
    let finding = diagnosis::diagnose(&crate::shapes::hub(objects.to_vec())).remove(0);
    assert!(finding.cause.ends_with(text), "{}", finding.cause);
    assert!(finding.evidence[1].value.contains("Widget"));
    // The selectors were corrected, and the hub-agent hasn't looked yet.
    in_both_scopes(&[with(invalid, "/metadata/generation", 2)], &[]);
}
