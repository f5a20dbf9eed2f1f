//! Steps about an operation that is tried again.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cucumber::then;
use diagnosis::Object;
use fleet::kinds;
use fleet::observe::Verdict;
use jiff::Timestamp;

use crate::application::wait;
use crate::error::StepError;
use crate::limits;
use crate::world::World;

/// Waits until the running operation has been tried again so many times, and sees to it that between the ends of one attempt
/// and the next there is each time at least this many seconds (`2, 4, 8`), and not much more.
#[then(expr = "application {string} is tried again after {string} seconds")]
async fn is_tried_again(world: &mut World, name: String, seconds: String) -> Result<(), StepError> {
    let scene = world.scene();
    let pauses = pauses(&seconds)?;
    let application = scene.application(&name)?.name;
    let expectation = format!("it is tried again after {seconds} s");
    let limit = limits::SYNCED + pauses.iter().sum::<Duration>();
    wait(scene, &name, &expectation, limit, |_| tried(&scene.attempts.of(&application), &pauses)).await?;
    let ends: Vec<String> = scene.attempts.of(&application).values().map(ToString::to_string).collect();
    scene.did(format!("the attempts ended at {}", ends.join(", ")));
    Ok(())
}

/// When the attempts of each Application's last operation have ended, by number. Noted as the watch sees them: what an attempt
/// leaves stands for half a second sometimes, in which a step may not come to look.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attempts(Arc<Mutex<HashMap<String, BTreeMap<i64, Timestamp>>>>);

impl Attempts {
    /// Takes note of an object as it is seen.
    pub(crate) fn note(&self, object: Object<'_>) {
        if object.kind() != kinds::APPLICATION.kind {
            return;
        }
        let Some((attempt, end)) = end_of_attempt(object) else { return };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = all.entry(object.name().to_owned()).or_default();
        // A first attempt is another operation's.
        if attempt == 0 && ends.get(&0) != Some(&end) {
            ends.clear();
        }
        ends.insert(attempt, end);
    }

    /// Those of an Application.
    fn of(&self, application: &str) -> BTreeMap<i64, Timestamp> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(application).cloned().unwrap_or_default()
    }
}

fn pauses(seconds: &str) -> Result<Vec<Duration>, StepError> {
    let wrong = |_| StepError::Feature(format!("`{seconds}` are no seconds like `2, 4, 8`"));
    seconds.split(", ").map(|s| s.parse().map(Duration::from_secs).map_err(wrong)).collect()
}

/// The number of the attempt that ended last, from 0, and when. The controller counts the one to come while it waits for it,
/// and writes whole seconds, from which it counts the pause.
fn end_of_attempt(object: Object<'_>) -> Option<(i64, Timestamp)> {
    let state = object.at("/status/operationState")?;
    let at = state.get("finishedAt")?.as_str()?.parse().ok()?;
    let retries = state.get("retryCount").and_then(serde_json::Value::as_i64).unwrap_or_default();
    let waits = state.get("phase").is_some_and(|phase| phase == "Running");
    Some((if waits { retries - 1 } else { retries }, at))
}

fn tried(ends: &BTreeMap<i64, Timestamp>, pauses: &[Duration]) -> Verdict {
    for (attempt, pause) in (0..).zip(pauses) {
        let (Some(end), Some(next)) = (ends.get(&attempt), ends.get(&(attempt + 1))) else {
            return Verdict::Pending(format!("attempts that have ended: {}", ends.len()));
        };
        let took = next.duration_since(*end).unsigned_abs();
        if took < *pause || took > *pause + limits::NOTICED {
            let (took, pause) = (took.as_secs(), pause.as_secs());
            return Verdict::Never(format!("attempt {} ended {took} s after the one before, not {pause}", attempt + 2));
        }
    }
    Verdict::Holds
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use diagnosis::Object;
    use fleet::observe::Verdict;
    use serde_json::json;

    use super::{Attempts, end_of_attempt, pauses, tried};

    fn ended(phase: &str, retries: i64, second: i64) -> Option<(i64, jiff::Timestamp)> {
        let at = format!("2026-01-01T00:00:{second:02}Z");
        let state = json!({"phase": phase, "retryCount": retries, "finishedAt": at});
        end_of_attempt(Object::new(&json!({"status": {"operationState": state}})))
    }

    #[test]
    fn pauses_lie_between_the_ends_of_attempts() {
        let pauses = pauses("2, 4").expect("seconds");
        assert_eq!(pauses, [2, 4].map(Duration::from_secs));
        let two = [ended("Running", 1, 0), ended("Running", 2, 2)];
        let is = |ends: &[_]| tried(&ends.iter().copied().flatten().collect(), &pauses);
        assert!(matches!(is(&two), Verdict::Pending(_)));
        assert_eq!(is(&[two[0], two[1], ended("Failed", 2, 6)]), Verdict::Holds);
        assert!(matches!(is(&[two[0], two[1], ended("Failed", 2, 5)]), Verdict::Never(_)), "too early");
        assert!(matches!(is(&[two[0], two[1], ended("Succeeded", 2, 40)]), Verdict::Never(_)), "too late");
    }

    #[test]
    fn attempts_are_those_of_the_last_operation() {
        let attempts = Attempts::default();
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

    #[test]
    fn seconds_are_a_list() {
        assert!(pauses("2 and 4").is_err());
    }
}
