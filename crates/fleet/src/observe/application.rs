//! State of an Argo CD Application, in the form of conditions.

use diagnosis::{JsonRef, Object};
use record::{ConditionPlace, ConditionState};

use crate::application_conditions::conditions;
use crate::objects::path_in_entry;

/// Condition for the phase of an Application's last operation.
pub(super) const OPERATION: &str = "operation";

/// Condition for the result of a resource in the last operation.
const RESULT: &str = "result";

/// Conditions of an Application: `sync`, `health` and `operation` with their status or phase; the Application's own
/// conditions, which count as True if they are present; and a result for each resource of the last operation, with the
/// resource's status and its hookPhase as the reason.
pub(super) fn flatten(object: Object<'_>) -> Vec<((ConditionPlace, String), ConditionState)> {
    let mut all = Vec::new();
    for (name, pointer) in [("sync", "/status/sync"), ("health", "/status/health")] {
        if let Some(status) = object.str(&format!("{pointer}/status")) {
            all.push(((ConditionPlace::Object, name.to_owned()), state(status, "", "")));
        }
    }
    if let Some(phase) = object.str("/status/operationState/phase") {
        let message = object.str("/status/operationState/message").unwrap_or_default();
        all.push(((ConditionPlace::Object, OPERATION.to_owned()), state(phase, "", message)));
    }
    for (type_, message) in conditions(&object) {
        all.push(((ConditionPlace::Object, type_.to_owned()), state("True", "", message)));
    }
    for resource in object.list("/status/operationState/syncResult/resources") {
        let place = ConditionPlace::SyncResult { resource: path_in_entry(resource) };
        let result = state(text(resource, "status"), text(resource, "hookPhase"), text(resource, "message"));
        all.push(((place, RESULT.to_owned()), result));
    }
    all
}

fn text<'a>(value: JsonRef<'a>, field: &str) -> &'a str {
    value.get(field).and_then(JsonRef::as_str).unwrap_or_default()
}

fn state(status: &str, reason: &str, message: &str) -> ConditionState {
    ConditionState {
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: 0,
    }
}
