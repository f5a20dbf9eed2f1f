//! Progress of commands other than runs, on stderr: one changing line on a terminal, a few plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use report::stderr_line;
use report::text::clean_line;
use toolchain::BuildEvent;

use crate::fleet_source::FleetProgress;

/// Minimum time between two plain lines about the same subject.
const INTERVAL: Duration = Duration::from_secs(15);

/// Time between two changes of the line on a terminal.
const REFRESH: Duration = Duration::from_millis(200);

/// Shows progress until it is dropped.
pub struct CommandProgress {
    bar: Option<ProgressBar>,
    last: Mutex<Option<(Instant, String)>>,
}

impl CommandProgress {
    /// Shows progress on stderr.
    #[must_use]
    pub fn stderr() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            // The template is a constant; if it were wrong, the default style would be good enough.
            let style = ProgressStyle::with_template("{spinner} {elapsed:>4} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { bar, last: Mutex::default() }
    }

    /// Shows a new text at once.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(clean_line(text)),
            None => stderr_line!("{text}"),
        }
    }

    /// Shows a text that the last line on stderr already has: only on a terminal.
    pub fn wait_for(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(clean_line(text));
        }
    }

    /// Shows how far some work is, until it ends. `text` says nothing as long as there is nothing to say.
    pub async fn follow<T>(&self, text: impl Fn() -> Option<String>, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            match tokio::time::timeout(REFRESH, &mut work).await {
                Ok(result) => return result,
                Err(_) => text().into_iter().for_each(|text| self.repeat(&text)),
            }
        }
    }

    /// Shows a text that changes all the time. Off a terminal, one line every 15 s; the first after 15 s.
    fn repeat(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(clean_line(text));
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match &mut *last {
            Some((at, _)) if at.elapsed() < INTERVAL => return,
            Some((at, _)) => *at = Instant::now(),
            None => {
                *last = Some((Instant::now(), String::new()));
                return;
            }
        }
        stderr_line!("{text}");
    }

    /// Runs `say`, whose output stays above the progress line.
    pub fn suspend(&self, say: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    /// Removes the line.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for CommandProgress {
    fn drop(&mut self) {
        self.finish();
    }
}

impl FleetProgress for CommandProgress {
    /// Shows progress of the toolchain. Off a terminal, one line per program and then one every 15 s.
    fn build(&self, event: BuildEvent) {
        let text = event.to_string();
        if let Some(bar) = &self.bar {
            bar.set_message(clean_line(&text));
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

    fn phase(&self, text: &str) {
        self.say(text);
    }
}
