//! What an Argo CD Application says of itself, as if it were conditions.

use diagnosis::Object;
use serde_json::Value;

use super::conditions::{Conditions, State};
use crate::argocd;

/// The phase of an Application's last operation, as a condition.
pub(super) const OPERATION: &str = "operation";

/// What became of a resource in that operation, as a condition.
const RESULT: &str = "result";

/// `sync`, `health` and `operation` with their status or phase, the Application's own conditions, which are there or not
/// and count as True, and for each resource of the last operation its result: the status, and hookPhase as the reason.
pub(super) fn flatten(object: Object<'_>) -> Conditions {
    let mut all = Conditions::new();
    for (name, pointer) in [("sync", "/status/sync"), ("health", "/status/health")] {
        if let Some(status) = object.str(&format!("{pointer}/status")) {
            all.insert((None, name.to_owned()), state(status, "", ""));
        }
    }
    if let Some(phase) = object.str("/status/operationState/phase") {
        let message = object.str("/status/operationState/message").unwrap_or_default();
        all.insert((None, OPERATION.to_owned()), state(phase, "", message));
    }
    for (type_, message) in argocd::conditions(&object) {
        all.insert((None, type_.to_owned()), state("True", "", message));
    }
    for resource in object.list("/status/operationState/syncResult/resources") {
        let part = match text(resource, "namespace") {
            "" => format!("{} {}", text(resource, "kind"), text(resource, "name")),
            namespace => format!("{} {namespace}/{}", text(resource, "kind"), text(resource, "name")),
        };
        let result = state(text(resource, "status"), text(resource, "hookPhase"), text(resource, "message"));
        all.insert((Some(part), RESULT.to_owned()), result);
    }
    all
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn state(status: &str, reason: &str, message: &str) -> State {
    State { status: status.to_owned(), reason: reason.to_owned(), message: message.to_owned(), observed_generation: 0 }
}
