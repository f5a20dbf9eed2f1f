//! An upgrade written by hand: every verdict, two orders, a loss, and an upgrade that failed.

use jiff::{SignedDuration, Timestamp};
use record::{Capabilities, Product, UpgradeOrder};
use record::{
    ConditionPlace, ConditionState, ContinuousDiagnosis, FalseAlarm, Loss, LossKind, ObjectPath, Outcome, RecordEntry,
    RecordedEvent, RunRecord, ScenarioName, ScenarioRecord, Transition, UpgradePhase,
};
use serde_json::json;

use record::{UpgradeOrderRecord, UpgradePhaseRecord, UpgradeRecord, VersionChangeRecord};

const FILE: &str = "kubefleet/update_run.feature";
const STUCK: &str = "A run is stuck";
const APPROVED: &str = "A run is approved";
const STATE: &str = "A run has a state";
const HEALTHY: &str = "A run <succeeds> & all is well";

/// Returns the record.
pub(super) fn record() -> UpgradeRecord {
    UpgradeRecord {
        fleetdrill: "0.1.0".to_owned(),
        product: Product::KubeFleet,
        from: "v1.0.0".to_owned(),
        to: "v2.0.0".to_owned(),
        started_at: time(0),
        seconds: 600.0,
        before: run("aaaa", old("aaaa")),
        cut_off: None,
        orders: vec![
            UpgradeOrderRecord {
                order: UpgradeOrder::HubFirst,
                forth: forth(),
                after: Some(run("cccc", new("cccc"))),
                back: Some(VersionChangeRecord {
                    phases: Vec::new(),
                    error: Some("the API server of hub refuses CRD runs: status.storedVersions[0]".to_owned()),
                    scenarios: Vec::new(),
                    ..passage("dddd", "v2.0.0", "v1.0.0")
                }),
            },
            UpgradeOrderRecord {
                order: UpgradeOrder::AtOnce,
                forth: VersionChangeRecord {
                    phases: Vec::new(),
                    error: Some("hub-agent ended with exit status 1".to_owned()),
                    scenarios: Vec::new(),
                    ..passage("eeee", "v1.0.0", "v2.0.0")
                },
                after: None,
                back: None,
            },
        ],
    }
}

/// Returns the scenarios on the old version: all pass, except for one that needs a capability and isn't run.
pub(super) fn old(id: &str) -> Vec<ScenarioRecord> {
    let mut state = scenario(STATE, Outcome::NotRun, Vec::new());
    state.reason = Some("needs KubeFleet with run-states".to_owned());
    vec![
        scenario(STUCK, Outcome::Passed, stuck(id, "True", "Started", "", 1.0)),
        scenario(APPROVED, Outcome::Passed, approved(id)),
        state,
        scenario(HEALTHY, Outcome::Passed, approved(id)),
    ]
}

/// Returns the scenarios on the new version: another reason and message, a longer wait, a scenario that fails, and one
/// that can be run now.
fn new(id: &str) -> Vec<ScenarioRecord> {
    let stuck = stuck(id, "True", "Progressing", "The run is making progress in stage canary, 1 of 3 clusters", 60.0);
    let mut failed = scenario(APPROVED, Outcome::Failed, approved(id)[..2].to_vec());
    failed.reason = Some(format!("Then update run \"release\" succeeds: not so after 60 s: release-{id}1 is waiting"));
    vec![
        scenario(STUCK, Outcome::Passed, stuck),
        failed,
        scenario(STATE, Outcome::Passed, Vec::new()),
        scenario(HEALTHY, Outcome::Passed, approved(id)),
    ]
}

/// Returns an upgrade of the hub first: one scenario passes after a loss that the diagnosis warned of, one fails after
/// a loss without a warning.
fn forth() -> VersionChangeRecord {
    let id = "bbbb";
    let upgrade = |more: Vec<RecordEntry>| {
        let mut entries = stuck(id, "True", "Started", "", 1.0);
        entries.push(at(29, RecordedEvent::Diagnosed { findings: vec![finding(id)] }));
        entries.push(at(40, RecordedEvent::Upgraded { phase: UpgradePhase::Skew }));
        entries.push(at(42, progressing(id, "False", "RunFrozen", "no state")));
        entries.push(at(60, RecordedEvent::Upgraded { phase: UpgradePhase::After }));
        entries.extend(more);
        entries
    };
    let lost = |on: &str| {
        let object = ObjectPath::new("Deployment", Some(&format!("web-{id}1-app")), "web");
        let loss = Loss { object, member: Some(on.to_owned()), how: LossKind::Deleted };
        vec![at(61, RecordedEvent::Lost(loss)), at(62, RecordedEvent::Diagnosed { findings: Vec::new() })]
    };
    let mut broken = lost("member-2");
    broken.push(at(63, step("When", "update run \"release\" is approved")));
    broken.push(at(64, RecordedEvent::Failed { error: "the run is frozen".to_owned() }));
    let mut unrepaired = scenario(APPROVED, Outcome::Failed, upgrade(broken));
    unrepaired.reason = Some("When update run \"release\" is approved: the run is frozen".to_owned());
    let phase = |phase, at| UpgradePhaseRecord { phase, at: time(at), seconds: 2.0 };
    VersionChangeRecord {
        phases: vec![phase(UpgradePhase::Skew, 38), phase(UpgradePhase::After, 58)],
        error: None,
        scenarios: vec![scenario(STUCK, Outcome::Passed, upgrade(lost("member-1"))), unrepaired],
        continuous_diagnosis: Some(ContinuousDiagnosis { snapshots: 40, false_alarms: vec![false_alarm(id)] }),
        ..passage(id, "v1.0.0", "v2.0.0")
    }
}

pub(super) fn passage(id: &str, from: &str, to: &str) -> VersionChangeRecord {
    VersionChangeRecord {
        id: id.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
        phases: Vec::new(),
        error: None,
        scenarios: Vec::new(),
        continuous_diagnosis: None,
    }
}

/// Returns a run that is stuck on member-1; its finding warns that data may be lost.
fn stuck(id: &str, status: &str, reason: &str, message: &str, seconds: f64) -> Vec<RecordEntry> {
    let held = RecordedEvent::Held { expectation: format!("release-{id}1 is stuck"), seconds };
    vec![
        at(0, step("Given", "an update run \"release\" starts")),
        at(1, progressing(id, "Unknown", "OnlyInPassing", "")),
        at(2, progressing(id, status, reason, message)),
        at(3, step("Then", "update run \"release\" reports")),
        at(20, held),
        at(21, step("And", "the diagnosis is KF-UR-008")),
        at(22, RecordedEvent::Diagnosed { findings: vec![finding(id)] }),
    ]
}

/// Returns a failure that the diagnosis names for three seconds in healthy traffic.
fn false_alarm(id: &str) -> FalseAlarm {
    FalseAlarm {
        finding: finding(id),
        scenario: Some(ScenarioName { file: FILE.to_owned(), line: 1, scenario: HEALTHY.to_owned() }),
        first_seen: time(41),
        last_seen: time(44),
        snapshots: 3,
        bundle: Some(format!("report/bundles/run-{id}-false-alarm-1.tar.gz").into()),
    }
}

fn approved(id: &str) -> Vec<RecordEntry> {
    vec![
        at(0, step("When", "update run \"release\" is approved")),
        at(1, step("Then", "update run \"release\" succeeds")),
        at(2, progressing(id, "False", "Succeeded", "done")),
        at(3, RecordedEvent::Diagnosed { findings: Vec::new() }),
    ]
}

fn finding(id: &str) -> diagnosis::Finding {
    let finding = json!({
        "code": "KF-UR-008",
        "title": "The run is stuck",
        "subject": {
            "cluster": "hub", "kind": "ClusterStagedUpdateRun", "name": format!("release-{id}1"), "member": "member-1",
        },
        "cause": "It waits.",
        "data_loss": "what is on member-1",
        "evidence": [],
        "remedies": [],
        "guide": {"name": "staged-update-run", "section": "Stuck runs", "url": "https://example.com/stuck"},
    });
    serde_json::from_value(finding).expect("a finding")
}

fn progressing(id: &str, status: &str, reason: &str, message: &str) -> RecordedEvent {
    RecordedEvent::Transition(Transition {
        cluster: "hub".to_owned(),
        object: ObjectPath::new("ClusterStagedUpdateRun", None, &format!("release-{id}1")),
        place: ConditionPlace::Object,
        condition: "Progressing".to_owned(),
        from: None,
        to: Some(ConditionState {
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            observed_generation: 1,
        }),
    })
}

pub(super) fn step(keyword: &str, text: &str) -> RecordedEvent {
    RecordedEvent::Step { keyword: keyword.to_owned(), text: text.to_owned() }
}

pub(super) fn scenario(name: &str, outcome: Outcome, entries: Vec<RecordEntry>) -> ScenarioRecord {
    ScenarioRecord {
        feature: "Staged update runs".to_owned(),
        file: FILE.to_owned(),
        line: 1,
        scenario: name.to_owned(),
        tags: Vec::new(),
        outcome,
        reason: None,
        started_at: time(0),
        seconds: 60.0,
        entries,
        statements: Vec::new(),
    }
}

pub(super) fn run(id: &str, scenarios: Vec<ScenarioRecord>) -> RunRecord {
    RunRecord {
        id: id.to_owned(),
        fleetdrill: "0.1.0".to_owned(),
        versions: Vec::new(),
        capabilities: Capabilities::default(),
        provider: "local".to_owned(),
        started_at: time(0),
        seconds: 60.0,
        fleet_seconds: 0.0,
        scenarios,
        continuous_diagnosis: None,
        repeated_shards: Vec::new(),
        seed: None,
        load: None,
    }
}

pub(super) fn time(seconds: i64) -> Timestamp {
    "2026-11-21T02:10:00Z".parse::<Timestamp>().expect("a time") + SignedDuration::from_secs(seconds)
}

pub(super) fn at(seconds: i64, what: RecordedEvent) -> RecordEntry {
    RecordEntry { at: time(seconds), what }
}
