//! Exit codes: a public contract, for scripts and CI.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | fine: all scenarios passed, nothing was found |
//! | 1 | a scenario failed, a finding was made, or an upgrade breaks something that its baseline doesn't have |
//! | 2 | wrong usage or input |
//! | 3 | the environment is at fault: a component can't be had, a cluster didn't start or died |
//! | 4 | no failure was found, but not everything could be read |
//! | 130 | interrupted, after cleaning up |

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All scenarios passed, nothing was found.
    Fine,
    /// A scenario failed, a finding was made, or an upgrade breaks something.
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

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Found => 1,
            Exit::Usage => 2,
            Exit::Environment => 3,
            Exit::Incomplete => 4,
            Exit::Interrupted => 130,
        })
    }
}
