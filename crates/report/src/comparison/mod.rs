//! Compares two runs, scenario by scenario, whatever is between them: an upgrade, or a change of the features.
//!
//! `scenario_observations` has what a scenario showed, with its names masked. `compare` finds the [`difference`]s between two scenarios.

pub(crate) mod compare;
pub mod difference;
pub(crate) mod scenario_observations;
pub(crate) mod word_diff;
