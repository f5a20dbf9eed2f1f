//! The stream that the runner emits, and who takes it.

use std::io;

use steps::record::{RunRecord, ScenarioRecord};

use super::file::{ReportError, ReportFile};
use super::terminal::Terminal;

/// Something that happened in a run. A scenario is known by its file and line, which no two share.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Work that belongs to no scenario began or got further: a component is built, the fleet starts.
    Phase {
        /// What, in a few lower-case words: "starting the fleet: 2 of 4 clusters are ready".
        text: &'a str,
    },
    /// The scenarios begin.
    RunStarted {
        /// How many will be run.
        scenarios: usize,
    },
    /// A scenario began.
    ScenarioStarted {
        /// The feature's file.
        file: &'a str,
        /// The scenario's line.
        line: usize,
        /// The scenario's name.
        name: &'a str,
    },
    /// A step began.
    StepStarted {
        /// The feature's file.
        file: &'a str,
        /// The scenario's line.
        line: usize,
        /// `Given`, `When`, `Then`, `And`, `But`.
        keyword: &'a str,
        /// The step's text.
        text: &'a str,
    },
    /// A step that began waits for something that takes minutes.
    StepWaits {
        /// The feature's file.
        file: &'a str,
        /// The scenario's line.
        line: usize,
        /// What for, and how far it is: "real time: 2:05 of 5:00 have passed".
        text: &'a str,
    },
    /// A scenario ended, or was found not to be run (then it has no [`Event::ScenarioStarted`]).
    ScenarioFinished(&'a ScenarioRecord),
}

/// All reporters of a run: the terminal, and the files that were asked for.
#[derive(Debug)]
pub struct Reporters<W: io::Write> {
    terminal: Terminal<W>,
    files: Vec<ReportFile>,
}

impl<W: io::Write> Reporters<W> {
    /// The terminal alone.
    #[must_use]
    pub fn new(terminal: Terminal<W>) -> Self {
        Self { terminal, files: Vec::new() }
    }

    /// Also writes a file when the run has finished.
    ///
    /// # Errors
    /// When the file can't be made there. It is better to hear that now than after the run.
    pub fn add_file(&mut self, file: ReportFile) -> Result<(), ReportError> {
        file.prepare()?;
        self.files.push(file);
        Ok(())
    }

    /// Hands an event on.
    ///
    /// # Errors
    /// When stdout can't be written to. A closed pipe is no error: the terminal falls silent and the run goes on.
    pub fn event(&mut self, event: &Event<'_>) -> Result<(), ReportError> {
        self.terminal.event(event)
    }

    /// Writes the files and prints the summary, which names them.
    ///
    /// Returns everything that went wrong: a report that can't be written doesn't keep the others from being written.
    #[must_use]
    pub fn finish(mut self, run: &RunRecord) -> Vec<ReportError> {
        let mut written = Vec::new();
        let mut errors = Vec::new();
        for file in &self.files {
            match file.write(run) {
                Ok(()) => written.push(file),
                Err(err) => errors.push(err),
            }
        }
        errors.extend(self.terminal.finish(run, &written).err());
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::style::Look;
    use crate::reporter::{Detail, Format, Progress, fixture};

    #[test]
    fn one_file_that_fails_leaves_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let mut reporters =
            Reporters::new(Terminal::new(Vec::new(), Look::default(), Detail::Compact, Progress::hidden()));
        let broken = dir.path().join("a/b.json");
        let whole = dir.path().join("c/d.xml");
        reporters.add_file(ReportFile::new(Format::Json, &broken)).unwrap();
        reporters.add_file(ReportFile::new(Format::Junit, &whole)).unwrap();
        std::fs::remove_dir_all(dir.path().join("a")).unwrap();
        std::fs::write(dir.path().join("a"), "in the way").unwrap();
        let errors = reporters.finish(&fixture::run());
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].to_string().contains("b.json") || errors[0].to_string().contains("/a"), "{}", errors[0]);
        assert!(whole.exists());
    }
}
