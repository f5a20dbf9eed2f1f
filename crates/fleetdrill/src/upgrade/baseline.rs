//! Differences that are known already: an earlier report, given with `--baseline`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fleet::upgrade::Order;
use serde::Deserialize;

use super::difference::Difference;
use crate::error::CommandError;

/// Known differences, each with the orders of upgrade in which it is known.
#[derive(Clone, Debug, Default)]
pub struct Baseline(BTreeMap<String, BTreeSet<Order>>);

/// What counts of a report.
#[derive(Deserialize)]
struct Report {
    differences: Vec<Known>,
}

#[derive(Deserialize)]
struct Known {
    id: String,
    orders: BTreeSet<Order>,
}

impl Baseline {
    /// Those of a report that `fleetdrill upgrade` wrote with `--json` or `--output json`.
    ///
    /// # Errors
    /// When the file can't be read or is no such report.
    pub fn read(path: &Path) -> Result<Self, CommandError> {
        let wrong = |why: String| CommandError::Usage {
            message: format!("the baseline `{}` can't be used: {why}", path.display()),
            hint: Some("a baseline is a report that `fleetdrill upgrade --json FILE` wrote".to_owned()),
        };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        Self::parse(&text).map_err(|error| wrong(error.to_string()))
    }

    pub(super) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let report: Report = serde_json::from_str(text)?;
        Ok(Self(report.differences.into_iter().map(|known| (known.id, known.orders)).collect()))
    }

    /// Whether a difference is known in all orders in which it was seen.
    #[must_use]
    pub fn has(&self, difference: &Difference) -> bool {
        let known = self.0.get(&difference.id);
        known.is_some_and(|orders| difference.orders.is_subset(orders))
    }
}
