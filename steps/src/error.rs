//! Errors of steps.

use clusters::error::ClusterError;
use fleet::FleetError;
use thiserror::Error;

/// An error of a step.
#[derive(Debug, Error)]
pub enum StepError {
    /// An operation on the fleet failed, or a wait ended without success.
    #[error("{}{}", in_full(.0), missing_tag(.0))]
    Fleet(#[from] FleetError),
    /// The feature is wrong: for example, it uses an unknown name, or a table lacks a column.
    #[error("{0}")]
    Feature(String),
    /// The step found something other than what the feature says.
    #[error("{0}")]
    Differs(String),
}

/// Returns what to add to an error that a scenario's missing tag causes.
fn missing_tag(error: &FleetError) -> &'static str {
    match error {
        FleetError::Cluster(ClusterError::NoPodPrograms) => ": no scenario is tagged @pods",
        FleetError::NoArgoCd(_) => ": no scenario is tagged @argocd",
        _ => "",
    }
}

/// Returns the result of a wait, or `None` if the wait timed out.
pub(crate) fn in_time<T>(waited: Result<T, StepError>) -> Result<Option<T>, StepError> {
    match waited {
        Ok(held) => Ok(Some(held)),
        Err(StepError::Fleet(FleetError::Wait(wait))) if wait.timed_out() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Formats an error and its causes, one a line.
pub(crate) fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str("\n  caused by: ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
