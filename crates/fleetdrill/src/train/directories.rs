//! Directories of training, in the state directory.

use std::path::PathBuf;

use clusters::error::ClusterError;
use clusters::state_dir;

/// Directory of the sessions. No fleet's directory has a name like this.
const SESSIONS: &str = "Training";

/// Directory of the scores, in that of the sessions.
const SCORES: &str = "scores";

/// Returns the directory of the sessions, which needn't exist.
///
/// # Errors
/// Returns an error if there is no state directory.
pub fn sessions() -> Result<PathBuf, ClusterError> {
    Ok(state_dir::root()?.join(SESSIONS))
}

/// Returns the directory of the scores; there is none before the first.
///
/// # Errors
/// Returns an error if there is no state directory.
pub fn scores() -> Result<PathBuf, ClusterError> {
    Ok(sessions()?.join(SCORES))
}
