use serde_json::{Value, json};

use crate::shapes::{
    at, condition, deleted, found, green, hub, in_both_scopes, member_cluster, placement, policy_snapshot, with,
};

pub fn unfulfilled(policy: Value, clusters: &[(&str, Value)]) -> Value {
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
    assert_eq!(cause, "Placement web asks for 3 clusters, and only 1 could be found: the fleet has 1 member.");
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

/// Placement that asks for two clusters and has member-1 alone, with a further field in its policy.
fn one_of_two(field: &str, value: Value) -> Value {
    let mut policy = json!({"placementType": "PickN", "numberOfClusters": 2});
    policy[field] = value;
    unfulfilled(policy, &[("member-1", json!([]))])
}

fn term(term: &Value) -> Value {
    json!({"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [term]}}})
}

fn labelled(name: &str, labels: Value) -> Value {
    with(member_cluster(name), "/metadata/labels", labels)
}

fn only_finding(objects: &[Value]) -> diagnosis::Finding {
    let mut findings = diagnosis::diagnose(&hub(objects.to_vec()));
    assert_eq!(findings.len(), 1, "{findings:?}");
    findings.remove(0)
}

#[test]
fn a_label_that_a_member_lacks_is_named() {
    let required = json!({"labelSelector": {
        "matchLabels": {"env": "prod"}, "matchExpressions": [{"key": "tier", "operator": "In", "values": ["1", "2"]}],
    }});
    let decisions = json!([{"clusterName": "member-2", "selected": false, "reason": "doesn't match"}]);
    let objects = [
        labelled("member-1", json!({"env": "prod", "tier": "1"})),
        labelled("member-2", json!({"env": "test", "tier": "2"})),
        labelled("member-3", json!({})),
        one_of_two("affinity", term(&required)),
        with(policy_snapshot("web", 0, json!([])), "/status/targetClusters", decisions),
    ];
    in_both_scopes(&objects, &["KF-SC-004 {c}ResourcePlacement/{ns}web"]);
    let finding = only_finding(&objects);
    assert!(finding.cause.ends_with("requires: member-2 lacks env=prod."), "{}", finding.cause);
    let label = &finding.remedies[0].commands[0];
    assert!(
        label.ends_with("label memberclusters.cluster.kubernetes-fleet.io/member-2 env=prod --overwrite"),
        "{label}"
    );
    let values: Vec<_> = finding.evidence[2..].iter().map(|e| (e.object.name.as_str(), e.value.as_str())).collect();
    assert_eq!(values, [("member-2", "test"), ("web-0", "doesn't match")]);
}

#[test]
fn the_nearest_members_are_named() {
    let required = json!({"labelSelector": {"matchExpressions": [
        {"key": "env", "operator": "NotIn", "values": ["test"]},
        {"key": "zone", "operator": "Exists"},
        {"key": "old", "operator": "DoesNotExist"},
        {"key": "tier", "operator": "In", "values": ["1", "2"]},
    ]}});
    let mut objects = vec![
        labelled("member-1", json!({"zone": "a", "tier": "1"})),
        one_of_two("affinity", term(&required)),
        labelled("bare", json!({"env": "test", "old": "yes"})),
    ];
    objects.extend(["b", "c", "d", "e"].map(|name| labelled(name, json!({"zone": "a"}))));
    let cause = only_finding(&objects).cause;
    let (selector, more) = ("tier in (1, 2)", "1 more");
    assert!(
        cause.ends_with(&format!("b lacks {selector}, c lacks {selector}, d lacks {selector}, {more}.")),
        "{cause}"
    );
    let objects = [objects[0].clone(), objects[1].clone(), objects[2].clone()];
    let finding = only_finding(&objects);
    let all = "bare lacks env!=test and zone and !old and tier in (1, 2).";
    assert!(finding.cause.ends_with(all), "{}", finding.cause);
    assert!(finding.remedies[0].commands[0].ends_with("bare env- zone=true old- tier=1 --overwrite"));
}

#[test]
fn a_taint_counts_only_if_it_is_not_tolerated() {
    let taint = json!({"key": "maintenance", "value": "true", "effect": "NoSchedule"});
    let tainted = with(member_cluster("member-2"), "/spec/taints", json!([taint]));
    let objects =
        |tolerations: Value| [member_cluster("member-1"), tainted.clone(), one_of_two("tolerations", tolerations)];
    let other = json!([{"key": "other", "operator": "Exists"}]);
    in_both_scopes(&objects(other.clone()), &["KF-SC-005 {c}ResourcePlacement/{ns}web"]);
    let finding = only_finding(&objects(other));
    assert!(finding.cause.ends_with("member-2 has the taint maintenance=true:NoSchedule."), "{}", finding.cause);
    let tolerate = &finding.remedies[0].commands[0];
    assert!(tolerate.contains(r#"{"key":"other","operator":"Exists"},{"#), "{tolerate}");
    assert!(finding.remedies[1].commands[0].ends_with(r#"'{"spec":{"taints":[]}}'"#));
    // Tolerated, but nothing has looked again: no cause is known.
    for tolerated in [
        json!([{"operator": "Exists"}]),
        json!([{"key": "maintenance", "operator": "Exists", "effect": "NoSchedule"}]),
        json!([{"key": "maintenance", "value": "true"}]),
    ] {
        in_both_scopes(&objects(tolerated), &["KF-SC-001 {c}ResourcePlacement/{ns}web"]);
    }
    let wrong = json!([{"key": "maintenance", "operator": "Equal", "value": "false"}]);
    in_both_scopes(&objects(wrong), &["KF-SC-005 {c}ResourcePlacement/{ns}web"]);
}

#[test]
fn a_member_that_is_not_connected_is_told_from_one_that_leaves() {
    let policy = json!({"placementType": "PickFixed", "clusterNames": ["member-1", "member-2"]});
    let short = unfulfilled(policy, &[("member-1", json!([]))]);
    let with_second = |second: Value| [member_cluster("member-1"), second, short.clone()];
    let agent = "/status/agentStatus/0";
    let silent = with(member_cluster("member-2"), &format!("{agent}/lastReceivedHeartbeat"), "2026-01-08T11:53:00Z");
    in_both_scopes(
        &with_second(silent),
        &["KF-MC-001 MemberCluster/member-2", "  KF-SC-006 {c}ResourcePlacement/{ns}web"],
    );
    let not_joined = with(member_cluster("member-2"), &format!("{agent}/conditions/0/status"), "False");
    let cause = only_finding(&with_second(not_joined.clone())).cause;
    assert!(cause.ends_with("isn't connected to the fleet: member-2 hasn't joined."), "{cause}");
    let healthy = format!("{agent}/conditions/1");
    let unhealthy = with(member_cluster("member-2"), &format!("{healthy}/status"), "False");
    let sick = with(unhealthy.clone(), &format!("{healthy}/lastTransitionTime"), "2026-01-08T11:50:00Z");
    in_both_scopes(
        &with_second(sick),
        &["KF-MC-008 MemberCluster/member-2", "  KF-SC-006 {c}ResourcePlacement/{ns}web"],
    );
    // The scheduler takes a member that hasn't been healthy for less than five minutes.
    let young = with(unhealthy, &format!("{healthy}/lastTransitionTime"), "2026-01-08T11:59:45Z");
    in_both_scopes(&with_second(young), &["KF-SC-001 {c}ResourcePlacement/{ns}web"]);
    in_both_scopes(&with_second(deleted(member_cluster("member-2"))), &["KF-SC-007 {c}ResourcePlacement/{ns}web"]);
    let patch = only_finding(&with_second(deleted(member_cluster("member-2")))).remedies[1].commands[0].clone();
    assert!(patch.ends_with(r#"'{"spec":{"policy":{"clusterNames":["member-1"]}}}'"#), "{patch}");
    // A member that is joining.
    let young = with(not_joined, "/metadata/creationTimestamp", "2026-01-08T11:58:30Z");
    in_both_scopes(&with_second(young), &[]);
}

#[test]
fn a_spread_constraint_counts_every_member_with_the_label() {
    let constraint = |when: &str| json!([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when}]);
    let mut short = one_of_two("topologySpreadConstraints", constraint("DoNotSchedule"));
    short["spec"]["policy"]["affinity"] = term(&json!({"labelSelector": {"matchLabels": {"env": "prod"}}}));
    let member = |name: &str, env: &str, zone: &str| labelled(name, json!({"env": env, "zone": zone}));
    let objects = [
        member("member-1", "prod", "a"),
        member("member-2", "prod", "a"),
        member("member-3", "test", "b"),
        short.clone(),
    ];
    in_both_scopes(&objects, &["KF-SC-008 {c}ResourcePlacement/{ns}web"]);
    let finding = only_finding(&objects);
    let text = "member-2 would be one too many in zone=a, which has 1, while zone=b has 0.";
    assert!(finding.cause.ends_with(text), "{}", finding.cause);
    assert!(finding.remedies[0].commands[0].contains(r#""whenUnsatisfiable":"ScheduleAnyway""#));
    // Without a second zone, or with a preference, there is no violation.
    let alone = [objects[0].clone(), objects[1].clone(), short.clone()];
    in_both_scopes(&alone, &["KF-SC-001 {c}ResourcePlacement/{ns}web"]);
    let preference = with(short, "/spec/policy/topologySpreadConstraints", constraint("ScheduleAnyway"));
    let objects = [objects[0].clone(), objects[1].clone(), objects[2].clone(), preference];
    assert_ne!(found(&hub(objects.to_vec())), ["KF-SC-008 ClusterResourcePlacement/web"]);
}

#[test]
fn a_property_that_a_member_has_not_is_named() {
    let required = |operator: &str, value: &str| {
        term(&json!({"propertySelector": {"matchExpressions": [
            {"name": "kubernetes-fleet.io/node-count", "operator": operator, "values": [value]},
            {"name": "resources.kubernetes-fleet.io/allocatable-memory", "operator": "Gt", "values": ["1Gi"]},
        ]}}))
    };
    let properties = |name: &str, nodes: &str, memory: &str| {
        let member = member_cluster(name);
        let member = with(member, "/status/properties", json!({"kubernetes-fleet.io/node-count": {"value": nodes}}));
        with(member, "/status/resourceUsage", json!({"allocatable": {"memory": memory}}))
    };
    let objects = |affinity: Value| {
        [properties("member-1", "5", "4Gi"), properties("member-2", "2", "4Gi"), one_of_two("affinity", affinity)]
    };
    in_both_scopes(&objects(required("Ge", "3")), &["KF-SC-009 {c}ResourcePlacement/{ns}web"]);
    let cause = only_finding(&objects(required("Ge", "3"))).cause;
    assert!(cause.ends_with("member-2 has 2 and not kubernetes-fleet.io/node-count >= 3."), "{cause}");
    for (operator, value) in [("Gt", "2"), ("Eq", "5"), ("Ne", "2"), ("Lt", "2"), ("Le", "1")] {
        in_both_scopes(&objects(required(operator, value)), &["KF-SC-009 {c}ResourcePlacement/{ns}web"]);
    }
    let mut without = objects(required("Ge", "1"));
    without[1] = member_cluster("member-2");
    let cause = only_finding(&without).cause;
    assert!(
        cause.contains("member-2 has no value and not kubernetes-fleet.io/node-count >= 1 and has no value"),
        "{cause}"
    );
}

#[test]
fn causes_are_told_until_there_are_enough_members() {
    let tainted = with(member_cluster("member-2"), "/spec/taints", json!([{"key": "k", "effect": "NoSchedule"}]));
    let policy = json!({
        "placementType": "PickN", "numberOfClusters": 3, "affinity": term(&json!({"labelSelector": {"matchLabels": {"env": "test"}}})),
    });
    let short = unfulfilled(policy, &[("member-1", json!([]))]);
    let objects = [member_cluster("member-1"), tainted, labelled("member-3", json!({})), short];
    let expected = ["KF-SC-004 {c}ResourcePlacement/{ns}web", "KF-SC-005 {c}ResourcePlacement/{ns}web"];
    in_both_scopes(&objects, &expected);
}

/// The scheduler looks again at once when a member's labels change.
#[test]
fn a_member_that_fits_since_a_moment_is_in_progress() {
    let required = json!({"labelSelector": {"matchLabels": {"env": "prod"}}});
    let short = one_of_two("affinity", term(&required));
    let second = |time: &str| {
        let writes = json!([{"manager": "kubectl", "time": time}]);
        with(labelled("member-2", json!({"env": "prod"})), "/metadata/managedFields", writes)
    };
    let first = labelled("member-1", json!({"env": "prod"}));
    in_both_scopes(&[first.clone(), second("2026-01-08T11:59:55Z"), short.clone()], &[]);
    let late = [first, second("2026-01-08T11:59:00Z"), short];
    in_both_scopes(&late, &["KF-SC-001 {c}ResourcePlacement/{ns}web"]);
}

fn scheduled(spec: Value, status: &str, members: &[&str], selected: Value) -> Value {
    let mut placement = green("web", members);
    placement["metadata"]["creationTimestamp"] = "2026-01-08T11:00:00Z".into();
    placement["spec"] = spec;
    placement["status"]["conditions"][0]["status"] = status.into();
    placement["status"]["selectedResources"] = selected;
    placement
}

#[test]
fn a_policy_that_selects_no_member_is_a_notice() {
    let required = term(&json!({"labelSelector": {"matchLabels": {"env": "prod"}}}));
    let mut web =
        scheduled(json!({"policy": {"placementType": "PickAll", "affinity": required}}), "True", &[], json!([]));
    let all = web["status"]["conditions"].take();
    web["status"]["conditions"] = json!([all[0]]);
    let objects = [member_cluster("member-1"), web.clone()];
    in_both_scopes(&objects, &["KF-SC-010 {c}ResourcePlacement/{ns}web"]);
    let finding = only_finding(&objects);
    assert_eq!(finding.severity, diagnosis::Severity::Notice);
    assert!(finding.cause.ends_with("selects no member: member-1 lacks env=prod."), "{}", finding.cause);
    // A placement that has just been made, and one that asks for a member that fits.
    let young = with(web.clone(), "/metadata/creationTimestamp", "2026-01-08T11:59:45Z");
    in_both_scopes(&[member_cluster("member-1"), young], &[]);
    let external = with(web, "/spec/strategy", json!({"type": "External"}));
    in_both_scopes(&[member_cluster("member-1"), external], &[]);
}

#[test]
fn a_selector_that_selects_nothing_is_a_notice() {
    let namespace = |name: &str| json!({"group": "", "version": "v1", "kind": "Namespace", "name": name});
    let selectors =
        json!([namespace("wbe"), {"group": "apps", "version": "v1", "kind": "Deployment", "labelSelector": {}}]);
    let web = scheduled(json!({"resourceSelectors": selectors}), "True", &["member-1"], json!([]));
    let objects = [member_cluster("member-1"), web.clone()];
    in_both_scopes(&objects, &["KF-SC-011 {c}ResourcePlacement/{ns}web"]);
    let finding = only_finding(&objects);
    let text = "places nothing, and reports no failure: on the hub there is no Namespace wbe, no Deployment by label.";
    assert!(finding.cause.ends_with(text), "{}", finding.cause);
    assert!(finding.evidence[2].is_absent);
    // Another selector of the placement may be for something that isn't always there.
    let selected = json!([{"group": "apps", "version": "v1", "kind": "Deployment", "name": "web"}]);
    in_both_scopes(&[member_cluster("member-1"), with(web.clone(), "/status/selectedResources", selected)], &[]);
    // The hub-agent is about to look.
    in_both_scopes(
        &[member_cluster("member-1"), with(web, "/metadata/creationTimestamp", "2026-01-08T11:59:45Z")],
        &[],
    );
}

#[test]
fn a_policy_without_its_number_or_names_is_never_scheduled() {
    for (policy, lacks) in [
        (json!({"placementType": "PickN"}), "PickN and has no numberOfClusters."),
        (json!({"placementType": "PickFixed", "clusterNames": []}), "PickFixed and has no clusterNames."),
    ] {
        let web = scheduled(json!({"policy": policy}), "Unknown", &[], json!([]));
        let objects = [member_cluster("member-1"), web.clone()];
        in_both_scopes(&objects, &["KF-SC-012 {c}ResourcePlacement/{ns}web"]);
        assert!(only_finding(&objects).cause.ends_with(lacks));
        let kept = with(web, "/status/conditions/0/status", "True");
        assert!(!found(&hub(vec![member_cluster("member-1"), kept])).iter().any(|f| f.contains("KF-SC-012")));
    }
}

#[test]
fn a_policy_that_has_lost_its_number_is_not_rolled_out() {
    let undecided = |since: &str| {
        let started = at(since, condition("RolloutStarted", "Unknown", "RolloutStartedUnknown", ""));
        let placement = with(green("web", &["member-1"]), "/status/placementStatuses/0/conditions", json!([started]));
        with(placement, "/spec/policy", json!({"placementType": "PickN"}))
    };
    in_both_scopes(&[undecided("2026-01-08T11:50:00Z")], &["KF-SC-012 {c}ResourcePlacement/{ns}web"]);
    let mut second = with(green("web", &["member-2", "member-1"]), "/spec/policy", json!({"placementType": "PickN"}));
    second["status"]["placementStatuses"][1] =
        undecided("2026-01-08T11:50:00Z")["status"]["placementStatuses"][0].clone();
    in_both_scopes(&[second], &["KF-SC-012 {c}ResourcePlacement/{ns}web"]);
    assert_eq!(found(&hub(vec![undecided("2026-01-08T11:59:50Z")])), [""; 0]);
    let finding = only_finding(&[undecided("2026-01-08T11:50:00Z")]);
    assert!(finding.cause.contains("isn't rolled out any more"), "{}", finding.cause);
}
