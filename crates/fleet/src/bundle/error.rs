//! What can be wrong with a bundle.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A bundle that can't be read or written.
#[derive(Debug, Error)]
pub enum BundleError {
    /// A file or directory can't be read.
    #[error("failed to read the bundle {}", path.display())]
    Read {
        /// The bundle.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It is something else.
    #[error("{} is no bundle: {why}", path.display())]
    NotABundle {
        /// What was given.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A newer fleetdrill wrote it.
    #[error("{} has the format {schema} of bundles, and this fleetdrill reads up to {}", path.display(), super::SCHEMA)]
    Newer {
        /// The bundle.
        path: PathBuf,
        /// Its schema's version.
        schema: u32,
        /// The fleetdrill that wrote it.
        fleetdrill: String,
    },
    /// Something of it is missing.
    #[error("{} isn't whole: {why}", path.display())]
    Truncated {
        /// The bundle.
        path: PathBuf,
        /// What is missing.
        why: String,
    },
    /// It is larger than may be read.
    #[error("{} is too large: {what}", path.display())]
    TooLarge {
        /// The bundle.
        path: PathBuf,
        /// What there is too much of.
        what: String,
        /// The limit from which all others follow, in MiB.
        mebibytes: u64,
    },
    /// What a diagnosis needs couldn't be read when it was taken.
    #[error("{} can't be diagnosed: when it was taken, {what} couldn't be read: {why}", path.display())]
    Incomplete {
        /// The bundle.
        path: PathBuf,
        /// What is missing, e.g. `works of hub`.
        what: String,
        /// Why.
        why: String,
    },
    /// There is something already where it should go.
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    /// It can't be written.
    #[error("failed to write the bundle {}", path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl BundleError {
    /// What to do about it, where something can be said.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotABundle { .. } => {
                Some("name the directory or the .tar.gz file that `fleetdrill collect` wrote".into())
            }
            Self::Newer { fleetdrill, .. } => {
                Some(format!("fleetdrill {fleetdrill} wrote it: use that version or a newer one"))
            }
            Self::TooLarge { mebibytes, .. } => Some(format!(
                "if it comes from somebody you trust, raise the limit of {mebibytes} MiB: --from-limit MIB, or \
                 FLEETDRILL_FROM_LIMIT; reading takes up to five times as much memory"
            )),
            Self::Truncated { .. } => Some("copy it again, or collect a new one".into()),
            Self::Incomplete { .. } => {
                Some("collect a new one when that can be read; what else this one has can be looked at as it is".into())
            }
            Self::Exists(_) => Some("give it another name with --bundle".into()),
            Self::Read { .. } | Self::Write { .. } => None,
        }
    }

    /// Whether the machine is at fault and not what was asked.
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
