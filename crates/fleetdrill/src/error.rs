//! What ends a command, with the exit code that it has and what to do about it.

use clusters::error::ClusterError;
use clusters::toolchain::ToolchainError;
use fleet::FleetError;
use fleet::bundle::BundleError;
use thiserror::Error;

use crate::exit::Exit;
use crate::reporter::ReportError;
use crate::suite::SuiteError;
use crate::train::exercise::ExerciseError;

/// An error of a command.
#[derive(Debug, Error)]
pub enum CommandError {
    /// Features that can't be used.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// An exercise that can't be used.
    #[error(transparent)]
    Exercise(#[from] ExerciseError),
    /// A component can't be had.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// The fleet failed.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// A cluster failed.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// A bundle can't be read or written.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// A report can't be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// What was to be printed couldn't be.
    #[error("failed to write to standard output: {0}")]
    Stdout(std::io::Error),
    /// Input that makes no sense.
    #[error("{message}")]
    Usage {
        /// What was wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The environment is at fault.
    #[error("{message}")]
    Environment {
        /// What was wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
}

impl CommandError {
    /// The exit code.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Bundle(error) => {
                if error.is_environment() {
                    Exit::Environment
                } else {
                    Exit::Usage
                }
            }
            Self::Cluster(error) | Self::Fleet(FleetError::Cluster(error)) => of_cluster(error),
            Self::Suite(_)
            | Self::Exercise(_)
            | Self::Usage { .. }
            | Self::Report(_)
            | Self::Fleet(FleetError::NoSuchMember(_))
            | Self::Toolchain(
                ToolchainError::UnknownComponent { .. }
                | ToolchainError::UnknownVersion { .. }
                | ToolchainError::UnknownProgram { .. }
                | ToolchainError::IsPinned { .. }
                | ToolchainError::BadName { .. }
                | ToolchainError::BadSource { .. }
                | ToolchainError::DoesNotStart { .. }
                | ToolchainError::BadCrds { .. },
            ) => Exit::Usage,
            Self::Fleet(FleetError::Existing(error)) if !error.is_environment() => Exit::Usage,
            // Whoever names a kubeconfig names credentials, too.
            Self::Fleet(error) if error.is_refused() => Exit::Usage,
            Self::Toolchain(_) | Self::Fleet(_) | Self::Stdout(_) | Self::Environment { .. } => Exit::Environment,
        }
    }

    /// What to do about it, where something can be said.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Suite(error) => error.hint(),
            Self::Exercise(error) => error.hint(),
            Self::Toolchain(error) => error.hint(),
            Self::Fleet(error) => error.hint(),
            Self::Cluster(error) => error.hint(),
            Self::Bundle(error) => error.hint(),
            Self::Usage { hint, .. } | Self::Environment { hint, .. } => hint.clone(),
            Self::Report(_) | Self::Stdout(_) => None,
        }
    }
}

fn of_cluster(error: &ClusterError) -> Exit {
    match error {
        ClusterError::BadName(_)
        | ClusterError::NoSuchFleet(_)
        | ClusterError::FleetExists(_)
        | ClusterError::NoContext { .. } => Exit::Usage,
        _ => Exit::Environment,
    }
}
