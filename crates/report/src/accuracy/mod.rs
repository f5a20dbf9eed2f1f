//! Accuracy of the diagnosis: what it said in drills, compared with what was broken.
//!
//! [`drill`] has the data of one drill, [`AccuracyReport`] the sums over all drills. [`text`] and [`plan_text`] write them
//! for people.

pub mod drill;
mod plan;
#[cfg(test)]
mod tests;
mod text;
mod totals;

pub use plan::{DrillPlan, PlannedScenario, plan_text};
pub use text::text;
pub use totals::{AccuracyReport, AccuracyRun, CodeScore, Confusion, ConfusionKind, SCHEMA};
