use diagnosis::{KubectlAccess, examine};
use serde_json::{Value, json};

use crate::shapes::{binding, condition, deleted, external, found, green, hub, member_cluster, with};

const INVALID: &str = "ClusterResourcePlacementEvictionInvalid";
const NOT_EXECUTED: &str = "ClusterResourcePlacementEvictionNotExecuted";

/// Eviction of placement web from member-1.
fn eviction(name: &str, conditions: Value) -> Value {
    json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterResourcePlacementEviction",
        "metadata": {"name": name, "generation": 1, "creationTimestamp": "2026-01-08T11:58:00Z"},
        "spec": {"placementName": "web", "clusterName": "member-1"},
        "status": {"conditions": conditions},
    })
}

fn invalid(message: &str) -> Value {
    eviction("move", json!([condition("Valid", "False", INVALID, message)]))
}

fn not_executed(message: &str) -> Value {
    let valid = condition("Valid", "True", "ClusterResourcePlacementEvictionValid", "Eviction is valid");
    eviction("move", json!([valid, condition("Executed", "False", NOT_EXECUTED, message)]))
}

fn executed(name: &str) -> Value {
    let text = "Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified";
    let executed = condition("Executed", "True", "ClusterResourcePlacementEvictionExecuted", text);
    eviction(name, json!([condition("Valid", "True", "ClusterResourcePlacementEvictionValid", ""), executed]))
}

fn budget(spec: Value) -> Value {
    json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterResourcePlacementDisruptionBudget",
        "metadata": {"name": "web"}, "spec": spec,
    })
}

fn web(policy: Value) -> Value {
    with(green("web", &["member-1", "member-2"]), "/spec/policy", policy)
}

fn pick_all() -> Value {
    web(json!({"placementType": "PickAll"}))
}

fn pick_n(wanted: u32) -> Value {
    web(json!({"placementType": "PickN", "numberOfClusters": wanted}))
}

/// Binding of placement web on which its resources are available, or not.
fn bound(member: &str, is_available: bool) -> Value {
    let status = if is_available { "True" } else { "False" };
    binding("web", member, "web-0-snapshot", json!([condition("Available", status, "", "")]))
}

/// Cause and first command of the only finding.
fn told(objects: Vec<Value>) -> (String, Vec<String>) {
    let findings = diagnosis::diagnose(&hub(objects));
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    (finding.cause.clone(), finding.remedies.iter().flat_map(|remedy| remedy.commands.clone()).collect())
}

const AGAIN: [&str; 1] =
    ["kubectl --context hub delete clusterresourceplacementevictions.placement.kubernetes-fleet.io/move"];

const MISSING: &str = "Failed to find ClusterResourcePlacement targeted by eviction";

#[test]
fn a_placement_that_does_not_exist_is_found() {
    let found_code = ["KF-EV-001 ClusterResourcePlacementEviction/move (member-1)"];
    assert_eq!(found(&hub(vec![invalid(MISSING)])), found_code);
    let (cause, commands) = told(vec![invalid(MISSING)]);
    assert_eq!(cause, "Eviction move evicts nothing from member-1: there is no ClusterResourcePlacement web.");
    assert_eq!(commands[0], AGAIN[0]);
    assert!(commands[1].contains(r#""placementName":"PLACEMENT""#), "{}", commands[1]);
    // An eviction is judged once.
    assert_eq!(found(&hub(vec![invalid(MISSING), pick_all()])), found_code);
    let (cause, commands) = told(vec![invalid(MISSING), pick_all()]);
    assert!(cause.contains("There is one by now"), "{cause}");
    assert!(commands[1].contains(r#""placementName":"web""#), "{}", commands[1]);
}

#[test]
fn a_placement_that_is_being_deleted_is_found() {
    let text = "Found deleting ClusterResourcePlacement targeted by eviction";
    let found_code = "KF-EV-002 ClusterResourcePlacementEviction/move (member-1)";
    for placement in [vec![deleted(pick_all())], vec![], vec![pick_all()]] {
        let objects = [vec![invalid(text)], placement].concat();
        assert_eq!(found(&hub(objects)), [found_code]);
    }
    let (cause, commands) = told(vec![invalid(text), deleted(pick_all())]);
    assert!(cause.ends_with("is being deleted, and goes from all its members."), "{cause}");
    assert_eq!(commands, AGAIN);
    // A finalizer that holds the placement explains both.
    let held = with(pick_all(), "/metadata/finalizers", json!(["example.com/protect"]));
    let held = with(held, "/metadata/deletionTimestamp", "2026-01-08T11:58:00Z");
    let expected = ["KF-DL-002 ClusterResourcePlacement/web".to_owned(), format!("  {found_code}")];
    assert_eq!(found(&hub(vec![invalid(text), held])), expected);
}

#[test]
fn a_placement_that_names_its_members_is_found() {
    let text = "Found ClusterResourcePlacement with PickFixed placement type targeted by eviction";
    let fixed = |names: Value| web(json!({"placementType": "PickFixed", "clusterNames": names}));
    let both = vec![invalid(text), fixed(json!(["member-1", "member-2"]))];
    assert_eq!(found(&hub(both.clone())), ["KF-EV-003 ClusterResourcePlacementEviction/move (member-1)"]);
    let (_, commands) = told(both);
    assert!(commands[0].contains("patch clusterresourceplacements") && commands[0].contains(r#"["member-2"]"#));
    assert_eq!(commands[1..], AGAIN);
    // A policy without names isn't scheduled.
    let (_, commands) = told(vec![invalid(text), fixed(json!(["member-1"]))]);
    assert!(commands[0].contains(" edit "), "{commands:?}");
    let (cause, commands) = told(vec![invalid(text), fixed(json!(["member-2"]))]);
    assert!(cause.ends_with("member-1 isn't among them."), "{cause}");
    assert_eq!(commands, AGAIN);
}

#[test]
fn a_member_without_the_placement_is_found() {
    let text = "Failed to find scheduler decision for placement in cluster targeted by eviction";
    let objects = vec![invalid(text), pick_all(), bound("member-2", true), member_cluster("member-1")];
    assert_eq!(found(&hub(objects.clone())), ["KF-EV-004 ClusterResourcePlacementEviction/move (member-1)"]);
    let (cause, commands) = told(objects);
    assert_eq!(cause, "Eviction move evicts nothing: placement web isn't scheduled to member-1.");
    assert!(commands[0].ends_with(" -l kubernetes-fleet.io/parent-CRP=web"), "{commands:?}");
    let (cause, _) = told(vec![invalid(text), pick_all(), member_cluster("member-2")]);
    assert!(cause.ends_with("member-1, which isn't a member of the fleet."), "{cause}");
    let (cause, commands) = told(vec![invalid(text), pick_all(), bound("member-1", true), member_cluster("member-1")]);
    assert!(cause.contains("It is by now"), "{cause}");
    assert_eq!(commands[0], AGAIN[0]);
}

#[test]
fn two_bindings_for_the_member_are_found() {
    let text = "Found more than one scheduler decision for placement in cluster targeted by eviction";
    let old = deleted(with(bound("member-1", true), "/metadata/name", "web-member-1-old"));
    let expected = ["KF-EV-005 ClusterResourcePlacementEviction/move (member-1)"];
    let objects = vec![invalid(text), pick_all(), old.clone(), bound("member-1", true)];
    assert_eq!(found(&hub(objects.clone())), expected);
    assert!(told(objects).0.ends_with("It still has 2."));
    let objects = vec![invalid(text), pick_all(), bound("member-1", true)];
    assert!(told(objects).0.contains("It has one by now"));
    let held = with(old, "/metadata/finalizers", json!(["example.com/protect"]));
    let held = with(held, "/metadata/deletionTimestamp", "2026-01-08T11:58:00Z");
    let expected = [
        "KF-DL-002 ClusterResourceBinding/web-member-1-old (member-1)",
        "  KF-EV-005 ClusterResourcePlacementEviction/move (member-1)",
    ];
    assert_eq!(found(&hub(vec![invalid(text), pick_all(), held, bound("member-1", true)])), expected);
}

const NOT_PLACED: &str = "Eviction is blocked, placement has not propagated resources to target cluster yet";

#[test]
fn a_rollout_that_has_not_started_is_found() {
    let scheduled = with(bound("member-1", false), "/spec/state", "Scheduled");
    let objects = vec![not_executed(NOT_PLACED), pick_all(), scheduled];
    assert_eq!(found(&hub(objects.clone())), ["KF-EV-006 ClusterResourcePlacementEviction/move (member-1)"]);
    assert!(told(objects).0.ends_with("its rollout to the member hadn't started."));
    let (cause, commands) = told(vec![not_executed(NOT_PLACED), pick_all(), bound("member-1", true)]);
    assert!(cause.contains("It has by now"), "{cause}");
    assert_eq!(commands[0], AGAIN[0]);
}

#[test]
fn a_rollout_that_no_run_starts_explains_the_eviction() {
    let mut placement = external(pick_all());
    let text = "rollout is controlled by an external controller";
    let unknown = condition("RolloutStarted", "Unknown", "RolloutControlledByExternalController", text);
    placement["status"]["conditions"][1] = with(unknown.clone(), "/type", "ClusterResourcePlacementRolloutStarted");
    for status in placement["status"]["placementStatuses"].as_array_mut().unwrap() {
        status["conditions"] = json!([unknown]);
    }
    let scheduled = with(bound("member-1", false), "/spec/state", "Scheduled");
    let expected =
        ["KF-RO-001 ClusterResourcePlacement/web", "  KF-EV-006 ClusterResourcePlacementEviction/move (member-1)"];
    assert_eq!(found(&hub(vec![not_executed(NOT_PLACED), placement, scheduled])), expected);
}

#[test]
fn a_budget_that_does_not_fit_is_found() {
    let text = "Eviction is blocked by misconfigured ClusterResourcePlacementDisruptionBudget, either MaxUnavailable is \
                specified or MinAvailable is specified as a percentage for PickAll ClusterResourcePlacement";
    let with_budget = |spec: Value| {
        vec![not_executed(text), pick_all(), bound("member-1", true), bound("member-2", true), budget(spec)]
    };
    for (spec, told_value) in [
        (json!({"maxUnavailable": 1}), "sets maxUnavailable to 1"),
        (json!({"minAvailable": "50%"}), "sets minAvailable to 50%"),
    ] {
        assert_eq!(
            found(&hub(with_budget(spec.clone()))),
            ["KF-EV-007 ClusterResourcePlacementEviction/move (member-1)"]
        );
        let (cause, commands) = told(with_budget(spec));
        assert!(cause.contains(told_value), "{cause}");
        assert!(commands[0].contains(r#"{"spec":{"maxUnavailable":null,"minAvailable":1}}"#), "{commands:?}");
    }
    let (cause, commands) = told(with_budget(json!({"minAvailable": 1})));
    assert!(cause.ends_with("The budget has been corrected, but an eviction is judged only once."), "{cause}");
    assert_eq!(commands[0], AGAIN[0]);
    let (cause, _) = told(vec![not_executed(text), pick_all()]);
    assert!(cause.ends_with("There is no budget any more, but an eviction is judged only once."), "{cause}");
}

fn blocked() -> Value {
    not_executed(
        "Eviction is blocked by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: 2, \
         totalPlacements: 2",
    )
}

#[test]
fn a_budget_that_protects_all_members_is_found() {
    let members = [bound("member-1", true), bound("member-2", true)];
    let fleet = |placement: Value, spec: Value| [vec![blocked(), placement, budget(spec)], members.to_vec()].concat();
    let protects = [
        (pick_all(), json!({"minAvailable": 2})),
        (pick_n(2), json!({"minAvailable": "51%"})),
        (pick_n(2), json!({"maxUnavailable": 0})),
    ];
    for (placement, spec) in protects {
        let objects = fleet(placement, spec);
        assert_eq!(found(&hub(objects.clone())), ["KF-EV-008 ClusterResourcePlacementEviction/move (member-1)"]);
        let (cause, commands) = told(objects);
        assert!(!cause.contains("would allow"), "{cause}");
        assert!(commands[0].contains(r#""minAvailable":1"#), "{commands:?}");
    }
    let allows = [
        (pick_all(), json!({"minAvailable": 1})),
        (pick_n(2), json!({"minAvailable": "50%"})),
        (pick_n(2), json!({"maxUnavailable": "1%"})),
    ];
    for (placement, spec) in allows {
        let (cause, commands) = told(fleet(placement, spec));
        assert!(cause.ends_with("The budget would allow it now, but an eviction is judged only once."), "{cause}");
        assert_eq!(commands[0], AGAIN[0]);
    }
    let (cause, _) = told([vec![blocked(), pick_all()], members.to_vec()].concat());
    assert!(cause.contains("There is no budget any more"), "{cause}");
}

#[test]
fn a_member_that_is_not_available_uses_the_budget_up() {
    let mut placement = pick_all();
    let failed = json!([{
        "version": "v1", "kind": "ConfigMap", "namespace": "web-app", "name": "settings",
        "condition": condition("Applied", "False", "NotTakenOver", "exists already"),
    }]);
    placement["status"]["placementStatuses"][1]["failedPlacements"] = failed;
    placement["status"]["placementStatuses"][1]["conditions"] =
        json!([condition("Applied", "False", "NotAllWorkHaveBeenApplied", "")]);
    let members = vec![bound("member-1", true), bound("member-2", false)];
    let objects = [vec![blocked(), placement, budget(json!({"minAvailable": 1}))], members].concat();
    let expected = [
        "KF-AP-002 ClusterResourcePlacement/web (member-2)",
        "  KF-EV-008 ClusterResourcePlacementEviction/move (member-1)",
    ];
    assert_eq!(found(&hub(objects)), expected);
}

#[test]
fn availability_of_an_older_generation_is_quoted_as_such() {
    let of_binding = |member_2: Value| {
        let objects =
            vec![blocked(), pick_all(), budget(json!({"minAvailable": 1})), bound("member-1", true), member_2];
        let findings = diagnosis::diagnose(&hub(objects));
        let all = findings.iter().flat_map(|f| f.consequences.iter().chain([f]));
        let of_eviction = all.filter(|f| f.code.to_string() == "KF-EV-008").flat_map(|f| f.evidence.clone());
        let quoted = of_eviction.filter(|e| e.object.kind == "ClusterResourceBinding");
        quoted.map(|e| (e.path, e.value)).collect::<Vec<_>>()
    };
    let path = "status.conditions[Available]".to_owned();
    let older = with(bound("member-2", true), "/metadata/generation", 2);
    assert_eq!(of_binding(older), [(format!("{path}.observedGeneration"), "1 (generation: 2)".to_owned())]);
    let none = binding("web", "member-2", "web-0-snapshot", json!([]));
    assert_eq!(of_binding(none), [(path, "(absent)".to_owned())]);
}

#[test]
fn an_eviction_without_an_answer_is_found_after_a_moment() {
    let young = with(eviction("move", json!([])), "/metadata/creationTimestamp", "2026-01-08T11:59:50Z");
    let diagnosis = examine(&hub(vec![young]), &KubectlAccess::same_names());
    assert!(diagnosis.findings.is_empty(), "{:?}", diagnosis.findings);
    assert_eq!(diagnosis.in_progress[0].usual_seconds, Some(30));
    let old = eviction("move", json!([]));
    assert_eq!(found(&hub(vec![old])), ["KF-EV-009 ClusterResourcePlacementEviction/move (member-1)"]);
}

#[test]
fn an_executed_eviction_is_well_and_makes_up_for_an_older_one() {
    assert_eq!(found(&hub(vec![executed("move"), pick_all()])), [""; 0]);
    let again = with(executed("again"), "/metadata/creationTimestamp", "2026-01-08T11:58:30Z");
    let findings = diagnosis::diagnose(&hub(vec![invalid(MISSING), again, pick_all()]));
    let successor = findings[0].superseded_by.as_ref().map(ToString::to_string);
    assert_eq!(successor.as_deref(), Some("ClusterResourcePlacementEviction/again"));
    assert!(!findings[0].severity.is_failure());
    let before = with(executed("again"), "/metadata/creationTimestamp", "2026-01-08T11:57:00Z");
    assert!(diagnosis::diagnose(&hub(vec![invalid(MISSING), before, pick_all()]))[0].superseded_by.is_none());
}

#[test]
fn an_unknown_answer_is_not_explained() {
    let odd = invalid("Some newer text");
    assert_eq!(found(&hub(vec![odd])), ["KF-XX-001 ClusterResourcePlacementEviction/move"]);
    let half = eviction("move", json!([condition("Valid", "True", "", "")]));
    assert_eq!(found(&hub(vec![half])), ["KF-XX-001 ClusterResourcePlacementEviction/move"]);
}
