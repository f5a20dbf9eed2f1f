use serde_json::{Value, json};

use crate::availability::{pods, unavailable};
use crate::shapes::{
    at, binding, condition, external, found, green, hub, hub_and_member, in_both_scopes, member_cluster, run, stage,
    with,
};

const LONG_AGO: &str = "2026-01-08T11:54:00Z";
const JUST_NOW: &str = "2026-01-08T11:59:50Z";

/// Conditions with which each version reports a stuck run; v0.14.0 reports none.
const STUCK: [&str; 3] = [
    "The updateRun is stuck waiting for cluster member-1 in stage staging to finish updating, please check crp status for \
     potential errors",
    "The updateRun is stuck waiting for cluster(s) member-1 in stage staging to finish updating, please check placement status \
     for potential errors",
    "The updateRun is stuck waiting for member-1 cluster(s) in stage staging to finish updating, please check placement status \
     for potential errors",
];

fn updating(progressing: Value, started: &str) -> Value {
    let conditions = json!([condition("Initialized", "True", "UpdateRunInitializedSuccessfully", ""), progressing]);
    let cluster =
        json!([at(started, condition("Started", "True", "ClusterUpdatingStarted", "Cluster update started"))]);
    run("r", "web", "0", conditions, json!([stage("staging", json!([]), &[("member-1", cluster)])]))
}

fn stuck(message: &str) -> Value {
    updating(condition("Progressing", "False", "UpdateRunStuck", message), LONG_AGO)
}

fn at_work(started: &str) -> Value {
    updating(condition("Progressing", "True", "UpdateRunStarted", ""), started)
}

const FOUND: &str = "KF-UR-006 {c}StagedUpdateRun/{ns}r (stage staging, member-1)";

#[test]
fn a_stuck_run_is_found_in_every_version_and_scope() {
    let placement = external(unavailable(JUST_NOW));
    for message in STUCK {
        in_both_scopes(&[placement.clone(), stuck(message)], &[FOUND]);
    }
    in_both_scopes(&[placement.clone(), at_work(LONG_AGO)], &[FOUND]);
    in_both_scopes(&[placement, at_work(JUST_NOW)], &[]);
}

#[test]
fn a_start_that_was_not_recorded_is_told_from_one_that_is_to_come() {
    // The message of v0.14.0, and that of later versions.
    for (reason, named) in [("UpdateRunStarted", "clusterStagedUpdateRun"), ("UpdateRunProgressing", "updateRun")] {
        let run_of = |since: &str| {
            let progressing = at(since, condition("Progressing", "True", reason, ""));
            let initialized = condition("Initialized", "True", "UpdateRunInitializedSuccessfully", "");
            let stages = json!([stage("staging", json!([]), &[("member-1", json!([]))])]);
            run("r", "web", "0", json!([initialized, progressing]), stages)
        };
        let binding_of = |run: &str| {
            let started = format!("Detected the new changes: resourceSnapshotIndex: 0, {named}: {run}");
            let started = condition("RolloutStarted", "True", "RolloutStarted", &started);
            let available = condition("Available", "False", "NotAllWorkAreAvailable", "");
            binding("web", "member-1", "web-0-snapshot", json!([started, available]))
        };
        let placement = external(unavailable(JUST_NOW));
        let fleet = |since: &str, run: &str| [placement.clone(), run_of(since), binding_of(run)];
        in_both_scopes(&fleet(LONG_AGO, "r"), &["KF-UR-008 {c}StagedUpdateRun/{ns}r (stage staging, member-1)"]);
        in_both_scopes(&fleet(JUST_NOW, "r"), &[]);
        in_both_scopes(&fleet(LONG_AGO, "other"), &[]);
    }
}

#[test]
fn the_run_says_all_that_a_long_unavailability_would() {
    let placement = external(unavailable(LONG_AGO));
    in_both_scopes(&[placement.clone(), stuck(STUCK[1])], &[FOUND]);
    in_both_scopes(&[placement, at_work(JUST_NOW)], &["KF-AV-003 {c}ResourcePlacement/{ns}web (member-1)"]);
}

#[test]
fn a_run_that_is_stuck_while_being_stopped_is_found_and_a_stopped_one_is_not() {
    let stopping = updating(condition("Progressing", "Unknown", "UpdateRunStopping", ""), LONG_AGO);
    in_both_scopes(&[external(unavailable(JUST_NOW)), stopping], &[FOUND]);
    let stopped = updating(condition("Progressing", "False", "UpdateRunStopped", ""), LONG_AGO);
    in_both_scopes(&[external(unavailable(JUST_NOW)), stopped], &["KF-UR-051 {c}StagedUpdateRun/{ns}r"]);
}

#[test]
fn the_image_is_the_root_and_the_run_hangs_under_it() {
    let snapshot =
        hub_and_member(vec![external(unavailable(JUST_NOW)), stuck(STUCK[1])], "member-1", pods("ErrImagePull"));
    assert_eq!(
        found(&snapshot),
        [
            "KF-AV-002 ClusterResourcePlacement/web (member-1)",
            "  KF-UR-006 ClusterStagedUpdateRun/r (stage staging, member-1)"
        ]
    );
    let findings = diagnosis::diagnose(&snapshot);
    let run = &findings[0].consequences[0];
    assert!(run.cause.ends_with("because of Deployment apps/web (ErrImagePull)."), "{}", run.cause);
    assert_eq!(run.evidence.last().unwrap().cluster, "member-1");
}

#[test]
fn a_run_that_has_not_noticed_its_success_gets_a_notice() {
    let available = condition("Available", "True", "AllWorkAreAvailable", "");
    let binding = binding("web", "member-1", "web-0-snapshot", json!([available]));
    let objects = [external(green("web", &["member-1"])), stuck(STUCK[1]), binding];
    in_both_scopes(&objects, &["KF-UR-007 {c}StagedUpdateRun/{ns}r (stage staging, member-1)"]);
    assert!(!diagnosis::diagnose(&hub(objects.to_vec()))[0].is_failure());
}

#[test]
fn a_silent_member_is_the_root_of_a_stuck_run() {
    let silent = with(member_cluster("member-1"), "/status/agentStatus/0/lastReceivedHeartbeat", LONG_AGO);
    let objects = vec![external(green("web", &["member-1"])), stuck(STUCK[1]), silent];
    assert_eq!(
        found(&hub(objects)),
        ["KF-MC-001 MemberCluster/member-1", "  KF-UR-006 ClusterStagedUpdateRun/r (stage staging, member-1)"]
    );
}

#[test]
fn a_stuck_run_that_a_newer_one_has_overtaken_is_told_apart() {
    let done = json!([
        at("2026-01-08T11:58:00Z", condition("Started", "True", "ClusterUpdatingStarted", "")),
        condition("Succeeded", "True", "ClusterUpdatingSucceeded", ""),
    ]);
    let succeeded = json!([condition("Succeeded", "True", "UpdateRunSucceeded", "")]);
    let newer = run("newer", "web", "1", succeeded, json!([stage("staging", json!([]), &[("member-1", done)])]));
    let text = "Detected the new changes on the resources and started the rollout process, resourceSnapshotIndex: 1, updateRun: newer";
    let taken = binding(
        "web",
        "member-1",
        "web-1-snapshot",
        json!([condition("RolloutStarted", "True", "RolloutStarted", text)]),
    );
    let objects = [external(green("web", &["member-1"])), stuck(STUCK[1]), newer, taken];
    in_both_scopes(&objects, &["KF-UR-005 {c}StagedUpdateRun/{ns}r (stage staging, member-1)"]);
}

#[test]
fn a_binding_at_another_snapshot_is_no_success_of_this_run() {
    let available = condition("Available", "True", "AllWorkAreAvailable", "");
    let binding = binding("web", "member-1", "web-5-snapshot", json!([available]));
    let objects = [external(green("web", &["member-1"])), stuck(STUCK[1]), binding];
    in_both_scopes(&objects, &[FOUND]);
}
