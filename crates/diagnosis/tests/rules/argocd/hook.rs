use diagnosis::{Snapshot, WantedLog, wanted_logs};
use serde_json::{Value, json};

use super::shapes::{
    UNSUCCESSFUL, alone, application, cause, evidence, failing, fleet, object, operated, operation, refused,
};
use crate::shapes::{condition, found, with};

const BACKOFF: &str = "Job has reached the specified backoff limit";

/// Result for a hook whose Job has failed.
fn hook(type_: &str) -> Value {
    json!({
        "group": "batch", "version": "v1", "kind": "Job", "namespace": "web", "name": "db-migrate",
        "hookType": type_, "hookPhase": "Failed", "syncPhase": type_, "message": BACKOFF,
    })
}

fn failed(type_: &str) -> Value {
    operated(application("web"), operation("Failed", UNSUCCESSFUL, json!([hook(type_)])))
}

/// Objects on member-1: the Job, two of its Pods, and one Pod of another Job.
fn job() -> Vec<Value> {
    let failed = condition("Failed", "True", "BackoffLimitExceeded", BACKOFF);
    let job = with(object("batch/v1", "Job", Some("web"), "db-migrate"), "/status/conditions", json!([failed]));
    let pod = |name: &str, job: &str, code: i64| {
        let pod = object("v1", "Pod", Some("web"), name);
        let pod =
            with(pod, "/metadata/ownerReferences", json!([{"apiVersion": "batch/v1", "kind": "Job", "name": job}]));
        let ended = json!([{"name": "migrate", "state": {"terminated": {"exitCode": code, "reason": "Error"}}}]);
        with(pod, "/status", json!({"phase": "Failed", "containerStatuses": ended}))
    };
    vec![job, pod("db-migrate-b", "db-migrate", 1), pod("db-migrate-a", "db-migrate", 2), pod("other-a", "other", 3)]
}

fn with_log(mut snapshot: Snapshot) -> Snapshot {
    let log = json!({
        "namespace": "web", "pod": "db-migrate-a", "container": "migrate",
        "text": "connecting\nmigration 0042 failed: relation \"users\" already exists\n",
    });
    snapshot.clusters[1].logs = serde_json::from_value(json!([log])).expect("a log");
    snapshot
}

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    vec![failed("PreSync")]
}

#[test]
fn a_hook_is_followed_to_the_last_line_of_its_log() {
    let snapshot = with_log(fleet(vec![failed("PreSync")], job()));
    assert_eq!(found(&snapshot), ["AR-SF-005 Application/argocd/web (member-1)"]);
    assert_eq!(
        cause(&snapshot),
        "The apply failed: PreSync hook Job web/db-migrate of application argocd/web failed on member-1 \
         (BackoffLimitExceeded); its Pod said: migration 0042 failed: relation \"users\" already exists."
    );
    let application = "hub Application/argocd/web status.operationState";
    let pod = "member-1 Pod/web/db-migrate";
    assert_eq!(
        evidence(&snapshot),
        [
            format!("{application}: Failed: {UNSUCCESSFUL}"),
            format!("{application}.syncResult.resources[Job web/db-migrate]: PreSync hook Failed: {BACKOFF}"),
            format!(
                "member-1 Job/web/db-migrate status.conditions[Failed]: Failed=True BackoffLimitExceeded: {BACKOFF}"
            ),
            format!("{pod}-a status.containerStatuses[migrate].state.terminated.exitCode: 2"),
            format!(
                "{pod}-a the last lines of container migrate: connecting\nmigration 0042 failed: relation \"users\" already exists"
            ),
            format!("{pod}-b status.containerStatuses[migrate].state.terminated.exitCode: 1"),
        ]
    );
}

#[test]
fn without_a_log_the_exit_code_is_told_and_how_to_read_it() {
    let snapshot = fleet(vec![failed("Sync")], job());
    assert!(cause(&snapshot).ends_with("; Pod/web/db-migrate-a ended with exit code 2."), "{}", cause(&snapshot));
    let remedy = &diagnosis::diagnose(&snapshot)[0].remedies[0];
    assert_eq!(remedy.commands[0], "kubectl --context member-1 logs -n web job/db-migrate");
    // The Job is gone, or its cluster isn't known.
    let gone = fleet(vec![failed("Sync")], vec![]);
    assert_eq!(evidence(&gone)[2], "member-1 Job/web/db-migrate metadata.name: (no such object)");
    assert!(cause(&alone(failed("Sync"))).ends_with(&format!("failed on member-1: {BACKOFF}.")));
}

#[test]
fn the_logs_of_its_pods_are_asked_for_and_no_others() {
    let log = |pod: &str| WantedLog {
        cluster: "member-1".into(),
        namespace: "web".into(),
        pod: pod.into(),
        container: "migrate".into(),
    };
    assert_eq!(wanted_logs(&fleet(vec![failed("PreSync")], job())), [log("db-migrate-a"), log("db-migrate-b")]);
    assert_eq!(wanted_logs(&fleet(vec![application("web")], job())), []);
    let pod = |n: usize| with(job()[1].clone(), "/metadata/name", format!("db-migrate-{n:02}"));
    let many = (0..30).map(pod).chain([job()[0].clone()]).collect();
    assert_eq!(wanted_logs(&fleet(vec![failed("PreSync")], many)).len(), 20);
    let mut evicted = job();
    evicted[1]["status"] = json!({"phase": "Failed"});
    evicted[1]["spec"]["containers"] = json!([{"name": "migrate"}]);
    assert_eq!(wanted_logs(&fleet(vec![failed("PreSync")], evicted)).len(), 2);
}

#[test]
fn a_syncfail_hook_that_fails_hangs_under_what_it_ran_for() {
    let message =
        r#"Service "api" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.9"]: may not change once set"#;
    let mut both = failing("web", refused("Service", "api", message));
    both["status"]["operationState"]["syncResult"]["resources"].as_array_mut().unwrap().push(hook("SyncFail"));
    assert_eq!(
        found(&fleet(vec![both], job())),
        ["AR-SF-002 Application/argocd/web (member-1)", "  AR-SF-005 Application/argocd/web (member-1)"]
    );
}

#[test]
fn a_hook_that_was_refused_is_no_failed_hook() {
    let refused = json!({
        "group": "batch", "version": "v1", "kind": "Job", "namespace": "web", "name": "db-migrate", "hookType": "PreSync",
        "status": "SyncFailed", "hookPhase": "Failed", "message": "Job.batch \"db-migrate\" is invalid: spec.template: Invalid value: {}: field is immutable",
    });
    let application =
        operated(application("web"), operation("Failed", "one or more objects failed to apply", json!([refused])));
    assert_eq!(found(&alone(application)), ["AR-SF-002 Application/argocd/web"]);
}
