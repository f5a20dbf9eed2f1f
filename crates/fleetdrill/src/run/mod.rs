//! Runs scenarios on a fleet.
//!
//! cucumber polls all scenarios on one thread and emits events; `watcher` converts these to the reporters' events and
//! to records. `engine` connects cucumber and `watcher`, has a watchdog, and ends the run early if the fleet breaks.
//! `bundles` saves a fleet's state when a scenario has failed, and `turns` limits how many scenarios run at the same
//! time.

mod bundles;
mod concurrency;
mod cucumber_writer;
mod failure_pause;
mod rerun;
mod scenario_runner;
mod scenarios_not_run;

pub(crate) use bundles::BundleSaver;
pub use concurrency::ConcurrencyLimits;
pub use cucumber_writer::{ScenarioLocation, key, order, sort};
pub use failure_pause::FailurePause;
pub use rerun::keep_failed;
pub(crate) use scenario_runner::PACE;
pub use scenario_runner::{AfterFailure, DiagnosedRun, Round, RunEnd, ScenarioRunner, not_run};
pub use scenarios_not_run::{check_members, left_out, left_out_of_codes, left_out_of_scale, not_started, out_of_reach};
