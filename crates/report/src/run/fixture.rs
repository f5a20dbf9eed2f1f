//! A run written by hand with the messages of `KubeFleet` v0.1.2: input of all reporters' snapshot tests.

#![expect(clippy::missing_panics_doc, clippy::must_use_candidate, clippy::assigning_clones, reason = "test data")]

use diagnosis::Finding;
use jiff::{SignedDuration, Timestamp};
use record::{Capabilities, Capability, FindingWaiver};
use record::{
    ConditionPlace, ConditionState, ConditionTemplate, ContinuousDiagnosis, ControllerRace, FailedWait, FalseAlarm,
    Observation, ObservedCondition, ObservedObject, Outcome, RecordEntry, RecordedEvent, RunRecord, ScenarioName,
    ScenarioRecord, ShownStatement, ShownStatementState, Transition, WaitEnd,
};
use serde_json::json;

const TERMINATING: &str = "Failed to synchronize the work to the latest: works.placement.kubernetes-fleet.io \
    \"web-x1-work\" is forbidden: unable to create new content in namespace fleet-member-member-4 because it is being \
    terminated";

/// Finding that `features/kubefleet/work_synchronized.feature` provokes.
pub fn member_namespace_finding() -> Finding {
    let value = format!("WorkSynchronized=False SyncWorkFailed: {TERMINATING}");
    serde_json::from_value(json!({
        "code": "KF-WS-001",
        "title": "the member's namespace on the hub is being deleted",
        "subject": {
            "cluster": "hub", "kind": "ClusterResourcePlacement", "name": "web-x1", "member": "member-4",
        },
        "cause": "Namespace fleet-member-member-4 on the hub is being deleted and waits for 1 Work that only \
            member-4 may release, which has lost its rights with the namespace's contents.",
        "data_loss": "the member agent deletes the workload of each Work in this namespace from member-4, while their \
            placements stay green: first-x1",
        "evidence": [
            {
                "cluster": "hub", "object": "ClusterResourcePlacement/web-x1", "value": value,
                "path": "status.placementStatuses[member-4].conditions[WorkSynchronized]",
                "condition": {
                    "place": {"in": "member", "member": "member-4"}, "type": "WorkSynchronized", "status": "False",
                    "reason": "SyncWorkFailed", "message": TERMINATING,
                },
                "at": "2026-11-21T02:10:09Z",
            },
            {
                "cluster": "hub", "object": "Namespace/fleet-member-member-4", "path": "metadata.deletionTimestamp",
                "value": "2026-11-21T02:10:03Z", "at": "2026-11-21T02:10:03Z",
            },
            {
                "cluster": "hub", "object": "Namespace/fleet-member-member-4",
                "path": "status.conditions[NamespaceFinalizersRemaining]",
                "value": "NamespaceFinalizersRemaining=True SomeFinalizersRemain: Some content in the namespace has \
                    finalizers remaining: kubernetes-fleet.io/work-cleanup in 1 resource instances",
                "condition": {
                    "type": "NamespaceFinalizersRemaining", "status": "True", "reason": "SomeFinalizersRemain",
                    "message": "Some content in the namespace has finalizers remaining: \
                        kubernetes-fleet.io/work-cleanup in 1 resource instances",
                },
            },
            {
                "cluster": "hub", "object": "Work/fleet-member-member-4/first-x1-work",
                "path": "metadata.finalizers", "value": "kubernetes-fleet.io/work-cleanup",
            },
        ],
        "remedies": [
            {
                "action": "release the Works that hold the namespace",
                "commands": [
                    "kubectl --context hub -n fleet-member-member-4 patch work.placement.kubernetes-fleet.io \
                        first-x1-work --type merge -p '{\"metadata\":{\"finalizers\":null}}'",
                ],
                "expect": "the namespace is gone and made anew within 10 s, the placements recover by themselves after \
                    about 30 s; don't delete the MemberCluster before: its deletion waits for the namespace",
            },
            {
                "action": "place the resources on another cluster",
                "commands": [
                    "kubectl --context hub patch clusterresourceplacement web-x1 --type merge \
                        -p '{\"spec\":{\"policy\":{\"clusterNames\":[\"member-1\"]}}}'",
                ],
                "expect": "the placement becomes available there within a second",
            },
        ],
        "guide": {
            "name": "kubefleet-work-synchronized", "section": "Case Study",
            "url": "https://kubefleet.dev/docs/troubleshooting/clusterresourceplacementworksynchronized/",
        },
    }))
    .expect("the fixture is a finding")
}

/// [`member_namespace_finding`] with a waiver.
pub fn waived_finding() -> Finding {
    let mut finding = member_namespace_finding();
    let until = "2027-01-31".parse().expect("a date");
    finding.waived = Some(FindingWaiver { reason: "the team repairs it with the next release".to_owned(), until });
    finding
}

/// Reads a scenario of a real run on `KubeFleet` v0.1.2 from `fixtures/`.
pub fn real(name: &str) -> ScenarioRecord {
    let text = match name {
        "member_namespace_failed" => include_str!("fixtures/member_namespace_failed.json"),
        "member_leaves_and_joins" => include_str!("fixtures/member_leaves_and_joins.json"),
        "preemption" => include_str!("fixtures/preemption.json"),
        other => panic!("there is no fixture `{other}`"),
    };
    serde_json::from_str(text).expect("the fixture is a scenario")
}

/// Finding of another family of codes, without data loss and with a namespaced object.
pub fn stale_approval_finding() -> Finding {
    serde_json::from_value(json!({
        "code": "KF-UR-007",
        "title": "the approval is for another generation of the request",
        "subject": {
            "cluster": "hub", "kind": "StagedUpdateRun", "namespace": "shop", "name": "run-x2", "stage": "staging",
        },
        "cause": "The approval of ApprovalRequest shop/run-x2-after-staging has observedGeneration 0 while the request \
            is at generation 1, and KubeFleet ignores such an approval without a word.",
        "evidence": [
            {
                "cluster": "hub", "object": "StagedUpdateRun/shop/run-x2", "path": "status.conditions[Progressing]",
                "value": "Progressing=False UpdateRunWaiting: The updateRun is waiting for after-stage tasks in stage \
                    staging to complete",
                "condition": {
                    "type": "Progressing", "status": "False", "reason": "UpdateRunWaiting",
                    "message": "The updateRun is waiting for after-stage tasks in stage staging to complete",
                },
                "at": "2026-11-21T02:10:12Z",
            },
            {
                "cluster": "hub", "object": "ApprovalRequest/shop/run-x2-after-staging",
                "path": "status.conditions[Approved].observedGeneration", "value": "0",
            },
        ],
        "remedies": [{
            "action": "approve with the request's generation",
            "commands": [
                "kubectl --context hub -n shop patch approvalrequest run-x2-after-staging --subresource status \
                    --type json -p '[{\"op\":\"replace\",\"path\":\"/status/conditions/0/observedGeneration\",\
                    \"value\":1}]'",
            ],
            "expect": "the run goes on at once",
        }],
    }))
    .expect("the fixture is a finding")
}

/// Run with a scenario that passed, one that failed, one that was interrupted, and two that were not run.
pub fn run() -> RunRecord {
    let mut interrupted = scenario("Staged update runs", "kubefleet/staged_update_run.feature", 61);
    interrupted.scenario = "Two runs update the same cluster at once".to_owned();
    interrupted.tags = tags("kubefleet drill KF-UR-004");
    interrupted.outcome = Outcome::Interrupted;
    interrupted.reason = Some("the run was interrupted".to_owned());
    interrupted.seconds = 3.25;
    interrupted.entries = vec![
        at(0, step("Given", "a staged placement \"app\" whose first run has succeeded")),
        at(800, RecordedEvent::Did("ClusterResourcePlacement app-x3 created on the hub".into())),
        at(
            910,
            RecordedEvent::WorkedAround {
                race: ControllerRace::UnseenStrategy,
                action: "KubeFleet hasn't heard of strategy two-x3: run-x3 is created again".into(),
            },
        ),
    ];
    let not_run = |line, name: &str| {
        let mut record = scenario("Pods that never start", "kubefleet/availability.feature", line);
        name.clone_into(&mut record.scenario);
        record.tags = tags("kubefleet pods KF-AV-001");
        record.outcome = Outcome::NotRun;
        record.reason = Some("it needs pods, and kwok is not in the toolchain".to_owned());
        record
    };
    RunRecord {
        id: "7kq2".to_owned(),
        fleetdrill: "0.1.0".to_owned(),
        versions: vec![
            ("kubefleet".to_owned(), "v0.1.2".to_owned()),
            ("kubernetes".to_owned(), "v1.36.3".to_owned()),
            ("etcd".to_owned(), "v3.6.4".to_owned()),
        ],
        capabilities: Capabilities::from_iter([Capability::StuckRuns]),
        provider: "local".to_owned(),
        started_at: start(),
        seconds: 84.375,
        fleet_seconds: 9.5,
        scenarios: vec![
            passed(),
            failed(),
            interrupted,
            not_run(8, "A Deployment's image can't be pulled"),
            not_run(21, "A quota leaves no room"),
        ],
        continuous_diagnosis: None,
        repeated_shards: Vec::new(),
        seed: Some(2_871_994),
        load: None,
    }
}

/// Run with a scenario that passed, and with two false alarms: about its placement, and about an object of no scenario.
pub fn run_with_false_alarms() -> RunRecord {
    let mut run = run();
    run.scenarios.truncate(1);
    let ScenarioRecord { file, line, scenario, .. } = run.scenarios[0].clone();
    let (first_seen, last_seen) = (start(), start() + SignedDuration::from_secs(4));
    let about_scenario = FalseAlarm {
        finding: member_namespace_finding(),
        scenario: Some(ScenarioName { file, line, scenario }),
        first_seen,
        last_seen,
        snapshots: 5,
        bundle: Some("report/bundles/run-7kq2-false-alarm-1.tar.gz".into()),
    };
    let finding = stale_approval_finding();
    let about_nobody = FalseAlarm { finding, scenario: None, bundle: None, ..about_scenario.clone() };
    run.continuous_diagnosis =
        Some(ContinuousDiagnosis { snapshots: 83, false_alarms: vec![about_scenario, about_nobody] });
    run
}

/// Scenario about the member's namespace, from fault to repair.
pub fn passed() -> ScenarioRecord {
    let mut record = scenario("Works can't be synchronized", "kubefleet/work_synchronized.feature", 12);
    record.scenario = "The member's namespace on the hub is being deleted".to_owned();
    record.tags = tags("kubefleet drill disruptive KF-WS-001");
    record.seconds = 42.5;
    let synced = state("True", "AllWorkSynced", "All of the works are synchronized to the latest");
    let failed = state("False", "SyncWorkFailed", TERMINATING);
    let not_yet = state(
        "False",
        "WorkNotSynchronizedYet",
        "There are 1 cluster(s) which have not finished creating or updating work(s) yet",
    );
    let top =
        |from, to| condition("ClusterResourcePlacement/web-x1", ConditionPlace::Object, "WorkSynchronized", from, to);
    let there = |from, to| {
        condition(
            "ClusterResourcePlacement/web-x1",
            ConditionPlace::Member { member: "member-4".into() },
            "WorkSynchronized",
            from,
            to,
        )
    };
    record.entries = vec![
        at(0, step("Given", "a placement \"first\" has put its resources on all members")),
        at(50, RecordedEvent::Did("ClusterResourcePlacement first-x1 created on the hub".into())),
        at(
            700,
            condition(
                "ClusterResourcePlacement/first-x1",
                ConditionPlace::Object,
                "Available",
                None,
                Some(state("True", "ResourceAvailable", "All resources are available on 4 cluster(s)")),
            ),
        ),
        at(710, held("first-x1 is available on member-1, member-2, member-3, member-4", 0.66)),
        at(712, step("And", "the namespace of member \"member-4\" on the hub is deleted while it still holds a Work")),
        at(900, RecordedEvent::Induced("namespace fleet-member-member-4 deleted on the hub".into())),
        at(6200, step("When", "a placement \"web\" selects all members")),
        at(6250, RecordedEvent::Did("ClusterResourcePlacement web-x1 created on the hub".into())),
        at(
            6300,
            step("Then", "placement \"web\" reports WorkSynchronized False with reason \"WorkNotSynchronizedYet\""),
        ),
        at(7100, top(None, Some(not_yet.clone()))),
        at(7110, held("web-x1: WorkSynchronized False WorkNotSynchronizedYet", 0.81)),
        at(7115, step("And", "on \"member-4\" it reports WorkSynchronized False with reason \"SyncWorkFailed\"")),
        at(7120, there(None, Some(failed.clone()))),
        at(7121, held("web-x1 on member-4: WorkSynchronized False SyncWorkFailed", 0.01)),
        at(7125, step("And", "the diagnosis of placement \"web\" is KF-WS-001 for \"member-4\"")),
        at(7300, RecordedEvent::Diagnosed { findings: vec![member_namespace_finding()] }),
        at(7310, step("When", "what holds the namespace is released")),
        at(7400, RecordedEvent::Remedied("finalizers of Work first-x1-work removed on the hub".into())),
        at(7410, step("Then", "placement \"web\" becomes available on all members")),
        at(
            15_400,
            condition(
                "Namespace/fleet-member-member-4",
                ConditionPlace::Object,
                "NamespaceContentRemaining",
                Some(state("True", "SomeResourcesRemain", "Some resources are remaining")),
                None,
            ),
        ),
        at(36_900, there(Some(failed), Some(synced.clone()))),
        at(36_950, top(Some(not_yet), Some(synced))),
        at(37_100, held("web-x1 is available on member-1, member-2, member-3, member-4", 29.69)),
        at(37_110, step("And", "the diagnosis of placement \"web\" finds nothing")),
        at(37_200, RecordedEvent::Diagnosed { findings: Vec::new() }),
    ];
    let seen = ConditionTemplate {
        status: "False".to_owned(),
        reason: "WorkNotSynchronizedYet".to_owned(),
        message: "There are {number} cluster(s) which have not finished creating or updating work(s) yet".to_owned(),
    };
    let shown = |id: &str, state| ShownStatement { statement: id.to_owned(), state };
    record.statements = vec![
        shown(
            "azure-work-synchronized/sample/work-synchronized/cluster",
            ShownStatementState::Differs { seen: Some(seen) },
        ),
        shown("work-synchronized/condition/work-synchronized/cluster", ShownStatementState::Holds),
        shown("work-synchronized/resolution/rejoin", ShownStatementState::Differs { seen: None }),
    ];
    record
}

/// Scenario that failed after a fast-forward.
pub fn failed() -> ScenarioRecord {
    let mut record = scenario("Staged update runs", "kubefleet/staged_update_run.feature", 44);
    record.scenario = "An approval carries a stale observedGeneration".to_owned();
    record.tags = tags("kubefleet drill KF-UR-007");
    record.outcome = Outcome::Failed;
    record.seconds = 61.125;
    let error = run_that_waits().to_string();
    record.reason = Some(format!("Then the run goes on within 60 s: {error}"));
    let waiting = |generation| ConditionState {
        observed_generation: generation,
        ..state(
            "False",
            "UpdateRunWaiting",
            "The updateRun is waiting for after-stage tasks in stage staging to complete",
        )
    };
    record.entries = vec![
        at(0, step("Given", "an update run \"run\" waits for the approval of stage \"staging\"")),
        at(
            900,
            condition(
                "ClusterStagedUpdateRun/run-x2",
                ConditionPlace::StageMember { stage: "staging".into(), member: "member-1".into() },
                "ClusterUpdatingSucceeded",
                None,
                Some(state("True", "ClusterUpdatingSucceeded", "")),
            ),
        ),
        at(
            910,
            condition(
                "ClusterStagedUpdateRun/run-x2",
                ConditionPlace::Stage { stage: "staging".into() },
                "Progressing",
                None,
                Some(waiting(1)),
            ),
        ),
        at(
            920,
            condition(
                "ClusterStagedUpdateRun/run-x2",
                ConditionPlace::Object,
                "Progressing",
                Some(waiting(1)),
                Some(waiting(2)),
            ),
        ),
        at(
            925,
            RecordedEvent::FastForwarded(
                "Started of member-1 in stage staging of ClusterStagedUpdateRun run-x2 moved back by 360 s".into(),
            ),
        ),
        at(930, step("When", "it is approved with observedGeneration 0")),
        at(950, RecordedEvent::Induced("run-x2-after-staging approved with observedGeneration 0".into())),
        at(960, step("Then", "the run goes on within 60 s")),
        at(60_990, RecordedEvent::WaitFailed(run_that_waits())),
        at(61_000, RecordedEvent::Diagnosed { findings: vec![stale_approval_finding()] }),
        at(61_010, RecordedEvent::Failed { error }),
    ];
    record
}

/// A wait for a run that waits for an approval itself.
fn run_that_waits() -> FailedWait {
    let message = "The updateRun is waiting for after-stage tasks in stage staging to complete";
    let condition = ObservedCondition {
        place: ConditionPlace::Object,
        condition: "Progressing".to_owned(),
        state: state("False", "UpdateRunWaiting", message),
    };
    let object =
        ObservedObject { object: "ClusterStagedUpdateRun/run-x2".into(), generation: 1, conditions: vec![condition] };
    FailedWait {
        expectation: "run-x2: Progressing True UpdateRunProgressing".to_owned(),
        seconds: 60.0,
        end: WaitEnd::TimedOut {
            pending: Some("Progressing's status is `False UpdateRunWaiting`, not `True`".to_owned()),
        },
        last: Observation::Objects { objects: vec![object] },
    }
}

fn scenario(feature: &str, file: &str, line: usize) -> ScenarioRecord {
    ScenarioRecord {
        feature: feature.to_owned(),
        file: file.to_owned(),
        line,
        scenario: String::new(),
        tags: Vec::new(),
        outcome: Outcome::Passed,
        reason: None,
        started_at: start(),
        seconds: 0.0,
        entries: Vec::new(),
        statements: Vec::new(),
    }
}

fn start() -> Timestamp {
    "2026-11-21T02:10:02.125Z".parse().expect("a time")
}

fn at(milliseconds: i64, what: RecordedEvent) -> RecordEntry {
    RecordEntry { at: start() + SignedDuration::from_millis(milliseconds), what }
}

fn tags(tags: &str) -> Vec<String> {
    tags.split(' ').map(str::to_owned).collect()
}

fn step(keyword: &str, text: &str) -> RecordedEvent {
    RecordedEvent::Step { keyword: keyword.to_owned(), text: text.to_owned() }
}

fn held(expectation: &str, seconds: f64) -> RecordedEvent {
    RecordedEvent::Held { expectation: expectation.to_owned(), seconds }
}

fn state(status: &str, reason: &str, message: &str) -> ConditionState {
    ConditionState {
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: 1,
    }
}

fn condition(
    object: &str,
    place: ConditionPlace,
    condition: &str,
    from: Option<ConditionState>,
    to: Option<ConditionState>,
) -> RecordedEvent {
    RecordedEvent::Transition(Transition {
        cluster: "hub".to_owned(),
        object: object.into(),
        place,
        condition: condition.to_owned(),
        from,
        to,
    })
}
