//! Steps about an operation that is tried again.

use std::collections::BTreeMap;
use std::time::Duration;

use cucumber::then;
use fleet::observe::Verdict;
use jiff::Timestamp;

use crate::application_waits::wait;
use crate::error::StepError;
use crate::limits;
use crate::world::World;

/// Waits until the running operation has been tried again so many times, and sees to it that between the ends of one attempt
/// and the next there is each time at least this many seconds (`2, 4, 8`), and not much more.
#[then(expr = "application {string} is tried again after {string} seconds")]
async fn is_tried_again(world: &mut World, name: String, seconds: String) -> Result<(), StepError> {
    let context = world.context();
    let pauses = pauses(&seconds)?;
    let application = context.application(&name)?.name;
    let expectation = format!("it is tried again after {seconds} s");
    let limit = limits::SYNCED + pauses.iter().sum::<Duration>();
    wait(context, &name, &expectation, limit, |_| tried(&context.attempts.of(&application), &pauses)).await?;
    let ends: Vec<String> = context.attempts.of(&application).values().map(ToString::to_string).collect();
    context.did(format!("the attempts ended at {}", ends.join(", ")));
    Ok(())
}

fn pauses(seconds: &str) -> Result<Vec<Duration>, StepError> {
    let pauses: Result<Vec<Duration>, _> = seconds.split(", ").map(|s| s.parse().map(Duration::from_secs)).collect();
    pauses.map_err(|_| StepError::Feature(format!("`{seconds}` are no seconds like `2, 4, 8`")))
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

    use super::{pauses, tried};
    use crate::attempt_end_times::end_of_attempt;

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
    fn seconds_are_a_list() {
        assert!(pauses("2 and 4").is_err());
    }
}
