//! Steps outside of a run: one after the other, in a scene that outlives them.

use std::panic::{self, AssertUnwindSafe};

use cucumber::step::Collection;
use futures::FutureExt as _;
use gherkin::Step;
use steps::World;
use steps::record::{Recorder, What};
use thiserror::Error;

/// A step that failed.
#[derive(Clone, Debug, Error)]
#[error("{step}: {why}")]
pub struct Failed {
    /// Keyword and text.
    pub step: String,
    /// The error.
    pub why: String,
}

impl Failed {
    /// Its error's first line.
    #[must_use]
    pub fn first_line(&self) -> &str {
        self.why.lines().next().unwrap_or_default()
    }
}

/// Runs steps until one fails.
///
/// # Errors
/// The step that failed.
pub async fn run(
    world: &mut World,
    steps: &[Step],
    vocabulary: &Collection<World>,
    recorder: &Recorder,
) -> Result<(), Failed> {
    for step in steps {
        let (keyword, text) = (step.keyword.trim().to_owned(), step.value.clone());
        let failed = |why: String| Failed { step: format!("{keyword} {text}"), why };
        recorder.add(What::Step { keyword: keyword.clone(), text: text.clone() });
        let found = vocabulary.find(step).map_err(|ambiguous| failed(ambiguous.to_string()))?;
        let Some((definition, _, _, context)) = found else {
            return Err(failed("no step is defined like this".into()));
        };
        // A step's error is a panic in cucumber's terms.
        let ended = AssertUnwindSafe(definition(world, context)).catch_unwind().await;
        if let Err(panic) = ended {
            let why = panic.downcast_ref::<String>().cloned();
            let why = why.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default();
            let why = why.strip_prefix("Step panicked. ").unwrap_or(&why).to_owned();
            recorder.add(What::Failed { error: why.clone() });
            return Err(failed(why));
        }
    }
    Ok(())
}

/// Does something that runs steps without their errors being printed as panics.
pub async fn quietly<T>(what: impl Future<Output = T>) -> T {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let done = what.await;
    panic::set_hook(hook);
    done
}
