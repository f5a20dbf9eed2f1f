use diagnosis::{InProgress, KubectlAccess, Snapshot, examine};
use serde_json::{Value, json};

use crate::argocd::shapes::application;
use crate::shapes::{
    NOW, at, condition, deleted, external, found, green, hub, in_both_scopes, initialized_run, member_cluster, of, with,
};

const LONG_AGO: &str = "2026-01-08T11:50:00Z";

fn in_progress(snapshot: &Snapshot) -> Vec<InProgress> {
    let diagnosis = examine(snapshot, &KubectlAccess::same_names());
    assert!(diagnosis.findings.is_empty(), "{:?}", diagnosis.findings);
    diagnosis.in_progress
}

/// Placement whose last condition on member-1 is this one.
fn ends_with(last: Value) -> Value {
    let mut placement = green("web", &["member-1"]);
    placement["status"]["placementStatuses"][0]["conditions"][4] = last;
    placement
}

#[test]
fn a_condition_that_no_rule_knows_is_in_progress_and_then_unexplained() {
    let failed = |time: &str| {
        let reported = at(time, condition("DiffReported", "False", "DiffReportingFailed", ""));
        with(ends_with(reported), "/spec/strategy/applyStrategy/type", "ReportDiff")
    };
    in_both_scopes(&[failed(LONG_AGO)], &["KF-XX-001 {c}ResourcePlacement/{ns}web (member-1)"]);
    let [young] = &in_progress(&hub(vec![failed("2026-01-08T11:59:19Z")]))[..] else { panic!() };
    assert_eq!((young.seconds, young.usual_seconds), (Some(41), Some(60)));
    assert_eq!(young.subject.member.as_deref(), Some("member-1"));
}

#[test]
fn a_member_is_in_progress_while_the_rollout_starts_on_others() {
    let undecided = at(LONG_AGO, condition("RolloutStarted", "Unknown", "RolloutStartedUnknown", ""));
    let on_other = |since: &str| {
        let mut placement = green("web", &["member-1", "member-2"]);
        placement["status"]["placementStatuses"][0]["conditions"] = json!([undecided]);
        placement["status"]["placementStatuses"][1]["conditions"][0] =
            at(since, condition("RolloutStarted", "True", "RolloutStarted", ""));
        placement
    };
    in_both_scopes(&[on_other(LONG_AGO)], &["KF-XX-001 {c}ResourcePlacement/{ns}web (member-1)"]);
    in_both_scopes(&[on_other("2026-01-08T11:59:58Z")], &[]);
}

#[test]
fn a_healthy_fleet_is_neither_unexplained_nor_in_progress() {
    let healthy = vec![green("web", &["member-1"]), member_cluster("member-1"), application("web")];
    assert_eq!(in_progress(&hub(healthy)), []);
}

/// A new generation drops the conditions that follow, while the first ones keep their old transition times.
#[test]
fn a_placement_that_has_just_changed_is_young() {
    let mut changed = green("web", &["member-1"]);
    changed["metadata"]["creationTimestamp"] = LONG_AGO.into();
    for condition in changed["status"]["conditions"].as_array_mut().expect("conditions") {
        condition["lastTransitionTime"] = LONG_AGO.into();
    }
    changed["status"]["placementStatuses"][0]["conditions"] =
        json!([at(LONG_AGO, condition("RolloutStarted", "True", "RolloutStarted", ""))]);
    let written =
        |time: &str| json!([{"manager": "hubagent", "operation": "Update", "subresource": "status", "time": time}]);
    let now = with(changed.clone(), "/metadata/managedFields", written(NOW));
    assert_eq!(in_progress(&hub(vec![now])).len(), 1);
    let long_ago = with(changed, "/metadata/managedFields", written(LONG_AGO));
    assert_eq!(found(&hub(vec![long_ago])), ["KF-XX-001 ClusterResourcePlacement/web (member-1)"]);
}

#[test]
fn conditions_of_an_older_generation_are_quoted_as_such() {
    let mut changed = with(green("web", &["member-1"]), "/metadata/generation", 2);
    changed["metadata"]["creationTimestamp"] = LONG_AGO.into();
    let scheduled = condition("ClusterResourcePlacementScheduled", "True", "SchedulingPolicyFulfilled", "");
    changed["status"]["conditions"] = json!([of(2, at(LONG_AGO, scheduled))]);
    let [finding] = &diagnosis::diagnose(&hub(vec![changed]))[..] else { panic!() };
    assert_eq!(finding.code.to_string(), "KF-XX-001");
    let quoted = &finding.evidence[0];
    assert!(quoted.path.ends_with("conditions[RolloutStarted].observedGeneration"), "{}", quoted.path);
    assert_eq!(quoted.value, "1 (generation: 2)");
}

#[test]
fn a_deletion_that_does_not_end_is_found() {
    let going = |object: Value, time: &str| with(deleted(object), "/metadata/deletionTimestamp", time);
    for (object, subject) in [
        (green("web", &[]), "KF-XX-001 ClusterResourcePlacement/web"),
        (member_cluster("member-1"), "KF-XX-001 MemberCluster/member-1"),
        (application("web"), "AR-XX-001 Application/argocd/web"),
    ] {
        assert_eq!(found(&hub(vec![going(object.clone(), LONG_AGO)])), [subject]);
        assert_eq!(in_progress(&hub(vec![going(object, "2026-01-08T11:59:30Z")])).len(), 1);
    }
}

#[test]
fn a_run_without_progress_is_found() {
    let run = |time: &str| initialized_run("release", "web", time);
    let placement = || external(green("web", &["member-1"]));
    assert_eq!(found(&hub(vec![run(LONG_AGO), placement()])), ["KF-XX-001 ClusterStagedUpdateRun/release"]);
    assert_eq!(in_progress(&hub(vec![run("2026-01-08T11:59:00Z"), placement()])).len(), 1);
}
