//! What is going on right now, on stderr: live lines on a terminal, a plain line now and then elsewhere.

use std::io::{self, IsTerminal as _, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clusters::stderr_line;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::event::Event;
use crate::output::stdout::StderrStream;
use crate::output::{clean, shorten};

/// Elsewhere than on a terminal, this much time passes between two lines: a log stays short, and a CI system that takes
/// silence for a hang doesn't.
const INTERVAL: Duration = Duration::from_secs(15);
/// More running scenarios than this are only counted.
const MOST_LINES: usize = 8;
/// Columns of a scenario's name before its step: the end of a live line is cut, and the step is what is waited for.
const NAME_WIDTH: usize = 28;
/// Columns of a plain line.
const PLAIN_WIDTH: usize = 120;

/// Shows the phase, or the running scenarios with their current steps.
#[derive(Debug)]
pub struct Progress {
    state: Arc<Mutex<State>>,
    shown: Shown,
}

#[derive(Debug)]
enum Shown {
    Live(Live),
    /// Dropping the sender ends the thread.
    Plain(Option<(Sender<()>, JoinHandle<()>)>),
    Hidden,
}

/// The lines: one for the whole, one for each running scenario up to [`MOST_LINES`].
#[derive(Debug)]
struct Live {
    lines: MultiProgress,
    head: ProgressBar,
    scenarios: Vec<(Instant, ProgressBar)>,
}

/// What a line is made from.
#[derive(Debug, Default)]
struct State {
    phase: Option<String>,
    total: usize,
    done: usize,
    running: Vec<Running>,
}

#[derive(Debug)]
struct Running {
    file: String,
    line: usize,
    name: String,
    step: Option<String>,
    /// What the step waits for, where that takes minutes.
    waits: Option<String>,
    since: Instant,
}

impl Progress {
    /// Live lines when stderr is a terminal, plain ones when not.
    #[must_use]
    pub fn auto() -> Self {
        if io::stderr().is_terminal() { Self::live(ProgressDrawTarget::stderr()) } else { Self::plain(INTERVAL) }
    }

    /// Nothing, for `--quiet` and tests.
    #[must_use]
    pub fn hidden() -> Self {
        Self { state: Arc::default(), shown: Shown::Hidden }
    }

    fn live(target: ProgressDrawTarget) -> Self {
        let lines = MultiProgress::with_draw_target(target);
        let head = line(&lines, "{spinner} {elapsed:>4} {wide_msg}", Duration::ZERO);
        Self { state: Arc::default(), shown: Shown::Live(Live { lines, head, scenarios: Vec::new() }) }
    }

    fn plain(interval: Duration) -> Self {
        let state: Arc<Mutex<State>> = Arc::default();
        let (sender, receiver) = mpsc::channel();
        let seen = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            while receiver.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                if let Some(line) = lock(&seen).plain_line() {
                    stderr_line!("{line}");
                }
            }
        });
        Self { state, shown: Shown::Plain(Some((sender, thread))) }
    }

    /// Takes an event.
    pub fn event(&mut self, event: &Event<'_>) {
        let mut state = lock(&self.state);
        state.take(event);
        if let Shown::Live(live) = &mut self.shown {
            live.show(&state);
        }
    }

    /// Takes the lines away. Nothing is shown after this.
    pub fn finish(&mut self) {
        match std::mem::replace(&mut self.shown, Shown::Hidden) {
            Shown::Live(live) => {
                live.scenarios.iter().for_each(|(_, bar)| bar.finish_and_clear());
                live.head.finish_and_clear();
                // What can't be cleared can't be seen either.
                let _ = live.lines.clear();
            }
            Shown::Plain(Some((sender, thread))) => {
                drop(sender);
                // The thread only prints; had it panicked, there would be nothing to do.
                let _ = thread.join();
            }
            Shown::Plain(None) | Shown::Hidden => {}
        }
    }

    /// Does something, printing for example, while the lines are out of the way.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.shown {
            Shown::Live(live) => live.lines.suspend(print),
            Shown::Plain(_) | Shown::Hidden => print(),
        }
    }

    /// A stderr for logs that doesn't run into the lines.
    #[must_use]
    pub fn log_writer(&self) -> LogWriter {
        LogWriter(match &self.shown {
            Shown::Live(live) => Some(live.lines.clone()),
            Shown::Plain(_) | Shown::Hidden => None,
        })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Stderr, with the live lines out of the way while it is written to.
#[derive(Clone, Debug)]
pub struct LogWriter(Option<MultiProgress>);

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0 {
            Some(lines) => lines.suspend(|| StderrStream.write(bytes)),
            None => StderrStream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl State {
    fn take(&mut self, event: &Event<'_>) {
        match *event {
            Event::Phase { text } => self.phase = Some(one_line(text)),
            Event::RunStarted { scenarios } => {
                self.phase = None;
                self.total = scenarios;
            }
            Event::ScenarioStarted { file, line, name } => self.running.push(Running {
                file: file.to_owned(),
                line,
                name: one_line(name),
                step: None,
                waits: None,
                since: Instant::now(),
            }),
            Event::StepStarted { file, line, keyword, text } => {
                if let Some(running) = self.running.iter_mut().find(|one| one.is(file, line)) {
                    running.step = Some(one_line(&format!("{keyword} {text}")));
                    running.waits = None;
                }
            }
            Event::StepWaits { file, line, text } => {
                if let Some(running) = self.running.iter_mut().find(|one| one.is(file, line)) {
                    running.waits = Some(one_line(text));
                }
            }
            Event::ScenarioFinished(record) => {
                let before = self.running.len();
                self.running.retain(|one| !one.is(&record.file, record.line));
                self.done += before - self.running.len();
            }
        }
    }

    /// `2 of 5 done, 3 running, the longest for 12s: Name`, after what that one waits for; none where nothing happens.
    fn plain_line(&self) -> Option<String> {
        let line = match self.running.iter().min_by_key(|running| running.since) {
            Some(longest) => {
                let waits = longest.waits.as_ref().map(|waits| format!(" ({waits})")).unwrap_or_default();
                let which = if self.running.len() > 1 { "the longest for" } else { "for" };
                format!("{}, {which} {}s{waits}: {}", self.head(), longest.since.elapsed().as_secs(), longest.name)
            }
            None => self.phase.clone()?,
        };
        Some(shorten(&line, PLAIN_WIDTH))
    }

    fn head(&self) -> String {
        match &self.phase {
            Some(phase) => phase.clone(),
            None => format!("{} of {} done, {} running", self.done, self.total, self.running.len()),
        }
    }
}

impl Live {
    fn show(&mut self, state: &State) {
        self.head.set_message(state.head());
        let shown = &state.running[..state.running.len().min(MOST_LINES)];
        // Scenarios are known by when they began: no two begin at the same instant.
        self.scenarios.retain(|(since, bar)| {
            let stays = shown.iter().any(|running| running.since == *since);
            if !stays {
                bar.finish_and_clear();
                self.lines.remove(bar);
            }
            stays
        });
        for running in shown {
            let known = self.scenarios.iter().position(|(since, _)| *since == running.since);
            let at = known.unwrap_or_else(|| {
                let bar = line(&self.lines, "  {elapsed:>4} {wide_msg}", running.since.elapsed());
                self.scenarios.push((running.since, bar));
                self.scenarios.len() - 1
            });
            self.scenarios[at].1.set_message(running.text());
        }
    }
}

impl Running {
    fn is(&self, file: &str, line: usize) -> bool {
        self.line == line && self.file == file
    }

    fn text(&self) -> String {
        match (&self.step, &self.waits) {
            (Some(step), Some(waits)) => format!("{} ({waits}): {step}", shorten(&self.name, NAME_WIDTH)),
            (Some(step), None) => format!("{}: {step}", shorten(&self.name, NAME_WIDTH)),
            (None, _) => self.name.clone(),
        }
    }
}

fn one_line(text: &str) -> String {
    clean(text).replace('\n', " ")
}

fn line(lines: &MultiProgress, template: &str, elapsed: Duration) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::no_length().with_style(style.tick_chars("|/-\\ ")).with_elapsed(elapsed);
    let bar = lines.add(bar);
    // The seconds go on while nothing happens.
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::fixture;

    fn run(progress: &mut Progress, scenarios: usize) {
        progress.event(&Event::RunStarted { scenarios: 5 });
        for line in 1..=scenarios {
            progress.event(&Event::ScenarioStarted { file: "a.feature", line, name: &format!("Scenario {line}") });
        }
        progress.event(&Event::StepStarted {
            file: "a.feature",
            line: 1,
            keyword: "Then",
            text: "placement \"web\" becomes available on all members",
        });
    }

    #[test]
    fn plain_line_names_the_longest_running() {
        let mut progress = Progress::hidden();
        progress.event(&Event::Phase { text: "starting the fleet" });
        assert_eq!(lock(&progress.state).plain_line().as_deref(), Some("starting the fleet"));
        run(&mut progress, 3);
        assert_eq!(
            lock(&progress.state).plain_line().as_deref(),
            Some("0 of 5 done, 3 running, the longest for 0s: Scenario 1")
        );
        let text = "real time: 2:05 of 5:00 have passed";
        progress.event(&Event::StepWaits { file: "a.feature", line: 1, text });
        let line = lock(&progress.state).plain_line();
        assert_eq!(line.as_deref(), Some(&*format!("0 of 5 done, 3 running, the longest for 0s ({text}): Scenario 1")));
        let long = "a long name ".repeat(20);
        lock(&progress.state).running[0].name = long;
        let line = lock(&progress.state).plain_line().unwrap_or_default();
        assert!(line.chars().count() <= PLAIN_WIDTH && line.ends_with(" ..."), "{line}");
    }

    #[test]
    fn a_long_name_leaves_the_step_in_sight() {
        let mut progress = Progress::hidden();
        run(&mut progress, 1);
        let mut state = lock(&progress.state);
        state.running[0].name = "A staged update run waits for an approval that nobody gives".to_owned();
        let text = state.running[0].text();
        assert!(text.starts_with("A staged update run ...: Then placement \"web\" becomes available"), "{text}");
    }

    #[test]
    fn live_lines_come_and_go() {
        let messages = |progress: &Progress| match &progress.shown {
            Shown::Live(live) => {
                let bars = live.scenarios.iter().map(|(_, bar)| bar.message());
                std::iter::once(live.head.message()).chain(bars).collect::<Vec<_>>()
            }
            _ => Vec::new(),
        };
        let mut progress = Progress::live(ProgressDrawTarget::hidden());
        run(&mut progress, 10);
        let shown = messages(&progress);
        assert_eq!(shown.len(), 1 + MOST_LINES);
        assert_eq!(shown[0], "0 of 5 done, 10 running");
        assert_eq!(shown[1], "Scenario 1: Then placement \"web\" becomes available on all members");

        let mut record = fixture::passed();
        record.file = "a.feature".to_owned();
        record.line = 1;
        progress.event(&Event::ScenarioFinished(&record));
        let shown = messages(&progress);
        assert_eq!(shown.len(), 1 + MOST_LINES);
        assert_eq!(shown[0], "1 of 5 done, 9 running");
        assert_eq!(shown[MOST_LINES], "Scenario 9");
        progress.finish();
        assert!(messages(&progress).is_empty());
    }

    #[test]
    fn the_plain_thread_ends_with_its_progress() {
        let progress = Progress::plain(Duration::from_mins(10));
        let began = Instant::now();
        drop(progress);
        assert!(began.elapsed() < Duration::from_mins(1));
    }
}
