use serde_json::{Value, json};

use crate::shapes::{
    condition, external, green, hub, in_both_scopes, of, request, resource_snapshot, run, stage, with,
};

fn waiting_run(on_run: bool) -> Value {
    let waiting = if on_run {
        condition(
            "Progressing",
            "False",
            "UpdateRunWaiting",
            "The updateRun is waiting for after-stage tasks in stage staging to complete",
        )
    } else {
        condition("Progressing", "True", "UpdateRunStarted", "")
    };
    let conditions = json!([condition("Initialized", "True", "UpdateRunInitializedSuccessfully", ""), waiting]);
    let done = json!([
        condition("Started", "True", "ClusterUpdatingStarted", ""),
        condition("Succeeded", "True", "ClusterUpdatingSucceeded", ""),
    ]);
    let text = "All clusters in the stage are updated, waiting for after-stage tasks to complete";
    let stages = json!([
        stage(
            "staging",
            json!([condition("Progressing", "False", "StageUpdatingWaiting", text)]),
            &[("member-1", done)]
        ),
        stage("canary", json!([]), &[]),
    ]);
    run("r", "web", "0", conditions, stages)
}

fn approved(generation: i64) -> Value {
    of(generation, condition("Approved", "True", "approved", "approved"))
}

fn fleet(run: Value, request: Value) -> Vec<Value> {
    vec![external(green("web", &["member-1"])), resource_snapshot("web", 0), run, request]
}

const STALE: &str = "KF-UR-004 {c}StagedUpdateRun/{ns}r (stage staging)";

#[test]
fn a_stale_approval_is_found_in_every_version_and_scope() {
    // v0.14.0 reports the wait on the stage only, and names the request without the kind of task.
    for (on_run, name) in [(false, "r-staging"), (true, "r-after-staging")] {
        let request = request(name, "r", "staging", json!([approved(0)]));
        in_both_scopes(&fleet(waiting_run(on_run), request), &[STALE]);
    }
}

#[test]
fn a_stale_approval_before_a_stage_is_found() {
    let mut run = waiting_run(true);
    run["status"]["conditions"][1]["message"] =
        "The updateRun is waiting for before-stage tasks in stage staging to complete".into();
    run["status"]["stagesStatus"][0]["clusters"][0]["conditions"] = json!([]);
    let request = request("r-before-staging", "r", "staging", json!([approved(0)]));
    in_both_scopes(&fleet(run, request), &[STALE]);
}

#[test]
fn the_evidence_shows_both_generations_and_the_remedy_has_the_right_one() {
    let request = with(request("r-after-staging", "r", "staging", json!([approved(1)])), "/metadata/generation", 3);
    let findings = diagnosis::diagnose(&hub(fleet(waiting_run(true), request)));
    let values: Vec<_> = findings[0].evidence.iter().map(|e| e.value.as_str()).collect();
    assert_eq!(&values[2..], ["1", "3", "(absent)"]);
    assert!(findings[0].remedies[0].commands[0].contains(r#""observedGeneration":3"#));
}

#[test]
fn what_takes_effect_or_was_not_given_is_no_failure() {
    let accepted = condition("ApprovalAccepted", "True", "ApprovalRequestApprovalAccepted", "");
    for conditions in [
        json!([]),
        json!([approved(1)]),
        json!([approved(0), accepted]),
        json!([of(0, condition("Approved", "False", "denied", ""))]),
    ] {
        let objects = fleet(waiting_run(true), request("r-after-staging", "r", "staging", conditions));
        let failures = diagnosis::diagnose(&hub(objects)).into_iter().filter(diagnosis::Finding::is_failure).count();
        assert_eq!(failures, 0);
    }
}

#[test]
fn a_request_of_another_run_stage_or_finished_run_says_nothing() {
    for (run, stage) in [("other", "staging"), ("r", "canary")] {
        let objects = fleet(waiting_run(true), request("r-after-staging", run, stage, json!([approved(0)])));
        assert!(!crate::shapes::found(&hub(objects)).iter().any(|f| f.contains("KF-UR-004")));
    }
    let mut over = waiting_run(true);
    over["status"]["conditions"][1] = condition("Succeeded", "True", "UpdateRunSucceeded", "");
    in_both_scopes(&fleet(over, request("r-after-staging", "r", "staging", json!([approved(0)]))), &[]);
}

#[test]
fn a_missing_approval_is_a_notice() {
    for conditions in [json!([]), json!([of(1, condition("Approved", "False", "denied", ""))])] {
        let objects = fleet(waiting_run(true), request("r-after-staging", "r", "staging", conditions));
        in_both_scopes(&objects, &["KF-UR-040 {c}StagedUpdateRun/{ns}r (stage staging)"]);
        assert!(!diagnosis::diagnose(&hub(objects))[0].is_failure());
    }
}

#[test]
fn a_timed_wait_is_nobodys_business() {
    let mut objects = fleet(waiting_run(true), json!({}));
    objects.pop();
    in_both_scopes(&objects, &[]);
}

#[test]
fn what_happens_to_a_request_after_its_approval_is_of_no_effect() {
    let task = json!([{
        "type": "Approval", "approvalRequestName": "r-after-staging",
        "conditions": [condition("ApprovalRequestApproved", "True", "StageTaskApprovalRequestApproved", "")],
    }]);
    let run = with(waiting_run(true), "/status/stagesStatus/0/afterStageTaskStatus", task);
    for conditions in [json!([]), json!([approved(0)])] {
        let objects = fleet(run.clone(), request("r-after-staging", "r", "staging", conditions));
        in_both_scopes(&objects, &[]);
    }
}

#[test]
fn a_stage_without_clusters_is_said_to_be_empty() {
    let mut run = waiting_run(true);
    run["status"]["stagesStatus"][0]["clusters"] = json!([]);
    let request = request("r-after-staging", "r", "staging", json!([]));
    let finding = &diagnosis::diagnose(&hub(fleet(run, request)))[0];
    assert!(finding.cause.ends_with(
        "The stage selects none of the placement's clusters: the approval decides on nothing in it, and is needed all the same."
    ));
    let quoted: Vec<_> = finding.evidence.iter().map(|e| (e.path.as_str(), e.value.as_str())).collect();
    assert!(quoted.contains(&("status.stagesStatus[staging].clusters", "(none)")), "{quoted:?}");
}
