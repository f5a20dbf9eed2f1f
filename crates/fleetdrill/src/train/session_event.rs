//! What a trainee saw and did in a session, for the debrief.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that a trainee saw or did.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct SessionEvent {
    /// Time at which it was shown or done.
    pub at: Timestamp,
    /// What was shown or done.
    #[serde(flatten)]
    pub action: SessionAction,
}

/// Kind of a [`SessionEvent`], with its facts. Texts are as the trainee saw them, with the names of the session's objects.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum SessionAction {
    /// The page was shown, which tells of the broken fleet.
    PageShown {
        /// Text of the page, with empty lines between its paragraphs.
        text: String,
    },
    /// A hint was shown.
    HintShown {
        /// Text of the hint.
        text: String,
    },
    /// The trainee answered what the cause is.
    Answered {
        /// Text of the answer.
        text: String,
        /// Failure codes of the causes that the answer names; empty if the answer is wrong.
        codes: Vec<String>,
        /// True if the answer names a cause, or says rightly that nothing is broken.
        right: bool,
    },
    /// The trainee restarted an agent.
    AgentRestarted {
        /// Name of the agent or of its member.
        agent: String,
    },
    /// The repair was checked.
    Checked {
        /// What was missing, in lines; empty if the repair passed the check.
        missing: Vec<String>,
    },
    /// The exercise was set up again.
    Reset,
    /// The solution was shown.
    SolutionShown,
}
