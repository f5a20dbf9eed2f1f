//! Applications as Argo CD v3.2 writes them, cut down to what the rules read.

use diagnosis::Snapshot;
use serde_json::{Value, json};

use crate::shapes::{BEFORE, hub, hub_and_member, with};

/// The commit that an application's source has.
pub const COMMIT: &str = "9be1d377a1b04d2b9a0d6a6b0ce5f0cf9be1d377";
/// The commit before it.
pub const OLD: &str = "4f0c2a9184d14aa9a5a4c3f1c1a51b3a4f0c2a91";
/// What Argo CD says of an operation in which something was refused.
pub const REFUSED: &str = "one or more objects failed to apply";
/// What it says of one in which something failed later on.
pub const UNSUCCESSFUL: &str = "one or more synchronization tasks completed unsuccessfully";

/// An application that is synced and healthy on member-1.
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

/// What an operation at [`COMMIT`] says of itself and of its resources.
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

/// The application, with another operation and out of sync.
pub fn operated(application: Value, operation: Value) -> Value {
    let application = with(application, "/status/sync/status", "OutOfSync");
    with(application, "/status/operationState", operation)
}

/// The application, with a condition.
pub fn saying(application: Value, type_: &str, message: &str) -> Value {
    let condition = json!({"type": type_, "message": message, "lastTransitionTime": BEFORE});
    with(application, "/status/conditions", json!([condition]))
}

/// A resource that was refused.
pub fn refused(kind: &str, name: &str, message: &str) -> Value {
    let group = if ["Deployment", "StatefulSet"].contains(&kind) { "apps" } else { "" };
    json!({
        "group": group, "version": "v1", "kind": kind, "namespace": "web", "name": name,
        "status": "SyncFailed", "hookPhase": "Failed", "syncPhase": "Sync", "message": message,
    })
}

/// An application of which one resource was refused.
pub fn failing(name: &str, resource: Value) -> Value {
    let message = format!("{REFUSED}, reason: {}", resource["message"].as_str().unwrap_or_default());
    operated(application(name), operation("Failed", &message, json!([resource])))
}

/// A fleet with some applications on the hub and some objects on member-1.
pub fn fleet(applications: Vec<Value>, member: Vec<Value>) -> Snapshot {
    hub_and_member(applications, "member-1", member)
}

/// A fleet of which only the hub is known.
pub fn alone(application: Value) -> Snapshot {
    hub(vec![application])
}

/// An object of a kind that has nothing but a name.
pub fn object(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> Value {
    let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    match namespace {
        Some(namespace) => with(object, "/metadata/namespace", namespace),
        None => object,
    }
}

/// The first finding's evidence, as `cluster object path: value`.
pub fn evidence(snapshot: &Snapshot) -> Vec<String> {
    let findings = diagnosis::diagnose(snapshot);
    let line = |e: &diagnosis::Evidence| format!("{} {} {}: {}", e.cluster, e.object, e.path, e.value);
    findings[0].evidence.iter().map(line).collect()
}

/// The first finding's cause.
pub fn cause(snapshot: &Snapshot) -> String {
    diagnosis::diagnose(snapshot)[0].cause.clone()
}

/// All commands of the first finding.
pub fn commands(snapshot: &Snapshot) -> Vec<String> {
    diagnosis::diagnose(snapshot)[0].remedies.iter().flat_map(|r| r.commands.clone()).collect()
}
