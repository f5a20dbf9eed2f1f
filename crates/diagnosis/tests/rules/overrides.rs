use serde_json::{Value, json};

use crate::shapes::{
    BEFORE, NOW, condition, external, found, green, hub, initialized_run, member_cluster, namespaced, stage, with,
};

const SETTINGS: &str = "settings";

/// Placement on member-1 of a ConfigMap in the namespace `apps`.
fn placed() -> Value {
    let selected = json!([
        {"version": "v1", "kind": "Namespace", "name": "apps"},
        {"version": "v1", "kind": "ConfigMap", "namespace": "apps", "name": SETTINGS},
    ]);
    with(green("web", &["member-1"]), "/status/selectedResources", selected)
}

/// Placement on which this override failed on member-1.
fn failed(message: &str, snapshot: &str) -> Value {
    let mut placement = placed();
    let there = condition("Overridden", "False", "OverriddenFailed", message);
    placement["status"]["conditions"] =
        json!([condition("ClusterResourcePlacementOverridden", "False", "OverriddenFailed", "")]);
    placement["status"]["placementStatuses"][0]["conditions"] = json!([there]);
    placement["status"]["placementStatuses"][0]["applicableResourceOverrides"] =
        json!([{"name": snapshot, "namespace": "apps"}]);
    placement
}

fn selector(kind: &str, name: &str) -> Value {
    json!({"group": "", "version": "v1", "kind": kind, "name": name})
}

/// Rule for all members.
fn for_all() -> Value {
    json!({"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/odd", "value": "true"}]})
}

fn for_label(selector: Value) -> Value {
    with(for_all(), "/clusterSelector/clusterSelectorTerms", json!([{"labelSelector": selector}]))
}

/// ResourceOverride for placement web.
fn resource_override(selector: Value, rule: Value) -> Value {
    json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ResourceOverride",
        "metadata": {"name": "odd", "namespace": "apps", "generation": 1, "creationTimestamp": BEFORE},
        "spec": {
            "placement": {"name": "web", "scope": "Cluster"},
            "resourceSelectors": [selector],
            "policy": {"overrideRules": [rule]},
        },
    })
}

/// `ClusterResourceOverride` for placement web.
fn cluster_override(selector: Value, rule: Value) -> Value {
    let mut it = resource_override(selector, rule);
    it["kind"] = "ClusterResourceOverride".into();
    it["metadata"].as_object_mut().unwrap().remove("namespace");
    it["spec"]["clusterResourceSelectors"] = it["spec"]["resourceSelectors"].take();
    it
}

fn snapshot_of(it: &Value) -> Value {
    let mut snapshot = it.clone();
    snapshot["kind"] = format!("{}Snapshot", it["kind"].as_str().unwrap()).into();
    snapshot["metadata"]["name"] = format!("{}-0", it["metadata"]["name"].as_str().unwrap()).into();
    snapshot["spec"] = json!({"overrideSpec": it["spec"]});
    snapshot
}

/// The cause of the only finding, which has this code.
fn cause(code: &str, objects: Vec<Value>) -> String {
    let snapshot = hub(objects);
    let all = found(&snapshot);
    assert!(matches!(&all[..], [one] if one.starts_with(code)), "{all:?}");
    diagnosis::diagnose(&snapshot).remove(0).cause
}

const IN_EFFECT: &str = "odd-0";

/// Placement on member-1 to which the override odd applies.
fn overridden() -> Value {
    let applied = json!([{"name": IN_EFFECT, "namespace": "apps"}]);
    with(placed(), "/status/placementStatuses/0/applicableResourceOverrides", applied)
}

#[test]
fn an_override_in_effect_says_nothing() {
    let it = resource_override(selector("ConfigMap", SETTINGS), for_all());
    assert_eq!(found(&hub(vec![overridden(), it.clone(), member_cluster("member-1")])), [""; 0]);
    // Its rollout may be held back: it is in effect as soon as it goes on.
    assert_eq!(found(&hub(vec![placed(), it, member_cluster("member-1")])), [""; 0]);
    let of_namespace = cluster_override(selector("Namespace", "apps"), for_all());
    assert_eq!(found(&hub(vec![placed(), of_namespace, member_cluster("member-1")])), [""; 0]);
}

#[test]
fn an_override_of_a_wrong_name_kind_or_version_is_named() {
    for wrong in [
        selector("ConfigMap", "setings"),
        selector("Secret", SETTINGS),
        with(selector("ConfigMap", SETTINGS), "/version", "v1beta1"),
    ] {
        let it = resource_override(wrong, for_all());
        let cause = cause("KF-OV-003 ResourceOverride/apps/odd", vec![placed(), it, member_cluster("member-1")]);
        assert!(cause.contains("ClusterResourcePlacement web doesn't place "), "{cause}");
        assert!(cause.contains("It places ConfigMap settings (v1)."), "{cause}");
    }
    let it = cluster_override(selector("Namespace", "app"), for_all());
    cause("KF-OV-003 ClusterResourceOverride/odd", vec![placed(), it, member_cluster("member-1")]);
}

#[test]
fn an_override_that_was_just_made_says_nothing() {
    let it = with(resource_override(selector("ConfigMap", "setings"), for_all()), "/metadata/creationTimestamp", NOW);
    assert_eq!(found(&hub(vec![placed(), it, member_cluster("member-1")])), [""; 0]);
}

#[test]
fn an_override_of_a_resource_placement_needs_its_scope() {
    let in_namespace = namespaced(&[placed()]).remove(0);
    let it = resource_override(selector("ConfigMap", SETTINGS), for_all());
    let cause = cause(
        "KF-OV-003 ResourceOverride/apps/odd",
        vec![in_namespace.clone(), it.clone(), member_cluster("member-1")],
    );
    assert!(cause.contains("There is a ResourcePlacement of this name"), "{cause}");
    let right = with(it, "/spec/placement/scope", "Namespaced");
    assert_eq!(found(&hub(vec![in_namespace, right, member_cluster("member-1")])), [""; 0]);
}

#[test]
fn an_override_for_other_members_is_named() {
    let nowhere = for_label(json!({"matchLabels": {"env": "nowhere"}}));
    let it = resource_override(selector("ConfigMap", SETTINGS), nowhere);
    let cause_of =
        |it: Value| cause("KF-OV-004 ResourceOverride/apps/odd", vec![placed(), it, member_cluster("member-1")]);
    assert!(cause_of(it).contains("match no member of web (member-1)"));
    let mut for_none = for_all();
    for_none.as_object_mut().unwrap().remove("clusterSelector");
    let it = resource_override(selector("ConfigMap", SETTINGS), for_none);
    assert!(cause_of(it).contains("have no cluster selector"));
    let fits = resource_override(selector("ConfigMap", SETTINGS), for_label(json!({"matchLabels": {"env": "test"}})));
    assert_eq!(found(&hub(vec![placed(), fits, member_cluster("member-1")])), [""; 0]);
}

#[test]
fn an_override_of_a_wrapped_object_is_named() {
    let wrapped = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "apps"}});
    let envelope = json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ResourceEnvelope",
        "metadata": {"name": "e1", "namespace": "apps"}, "data": {"x.yaml": wrapped},
    });
    let selected = json!([{
        "group": "placement.kubernetes-fleet.io", "version": "v1beta1", "kind": "ResourceEnvelope", "namespace": "apps",
        "name": "e1",
    }]);
    let placement = with(placed(), "/status/selectedResources", selected);
    let it = resource_override(selector("ConfigMap", "x"), for_all());
    let cause = cause("KF-OV-005 ResourceOverride/apps/odd", vec![placement, envelope, it, member_cluster("member-1")]);
    assert!(cause.contains("ConfigMap x (v1) is wrapped in ResourceEnvelope/apps/e1"), "{cause}");
}

#[test]
fn a_snapshot_that_is_gone_is_told_from_an_override_that_fails() {
    let message =
        "Failed to apply the override rules on the resources: resourceOverrideSnapshot apps/odd-0 is not found";
    let placement = failed(message, "odd-0");
    let cause_of = |objects: Vec<Value>| cause("KF-OV-002 ClusterResourcePlacement/web (member-1)", objects);
    assert!(cause_of(vec![placement.clone()]).ends_with("because ResourceOverride/apps/odd was deleted."));
    // It is there again.
    let it = resource_override(selector("ConfigMap", SETTINGS), for_all());
    cause("KF-OV-001", vec![placement, snapshot_of(&it), it, member_cluster("member-1")]);
}

#[test]
fn a_label_that_the_member_lacks_is_named() {
    let it = resource_override(selector("ConfigMap", SETTINGS), for_all());
    let placement = failed("label key region not found on cluster member-1", "odd-0");
    let objects = vec![placement.clone(), snapshot_of(&it), it.clone(), member_cluster("member-1")];
    let cause_of = cause("KF-OV-006 ClusterResourcePlacement/web (member-1)", objects);
    assert!(cause_of.contains("puts the member's label region into a value"), "{cause_of}");
    // It has the label by now.
    let labelled = with(member_cluster("member-1"), "/metadata/labels/region", "north");
    cause("KF-OV-001", vec![placement, snapshot_of(&it), it, labelled]);
}

#[test]
fn a_correction_of_an_override_without_placement_starts_no_rollout() {
    let expect = |it: Value| {
        let placement = failed("add operation does not apply: doc is missing path", "odd-0");
        let snapshot = hub(vec![placement, snapshot_of(&it), it, member_cluster("member-1")]);
        diagnosis::diagnose(&snapshot).remove(0).remedies.remove(0).expect
    };
    let mut it = resource_override(selector("ConfigMap", SETTINGS), for_all());
    assert!(expect(it.clone()).starts_with("The placement recovers by itself"));
    it["spec"].as_object_mut().unwrap().remove("placement");
    assert!(expect(it).starts_with("ResourceOverride/apps/odd names no placement"));
}

#[test]
fn a_selector_that_cannot_be_parsed_stops_the_rollout() {
    let invalid = for_label(json!({"matchExpressions": [{"key": "env", "operator": "In"}]}));
    let it = resource_override(selector("ConfigMap", SETTINGS), invalid);
    let mut placement = placed();
    let unknown = |type_: &str| condition(type_, "Unknown", "RolloutStartedUnknown", "");
    placement["status"]["conditions"] = json!([unknown("ClusterResourcePlacementRolloutStarted")]);
    placement["status"]["placementStatuses"][0]["conditions"] = json!([unknown("RolloutStarted")]);
    let objects = vec![placement, it.clone(), member_cluster("member-1")];
    let cause = cause("KF-OV-007 ClusterResourcePlacement/web", objects);
    assert!(cause.contains("ResourceOverride/apps/odd is invalid"), "{cause}");
    // Nothing has to be rolled out.
    assert_eq!(found(&hub(vec![placed(), it, member_cluster("member-1")])), [""; 0]);
}

#[test]
fn a_run_of_a_resource_placement_leaves_out_what_names_the_placement() {
    let it = resource_override(selector("ConfigMap", SETTINGS), for_all());
    let it =
        with(with(it, "/spec/placement/scope", "Namespaced"), "/metadata/creationTimestamp", "2026-01-08T11:58:00Z");
    let run = |overrides: Value| {
        let succeeded = condition("Succeeded", "True", "StageUpdatingSucceeded", "");
        let stages = json!([stage("one", json!([succeeded.clone()]), &[("member-1", json!([succeeded]))])]);
        let run = with(initialized_run("release", "web", BEFORE), "/status/stagesStatus", stages);
        let initialized = condition("Initialized", "True", "UpdateRunInitializedSuccessfully", "");
        let ended = condition("Succeeded", "True", "UpdateRunSucceeded", "");
        let run = with(run, "/status/conditions", json!([initialized, ended]));
        let run = with(run, "/metadata/creationTimestamp", BEFORE);
        with(run, "/status/stagesStatus/0/clusters/0/resourceOverrideSnapshots", overrides)
    };
    let fleet = |run: Value| {
        let mut objects = namespaced(&[external(placed()), run]);
        objects.extend([it.clone(), member_cluster("member-1")]);
        objects
    };
    let cause = cause("KF-OV-008 ResourceOverride/apps/odd", fleet(run(json!([]))));
    assert!(cause.contains("update run apps/release has left it out"), "{cause}");
    let listed = fleet(run(json!([{"name": "odd-0", "namespace": "apps"}])));
    assert_eq!(found(&hub(listed)), [""; 0]);
}
