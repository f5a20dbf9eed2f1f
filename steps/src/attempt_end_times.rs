//! End times of an operation's attempts, noted while a scenario runs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use diagnosis::{JsonRef, Object};
use fleet::kinds;
use jiff::Timestamp;

/// End times of the attempts of each Application's last operation, by attempt number. They are noted as the watch sees
/// them: the state of an attempt sometimes lasts for half a second only, and a step may not read it in that time.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttemptEndTimes(Arc<Mutex<HashMap<String, BTreeMap<i64, Timestamp>>>>);

impl AttemptEndTimes {
    /// Notes the end of an attempt when the watch sees an object.
    pub(crate) fn note(&self, object: Object<'_>) {
        if object.kind() != kinds::APPLICATION.kind {
            return;
        }
        let Some((attempt, end)) = end_of_attempt(object) else { return };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = all.entry(object.name().to_owned()).or_default();
        // A first attempt belongs to another operation.
        if attempt == 0 && ends.get(&0) != Some(&end) {
            ends.clear();
        }
        ends.insert(attempt, end);
    }

    /// Returns the noted end times of an Application.
    pub(crate) fn of(&self, application: &str) -> BTreeMap<i64, Timestamp> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(application).cloned().unwrap_or_default()
    }
}

/// Returns the number of the attempt that ended last, from 0, and its end time. While the controller waits for the next
/// attempt, it counts that attempt already. The controller writes whole seconds and counts the pause from them.
pub(crate) fn end_of_attempt(object: Object<'_>) -> Option<(i64, Timestamp)> {
    let state = object.at("/status/operationState")?;
    let at = state.get("finishedAt")?.as_str()?.parse().ok()?;
    let retries = state.get("retryCount").and_then(JsonRef::as_i64).unwrap_or_default();
    let waits = state.get("phase").is_some_and(|phase| phase == "Running");
    Some((if waits { retries - 1 } else { retries }, at))
}

#[cfg(test)]
mod tests {
    use diagnosis::Object;
    use serde_json::json;

    use super::AttemptEndTimes;

    #[test]
    fn attempts_are_those_of_the_last_operation() {
        let attempts = AttemptEndTimes::default();
        let note = |phase: &str, retries: i64, second: i64| {
            let at = format!("2026-01-01T00:00:{second:02}Z");
            let state = json!({"phase": phase, "retryCount": retries, "finishedAt": at});
            let application =
                json!({"kind": "Application", "metadata": {"name": "a"}, "status": {"operationState": state}});
            attempts.note(Object::new(&application));
        };
        note("Running", 1, 0);
        note("Running", 1, 0);
        note("Failed", 1, 2);
        assert_eq!(attempts.of("a").len(), 2);
        note("Running", 1, 30);
        assert_eq!(attempts.of("a").into_keys().collect::<Vec<_>>(), [0]);
        assert!(attempts.of("b").is_empty());
    }
}
