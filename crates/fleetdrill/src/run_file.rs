//! Reads the records of runs that `fleetdrill run` has written: one in a file of `--json`, many in one of `--ledger`.

use std::path::{Path, PathBuf};

use record::RunRecord;
use report::document::{self, DocumentError};
use report::run::SCHEMA;

use crate::error::CommandError;
use crate::ledger;

/// Reads the records of runs.
///
/// # Errors
/// Returns an error if a file can't be read, isn't the record of a run, or is of a schema that this fleetdrill doesn't know.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<RunRecord>, CommandError> {
    let runs: Result<Vec<Vec<RunRecord>>, CommandError> = paths.iter().map(|path| read(path)).collect();
    Ok(runs?.into_iter().flatten().collect())
}

fn read(path: &Path) -> Result<Vec<RunRecord>, CommandError> {
    let text = std::fs::read_to_string(path).map_err(|error| CommandError::Usage {
        message: format!("failed to read {}: {error}", path.display()),
        hint: Some(WRITES_ONE.into()),
    })?;
    let is_ledger = path.extension().is_some_and(|ending| ending == ledger::ENDING);
    let documents = if is_ledger { text.lines().collect() } else { vec![text.as_str()] };
    documents.into_iter().map(|document| parse(document).map_err(|error| unusable(path, &error))).collect()
}

/// Parses the record of a run.
///
/// # Errors
/// Returns an error if the text isn't the record of a run, or is of a schema that this fleetdrill doesn't know.
pub(crate) fn parse(text: &str) -> Result<RunRecord, DocumentError> {
    document::parse(text, SCHEMA)
}

const WRITES_ONE: &str = "`fleetdrill run --json FILE` writes one";

fn unusable(path: &Path, error: &DocumentError) -> CommandError {
    let what = match error {
        DocumentError::OtherForm(_) => "is not the record of a run",
        DocumentError::UnknownSchema { .. } => "can't be read",
    };
    CommandError::Usage {
        message: format!("{} {what}: {error}", path.display()),
        hint: error.hint().or_else(|| Some(WRITES_ONE.into())),
    }
}

#[cfg(test)]
mod tests {
    use report::run::{ReportFile, ReportFormat, fixture};

    use super::*;

    #[test]
    fn a_run_comes_back_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.json");
        ReportFile::new(ReportFormat::Json, &path).write(&fixture::run()).unwrap();
        assert_eq!(read_all(&[path]).unwrap(), [fixture::run()]);
    }

    #[test]
    fn what_is_no_run_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.json");
        let said = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let error = read(&path).unwrap_err();
            (error.to_string().replace(&path.display().to_string(), "FILE"), error.hint())
        };
        let writes_one = Some(WRITES_ONE.to_owned());
        assert_eq!(
            said("{}"),
            ("FILE is not the record of a run: missing field `id` at line 1 column 2".to_owned(), writes_one.clone())
        );
        assert_eq!(
            said("{\"schema\": 3"),
            ("FILE is not the record of a run: EOF while parsing an object at line 1 column 12".to_owned(), writes_one)
        );
        assert_eq!(
            said("{\"schema\": 99, \"fleetdrill\": \"9.0.0\"}"),
            (
                format!("FILE can't be read: it has schema 99, and this fleetdrill reads schemas up to {SCHEMA}"),
                Some("fleetdrill 9.0.0 wrote it: use that version or a newer one".to_owned())
            )
        );
    }
}
