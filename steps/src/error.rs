//! Why a step failed.

use fleet::FleetError;
use thiserror::Error;

/// An error of a step.
#[derive(Debug, Error)]
pub enum StepError {
    /// The fleet refused, or what was waited for didn't come.
    #[error("{}", in_full(.0))]
    Fleet(#[from] FleetError),
    /// The feature is wrong: a name that nothing has, a table without a column.
    #[error("{0}")]
    Feature(String),
    /// Something was found that isn't what the feature says.
    #[error("{0}")]
    Differs(String),
}

/// What was waited for, if it came in time.
pub(crate) fn in_time<T>(waited: Result<T, StepError>) -> Result<Option<T>, StepError> {
    match waited {
        Ok(held) => Ok(Some(held)),
        Err(StepError::Fleet(FleetError::TimedOut { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// An error with its causes, one a line.
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
