//! Steps of a drill's scenario: their time limit, what they have broken, and the end of what they have made.

use std::time::Duration;

use record::RecordedEvent;
use steps::{Deadline, Recorder, ScenarioContext};

use crate::train::step_runner;

/// Time after a scenario's limit at which its steps are given up. The steps' own waits end earlier.
const GRACE: Duration = Duration::from_secs(30);

/// Awaits steps until some time after the scenario's deadline, which steps may put off.
pub(super) async fn in_time(
    deadline: &Deadline,
    steps: impl Future<Output = Result<(), step_runner::FailedStep>>,
) -> Result<(), String> {
    let overdue = async {
        while deadline.overdue() < GRACE {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    tokio::select! {
        ran = steps => ran.map_err(|failed| failed.to_string()),
        () = overdue => Err("the scenario's limit ran out in a step that didn't end".into()),
    }
}

/// Returns what a healthy scenario's steps have broken, if they have.
pub(super) fn induced(recorder: &Recorder) -> Option<String> {
    let entries = recorder.entries().into_iter();
    let mut induced = entries.filter_map(|entry| match entry.what {
        RecordedEvent::Induced(action) => Some(format!("it isn't healthy: {}", action.action)),
        _ => None,
    });
    induced.next()
}

/// Deletes what a scenario has made.
pub(super) async fn clean_up(mut context: ScenarioContext) {
    context.cleanup(true).await.delete().await;
}
