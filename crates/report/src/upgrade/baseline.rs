//! Baseline of known differences: an earlier report, given with `--baseline`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use record::UpgradeOrder;
use serde::Deserialize;
use thiserror::Error;

use super::difference::Difference;
use super::json::SCHEMA;
use crate::document::{self, DocumentError};

/// Error about the file of a baseline.
#[derive(Debug, Error)]
pub enum BaselineError {
    /// The file can't be read.
    #[error("the baseline `{}` can't be used: {source}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The file isn't a report of an upgrade, or a newer fleetdrill wrote it.
    #[error("the baseline `{}` can't be used: {source}", path.display())]
    NoReport {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        source: DocumentError,
    },
}

/// Known differences by id, each with the orders of upgrade in which it is known.
#[derive(Clone, Debug, Default)]
pub struct Baseline(BTreeMap<String, BTreeSet<UpgradeOrder>>);

/// Part of a report that a baseline reads.
#[derive(Deserialize)]
struct BaselineReport {
    differences: Vec<KnownDifference>,
}

#[derive(Deserialize)]
struct KnownDifference {
    id: String,
    orders: BTreeSet<UpgradeOrder>,
}

impl BaselineError {
    /// Returns a hint for a user.
    #[must_use]
    pub fn hint(&self) -> String {
        let newer = match self {
            Self::Unreadable { .. } => None,
            Self::NoReport { source, .. } => source.hint(),
        };
        newer.unwrap_or_else(|| "a baseline is a report that `fleetdrill upgrade --json FILE` wrote".to_owned())
    }
}

impl Baseline {
    /// Reads a report that `fleetdrill upgrade` wrote with `--json` or `--output json`.
    ///
    /// # Errors
    /// Returns an error if the file can't be read, isn't such a report, or has a schema that this fleetdrill doesn't know.
    pub fn read(path: &Path) -> Result<Self, BaselineError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| BaselineError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&text).map_err(|source| BaselineError::NoReport { path: path.to_owned(), source })
    }

    pub(super) fn parse(text: &str) -> Result<Self, DocumentError> {
        let report: BaselineReport = document::parse(text, SCHEMA)?;
        Ok(Self(report.differences.into_iter().map(|known| (known.id, known.orders)).collect()))
    }

    /// True if the difference is known in all orders in which it was seen.
    #[must_use]
    pub fn has(&self, difference: &Difference) -> bool {
        let known = self.0.get(&difference.id);
        known.is_some_and(|orders| difference.orders.is_subset(orders))
    }
}
