//! Errors of reading and writing bundles.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A bundle that can't be read or written.
#[derive(Debug, Error)]
pub enum BundleError {
    /// A file or directory can't be read.
    #[error("failed to read the bundle {}", path.display())]
    Read {
        /// Path of the bundle.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The file or directory isn't a bundle.
    #[error("{} is no bundle: {why}", path.display())]
    NotABundle {
        /// Path that was given as a bundle.
        path: PathBuf,
        /// Reason why it isn't a bundle.
        why: String,
    },
    /// A newer fleetdrill wrote the bundle.
    #[error("{} has the format {schema} of bundles, and this fleetdrill reads up to {}", path.display(), super::SCHEMA)]
    Newer {
        /// Path of the bundle.
        path: PathBuf,
        /// Schema version of the bundle.
        schema: u32,
        /// Version of the fleetdrill that wrote the bundle.
        fleetdrill: String,
    },
    /// A part of the bundle is missing.
    #[error("{} isn't whole: {why}", path.display())]
    Truncated {
        /// Path of the bundle.
        path: PathBuf,
        /// Missing part.
        why: String,
    },
    /// The bundle is larger than the limit.
    #[error("{} is too large: {what}", path.display())]
    TooLarge {
        /// Path of the bundle.
        path: PathBuf,
        /// Limit that the bundle exceeds, in words.
        what: String,
        /// Size limit in MiB, from which the other limits follow.
        mebibytes: u64,
    },
    /// The hub couldn't be read when the bundle was taken.
    #[error("{} can't be diagnosed: when it was taken, the hub couldn't be read: {why}", path.display())]
    WithoutHub {
        /// Path of the bundle.
        path: PathBuf,
        /// Reason.
        why: String,
    },
    /// The path to write to exists already.
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    /// The bundle can't be written.
    #[error("failed to write the bundle {}", path.display())]
    Write {
        /// Path to write to.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
}

impl BundleError {
    /// True if the machine is at fault, not the request.
    #[must_use]
    pub fn is_environment(&self) -> bool {
        match self {
            Self::Write { source, .. } => !matches!(
                source.kind(),
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied | ErrorKind::IsADirectory
            ),
            _ => false,
        }
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| match source.kind() {
            ErrorKind::AlreadyExists => Self::Exists(path),
            _ => Self::Write { path, source },
        }
    }
}
