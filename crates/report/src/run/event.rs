//! Events that the runner emits, and the reporters that receive them.

use std::path::Path;

use record::{RecordEntry, RunRecord, ScenarioRecord};

use super::file::{ReportError, ReportFile};
use crate::runs::changes::RunChanges;

/// Event of a run. A scenario is identified by its file and line, which are unique.
#[derive(Clone, Copy, Debug)]
pub enum RunEvent<'a> {
    /// Work that belongs to no scenario started or made progress: a component is built, the fleet starts.
    Phase {
        /// Description in a few lower-case words: "starting the fleet: 2 of 4 clusters are ready".
        text: &'a str,
    },
    /// The first scenarios start.
    RunStarted {
        /// Number of scenarios that will be run.
        scenarios: usize,
    },
    /// A scenario started.
    ScenarioStarted {
        /// File of the feature.
        file: &'a str,
        /// Line of the scenario.
        line: usize,
        /// Name of the scenario.
        name: &'a str,
    },
    /// A step started.
    StepStarted {
        /// File of the feature.
        file: &'a str,
        /// Line of the scenario.
        line: usize,
        /// `Given`, `When`, `Then`, `And`, `But`.
        keyword: &'a str,
        /// Text of the step.
        text: &'a str,
    },
    /// The current step waits for something that takes minutes.
    StepWaits {
        /// File of the feature.
        file: &'a str,
        /// Line of the scenario.
        line: usize,
        /// Reason for the wait and its progress: "real time: 2:05 of 5:00 have passed".
        text: &'a str,
    },
    /// Something happened in a running scenario: a condition changed, an action was done, a wait ended. Events of one
    /// source come in their order; a step's first event may come shortly before [`RunEvent::StepStarted`]. Steps come as
    /// [`RunEvent::StepStarted`].
    Happened {
        /// File of the feature.
        file: &'a str,
        /// Line of the scenario.
        line: usize,
        /// What happened, with its time.
        entry: &'a RecordEntry,
    },
    /// A scenario has failed, and what it has made stays until somebody lets the run go on.
    ScenarioPaused {
        /// The scenario until now, with the outcome `failed`.
        record: &'a ScenarioRecord,
        /// Kubeconfig of its fleet.
        kubeconfig: &'a Path,
        /// Suffix of the names of its objects.
        suffix: &'a str,
    },
    /// A scenario finished, or won't be run (then no [`RunEvent::ScenarioStarted`] came before).
    ScenarioFinished(&'a ScenarioRecord),
}

/// A receiver of a run's events, such as the terminal.
pub trait Reporter {
    /// Takes an event as it comes.
    ///
    /// # Errors
    /// Returns an error if the output can't be written to. A closed pipe is no error.
    fn event(&mut self, event: &RunEvent<'_>) -> Result<(), ReportError>;

    /// Takes the record of the whole run after the last event, and the report files that were written from it.
    ///
    /// # Errors
    /// Returns an error if the output can't be written to. A closed pipe is no error.
    fn finish(&mut self, run: &RunRecord, written: &[&ReportFile]) -> Result<(), ReportError>;
}

/// All reporters of a run: those that take events as they come, and the requested report files.
#[derive(Default)]
pub struct Reporters {
    live: Vec<Box<dyn Reporter + Send>>,
    files: Vec<ReportFile>,
    changes: RunChanges,
}

impl Reporters {
    /// Creates reporters that consist of one, such as the terminal.
    #[must_use]
    pub fn new(reporter: impl Reporter + Send + 'static) -> Self {
        Self { live: vec![Box::new(reporter)], files: Vec::new(), changes: RunChanges::default() }
    }

    /// Adds a reporter that takes events as they come.
    pub fn add(&mut self, reporter: impl Reporter + Send + 'static) {
        self.live.push(Box::new(reporter));
    }

    /// Adds a report file, which is written when the run has finished.
    ///
    /// # Errors
    /// Returns an error if the file can't be created there. It is better to learn that now than after the run.
    pub fn add_file(&mut self, file: ReportFile) -> Result<(), ReportError> {
        file.prepare()?;
        self.files.push(file);
        Ok(())
    }

    /// Adds to the page what several runs say together.
    pub fn set_changes(&mut self, changes: RunChanges) {
        self.changes = changes;
    }

    /// Passes an event to all reporters.
    ///
    /// # Errors
    /// Returns the first error. An error of one reporter doesn't keep the others from getting the event.
    pub fn event(&mut self, event: &RunEvent<'_>) -> Result<(), ReportError> {
        self.live.iter_mut().map(|reporter| reporter.event(event)).fold(Ok(()), Result::and)
    }

    /// Writes the files and ends all reporters, which may name the files.
    ///
    /// Returns all errors: a report that can't be written doesn't keep the others from being written.
    #[must_use]
    pub fn finish(mut self, run: &RunRecord) -> Vec<ReportError> {
        let mut written = Vec::new();
        let mut errors = Vec::new();
        for file in &self.files {
            match file.write_with(run, &self.changes) {
                Ok(()) => written.push(file),
                Err(err) => errors.push(err),
            }
        }
        errors.extend(self.live.iter_mut().filter_map(|reporter| reporter.finish(run, &written).err()));
        errors
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;
    use crate::run::{DetailLevel, ReportFormat, RunProgressDisplay, TerminalReporter, fixture};
    use crate::text::style::OutputLayout;

    #[test]
    fn one_file_that_fails_leaves_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let mut reporters = Reporters::new(TerminalReporter::new(
            Vec::new(),
            OutputLayout::default(),
            DetailLevel::Compact,
            RunProgressDisplay::hidden(),
        ));
        let broken = dir.path().join("a/b.json");
        let whole = dir.path().join("c/d.xml");
        reporters.add_file(ReportFile::new(ReportFormat::Json, &broken)).unwrap();
        reporters.add_file(ReportFile::new(ReportFormat::Junit, &whole)).unwrap();
        std::fs::remove_dir_all(dir.path().join("a")).unwrap();
        std::fs::write(dir.path().join("a"), "in the way").unwrap();
        let errors = reporters.finish(&fixture::run());
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].to_string().contains("b.json") || errors[0].to_string().contains("/a"), "{}", errors[0]);
        assert!(whole.exists());
    }

    /// Reporter that keeps the places of the conditions that changed.
    struct ChangedConditions(Sender<String>);

    impl Reporter for ChangedConditions {
        fn event(&mut self, event: &RunEvent<'_>) -> Result<(), ReportError> {
            if let RunEvent::Happened { line, entry, .. } = event
                && let Some(transition) = entry.transition()
            {
                self.0.send(format!("{line}: {} {}", transition.place, transition.condition)).unwrap();
            }
            Ok(())
        }

        fn finish(&mut self, _: &RunRecord, _: &[&ReportFile]) -> Result<(), ReportError> {
            Ok(())
        }
    }

    #[test]
    fn each_reporter_gets_transitions_as_they_come() {
        let (sender, receiver) = channel();
        let mut reporters = Reporters::new(TerminalReporter::new(
            Vec::new(),
            OutputLayout::default(),
            DetailLevel::Compact,
            RunProgressDisplay::hidden(),
        ));
        reporters.add(ChangedConditions(sender));
        let record = fixture::failed();
        let happened = |entry| RunEvent::Happened { file: &record.file, line: record.line, entry };
        for entry in &record.entries {
            reporters.event(&happened(entry)).unwrap();
        }
        let expected: Vec<String> = record
            .entries
            .iter()
            .filter_map(RecordEntry::transition)
            .map(|transition| format!("{}: {} {}", record.line, transition.place, transition.condition))
            .collect();
        assert!(!expected.is_empty());
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), expected);
    }
}
