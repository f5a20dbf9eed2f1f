//! Exit codes: a public contract, for scripts and CI.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | fine: all scenarios passed, nothing was found |
//! | 1 | a scenario failed, a finding was made, an upgrade breaks something that its baseline doesn't have, or a diagnosis isn't accurate |
//! | 2 | wrong usage or input |
//! | 3 | the environment is at fault: a component can't be had, a cluster didn't start or died |
//! | 4 | no failure was found, but not everything could be read |
//! | 130 | interrupted, after cleaning up |

use std::process::ExitCode;

/// Result of a command, as its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandExitCode {
    /// All scenarios passed, nothing was found.
    Fine,
    /// A scenario failed, a finding was made, an upgrade breaks something, or the diagnosis isn't accurate enough.
    Found,
    /// Wrong usage or input.
    Usage,
    /// The environment is at fault.
    Environment,
    /// No failure was found, but not everything could be read that should have been.
    Incomplete,
    /// Interrupted, after cleaning up.
    Interrupted,
}

impl From<CommandExitCode> for ExitCode {
    fn from(exit: CommandExitCode) -> Self {
        Self::from(match exit {
            CommandExitCode::Fine => 0,
            CommandExitCode::Found => 1,
            CommandExitCode::Usage => 2,
            CommandExitCode::Environment => 3,
            CommandExitCode::Incomplete => 4,
            CommandExitCode::Interrupted => 130,
        })
    }
}
