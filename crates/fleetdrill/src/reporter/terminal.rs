//! The terminal: finished scenarios and the summary on stdout, live progress on stderr.

use std::io;

use steps::record::{Outcome, RunRecord, ScenarioRecord};

use super::event::Event;
use super::file::{ReportError, ReportFile};
use super::progress::Progress;
use super::{scenario, summary};
use crate::output::stdout::{StderrStream, StdoutStream};
use crate::output::style::Look;

/// How much is said about scenarios that passed; those that failed always get everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// One line per scenario.
    #[default]
    Compact,
    /// Each step with all that happened in it.
    Full,
}

/// What was printed last: blocks stand off from everything else by an empty line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Printed {
    Nothing,
    Line,
    Block,
}

/// Prints a run as it goes.
#[derive(Debug)]
pub struct Terminal<W: io::Write> {
    out: W,
    look: Look,
    detail: Detail,
    progress: Progress,
    last: Printed,
    /// Nobody reads any more.
    closed: bool,
}

impl Terminal<Box<dyn io::Write + Send>> {
    /// Onto stdout, in colours where it shows them.
    #[must_use]
    pub fn stdout(look: Look, detail: Detail, progress: Progress) -> Self {
        Self::new(Box::new(StdoutStream), look, detail, progress)
    }

    /// Onto stderr, where stdout is a report's.
    #[must_use]
    pub fn stderr(look: Look, detail: Detail, progress: Progress) -> Self {
        Self::new(Box::new(StderrStream), look, detail, progress)
    }
}

impl<W: io::Write> Terminal<W> {
    /// Onto any stream; the text that it gets has colours.
    #[must_use]
    pub fn new(out: W, look: Look, detail: Detail, progress: Progress) -> Self {
        Self { out, look, detail, progress, last: Printed::Nothing, closed: false }
    }

    /// Takes an event.
    pub(super) fn event(&mut self, event: &Event<'_>) -> Result<(), ReportError> {
        self.progress.event(event);
        match event {
            Event::ScenarioFinished(record) => self.scenario(record),
            _ => Ok(()),
        }
    }

    /// Prints the summary.
    pub(super) fn finish(&mut self, run: &RunRecord, reports: &[&ReportFile]) -> Result<(), ReportError> {
        self.progress.finish();
        self.print(Printed::Block, &summary::text(run, reports, self.look))
    }

    fn scenario(&mut self, record: &ScenarioRecord) -> Result<(), ReportError> {
        match (record.outcome, self.detail) {
            // The summary says why, grouped.
            (Outcome::NotRun, Detail::Compact) => Ok(()),
            (Outcome::NotRun, Detail::Full) | (Outcome::Passed, Detail::Compact) => {
                self.print(Printed::Line, &scenario::line(record, self.look))
            }
            (Outcome::Passed, Detail::Full) | (Outcome::Failed | Outcome::Interrupted, _) => {
                self.print(Printed::Block, &scenario::block(record, self.look))
            }
        }
    }

    fn print(&mut self, what: Printed, text: &str) -> Result<(), ReportError> {
        if self.closed {
            return Ok(());
        }
        let stands_off = self.last != Printed::Nothing && (what == Printed::Block || self.last == Printed::Block);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::fixture;

    /// What the fixture's run prints, with colours off.
    fn printed(detail: Detail) -> String {
        let mut out = anstream::StripStream::new(Vec::new());
        let mut terminal = Terminal::new(&mut out, Look::default(), detail, Progress::hidden());
        let run = fixture::run();
        for record in &run.scenarios {
            terminal.event(&Event::ScenarioFinished(record)).unwrap();
        }
        terminal.finish(&run, &[]).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    #[test]
    fn compact() {
        insta::assert_snapshot!(printed(Detail::Compact));
    }

    #[test]
    fn full() {
        insta::assert_snapshot!(printed(Detail::Full));
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
            let mut terminal = Terminal::new(Broken(kind), Look::default(), Detail::Compact, Progress::hidden());
            terminal.finish(&fixture::run(), &[])
        };
        assert!(finish(io::ErrorKind::BrokenPipe).is_ok());
        assert!(matches!(finish(io::ErrorKind::StorageFull), Err(ReportError::Stdout(_))));
    }
}
