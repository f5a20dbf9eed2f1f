//! Errors that end a command, with their exit codes and hints.

use clusters::error::ClusterError;
use fleet::FleetError;
use fleet::bundle::BundleError;
use fleet::bundle_server::BundleServerError;
use report::run::ReportError;
use report::upgrade::baseline::BaselineError;
use thiserror::Error;
use toolchain::{DownloadFailure, ToolchainError};

use crate::config::ConfigError;
use crate::exit::CommandExitCode;
use crate::hints;
use crate::suite::SuiteError;
use crate::train::exercise::ExerciseError;

/// Error of a command.
#[derive(Debug, Error)]
pub enum CommandError {
    /// Features that can't be used.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// Error about an exercise that can't be used.
    #[error(transparent)]
    Exercise(#[from] ExerciseError),
    /// A component that isn't available.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// An error of the fleet.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// An error of a cluster.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// A bundle that can't be read or written.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// A bundle that can't be served.
    #[error(transparent)]
    BundleServer(#[from] BundleServerError),
    /// A report that can't be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A baseline that can't be used.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// Configuration that can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Output that couldn't be written to stdout.
    #[error("failed to write to standard output: {0}")]
    Stdout(std::io::Error),
    /// Invalid input.
    #[error("{message}")]
    Usage {
        /// Description of the problem.
        message: String,
        /// Hint for the user.
        hint: Option<String>,
    },
    /// An error of the environment.
    #[error("{message}")]
    Environment {
        /// Description of the problem.
        message: String,
        /// Hint for the user.
        hint: Option<String>,
    },
}

impl CommandError {
    /// Returns an error about input that makes no sense.
    #[must_use]
    pub fn usage(message: impl Into<String>, hint: Option<&str>) -> Self {
        Self::Usage { message: message.into(), hint: hint.map(ToOwned::to_owned) }
    }

    /// Returns the exit code.
    #[must_use]
    pub fn exit(&self) -> CommandExitCode {
        match self {
            Self::Bundle(error) => {
                if error.is_environment() {
                    CommandExitCode::Environment
                } else {
                    CommandExitCode::Usage
                }
            }
            Self::BundleServer(BundleServerError::Certificates(_) | BundleServerError::Tls(_)) => {
                CommandExitCode::Environment
            }
            Self::Cluster(error) | Self::Fleet(FleetError::Cluster(error)) => of_cluster(error),
            Self::Suite(_)
            | Self::Exercise(_)
            | Self::Usage { .. }
            | Self::BundleServer(_)
            | Self::Report(_)
            | Self::Baseline(_)
            | Self::Config(_)
            | Self::Fleet(FleetError::NoSuchMember(_))
            | Self::Toolchain(
                ToolchainError::UnknownComponent { .. }
                | ToolchainError::UnknownVersion { .. }
                | ToolchainError::UnknownProgram { .. }
                | ToolchainError::IsPinned { .. }
                | ToolchainError::BadName { .. }
                | ToolchainError::BadSource { .. }
                | ToolchainError::NotInCache { .. }
                | ToolchainError::BadArchive { .. }
                | ToolchainError::WrongChecksum { .. }
                | ToolchainError::NotDownloaded {
                    failure:
                        DownloadFailure::BadUrl | DownloadFailure::Status(400..=499) | DownloadFailure::InsecureRedirect,
                    ..
                }
                | ToolchainError::DoesNotStart { .. }
                | ToolchainError::BadCrds { .. },
            ) => CommandExitCode::Usage,
            Self::Fleet(FleetError::Existing(error)) if !error.is_environment() => CommandExitCode::Usage,
            // A user who gives a kubeconfig also gives its credentials.
            Self::Fleet(error) if error.is_refused() => CommandExitCode::Usage,
            Self::Toolchain(_) | Self::Fleet(_) | Self::Stdout(_) | Self::Environment { .. } => {
                CommandExitCode::Environment
            }
        }
    }

    /// Returns a hint for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Suite(error) => error.hint(),
            Self::Exercise(error) => error.hint(),
            Self::Toolchain(error) => hints::for_toolchain(error),
            Self::Fleet(error) => hints::for_fleet(error),
            Self::Cluster(error) => hints::for_cluster(error),
            Self::Bundle(error) => hints::for_bundle(error),
            Self::Config(error) => error.hint(),
            Self::BundleServer(error) => hints::for_bundle_server(error),
            Self::Usage { hint, .. } | Self::Environment { hint, .. } => hint.clone(),
            Self::Baseline(error) => Some(error.hint()),
            Self::Report(_) | Self::Stdout(_) => None,
        }
    }
}

fn of_cluster(error: &ClusterError) -> CommandExitCode {
    match error {
        ClusterError::BadName(_)
        | ClusterError::NoSuchFleet(_)
        | ClusterError::FleetExists(_)
        | ClusterError::NoContext { .. } => CommandExitCode::Usage,
        _ => CommandExitCode::Environment,
    }
}
