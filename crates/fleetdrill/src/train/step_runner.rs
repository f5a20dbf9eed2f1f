//! Runs steps outside of a run, one after the other, in a scene that exists longer than the steps.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

use cucumber::step::Collection;
use futures::FutureExt as _;
use gherkin::Step;
use record::RecordedEvent;
use steps::Recorder;
use steps::{StepError, WaitNotice, World};
use thiserror::Error;

use crate::error::CommandError;

/// A step that failed.
#[derive(Clone, Debug, Error)]
#[error("{step}: {why}")]
pub struct FailedStep {
    /// Keyword and text of the step.
    pub step: String,
    /// Error message.
    pub why: String,
}

impl FailedStep {
    /// Returns the step with its error.
    fn because(&self, why: &str) -> Self {
        Self { step: self.step.clone(), why: why.to_owned() }
    }

    /// Returns the first line of the error message.
    #[must_use]
    pub fn first_line(&self) -> &str {
        self.why.lines().next().unwrap_or_default()
    }
}

/// Runs steps until one fails.
///
/// # Errors
/// Returns the error of the step that failed.
pub async fn run(
    world: &mut World,
    steps: &[Step],
    vocabulary: &Collection<World>,
    recorder: &Recorder,
) -> Result<(), FailedStep> {
    for step in steps {
        let (keyword, text) = (step.keyword.trim().to_owned(), step.value.clone());
        let failed = FailedStep { step: format!("{keyword} {text}"), why: String::new() };
        recorder.add(RecordedEvent::Step { keyword: keyword.clone(), text: text.clone() });
        let found = vocabulary.find(step).map_err(|ambiguous| failed.because(&ambiguous.to_string()))?;
        let Some((definition, _, _, context)) = found else {
            return Err(failed.because("no step is defined like this"));
        };
        // cucumber reports a step's error as a panic.
        let ended = AssertUnwindSafe(definition(world, context)).catch_unwind().await;
        if let Err(panic) = ended {
            let why = panic.downcast_ref::<String>().cloned();
            let why = why.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default();
            let why = why.strip_prefix("Step panicked. ").unwrap_or(&why).to_owned();
            recorder.add(RecordedEvent::Failed { error: why.clone() });
            return Err(failed.because(&why));
        }
    }
    Ok(())
}

/// Awaits a future that runs steps, without their errors being printed as panics.
pub async fn quietly<T>(future: impl Future<Output = T>) -> T {
    let _silence = SilentPanics::begin();
    future.await
}

/// Hook of a process for panics.
type PanicHook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send>;

/// Silence about panics, until it is dropped: the process then has the hook back that it had, even where a future that runs steps
/// ends early, as at a Ctrl-C.
struct SilentPanics {
    before: Option<PanicHook>,
}

impl SilentPanics {
    fn begin() -> Self {
        let before = panic::take_hook();
        panic::set_hook(Box::new(|_| {}));
        Self { before: Some(before) }
    }
}

impl Drop for SilentPanics {
    fn drop(&mut self) {
        // A thread that panics may not change the hook.
        if let Some(before) = self.before.take().filter(|_| !std::thread::panicking()) {
            panic::set_hook(before);
        }
    }
}

/// Returns a progress callback that ignores the messages.
#[must_use]
pub fn silent() -> WaitNotice {
    WaitNotice(std::sync::Arc::new(|_| {}))
}

/// Converts a step's error to a command's error.
#[must_use]
pub fn failed_step(error: StepError) -> CommandError {
    match error {
        StepError::Fleet(error) => CommandError::Fleet(error),
        error => CommandError::Environment { message: error.to_string(), hint: None },
    }
}

impl From<FailedStep> for CommandError {
    fn from(failed: FailedStep) -> Self {
        Self::Environment {
            message: format!("the exercise can't be set up: {failed}"),
            hint: Some("`fleetdrill run` with its scenario shows more".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::FutureExt as _;

    use super::quietly;

    /// Panics of this test; others of this process may panic meanwhile.
    const MARK: &str = "a panic of the test of quietly";

    fn panic_once() {
        let _ = panic::catch_unwind(|| panic!("{MARK}"));
    }

    #[test]
    fn a_future_that_ends_early_leaves_panics_printed() {
        let seen = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&seen);
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if info.payload_as_str() == Some(MARK) {
                counter.fetch_add(1, Ordering::SeqCst);
            }
        }));
        let dropped = quietly(async {
            panic_once();
            std::future::pending::<()>().await;
        });
        // Polled once and dropped, as by an interrupt.
        let ended = dropped.now_or_never();
        panic_once();
        panic::set_hook(before);
        assert!(ended.is_none());
        assert_eq!(seen.load(Ordering::SeqCst), 1, "of two panics, the one after the future is told");
    }
}
