//! Reports of a run that a command line asks for.

use std::path::Path;

use report::run::{ReportFile, ReportFormat, STDOUT};

use crate::cli::ReportFiles;
use crate::error::CommandError;

impl ReportFiles {
    /// Returns the requested reports.
    pub(crate) fn requested(&self) -> impl Iterator<Item = ReportFile> {
        let formats =
            [(ReportFormat::Junit, &self.junit), (ReportFormat::Json, &self.json), (ReportFormat::Html, &self.html)];
        formats.into_iter().filter_map(|(format, path)| Some(ReportFile::new(format, path.as_ref()?)))
    }

    /// Checks that stdout gets one report at most.
    ///
    /// # Errors
    /// Returns an error if it would get several.
    pub(crate) fn check(&self) -> Result<(), CommandError> {
        if self.on_stdout() <= 1 {
            return Ok(());
        }
        let message = "only one of --junit, --json and --html can be written to standard output".into();
        Err(CommandError::Usage { message, hint: Some("give the others a file".into()) })
    }

    /// Returns the number of reports that go to stdout.
    pub(crate) fn on_stdout(&self) -> usize {
        [&self.junit, &self.json, &self.html].into_iter().flatten().filter(|path| *path == Path::new(STDOUT)).count()
    }
}
