use serde_json::{Value, json};

use crate::shapes::{NOW, at, binding, condition, external, green, hub, in_both_scopes, placement, request, run, with};

fn initialized(state: &str, more: Option<Value>) -> Value {
    let mut conditions = vec![condition("Initialized", "True", "UpdateRunInitializedSuccessfully", "")];
    conditions.extend(more);
    with(run("r", "web", "0", conditions.into(), json!([])), "/spec/state", state)
}

/// Conditions with which each version reports that nothing has been rolled out.
const WAITING: [(&str, &str); 3] = [
    (
        "RolloutStartedUnknown",
        "There are still 1 cluster(s) in the process of deciding whether to roll out the latest resources or not",
    ),
    (
        "RolloutControlledByExternalController",
        "Rollout is controlled by an external controller and no resource snapshot name is observed across clusters, probably \
         rollout has not started yet",
    ),
    (
        "RolloutControlledByExternalController",
        "Rollout is controlled by an external controller and no resource snapshot name is observed across clusters. To \
         determine rollout status, check the ClusterStagedUpdateRun resources with spec.placementName matching this placement",
    ),
];

fn waiting(reason: &str, message: &str) -> Value {
    let top = json!([
        condition("ClusterResourcePlacementScheduled", "True", "SchedulingPolicyFulfilled", ""),
        condition("ClusterResourcePlacementRolloutStarted", "Unknown", reason, message),
    ]);
    let each = json!([condition("RolloutStarted", "Unknown", "RolloutStartedUnknown", "In the process of deciding")]);
    placement("web", top, &[("member-1", each)])
}

#[test]
fn a_run_left_at_initialize_is_noticed() {
    let objects = [external(green("web", &["member-1"])), initialized("Initialize", None)];
    in_both_scopes(&objects, &["KF-UR-050 {c}StagedUpdateRun/{ns}r"]);
    assert!(!diagnosis::diagnose(&hub(objects.to_vec()))[0].is_failure());
}

#[test]
fn a_run_that_ignores_its_state_or_just_began_is_not() {
    // v0.1.2 goes on in any `spec.state`.
    let going = condition("Progressing", "True", "UpdateRunProgressing", "The update run is making progress");
    in_both_scopes(&[external(green("web", &["member-1"])), initialized("Initialize", Some(going))], &[]);
    let fresh =
        with(initialized("Initialize", None), "/status/conditions/0/lastTransitionTime", "2026-01-08T11:59:59Z");
    in_both_scopes(&[external(green("web", &["member-1"])), fresh], &[]);
}

#[test]
fn a_run_that_a_version_without_states_has_begun_is_frozen_at_its_next_approval() {
    let waiting = condition("Progressing", "False", "UpdateRunWaiting", "waiting for after-stage tasks in stage one");
    let run = initialized("Initialize", Some(waiting));
    let with_request = |run: &Value, conditions: Value| {
        vec![external(green("web", &["member-1"])), run.clone(), request("r-after-one", "r", "one", conditions)]
    };
    let approved = condition("Approved", "True", "Approved", "");
    let frozen = with_request(&run, json!([approved]));
    in_both_scopes(&frozen, &["KF-UR-050 {c}StagedUpdateRun/{ns}r"]);
    assert!(diagnosis::diagnose(&hub(frozen))[0].is_failure());
    let accepted = condition("ApprovalAccepted", "True", "ApprovalAccepted", "");
    in_both_scopes(&with_request(&run, json!([approved, accepted])), &[]);
    let young = with(approved.clone(), "/lastTransitionTime", "2026-01-08T11:59:45Z");
    in_both_scopes(&with_request(&run, json!([young])), &[]);
    in_both_scopes(&with_request(&with(run, "/spec/state", "Run"), json!([approved])), &[]);
}

#[test]
fn a_stopped_run_is_noticed() {
    let stopped = condition("Progressing", "False", "UpdateRunStopped", "The update run has been stopped");
    let objects = [external(green("web", &["member-1"])), initialized("Stop", Some(stopped))];
    in_both_scopes(&objects, &["KF-UR-051 {c}StagedUpdateRun/{ns}r"]);
}

#[test]
fn an_external_placement_without_a_run_is_noticed_in_every_version_and_scope() {
    for (reason, message) in WAITING {
        let objects = [external(waiting(reason, message))];
        in_both_scopes(&objects, &["KF-RO-001 {c}ResourcePlacement/{ns}web"]);
        assert!(!diagnosis::diagnose(&hub(objects.to_vec()))[0].is_failure());
    }
}

#[test]
fn a_placement_with_a_run_or_that_rolls_out_by_itself_is_not() {
    let going = condition("Progressing", "True", "UpdateRunProgressing", "");
    let (reason, message) = WAITING[1];
    in_both_scopes(&[external(waiting(reason, message)), initialized("Run", Some(going))], &[]);
    in_both_scopes(&[waiting(WAITING[0].0, WAITING[0].1)], &[]);
    let old = with(external(waiting(reason, message)), "/metadata/generation", 2);
    in_both_scopes(&[old], &[]);
}

const LATE: &str = "KF-UR-052 {c}ResourcePlacement/{ns}web (member-2)";

/// Placement that is rolled out to member-1, and selects member-2 too.
fn with_late_member() -> Value {
    let mut placement = external(green("web", &["member-1", "member-2"]));
    let reason = "RolloutControlledByExternalController";
    let text = "Rollout is controlled by an external controller and different resource snapshot versions are observed across clusters";
    placement["status"]["conditions"] = json!([
        condition("ClusterResourcePlacementScheduled", "True", "SchedulingPolicyFulfilled", ""),
        condition("ClusterResourcePlacementRolloutStarted", "Unknown", reason, text),
    ]);
    placement["status"]["placementStatuses"][1]["conditions"] = json!([
        condition("Scheduled", "True", "Scheduled", ""),
        condition("RolloutStarted", "Unknown", "RolloutStartedUnknown", "In the process of deciding"),
    ]);
    placement
}

fn ended(name: &str, status: &str) -> Value {
    let reason = if status == "True" { "UpdateRunSucceeded" } else { "UpdateRunFailed" };
    let conditions = json!([
        condition("Initialized", "True", "UpdateRunInitializedSuccessfully", ""),
        condition("Progressing", "False", reason, ""),
        condition("Succeeded", status, reason, ""),
    ]);
    run(name, "web", "0", conditions, json!([]))
}

/// Binding that the scheduler has made for member-2, in this state.
fn binding_in(state: &str) -> Value {
    with(binding("web", "member-2", "", json!([])), "/spec/state", state)
}

#[test]
fn a_member_that_came_after_the_last_run_is_noticed() {
    let fleet = |placement: Value| [placement, ended("r", "True"), binding_in("Scheduled")];
    in_both_scopes(&fleet(with_late_member()), &[LATE]);
    let finding = &diagnosis::diagnose(&hub(fleet(with_late_member()).to_vec()))[0];
    assert!(!finding.is_failure());
    assert!(finding.remedies[0].commands[0].contains("r-2"), "{:?}", finding.remedies[0].commands);
    let mut young = with_late_member();
    let there = &mut young["status"]["placementStatuses"][1]["conditions"][1];
    *there = at(NOW, there.clone());
    in_both_scopes(&fleet(young), &[]);
}

#[test]
fn a_member_that_a_run_may_still_reach_is_not() {
    let going = condition("Progressing", "True", "UpdateRunProgressing", "");
    let going = with(initialized("Run", Some(going)), "/metadata/name", "s");
    in_both_scopes(&[with_late_member(), ended("r", "True"), going, binding_in("Scheduled")], &[]);
    // A binding that a run has taken up.
    in_both_scopes(&[with_late_member(), ended("r", "True"), binding_in("Bound")], &[]);
    // A placement with another strategy rolls out by itself.
    let mut rolling = with_late_member();
    rolling["spec"]["strategy"] = json!({"type": "RollingUpdate"});
    let findings = diagnosis::diagnose(&hub(vec![rolling, ended("r", "True"), binding_in("Scheduled")]));
    assert!(findings.iter().all(|finding| finding.code.0 != "KF-UR-052"));
}
