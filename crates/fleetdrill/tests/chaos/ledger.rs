//! Ledger: a line of JSON for each blow, so that a series goes on after an interruption.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::blow::Blow;

/// Blow that has been dealt, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerLine {
    /// Seed of the series.
    pub seed: u64,
    /// The blow.
    #[serde(flatten)]
    pub blow: Blow,
    /// Process that was hit; none if the command had ended before.
    pub hit: Option<String>,
    /// Milliseconds from the command's start to the blow.
    pub moment_ms: u64,
    /// Exit code of the command; none if a signal ended it.
    pub exit: Option<i32>,
    /// Seconds from the command's start to its end.
    pub seconds: f64,
    /// What was wrong; nothing if all was as it should be.
    pub wrong: Vec<String>,
}

/// File of a series.
pub struct ChaosLedger {
    path: PathBuf,
    file: File,
}

impl ChaosLedger {
    /// Opens a ledger, or creates it.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        std::fs::create_dir_all(path.parent().unwrap_or(path))?;
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Returns the lines so far.
    pub fn lines(&self) -> std::io::Result<Vec<LedgerLine>> {
        let text = std::fs::read_to_string(&self.path)?;
        text.lines().map(|line| serde_json::from_str(line).map_err(std::io::Error::from)).collect()
    }

    /// Adds a line, in one write.
    pub fn add(&mut self, line: &LedgerLine) -> std::io::Result<()> {
        let text = serde_json::to_string(line)?;
        self.file.write_all(format!("{text}\n").as_bytes())
    }
}
