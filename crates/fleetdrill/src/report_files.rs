//! Reports of a run that a command line asks for.

use report::run::{DetailLevel, ReportFile, ReportFormat, Reporters, RunProgressDisplay, TerminalReporter};
use report::text::style::OutputLayout;

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
        self.requested().filter(ReportFile::is_stdout).count()
    }

    /// Returns reporters for the terminal and for the files. The terminal's is on stderr if a report goes to stdout.
    ///
    /// # Errors
    /// Returns an error if a file can't be created.
    pub(crate) fn reporters(
        &self,
        look: OutputLayout,
        verbose: bool,
        progress: RunProgressDisplay,
    ) -> Result<Reporters, CommandError> {
        let detail = if verbose { DetailLevel::Full } else { DetailLevel::Compact };
        let terminal = if self.on_stdout() == 0 {
            TerminalReporter::stdout(look, detail, progress)
        } else {
            TerminalReporter::stderr(look, detail, progress)
        };
        let mut reporters = Reporters::new(terminal);
        for file in self.requested() {
            reporters.add_file(file)?;
        }
        Ok(reporters)
    }
}
