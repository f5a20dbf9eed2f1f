//! Progress on stderr for commands that aren't runs: one line that changes on a terminal, a few plain lines elsewhere.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use clusters::stderr_line;
use clusters::toolchain::BuildEvent;
use fleet::Stage;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// Between two plain lines that say the same with other numbers.
const INTERVAL: Duration = Duration::from_secs(15);

/// Shows what is going on until it is dropped.
pub struct Progress {
    bar: Option<ProgressBar>,
    last: Mutex<Option<(Instant, String)>>,
}

impl Progress {
    /// On stderr.
    #[must_use]
    pub fn stderr() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            // The template is a constant of ours; the default style would do if it were wrong.
            let style = ProgressStyle::with_template("{spinner} {elapsed:>4} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { bar, last: Mutex::default() }
    }

    /// Something new: shown at once.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(text.to_owned()),
            None => stderr_line!("{text}"),
        }
    }

    /// Something that the last line on stderr has said already: only a terminal shows it.
    pub fn wait_for(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
        }
    }

    /// The toolchain's progress. Off a terminal, one line per program and then one every 15 s.
    pub fn build(&self, event: &BuildEvent) {
        let text = event.to_string();
        if let Some(bar) = &self.bar {
            bar.set_message(text);
            return;
        }
        if matches!(event, BuildEvent::Verifying { .. } | BuildEvent::Done { built: 0, .. }) {
            return;
        }
        let subject = text.split(':').next().unwrap_or_default().to_owned();
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let due = last.as_ref().is_none_or(|(at, what)| *what != subject || at.elapsed() >= INTERVAL);
        if due {
            stderr_line!("{text}");
            *last = Some((Instant::now(), subject));
        }
    }

    /// The fleet's progress.
    pub fn fleet(&self, stage: &Stage) {
        self.say(&stage_text(stage));
    }

    /// Says something that stays, above the line.
    pub fn suspend(&self, say: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    /// Takes the line away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

/// What a fleet's start has reached, in words.
pub fn stage_text(stage: &Stage) -> String {
    match stage {
        Stage::ClusterReady(cluster) => format!("starting the fleet: {cluster} answers"),
        Stage::HubInstalled => "starting the fleet: KubeFleet runs on the hub".into(),
        Stage::ArgoCdRuns => "starting the fleet: Argo CD runs on the hub".into(),
        Stage::Joined(member) => format!("starting the fleet: {member} has joined"),
    }
}
