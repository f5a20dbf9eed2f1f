//! An upgrade of Argo CD written by hand: a message that differs, and a scenario that fails in flight.

use record::{
    ConditionPlace, ConditionState, ObjectPath, Outcome, Product, RecordEntry, RecordedEvent, ScenarioRecord,
    Transition, UpgradeOrder, UpgradeOrderRecord, UpgradePhase, UpgradePhaseRecord, UpgradeRecord, VersionChangeRecord,
};

use super::fixture::{at, passage, run, scenario, step, time};

const REFUSED: &str = "A sync is refused";
const CACHED: &str = "A cluster is down";

/// Returns the record.
pub(super) fn record() -> UpgradeRecord {
    UpgradeRecord {
        fleetdrill: "0.1.0".to_owned(),
        product: Product::ArgoCd,
        from: "v3.2.11".to_owned(),
        to: "v3.5.7".to_owned(),
        started_at: time(0),
        seconds: 600.0,
        before: run("aaaa", scenarios("aaaa", "one or more objects failed to apply, reason: forbidden")),
        cut_off: None,
        orders: vec![UpgradeOrderRecord {
            order: UpgradeOrder::AtOnce,
            forth: forth(),
            after: Some(run(
                "cccc",
                scenarios("cccc", "one or more synchronization tasks completed unsuccessfully, reason: forbidden"),
            )),
            back: None,
        }],
    }
}

/// Returns the scenarios without an upgrade, with the message of an operation.
fn scenarios(id: &str, message: &str) -> Vec<ScenarioRecord> {
    vec![
        scenario(REFUSED, Outcome::Passed, refused(id, message)),
        scenario(CACHED, Outcome::Passed, vec![at(0, step("Then", "application \"web\" is Synced and Healthy"))]),
    ]
}

/// Returns the scenarios in flight: the second fails.
fn forth() -> VersionChangeRecord {
    let id = "bbbb";
    let message = "one or more objects failed to apply, reason: forbidden";
    let mut repaired = refused(id, message);
    repaired.extend(upgraded());
    repaired.push(at(70, state(id, "operation", "Succeeded", "successfully synced (all tasks run)")));
    let mut down = refused(id, message);
    down.extend(upgraded());
    down.push(at(
        70,
        state(id, "ComparisonError", "True", "failed to get cluster info for \"https://127.0.0.1:6443\""),
    ));
    down.push(at(71, step("Then", "the diagnosis finds nothing")));
    let mut failed = scenario(CACHED, Outcome::Failed, down);
    failed.reason = Some("Then the diagnosis finds nothing: it finds AR-CL-001".to_owned());
    VersionChangeRecord {
        phases: vec![UpgradePhaseRecord { phase: UpgradePhase::After, at: time(48), seconds: 8.0 }],
        scenarios: vec![scenario(REFUSED, Outcome::Passed, repaired), failed],
        ..passage(id, "v3.2.11", "v3.5.7")
    }
}

fn upgraded() -> Vec<RecordEntry> {
    vec![
        at(39, RecordedEvent::Diagnosed { findings: Vec::new() }),
        at(48, RecordedEvent::Upgraded { phase: UpgradePhase::After }),
        at(68, RecordedEvent::Diagnosed { findings: Vec::new() }),
    ]
}

fn refused(id: &str, message: &str) -> Vec<RecordEntry> {
    vec![
        at(0, step("When", "application \"web\" syncs")),
        at(1, state(id, "sync", "OutOfSync", "")),
        at(2, state(id, "operation", "Running", "waiting for completion of hook")),
        at(3, state(id, "operation", "Failed", message)),
        at(4, step("Then", "the sync of application \"web\" fails")),
        at(5, RecordedEvent::Diagnosed { findings: Vec::new() }),
    ]
}

fn state(id: &str, condition: &str, status: &str, message: &str) -> RecordedEvent {
    RecordedEvent::Transition(Transition {
        cluster: "hub".to_owned(),
        object: ObjectPath::new("Application", Some("argocd"), &format!("web-{id}1")),
        place: ConditionPlace::Object,
        condition: condition.to_owned(),
        from: None,
        to: Some(ConditionState {
            status: status.to_owned(),
            reason: String::new(),
            message: message.to_owned(),
            observed_generation: 0,
        }),
    })
}
