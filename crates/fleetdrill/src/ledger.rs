//! Ledgers: files with a line for each run, of many runs of one suite.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use record::RunRecord;
use report::run::to_line;

use crate::error::CommandError;

/// Ending of a ledger's file. Each line is the record of a run, without the scenarios' events.
pub(crate) const ENDING: &str = "jsonl";

/// Ledger that a run is added to when it has ended.
pub(crate) struct Ledger {
    path: PathBuf,
    file: File,
}

impl Ledger {
    /// Opens a ledger, or creates it.
    ///
    /// # Errors
    /// Returns an error if the file has another ending, or can't be written.
    pub(crate) fn open(path: &Path) -> Result<Self, CommandError> {
        if path.extension().is_none_or(|ending| ending != ENDING) {
            let message = format!("{} is no name for a ledger", path.display());
            return Err(CommandError::usage(
                message,
                Some("let it end with .jsonl, by which `fleetdrill report` knows it"),
            ));
        }
        let created = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let file = created.and_then(|()| OpenOptions::new().append(true).create(true).open(path));
        let file = file.map_err(|error| unwritable(path, &error))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Adds a run, with the load of the machine at this moment.
    ///
    /// # Errors
    /// Returns an error if the line can't be written.
    pub(crate) fn add(&mut self, run: &RunRecord) -> Result<(), CommandError> {
        let run = RunRecord { load: Some(load()), ..run.without_events() };
        let line = to_line(&run).map_err(|error| CommandError::usage(error.to_string(), None))?;
        // One write, so that a run that is killed leaves no half line.
        let written = self.file.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| unwritable(&self.path, &error))
    }
}

/// Returns the number of processes that ran or wanted to run, on average of the last five minutes.
fn load() -> f64 {
    // The system's fixed point has 16 bits behind it.
    let [_, five_minutes, _] = rustix::system::sysinfo().loads;
    let fixed = u32::try_from(five_minutes).unwrap_or(u32::MAX);
    (f64::from(fixed) / 65_536.0 * 100.0).round() / 100.0
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::usage(format!("failed to write {}: {error}", path.display()), None)
}

#[cfg(test)]
mod tests {
    use report::run::fixture;

    use super::*;
    use crate::run_file;

    #[test]
    fn runs_are_added_and_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new").join("ledger.jsonl");
        for id in ["aaaa", "bbbb"] {
            let run = RunRecord { id: id.into(), ..fixture::run() };
            Ledger::open(&path).and_then(|mut ledger| ledger.add(&run)).unwrap();
        }
        let runs = run_file::read_all(&[path]).unwrap();
        let ids: Vec<_> = runs.iter().map(|run| run.id.as_str()).collect();
        assert_eq!(ids, ["aaaa", "bbbb"]);
        assert_eq!(runs[0].seed, fixture::run().seed);
        assert!(
            runs[0].load.is_some()
                && runs[0].scenarios.iter().all(|scenario| scenario.entries.iter().all(|entry| entry.race().is_some()))
        );
        assert_eq!(runs[0].worked_around(), fixture::run().worked_around());
        assert_eq!(runs[0].scenarios.len(), fixture::run().scenarios.len());
    }

    #[test]
    fn a_ledger_is_known_by_its_name() {
        let error = Ledger::open(Path::new("run.json")).err().expect("refused");
        assert_eq!(error.to_string(), "run.json is no name for a ledger");
    }
}
