//! Debrief of an exercise: what the trainee saw and did, and when, as text and as a page for a browser.

mod html;
mod text;

#[cfg(test)]
mod fixture;

use jiff::Timestamp;

pub use html::render;
pub use text::text;

/// An exercise that has ended.
#[derive(Clone, Debug)]
pub struct Debrief {
    /// Name of the exercise.
    pub exercise: String,
    /// Title of the exercise; the name if the exercise isn't known here.
    pub title: String,
    /// Name of the trainee.
    pub trainee: String,
    /// Outcome, times and counts in one line.
    pub score: String,
    /// True if a repair has passed the check.
    pub repaired: bool,
    /// Version of KubeFleet.
    pub kubefleet: String,
    /// Provider of the clusters.
    pub provider: String,
    /// Time when the exercise was started.
    pub started_at: Timestamp,
    /// What the trainee saw and did, in order of time.
    pub entries: Vec<DebriefEntry>,
    /// Text about the cause; empty if the exercise isn't known here.
    pub teaches: String,
    /// Title and URL of each guide that describes the cause.
    pub guides: Vec<(String, String)>,
}

/// Something that the trainee saw or did.
#[derive(Clone, Debug)]
pub struct DebriefEntry {
    /// Seconds since the page.
    pub seconds: f64,
    /// Kind of the entry.
    pub kind: DebriefKind,
    /// Texts: what was shown or written, a paragraph each.
    pub texts: Vec<String>,
}

/// Kind of a [`DebriefEntry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebriefKind {
    /// The page with the alert was shown.
    Page,
    /// A hint was shown.
    Hint,
    /// The trainee named a cause.
    RightAnswer,
    /// The trainee named something else than a cause.
    WrongAnswer,
    /// The trainee restarted an agent.
    Restart,
    /// The repair passed the check.
    PassedCheck,
    /// The repair didn't pass the check.
    FailedCheck,
    /// The exercise was set up again.
    Reset,
    /// The solution was shown.
    Solution,
}

impl DebriefKind {
    /// Short name of the kind.
    fn label(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Hint => "hint",
            Self::RightAnswer => "right answer",
            Self::WrongAnswer => "wrong answer",
            Self::Restart => "restart",
            Self::PassedCheck => "check passed",
            Self::FailedCheck => "check failed",
            Self::Reset => "reset",
            Self::Solution => "solution",
        }
    }

    /// True for what brought the trainee nearer to the end, false for what didn't; none for the rest.
    fn verdict(self) -> Option<bool> {
        match self {
            Self::RightAnswer | Self::PassedCheck => Some(true),
            Self::WrongAnswer | Self::FailedCheck => Some(false),
            Self::Page | Self::Hint | Self::Restart | Self::Reset | Self::Solution => None,
        }
    }
}

/// Formats seconds as minutes and seconds: `12:05`.
#[must_use]
pub fn minutes(seconds: f64) -> String {
    let seconds = seconds.max(0.0);
    format!("{}:{:02}", (seconds / 60.0).floor(), (seconds % 60.0).floor())
}
