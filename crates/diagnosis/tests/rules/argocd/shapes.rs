//! Applications as Argo CD v3.2 writes them, reduced to what the rules read.

use diagnosis::{Finding, KubectlAccess, Snapshot};
use serde_json::{Value, json};

use crate::shapes::{BEFORE, hub, hub_and_member, with};

/// Present commit of an application's source.
pub const COMMIT: &str = "9be1d377a1b04d2b9a0d6a6b0ce5f0cf9be1d377";
/// Commit before [`COMMIT`].
pub const OLD: &str = "4f0c2a9184d14aa9a5a4c3f1c1a51b3a4f0c2a91";
/// Argo CD's message for an operation in which a resource was refused.
pub const REFUSED: &str = "one or more objects failed to apply";
/// Argo CD's message for an operation in which a resource failed after it was applied.
pub const UNSUCCESSFUL: &str = "one or more synchronization tasks completed unsuccessfully";

/// Application that is synced and healthy on member-1.
pub fn application(name: &str) -> Value {
    json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd", "generation": 1},
        "spec": {
            "project": "default",
            "source": {"repoURL": "https://git.example.com/web.git", "path": "deploy", "targetRevision": "HEAD"},
            "destination": {"name": "member-1", "namespace": "web"},
        },
        "status": {
            "sync": {"status": "Synced", "revision": COMMIT},
            "health": {"status": "Healthy"},
            "reconciledAt": "2026-01-08T11:59:30Z",
            "operationState": operation("Succeeded", "successfully synced (all tasks run)", json!([])),
        },
    })
}

/// State of an operation at [`COMMIT`], with results for its resources.
pub fn operation(phase: &str, message: &str, resources: Value) -> Value {
    let mut state = json!({
        "operation": {"sync": {"revision": COMMIT}},
        "phase": phase, "message": message, "startedAt": BEFORE,
        "syncResult": {"revision": COMMIT, "resources": resources},
    });
    if phase != "Running" {
        state["finishedAt"] = BEFORE.into();
    }
    state
}

/// Returns the application with another operation, out of sync.
pub fn operated(application: Value, operation: Value) -> Value {
    let application = with(application, "/status/sync/status", "OutOfSync");
    with(application, "/status/operationState", operation)
}

/// Returns the application with a condition.
pub fn saying(application: Value, type_: &str, message: &str) -> Value {
    let condition = json!({"type": type_, "message": message, "lastTransitionTime": BEFORE});
    with(application, "/status/conditions", json!([condition]))
}

/// Result for a resource that was refused.
pub fn refused(kind: &str, name: &str, message: &str) -> Value {
    let group = if ["Deployment", "StatefulSet"].contains(&kind) { "apps" } else { "" };
    json!({
        "group": group, "version": "v1", "kind": kind, "namespace": "web", "name": name,
        "status": "SyncFailed", "hookPhase": "Failed", "syncPhase": "Sync", "message": message,
    })
}

/// Application with one refused resource.
pub fn failing(name: &str, resource: Value) -> Value {
    let message = format!("{REFUSED}, reason: {}", resource["message"].as_str().unwrap_or_default());
    operated(application(name), operation("Failed", &message, json!([resource])))
}

/// Fleet with applications on the hub and objects on member-1.
pub fn fleet(applications: Vec<Value>, member: Vec<Value>) -> Snapshot {
    hub_and_member(applications, "member-1", member)
}

/// Fleet of which only the hub is known.
pub fn alone(application: Value) -> Snapshot {
    hub(vec![application])
}

/// Object with nothing but kind and name.
pub fn object(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> Value {
    let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    match namespace {
        Some(namespace) => with(object, "/metadata/namespace", namespace),
        None => object,
    }
}

/// Returns the first finding's evidence, as `cluster object path: value`.
pub fn evidence(snapshot: &Snapshot) -> Vec<String> {
    let findings = diagnosis::diagnose(snapshot);
    let line = |e: &diagnosis::Evidence| format!("{} {} {}: {}", e.cluster, e.object, e.path, e.value);
    findings[0].evidence.iter().map(line).collect()
}

/// Returns the first finding's cause.
pub fn cause(snapshot: &Snapshot) -> String {
    diagnosis::diagnose(snapshot)[0].cause.clone()
}

/// Returns all commands of the first finding.
pub fn commands(snapshot: &Snapshot) -> Vec<String> {
    diagnosis::diagnose(snapshot)[0].remedies.iter().flat_map(|r| r.commands.clone()).collect()
}

/// Returns the findings with one for each cause.
pub fn by_cause(snapshot: &Snapshot) -> Vec<Finding> {
    diagnosis::examine_by_cause(snapshot, &KubectlAccess::same_names()).findings
}
