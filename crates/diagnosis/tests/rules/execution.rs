use serde_json::{Value, json};

use crate::shapes::{
    at, binding, condition, deleted, external, found, green, hub, in_both_scopes, of, placement, policy_snapshot,
    request, resource_snapshot, run, stage, with,
};

/// Messages with which each version reports that a run was preempted.
const PREEMPTED: [&str; 3] = [
    "cannot continue the ClusterStagedUpdateRun: unexpected behavior which cannot be handled by the controller: the updating \
     cluster `member-1` in the stage staging does not match the cluster status: {...}, binding: {...}, condition: {...}",
    "cannot continue the updateRun: failed to process the request due to a client error: the binding of the updating cluster \
     `member-1` in the stage `staging` is not up-to-date with the desired status, please check the status of binding \
     `web-member-1-2afc7d7f` and see if there is a concurrent updateRun referencing the same clusterResourcePlacement and \
     updating the same cluster",
    "cannot continue the updateRun: failed to process the request due to a client error: the binding of the updating cluster \
     `member-1` in the stage `staging` is not up-to-date with the desired status, please check the status of binding \
     `web-member-1-2afc7d7f` and see if there is a concurrent updateRun referencing the same placement and updating the same \
     cluster",
];
const STARTED: &str = "2026-01-08T11:58:00Z";
const OTHER_STARTED: &str = "2026-01-08T11:58:05Z";
const FAILED: &str = "2026-01-08T11:58:15Z";
const LATER: &str = "2026-01-08T11:58:30Z";

fn initialized() -> Value {
    condition("Initialized", "True", "UpdateRunInitializedSuccessfully", "")
}

fn started(time: &str) -> Value {
    at(time, condition("Started", "True", "ClusterUpdatingStarted", "Cluster update started"))
}

fn failed_run(message: &str, cluster: Value) -> Value {
    let conditions = json!([
        initialized(),
        at(
            FAILED,
            condition(
                "Progressing",
                "False",
                "UpdateRunFailed",
                "The stages are aborted due to a non-recoverable error"
            )
        ),
        at(FAILED, condition("Succeeded", "False", "UpdateRunFailed", message)),
    ]);
    let stages = json!([stage(
        "staging",
        json!([at(FAILED, condition("Succeeded", "False", "StageUpdatingFailed", message))]),
        &[("member-1", cluster)]
    )]);
    run("first", "web", "0", conditions, stages)
}

fn preempted(message: &str) -> Value {
    let lost = at(FAILED, condition("Succeeded", "False", "ClusterUpdatingFailed", message));
    failed_run(message, json!([started(STARTED), lost]))
}

/// Other run, which has succeeded at the given time or is still updating.
fn other(started_at: &str, succeeded: Option<&str>) -> Value {
    let (conditions, cluster) = match succeeded {
        Some(time) => (
            json!([initialized(), at(time, condition("Succeeded", "True", "UpdateRunSucceeded", ""))]),
            json!([started(started_at), at(time, condition("Succeeded", "True", "ClusterUpdatingSucceeded", ""))]),
        ),
        None => (
            json!([initialized(), condition("Progressing", "True", "UpdateRunProgressing", "")]),
            json!([started(started_at)]),
        ),
    };
    run("second", "web", "1", conditions, json!([stage("staging", json!([]), &[("member-1", cluster)])]))
}

fn taken_binding(word: &str) -> Value {
    let message = format!(
        "Detected the new changes on the resources and started the rollout process, resourceSnapshotIndex: 1, {word}: second"
    );
    let started = of(3, condition("RolloutStarted", "True", "RolloutStarted", &message));
    with(binding("web", "member-1", "web-1-snapshot", json!([started])), "/metadata/generation", 3)
}

fn fleet(runs: &[Value], binding: Value) -> Vec<Value> {
    let around =
        [external(green("web", &["member-1"])), resource_snapshot("web", 0), resource_snapshot("web", 1), binding];
    [around.as_slice(), runs].concat()
}

const PREEMPTION: &str = "KF-UR-003 {c}StagedUpdateRun/{ns}first (stage staging, member-1)";

#[test]
fn a_preempted_run_is_found_in_every_version_and_scope() {
    for (message, word) in PREEMPTED.into_iter().zip(["clusterStagedUpdateRun", "updateRun", "updateRun"]) {
        let objects = fleet(&[preempted(message), other(OTHER_STARTED, None)], taken_binding(word));
        in_both_scopes(&objects, &[PREEMPTION]);
        // The objects are enough to find the cause, in any wording of the message.
        let objects = fleet(
            &[failed_run("changed words", json!([started(STARTED)])), other(OTHER_STARTED, None)],
            taken_binding(word),
        );
        in_both_scopes(&objects, &[PREEMPTION]);
    }
}

#[test]
fn v0_14_0_leaves_progressing_true_and_the_index_out_of_the_status() {
    let mut first = preempted(PREEMPTED[0]);
    first["status"]["conditions"][1] = condition("Progressing", "True", "UpdateRunStarted", "");
    first["status"].as_object_mut().unwrap().remove("resourceSnapshotIndexUsed");
    let objects = fleet(&[first, other(OTHER_STARTED, None)], taken_binding("clusterStagedUpdateRun"));
    assert_eq!(found(&hub(objects)), ["KF-UR-003 ClusterStagedUpdateRun/first (stage staging, member-1)"]);
}

#[test]
fn the_other_run_is_named_even_when_it_is_gone_or_has_finished_since() {
    for runs in [vec![preempted(PREEMPTED[1])], vec![preempted(PREEMPTED[1]), other(OTHER_STARTED, Some(LATER))]] {
        let findings = diagnosis::diagnose(&hub(fleet(&runs, taken_binding("updateRun"))));
        assert!(findings[0].cause.starts_with("Update run second started to update member-1"), "{}", findings[0].cause);
        assert!(findings[0].evidence.iter().any(|e| e.value.ends_with("updateRun: second")));
    }
}

#[test]
fn a_run_that_failed_for_another_reason_was_not_preempted_by_what_came_later() {
    let outdated = "cannot continue the updateRun: the policy snapshot index used in the updateRun is outdated, latest: 1, recorded: 0";
    let first = failed_run(outdated, json!([started(STARTED)]));
    let objects = fleet(&[first, other(LATER, None)], taken_binding("updateRun"));
    assert!(!found(&hub(objects)).iter().any(|f| f.contains("KF-UR-003")));
}

#[test]
fn a_run_whose_binding_was_replaced_was_not_preempted() {
    let new = with(binding("web", "member-1", "", json!([])), "/spec/state", "Scheduled");
    let found = found(&hub(fleet(&[preempted(PREEMPTED[1])], new)));
    assert!(!found.iter().any(|f| f.contains("KF-UR-003")), "{found:?}");
}

#[test]
fn an_old_stuck_run_beside_a_newer_finished_one_was_not_preempted() {
    let objects = fleet(
        &[preempted(PREEMPTED[1]), other(OTHER_STARTED, Some("2026-01-08T11:58:10Z"))],
        taken_binding("updateRun"),
    );
    in_both_scopes(&objects, &["KF-UR-005 {c}StagedUpdateRun/{ns}first (stage staging, member-1)"]);
}

#[test]
fn the_healthy_twin_is_silent() {
    let conditions = json!([initialized(), condition("Succeeded", "True", "UpdateRunSucceeded", "")]);
    let cluster = json!([started(STARTED), condition("Succeeded", "True", "ClusterUpdatingSucceeded", "")]);
    let first = run("first", "web", "0", conditions, json!([stage("staging", json!([]), &[("member-1", cluster)])]));
    in_both_scopes(&fleet(&[first, other(LATER, Some(LATER))], taken_binding("updateRun")), &[]);
}

#[test]
fn a_failure_before_a_new_beginning_says_nothing() {
    // v0.1.2: a change of spec.state makes the run begin again, and leaves the run's old conditions in place.
    let first = with(preempted(PREEMPTED[1]), "/metadata/generation", 2);
    let first = with(first, "/status/conditions/0/observedGeneration", 2);
    in_both_scopes(&fleet(&[first, other(OTHER_STARTED, None)], taken_binding("updateRun")), &[]);
}

#[test]
fn a_failure_stays_one_when_the_controller_does_not_look_again() {
    // v0.3.1: a finished run doesn't change, in any spec.state.
    let first = with(preempted(PREEMPTED[2]), "/metadata/generation", 2);
    let objects = fleet(&[first, other(OTHER_STARTED, None)], taken_binding("updateRun"));
    in_both_scopes(&objects, &["KF-UR-003 {c}StagedUpdateRun/{ns}first (stage staging, member-1)"]);
}

#[test]
fn each_change_under_a_run_is_found_in_every_wording_and_scope() {
    let user = "failed to process the request due to a client error: ";
    for (code, message) in [
        ("KF-UR-030", "the policy snapshot index used in the updateRun is outdated, latest: 1, recorded: 0".to_owned()),
        (
            "KF-UR-030",
            "the policy snapshot index used in the clusterStagedUpdateRun is outdated, latest: 1, recorded: 0"
                .to_owned(),
        ),
        (
            "KF-UR-031",
            format!(
                "{user}the applyStrategy in the updateRun is outdated, latest: &{{PartialComparison}}, recorded: &{{}}"
            ),
        ),
        ("KF-UR-032", "the cluster count initialized in the updateRun is outdated, latest: 3, recorded: 2".to_owned()),
        ("KF-UR-033", "the number of clusters in index `0` stage has changed, new: 2, existing: 1".to_owned()),
        ("KF-UR-033", "the `0` cluster in the `0` stage has changed, new: member3, existing: member2".to_owned()),
        (
            "KF-UR-033",
            format!(
                "failed to initialize the updateRun: {user}some clusters are not placed in any stage, total 1, showing up \
                 to 10: member3"
            ),
        ),
        (
            "KF-UR-034",
            format!(
                "failed to validate the updateRun: {user}parent placement does not have an external rollout strategy, \
                 current strategy: RollingUpdate"
            ),
        ),
        (
            "KF-UR-039",
            "unexpected behavior which cannot be handled by the controller: the updateRun has nil stagesStatus"
                .to_owned(),
        ),
    ] {
        let run = failed_run(&format!("cannot continue the updateRun: {message}"), json!([started(STARTED)]));
        let objects = fleet(&[run], binding("web", "member-1", "web-0-snapshot", json!([])));
        in_both_scopes(&objects, &[&format!("{code} {{c}}StagedUpdateRun/{{ns}}first")]);
    }
}

#[test]
fn a_run_of_an_older_version_that_recorded_no_apply_strategy_is_told_from_a_change() {
    let message = "failed to process the request due to a client error: the applyStrategy in the updateRun is outdated, latest: \
                   &{PartialComparison Always ClientSideApply false <nil> Always}, recorded: <nil>";
    let run = failed_run(&format!("cannot continue the updateRun: {message}"), json!([started(STARTED)]));
    let cause = |run: &Value, now: Value| {
        let mut objects = fleet(std::slice::from_ref(run), binding("web", "member-1", "web-0-snapshot", json!([])));
        objects[0] = with(objects[0].clone(), "/spec/strategy/applyStrategy", now);
        let findings = diagnosis::diagnose(&hub(objects));
        assert_eq!(findings[0].code.to_string(), "KF-UR-031");
        findings[0].cause.clone()
    };
    let unrecorded = with(run.clone(), "/status/appliedStrategy", Value::Null);
    assert!(cause(&unrecorded, Value::Null).contains("started by an older KubeFleet"));
    assert!(cause(&unrecorded, json!({"type": "ClientSideApply"})).contains("started by an older KubeFleet"));
    // On the older version: a run that recorded nothing, because the placement had no apply strategy then.
    assert!(cause(&unrecorded, json!({"whenToApply": "IfNotDrifted"})).contains("was changed while"));
    let recorded = with(run, "/status/appliedStrategy", json!({"type": "ClientSideApply"}));
    assert!(cause(&recorded, Value::Null).contains("was changed while"));
}

#[test]
fn a_change_shows_in_the_objects_whatever_the_message_says() {
    let run = failed_run("other words", json!([started(STARTED)]));
    let at_rest = || binding("web", "member-1", "web-0-snapshot", json!([]));
    let policy = with(run.clone(), "/status/policySnapshotIndexUsed", "0");
    let mut objects = fleet(&[policy], at_rest());
    objects.push(policy_snapshot("web", 1, json!([])));
    in_both_scopes(&objects, &["KF-UR-030 {c}StagedUpdateRun/{ns}first"]);

    let strategy = json!({"whenToApply": "Always", "type": "ClientSideApply"});
    let mut objects = fleet(&[with(run.clone(), "/status/appliedStrategy", strategy)], at_rest());
    objects[0] = with(objects[0].clone(), "/spec/strategy/applyStrategy", json!({"whenToApply": "IfNotDrifted"}));
    in_both_scopes(&objects, &["KF-UR-031 {c}StagedUpdateRun/{ns}first"]);

    let mut objects = fleet(&[run], at_rest());
    objects[0] = with(objects[0].clone(), "/spec/strategy/type", "RollingUpdate");
    in_both_scopes(&objects, &["KF-UR-034 {c}StagedUpdateRun/{ns}first"]);

    // What the placement doesn't decide then is a consequence.
    let undecided = at("2026-01-08T11:50:00Z", condition("RolloutStarted", "Unknown", "RolloutStartedUnknown", ""));
    objects[0]["status"]["placementStatuses"][0]["conditions"] = json!([undecided]);
    assert_eq!(found(&hub(objects)), ["KF-UR-034 ClusterStagedUpdateRun/first"]);
}

#[test]
fn a_deleted_placement_is_judged_by_its_absence() {
    let code = "KF-UR-002 {c}StagedUpdateRun/{ns}first";
    for message in [
        "cannot continue the ClusterStagedUpdateRun: failed to initialize the clusterStagedUpdateRun: failed to process the \
         request due to a client error: parent clusterResourcePlacement not found",
        "cannot continue the updateRun: failed to validate the updateRun: failed to process the request due to a client \
         error: parent placement not found",
        "cannot continue the updateRun: failed to initialize the updateRun: no latest policy snapshot associated with the \
         placement: `/web`",
        "cannot continue the updateRun: failed to initialize the updateRun: no scheduled or to-be-deleted bindings found for \
         the latest policy snapshot /web-0",
    ] {
        let run = failed_run(message, json!([started(STARTED)]));
        in_both_scopes(std::slice::from_ref(&run), &[code]);
        in_both_scopes(&[run.clone(), deleted(external(green("web", &["member-1"])))], &[code]);
        let again = with(external(green("web", &["member-1"])), "/metadata/creationTimestamp", LATER);
        in_both_scopes(&[run, again], &[code]);
    }
}

#[test]
fn a_request_that_was_there_before_is_found_with_and_without_it() {
    let message = "cannot continue the updateRun: unexpected behavior which cannot be handled by the controller: the approval \
                   request task `/first-after-staging` is targeting update run `/other` and stage `canary`, want target \
                   update run `/first and stage `staging`";
    let task = json!([{"type": "Approval", "approvalRequestName": "first-after-staging"}]);
    let run = with(failed_run(message, json!([])), "/status/stagesStatus/0/afterStageTaskStatus", task);
    let at_rest = binding("web", "member-1", "web-0-snapshot", json!([]));
    let objects = fleet(&[run], at_rest);
    let code = "KF-UR-041 {c}StagedUpdateRun/{ns}first (stage staging)";
    in_both_scopes(&objects, &[code]);
    let request = request("first-after-staging", "other", "canary", json!([]));
    let objects = [objects, vec![request]].concat();
    in_both_scopes(&objects, &[code]);
    let findings = diagnosis::diagnose(&hub(objects));
    assert!(findings[0].cause.ends_with("for run other and stage canary."), "{}", findings[0].cause);
}

/// If the placement asks for more members than exist, the run has the same message as a run that can't begin, and the
/// placement's own failure is the root.
#[test]
fn more_clusters_than_there_are_abort_a_run_over_their_number() {
    let message = "cannot continue the updateRun: failed to initialize the updateRun: policy snapshot `web-0` not fully \
                   scheduled yet";
    let run = with(failed_run(message, json!([started(STARTED)])), "/status/policyObservedClusterCount", 3);
    let top = condition("ClusterResourcePlacementScheduled", "False", "SchedulingPolicyUnfulfilled", "");
    let policy = json!({"placementType": "PickN", "numberOfClusters": 4});
    let placement = with(external(placement("web", json!([top]), &[])), "/spec/policy", policy);
    in_both_scopes(
        &[run.clone(), placement.clone()],
        &["KF-SC-001 {c}ResourcePlacement/{ns}web", "  KF-UR-032 {c}StagedUpdateRun/{ns}first"],
    );
    let same = with(run, "/status/policyObservedClusterCount", 4);
    in_both_scopes(
        &[same, placement],
        &["KF-SC-001 {c}ResourcePlacement/{ns}web", "  KF-UR-039 {c}StagedUpdateRun/{ns}first"],
    );
}

const OUTDATED: &str = "cannot continue the updateRun: the applyStrategy in the updateRun is outdated, latest: {...}, \
                        recorded: {...}";

fn created(time: &str, object: Value) -> Value {
    with(object, "/metadata/creationTimestamp", time)
}

/// What becomes of the placement after the run has failed doesn't change why it failed.
#[test]
fn an_aborted_run_keeps_its_cause_when_its_placement_goes() {
    let failed = || created(STARTED, failed_run(OUTDATED, json!([started(STARTED)])));
    let expected = ["KF-UR-031 {c}StagedUpdateRun/{ns}first"];
    in_both_scopes(&[failed(), external(green("web", &["member-1"]))], &expected);
    in_both_scopes(&[failed()], &expected);
    in_both_scopes(&[failed(), deleted(external(green("web", &["member-1"])))], &expected);
    in_both_scopes(&[failed(), created(LATER, external(green("web", &["member-1"])))], &expected);
}

#[test]
fn a_failure_that_a_newer_run_has_made_up_for_is_a_notice() {
    let failed = || created(STARTED, failed_run(OUTDATED, json!([started(STARTED)])));
    let judged = |second: Value| {
        let objects = vec![failed(), second, external(green("web", &["member-1"]))];
        let findings = diagnosis::diagnose(&hub(objects));
        let first = findings.into_iter().find(|f| f.code.0 == "KF-UR-031").expect("the failed run");
        (first.is_failure(), first.superseded_by.map(|path| path.to_string()))
    };
    let succeeded = other(LATER, Some(LATER));
    let by = Some("ClusterStagedUpdateRun/second".to_owned());
    assert_eq!(judged(created(LATER, succeeded.clone())), (false, by));
    assert!(!judged(created(STARTED, succeeded.clone())).0, "in the same second");
    // The other run was created before, or has no end yet.
    assert_eq!(judged(created("2026-01-08T11:50:00Z", succeeded)), (true, None));
    assert_eq!(judged(created(LATER, other(LATER, None))), (true, None));
}
