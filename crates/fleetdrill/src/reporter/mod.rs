//! What a run looks like to people and to CI systems.
//!
//! The runner emits [`Event`]s into [`Reporters`]; the terminal follows them as they come, the files are written from
//! the whole [`RunRecord`](steps::record::RunRecord) at the end. Everything that a report says comes from events and
//! records; nothing here asks a cluster, and nothing here decides an exit code.

mod event;
mod file;
mod json;
mod junit;
mod progress;
mod scenario;
mod story;
mod summary;
mod terminal;
mod transitions;

#[cfg(test)]
pub(crate) mod fixture;

pub use event::{Event, Reporters};
pub use file::{Format, ReportError, ReportFile, STDOUT, prepare, write_atomically};
pub use progress::{LogWriter, Progress};
pub use summary::Counts;
pub use terminal::{Detail, Terminal};
