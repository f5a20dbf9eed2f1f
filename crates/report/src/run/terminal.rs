//! Terminal output of a run: finished scenarios and the summary on stdout, live progress on stderr.

use std::io;

use record::{Outcome, RunRecord, ScenarioRecord};

use super::event::{Reporter, RunEvent};
use super::file::{ReportError, ReportFile};
use super::progress::RunProgressDisplay;
use super::{pause, scenario, summary};
use crate::text::stderr::StderrStream;
use crate::text::stdout::StdoutStream;
use crate::text::style::OutputLayout;

/// Amount of detail about scenarios that passed. Scenarios that failed are always printed in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DetailLevel {
    /// A line per scenario.
    #[default]
    Compact,
    /// Each step with everything that happened in it.
    Full,
}

/// Kind of the last output. An empty line separates a block from all other output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastOutput {
    Nothing,
    Line,
    Block,
}

/// Prints a run while it goes on.
#[derive(Debug)]
pub struct TerminalReporter<W: io::Write> {
    out: W,
    look: OutputLayout,
    detail: DetailLevel,
    progress: RunProgressDisplay,
    last: LastOutput,
    /// True if the reader has closed the pipe.
    closed: bool,
}

impl TerminalReporter<Box<dyn io::Write + Send>> {
    /// Prints to stdout, with colours if it shows them.
    #[must_use]
    pub fn stdout(look: OutputLayout, detail: DetailLevel, progress: RunProgressDisplay) -> Self {
        Self::new(Box::new(StdoutStream), look, detail, progress)
    }

    /// Prints to stderr, for runs with a report on stdout.
    #[must_use]
    pub fn stderr(look: OutputLayout, detail: DetailLevel, progress: RunProgressDisplay) -> Self {
        Self::new(Box::new(StderrStream), look, detail, progress)
    }
}

impl<W: io::Write> TerminalReporter<W> {
    /// Prints to any stream; the text has colours.
    #[must_use]
    pub fn new(out: W, look: OutputLayout, detail: DetailLevel, progress: RunProgressDisplay) -> Self {
        Self { out, look, detail, progress, last: LastOutput::Nothing, closed: false }
    }

    fn scenario(&mut self, record: &ScenarioRecord) -> Result<(), ReportError> {
        match (record.outcome, self.detail) {
            // The summary prints the reasons, grouped.
            (Outcome::NotRun, DetailLevel::Compact) => Ok(()),
            (Outcome::NotRun, DetailLevel::Full) | (Outcome::Passed, DetailLevel::Compact) => {
                self.print(LastOutput::Line, &scenario::line(record, self.look))
            }
            (Outcome::Passed, DetailLevel::Full) | (Outcome::Failed | Outcome::Interrupted, _) => {
                self.print(LastOutput::Block, &scenario::block(record, self.look))
            }
        }
    }

    fn print(&mut self, what: LastOutput, text: &str) -> Result<(), ReportError> {
        if self.closed {
            return Ok(());
        }
        let stands_off =
            self.last != LastOutput::Nothing && (what == LastOutput::Block || self.last == LastOutput::Block);
        let text = if stands_off { format!("\n{text}") } else { text.to_owned() };
        self.last = what;
        let out = &mut self.out;
        match self.progress.suspend(|| out.write_all(text.as_bytes()).and_then(|()| out.flush())) {
            Err(err) if err.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            result => result.map_err(ReportError::Stdout),
        }
    }
}

impl<W: io::Write> Reporter for TerminalReporter<W> {
    fn event(&mut self, event: &RunEvent<'_>) -> Result<(), ReportError> {
        self.progress.event(event);
        match event {
            RunEvent::ScenarioFinished(record) => self.scenario(record),
            RunEvent::ScenarioPaused { record, kubeconfig, suffix } => {
                self.print(LastOutput::Block, &pause::text(record, kubeconfig, suffix, self.look))
            }
            _ => Ok(()),
        }
    }

    /// Prints the summary.
    fn finish(&mut self, run: &RunRecord, written: &[&ReportFile]) -> Result<(), ReportError> {
        self.progress.finish();
        self.print(LastOutput::Block, &summary::text(run, written, self.look))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::fixture;

    /// Returns what the fixture's run prints, with colours off.
    fn printed(detail: DetailLevel) -> String {
        let mut out = anstream::StripStream::new(Vec::new());
        let mut terminal =
            TerminalReporter::new(&mut out, OutputLayout::default(), detail, RunProgressDisplay::hidden());
        let run = fixture::run();
        for record in &run.scenarios {
            terminal.event(&RunEvent::ScenarioFinished(record)).unwrap();
        }
        terminal.finish(&run, &[]).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    #[test]
    fn compact() {
        insta::assert_snapshot!(printed(DetailLevel::Compact));
    }

    #[test]
    fn full() {
        insta::assert_snapshot!(printed(DetailLevel::Full));
    }

    struct Broken(io::ErrorKind);

    impl io::Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_silence_and_a_full_disk_is_an_error() {
        let finish = |kind| {
            let mut terminal = TerminalReporter::new(
                Broken(kind),
                OutputLayout::default(),
                DetailLevel::Compact,
                RunProgressDisplay::hidden(),
            );
            terminal.finish(&fixture::run(), &[])
        };
        assert!(finish(io::ErrorKind::BrokenPipe).is_ok());
        assert!(matches!(finish(io::ErrorKind::StorageFull), Err(ReportError::Stdout(_))));
    }
}
