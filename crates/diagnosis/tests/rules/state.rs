use serde_json::{Value, json};

use crate::shapes::{condition, external, green, hub, in_both_scopes, placement, request, run, with};

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
