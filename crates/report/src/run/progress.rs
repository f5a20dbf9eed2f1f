//! Progress of a run on stderr: live lines on a terminal, a plain line from time to time elsewhere.

use std::io::{self, IsTerminal as _, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::Transition;

use super::event::RunEvent;
use crate::text::stderr::StderrStream;
use crate::text::{clean_line, shorten};

/// Time between two plain lines. It keeps a log short, and a CI system that takes silence for a hang still sees output.
const INTERVAL: Duration = Duration::from_secs(15);
/// Maximum number of running scenarios with a live line each; the others are only counted.
const MOST_LINES: usize = 8;
/// Columns of a scenario's name before its step. The end of a live line is cut, and the step is the more useful part.
const NAME_WIDTH: usize = 28;
/// Columns of a plain line.
const PLAIN_WIDTH: usize = 120;

/// Display of the phase, or of the running scenarios with their current steps.
#[derive(Debug)]
pub struct RunProgressDisplay {
    state: Arc<Mutex<RunProgressState>>,
    shown: ProgressMode,
}

#[derive(Debug)]
enum ProgressMode {
    Live(LiveProgress),
    /// Dropping the sender ends the thread.
    Plain(Option<(Sender<()>, JoinHandle<()>)>),
    Hidden,
}

/// Live lines: one for the run, one for each running scenario up to [`MOST_LINES`].
#[derive(Debug)]
struct LiveProgress {
    lines: MultiProgress,
    head: ProgressBar,
    scenarios: Vec<(Instant, ProgressBar)>,
}

/// State of the run that the lines are made from.
#[derive(Debug, Default)]
struct RunProgressState {
    phase: Option<String>,
    total: usize,
    done: usize,
    running: Vec<ScenarioProgress>,
}

#[derive(Debug)]
struct ScenarioProgress {
    file: String,
    line: usize,
    name: String,
    step: Option<String>,
    /// Text about a wait of the step that takes minutes.
    waits: Option<String>,
    /// Last condition that changed in the step.
    changed: Option<String>,
    since: Instant,
}

impl RunProgressDisplay {
    /// Shows live lines if stderr is a terminal, plain lines if not.
    #[must_use]
    pub fn auto() -> Self {
        if io::stderr().is_terminal() { Self::live(ProgressDrawTarget::stderr()) } else { Self::plain(INTERVAL) }
    }

    /// Shows no lines, for `--quiet` and tests.
    #[must_use]
    pub fn hidden() -> Self {
        Self { state: Arc::default(), shown: ProgressMode::Hidden }
    }

    fn live(target: ProgressDrawTarget) -> Self {
        let lines = MultiProgress::with_draw_target(target);
        let head = line(&lines, "{spinner} {elapsed:>4} {wide_msg}", Duration::ZERO);
        Self { state: Arc::default(), shown: ProgressMode::Live(LiveProgress { lines, head, scenarios: Vec::new() }) }
    }

    fn plain(interval: Duration) -> Self {
        let state: Arc<Mutex<RunProgressState>> = Arc::default();
        let (sender, receiver) = mpsc::channel();
        let seen = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            while receiver.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                if let Some(line) = lock(&seen).plain_line() {
                    let _ = StderrStream.write_all(format!("{line}\n").as_bytes());
                }
            }
        });
        Self { state, shown: ProgressMode::Plain(Some((sender, thread))) }
    }

    /// Handles an event.
    pub fn event(&mut self, event: &RunEvent<'_>) {
        let mut state = lock(&self.state);
        state.take(event);
        if let ProgressMode::Live(live) = &mut self.shown {
            live.show(&state);
        }
    }

    /// Removes the lines. No line is shown after this.
    pub fn finish(&mut self) {
        match std::mem::replace(&mut self.shown, ProgressMode::Hidden) {
            ProgressMode::Live(live) => {
                live.scenarios.iter().for_each(|(_, bar)| bar.finish_and_clear());
                live.head.finish_and_clear();
                // Lines that can't be cleared can't be seen either.
                let _ = live.lines.clear();
            }
            ProgressMode::Plain(Some((sender, thread))) => {
                drop(sender);
                // The thread only prints; there is nothing to do if it has panicked.
                let _ = thread.join();
            }
            ProgressMode::Plain(None) | ProgressMode::Hidden => {}
        }
    }

    /// Runs `print` while the live lines are hidden.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.shown {
            ProgressMode::Live(live) => live.lines.suspend(print),
            ProgressMode::Plain(_) | ProgressMode::Hidden => print(),
        }
    }

    /// Returns a stderr for logs that doesn't garble the live lines.
    #[must_use]
    pub fn log_writer(&self) -> LogWriter {
        LogWriter(match &self.shown {
            ProgressMode::Live(live) => Some(live.lines.clone()),
            ProgressMode::Plain(_) | ProgressMode::Hidden => None,
        })
    }
}

impl Drop for RunProgressDisplay {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Writer to stderr that hides the live lines while it writes.
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

impl RunProgressState {
    fn take(&mut self, event: &RunEvent<'_>) {
        match *event {
            RunEvent::Phase { text } => self.phase = Some(clean_line(text)),
            RunEvent::RunStarted { scenarios } => {
                self.phase = None;
                self.total = scenarios;
            }
            RunEvent::ScenarioStarted { file, line, name } => self.running.push(ScenarioProgress {
                file: file.to_owned(),
                line,
                name: clean_line(name),
                step: None,
                waits: None,
                changed: None,
                since: Instant::now(),
            }),
            RunEvent::StepStarted { file, line, keyword, text } => {
                if let Some(running) = self.running.iter_mut().find(|one| one.is(file, line)) {
                    running.step = Some(clean_line(&format!("{keyword} {text}")));
                    running.waits = None;
                    running.changed = None;
                }
            }
            RunEvent::Happened { file, line, entry } => {
                if let Some(transition) = entry.transition()
                    && let Some(running) = self.running.iter_mut().find(|one| one.is(file, line))
                {
                    running.changed = Some(clean_line(&changed(transition)));
                }
            }
            RunEvent::StepWaits { file, line, text } => {
                if let Some(running) = self.running.iter_mut().find(|one| one.is(file, line)) {
                    running.waits = Some(clean_line(text));
                }
            }
            RunEvent::ScenarioPaused { record, .. } => {
                if let Some(running) = self.running.iter_mut().find(|one| one.is(&record.file, record.line)) {
                    running.waits = Some("paused: press Enter".to_owned());
                }
            }
            RunEvent::ScenarioFinished(record) => {
                let before = self.running.len();
                self.running.retain(|one| !one.is(&record.file, record.line));
                self.done += before - self.running.len();
            }
        }
    }

    /// Returns `2 of 5 done, 3 running, the longest for 12s: Name`, with the reason for that scenario's wait in
    /// parentheses. `None` if there is neither a running scenario nor a phase.
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

impl LiveProgress {
    fn show(&mut self, state: &RunProgressState) {
        self.head.set_message(state.head());
        let shown = &state.running[..state.running.len().min(MOST_LINES)];
        // Scenarios are identified by their start: no two start at the same instant.
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

impl ScenarioProgress {
    fn is(&self, file: &str, line: usize) -> bool {
        self.line == line && self.file == file
    }

    /// Returns `Name: step; last condition that changed`, with the reason for a wait that takes minutes in parentheses.
    /// The end is cut where a terminal is too narrow.
    fn text(&self) -> String {
        let Some(step) = &self.step else { return self.name.clone() };
        let waits = self.waits.as_ref().map(|waits| format!(" ({waits})")).unwrap_or_default();
        let changed = self.changed.as_ref().map(|changed| format!("; {changed}")).unwrap_or_default();
        format!("{}{waits}: {step}{changed}", shorten(&self.name, NAME_WIDTH))
    }
}

/// Returns the object, the place and the new state of a condition: `web, member-1: Applied False NotAllWorkAvailable`.
fn changed(transition: &Transition) -> String {
    let Transition { object, place, condition, to, .. } = transition;
    let place = if place.is_object() { String::new() } else { format!(", {place}") };
    match to {
        Some(state) => format!("{}{place}: {condition} {} {}", object.name, state.status, state.reason),
        None => format!("{}{place}: {condition} is gone", object.name),
    }
}

fn line(lines: &MultiProgress, template: &str, elapsed: Duration) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::no_length().with_style(style.tick_chars("|/-\\ ")).with_elapsed(elapsed);
    let bar = lines.add(bar);
    // The elapsed seconds must also advance while no event comes.
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn lock(state: &Mutex<RunProgressState>) -> MutexGuard<'_, RunProgressState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::fixture;

    fn run(progress: &mut RunProgressDisplay, scenarios: usize) {
        progress.event(&RunEvent::RunStarted { scenarios: 5 });
        for line in 1..=scenarios {
            progress.event(&RunEvent::ScenarioStarted { file: "a.feature", line, name: &format!("Scenario {line}") });
        }
        progress.event(&RunEvent::StepStarted {
            file: "a.feature",
            line: 1,
            keyword: "Then",
            text: "placement \"web\" becomes available on all members",
        });
    }

    #[test]
    fn plain_line_names_the_longest_running() {
        let mut progress = RunProgressDisplay::hidden();
        progress.event(&RunEvent::Phase { text: "starting the fleet" });
        assert_eq!(lock(&progress.state).plain_line().as_deref(), Some("starting the fleet"));
        run(&mut progress, 3);
        assert_eq!(
            lock(&progress.state).plain_line().as_deref(),
            Some("0 of 5 done, 3 running, the longest for 0s: Scenario 1")
        );
        let text = "real time: 2:05 of 5:00 have passed";
        progress.event(&RunEvent::StepWaits { file: "a.feature", line: 1, text });
        let line = lock(&progress.state).plain_line();
        assert_eq!(line.as_deref(), Some(&*format!("0 of 5 done, 3 running, the longest for 0s ({text}): Scenario 1")));
        let long = "a long name ".repeat(20);
        lock(&progress.state).running[0].name = long;
        let line = lock(&progress.state).plain_line().unwrap_or_default();
        assert!(line.chars().count() <= PLAIN_WIDTH && line.ends_with(" ..."), "{line}");
    }

    #[test]
    fn a_long_name_leaves_the_step_in_sight() {
        let mut progress = RunProgressDisplay::hidden();
        run(&mut progress, 1);
        let mut state = lock(&progress.state);
        state.running[0].name = "A staged update run waits for an approval that nobody gives".to_owned();
        let text = state.running[0].text();
        assert!(text.starts_with("A staged update run ...: Then placement \"web\" becomes available"), "{text}");
    }

    #[test]
    fn the_last_transition_of_the_step_is_shown() {
        let mut progress = RunProgressDisplay::hidden();
        run(&mut progress, 1);
        let record = fixture::failed();
        let entry = record.entries.iter().rfind(|entry| entry.transition().is_some()).unwrap();
        progress.event(&RunEvent::Happened { file: "a.feature", line: 1, entry });
        let text = lock(&progress.state).running[0].text();
        assert_eq!(
            text,
            "Scenario 1: Then placement \"web\" becomes available on all members; run-x2: Progressing False UpdateRunWaiting"
        );
        progress.event(&RunEvent::StepStarted { file: "a.feature", line: 1, keyword: "When", text: "something else" });
        assert_eq!(lock(&progress.state).running[0].text(), "Scenario 1: When something else");
    }

    #[test]
    fn live_lines_come_and_go() {
        let messages = |progress: &RunProgressDisplay| match &progress.shown {
            ProgressMode::Live(live) => {
                let bars = live.scenarios.iter().map(|(_, bar)| bar.message());
                std::iter::once(live.head.message()).chain(bars).collect::<Vec<_>>()
            }
            _ => Vec::new(),
        };
        let mut progress = RunProgressDisplay::live(ProgressDrawTarget::hidden());
        run(&mut progress, 10);
        let shown = messages(&progress);
        assert_eq!(shown.len(), 1 + MOST_LINES);
        assert_eq!(shown[0], "0 of 5 done, 10 running");
        assert_eq!(shown[1], "Scenario 1: Then placement \"web\" becomes available on all members");

        let mut record = fixture::passed();
        record.file = "a.feature".to_owned();
        record.line = 1;
        progress.event(&RunEvent::ScenarioFinished(&record));
        let shown = messages(&progress);
        assert_eq!(shown.len(), 1 + MOST_LINES);
        assert_eq!(shown[0], "1 of 5 done, 9 running");
        assert_eq!(shown[MOST_LINES], "Scenario 9");
        progress.finish();
        assert!(messages(&progress).is_empty());
    }

    #[test]
    fn the_plain_thread_ends_with_its_progress() {
        let progress = RunProgressDisplay::plain(Duration::from_mins(10));
        let began = Instant::now();
        drop(progress);
        assert!(began.elapsed() < Duration::from_mins(1));
    }
}
