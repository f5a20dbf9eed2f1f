use serde_json::{Value, json};

use crate::shapes::{
    binding, condition, external, green, hub, in_both_scopes, member_cluster, of, placement, policy_snapshot,
    resource_snapshot, run, stage, strategy, with,
};

/// Messages with which each version reports that a snapshot index doesn't exist.
const MISSING: [&str; 3] = [
    "cannot continue the ClusterStagedUpdateRun: failed to initialize the clusterStagedUpdateRun: failed to process the \
     request due to a client error: no clusterResourceSnapshots with index `7` found for clusterResourcePlacement `web`",
    "cannot continue the updateRun: failed to initialize the updateRun: failed to process the request due to a client \
     error: no resourceSnapshots with index `7` found for placement `/web`",
    "cannot continue the updateRun: failed to validate the updateRun: failed to process the request due to a client error: \
     no resourceSnapshots with index `7` found for placement `/web`",
];

const CREATED: &str = "/metadata/creationTimestamp";

fn failed(index: &str, message: &str) -> Value {
    run("r", "web", index, json!([condition("Initialized", "False", "UpdateRunInitializedFailed", message)]), json!([]))
}

fn fleet(run: Value) -> Vec<Value> {
    vec![
        external(green("web", &["member-1"])),
        resource_snapshot("web", 0),
        resource_snapshot("web", 1),
        strategy(json!([{"name": "one", "labelSelector": {}}])),
        run,
    ]
}

#[test]
fn a_missing_index_is_found_in_every_version_and_scope() {
    for message in MISSING {
        in_both_scopes(&fleet(failed("7", message)), &["KF-UR-001 {c}StagedUpdateRun/{ns}r"]);
    }
}

#[test]
fn the_indices_that_exist_are_named() {
    let findings = diagnosis::diagnose(&hub(fleet(failed("7", MISSING[1]))));
    assert_eq!(
        findings[0].cause,
        "Update run r asks for resource snapshot index 7, which placement web doesn't have: it has 0, 1."
    );
    assert_eq!(findings[0].evidence[2].value, "0, 1");
    let again = &findings[0].remedies[0].commands[0];
    assert!(again.contains(r#""name":"r-2""#) && again.contains(r#""resourceSnapshotIndex":"1""#), "{again}");
}

#[test]
fn without_any_snapshot_a_run_without_an_index_is_advised() {
    let objects = vec![external(green("web", &["member-1"])), failed("7", MISSING[2])];
    let findings = diagnosis::diagnose(&hub(objects));
    assert!(findings[0].cause.ends_with("it has no resource snapshot at all."), "{}", findings[0].cause);
    assert!(!findings[0].remedies[0].commands[0].contains("resourceSnapshotIndex"));
}

#[test]
fn snapshots_of_another_placement_or_namespace_do_not_count() {
    let mut objects = fleet(failed("1", MISSING[1]));
    objects[2] = resource_snapshot("other", 1);
    in_both_scopes(&objects, &["KF-UR-001 {c}StagedUpdateRun/{ns}r"]);
    let elsewhere = with(resource_snapshot("web", 1), "/metadata/namespace", "other");
    let elsewhere = with(elsewhere, "/kind", "ResourceSnapshot");
    objects[2] = elsewhere;
    in_both_scopes(&objects, &["KF-UR-001 {c}StagedUpdateRun/{ns}r"]);
}

#[test]
fn an_index_is_compared_as_it_is_written() {
    let message = "cannot continue the updateRun: failed to initialize the updateRun: failed to process the request due to a \
                   client error: no resourceSnapshots with index `0` found for placement `/web`";
    in_both_scopes(&fleet(failed("00", message)), &["KF-UR-001 {c}StagedUpdateRun/{ns}r"]);
}

#[test]
fn the_healthy_twin_is_silent() {
    let conditions = json!([
        condition(
            "Initialized",
            "True",
            "UpdateRunInitializedSuccessfully",
            "ClusterStagedUpdateRun initialized successfully"
        ),
        condition("Progressing", "False", "UpdateRunSucceeded", "All stages are completed"),
        condition("Succeeded", "True", "UpdateRunSucceeded", "All stages are completed successfully"),
    ]);
    let done = json!([
        condition("Started", "True", "ClusterUpdatingStarted", ""),
        condition("Succeeded", "True", "ClusterUpdatingSucceeded", ""),
    ]);
    let stages = json!([stage(
        "one",
        json!([condition("Progressing", "False", "StageUpdatingSucceeded", "")]),
        &[("member-1", done)]
    )]);
    in_both_scopes(&fleet(run("r", "web", "1", conditions, stages)), &[]);
}

#[test]
fn a_failure_stays_one_when_the_controller_does_not_look_again() {
    // v0.3.1 does so in any spec.state. v0.1.2 reconciles again within a second and reports the same, or begins.
    let run = with(failed("7", MISSING[2]), "/metadata/generation", 2);
    in_both_scopes(&fleet(run), &["KF-UR-001 {c}StagedUpdateRun/{ns}r"]);
    let begun = condition("Initialized", "True", "UpdateRunInitializedSuccessfully", "");
    in_both_scopes(&fleet(with(failed("7", MISSING[1]), "/status/conditions/0", begun)), &[]);
}

/// Messages for each cause: of v0.14.0 if its wording differs much, of v0.1.2, and of v0.3.1.
#[test]
fn each_cause_is_found_in_every_wording_and_scope() {
    let old = "cannot continue the ClusterStagedUpdateRun: failed to initialize the clusterStagedUpdateRun: ";
    let new = "cannot continue the updateRun: failed to initialize the updateRun: ";
    let newest = "cannot continue the updateRun: failed to validate the updateRun: ";
    let user = "failed to process the request due to a client error: ";
    for (code, message) in [
        ("KF-UR-010", "parent placement not found"),
        ("KF-UR-010", "parent clusterResourcePlacement not found"),
        ("KF-UR-011", "parent placement does not have an external rollout strategy, current strategy: RollingUpdate"),
        ("KF-UR-012", "policy snapshot `pn5-0` not fully scheduled yet"),
        ("KF-UR-013", "no scheduled or to-be-deleted bindings found for the latest policy snapshot /pnone-0"),
        (
            "KF-UR-013",
            "no scheduled or to-be-deleted clusterResourceBindings found for the latest policy snapshot pnone-0",
        ),
        ("KF-UR-014", "referenced updateStrategy not found: `/nosuch`"),
        ("KF-UR-014", "referenced clusterStagedUpdateStrategy not found: nosuch"),
        (
            "KF-UR-015",
            "the after stage tasks are invalid, updateStrategy: `/twice`, stage: one, err: afterStageTasks cannot have two tasks \
             of the same type: TimedWait",
        ),
        (
            "KF-UR-016",
            "the after stage tasks are invalid, updateStrategy: `/w`, stage: one, err: task 0 of type TimedWait has wait \
             duration <= 0",
        ),
        (
            "KF-UR-017",
            "the stage label selector is invalid, updateStrategy: `/badsel`, stage: one, err: \"Near\" is not a valid label \
             selector operator",
        ),
        ("KF-UR-018", "cluster `member-2` appears in more than one stages"),
        (
            "KF-UR-019",
            "the sorting label `env:member1` on cluster `member-1` is not valid: strconv.Atoi: parsing \"member1\": invalid syntax",
        ),
        ("KF-UR-020", "some clusters are not placed in any stage, total 2, showing up to 10: member-2, member-3"),
        ("KF-UR-020", "some clusters are not placed in any stage"),
        ("KF-UR-021", "invalid resource snapshot index `abc` provided, expected an integer >= 0"),
        ("KF-UR-029", "no master resourceSnapshot found for placement /web"),
    ] {
        for prefix in [old, new, newest] {
            for text in [format!("{prefix}{user}{message}"), format!("{prefix}{message}")] {
                in_both_scopes(&fleet(failed("1", &text)), &[&format!("{code} {{c}}StagedUpdateRun/{{ns}}r")]);
            }
        }
    }
}

#[test]
fn a_strategy_that_was_there_is_told_from_one_that_was_not() {
    let cause = |strategy: &str| {
        let message = "cannot continue the updateRun: failed to initialize the updateRun: failed to process the request due to a \
                       client error: referenced updateStrategy not found: `/strategy`";
        let mut objects = fleet(with(failed("1", message), CREATED, "2026-01-08T11:00:01Z"));
        objects[3] = with(objects[3].clone(), CREATED, strategy);
        let findings = diagnosis::diagnose(&hub(objects));
        assert_eq!(findings[0].code.to_string(), "KF-UR-014");
        findings[0].cause.clone()
    };
    assert!(cause("2026-01-08T11:00:01Z").contains("informer cache didn't have it yet"));
    assert!(cause("2026-01-08T11:00:02Z").contains("didn't exist when the run was initialized"));
}

#[test]
fn the_objects_show_the_cause_whatever_the_message_says() {
    let run = || failed("1", "other words");
    let expect =
        |objects: &[Value], code: &str| in_both_scopes(objects, &[&format!("{code} {{c}}StagedUpdateRun/{{ns}}r")]);
    expect(&[run()], "KF-UR-010");
    expect(&fleet(failed("abc", "other words")), "KF-UR-021");
    let change = |index: usize, value: Value| {
        let mut objects = fleet(run());
        objects[index] = value;
        objects
    };
    expect(&change(0, green("web", &["member-1"])), "KF-UR-011");
    expect(&change(0, external(placement("web", json!([]), &[]))), "KF-UR-013");
    expect(&change(3, resource_snapshot("web", 2)), "KF-UR-014");
    let wait = json!({"type": "TimedWait", "waitTime": "0s"});
    expect(&change(3, strategy(json!([{"name": "one", "afterStageTasks": [wait]}]))), "KF-UR-016");
    let approval = json!({"type": "Approval"});
    expect(&change(3, strategy(json!([{"name": "one", "afterStageTasks": [approval, approval]}]))), "KF-UR-015");

    let stages = |objects: Vec<Value>| {
        let more = [member_cluster("member-1"), binding("web", "member-1", "", json!([]))];
        [objects, more.to_vec()].concat()
    };
    let everywhere = json!([{"name": "one", "labelSelector": {}}, {"name": "two", "labelSelector": {"matchLabels": {"env": "test"}}}]);
    expect(&stages(change(3, strategy(everywhere))), "KF-UR-018");
    expect(&stages(change(3, strategy(json!([{"name": "one"}])))), "KF-UR-020");
}

#[test]
fn a_policy_that_asks_for_too_many_is_the_root_of_the_run_that_could_not_begin() {
    let message = "cannot continue the updateRun: failed to initialize the updateRun: policy snapshot `web-0` not fully scheduled yet";
    let unfulfilled =
        "could not find all clusters needed as specified by the scheduling policy, found 1 cluster(s) instead";
    let top = condition("ClusterResourcePlacementScheduled", "False", "SchedulingPolicyUnfulfilled", unfulfilled);
    let policy = json!({"placementType": "PickN", "numberOfClusters": 3});
    let short = with(external(placement("web", json!([top]), &[("member-1", json!([]))])), "/spec/policy", policy);
    let scheduled = condition("Scheduled", "False", "SchedulingPolicyUnfulfilled", unfulfilled);
    for message in [message, "other words"] {
        let mut objects = fleet(failed("1", message));
        objects[0] = short.clone();
        objects.push(policy_snapshot("web", 0, json!([scheduled])));
        let expected = ["KF-SC-001 {c}ResourcePlacement/{ns}web", "  KF-UR-012 {c}StagedUpdateRun/{ns}r"];
        in_both_scopes(&objects, &expected);
    }
}

#[test]
fn a_run_that_was_started_over_is_judged_by_its_present_generation() {
    // v0.1.2 keeps the old conditions beside the new ones.
    let mut again = failed("7", MISSING[1]);
    again["metadata"]["generation"] = 2.into();
    again["status"]["conditions"] = json!([
        of(2, condition("Initialized", "False", "UpdateRunInitializedFailed", MISSING[1])),
        condition("Progressing", "False", "UpdateRunFailed", ""),
        condition("Succeeded", "False", "UpdateRunFailed", "cannot continue the updateRun: ..."),
    ]);
    in_both_scopes(&fleet(again), &["KF-UR-001 {c}StagedUpdateRun/{ns}r"]);
}

#[test]
fn a_run_that_was_made_too_early_is_told_so() {
    let cause = |index: &str, message: &str| {
        diagnosis::diagnose(&hub(fleet(failed(index, &format!("cannot continue the updateRun: {message}")))))[0]
            .cause
            .clone()
    };
    assert!(cause("1", "policy snapshot `web-0` not fully scheduled yet").ends_with("was initialized; it is now."));
    assert!(
        cause("1", "no resourceSnapshots with index `1` found").ends_with("didn't have when the run was initialized.")
    );
    assert!(cause("1", "no scheduled or to-be-deleted bindings found").ends_with("was initialized; it has now."));
    let external =
        cause("1", "parent placement does not have an external rollout strategy, current strategy: RollingUpdate");
    assert!(
        external.ends_with("wasn't rolled out by update runs (External) when the run was initialized."),
        "{external}"
    );
}
