//! What a run looks like to people and to CI systems.
//!
//! The runner emits [`RunEvent`]s into [`Reporters`]. Each [`Reporter`], such as the terminal, takes them as they come; the
//! files are written from the whole [`RunRecord`](record::RunRecord) at the end. Everything that a report says comes from events and
//! records; nothing here asks a cluster, and nothing here decides an exit code.

mod event;
mod false_alarms;
mod file;
mod html;
mod json;
mod junit;
mod pause;
mod progress;
mod scenario;
mod scenario_details;
mod summary;
mod terminal;
mod transitions;

#[cfg(any(test, feature = "fixture"))]
pub mod fixture;

pub use event::{Reporter, Reporters, RunEvent};
pub use file::{ReportError, ReportFile, ReportFormat, STDOUT, prepare, write_atomically};
#[cfg(test)]
pub(crate) use html::to_html;
pub use json::{SCHEMA, to_line};
pub use progress::{LogWriter, RunProgressDisplay};
pub use summary::OutcomeCounts;
pub use terminal::{DetailLevel, TerminalReporter};
