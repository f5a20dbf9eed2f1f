//! Running scenarios on a fleet.
//!
//! cucumber polls all scenarios on one thread and tells what happens; `watcher` turns that into the reporters' events
//! and into records. `engine` wires the two, with a watchdog, and ends early when the fleet breaks. `bundles` keeps what
//! a failed scenario's fleet looked like, `turns` whose turn it is.

mod bundles;
mod engine;
mod turns;
mod watcher;

pub use engine::{Ended, Engine, not_run};
pub use turns::Jobs;
pub use watcher::{Key, RunReporters, key, order, sort};
