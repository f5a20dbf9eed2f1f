//! Library behind the `fleetdrill` command; `main.rs` is a thin wrapper.
//!
//! [`cli`] defines the command line, [`help`] adds examples and environment variables, and [`commands`] has one file
//! per command; [`kubectl_completion`] completes commands for kubectl. [`config`] gives options their defaults from a file and the
//! environment. [`suite`] reads features and selects scenarios; [`capability_needs`] has the capabilities of KubeFleet that a
//! scenario needs, `abilities` the needs that only some providers satisfy. [`run`] runs scenarios on a fleet,
//! [`upgrade`] runs them across an upgrade, [`train`] has people repair what scenarios break, and [`accuracy`] combines
//! scenarios at random and scores the diagnosis. [`kubernetes_job`] runs shards as the Pods of a Job. [`guides`] compares the
//! guides' statements with real controllers. The
//! crate `report` makes reports of records, `run_file` reads them back, and `ledger` has a line for each of many runs; [`output`] has the other texts that several
//! commands share. [`exit`] is the
//! contract on exit codes. [`run_seed`] makes the ids of runs and the order of scenarios. [`continuous_diagnosis`] judges what the diagnosis says of a fleet while scenarios run.

mod abilities;
pub mod accuracy;
pub mod capability_needs;
pub mod cli;
mod command_progress;
pub mod commands;
pub mod component_version;
pub mod components;
pub mod config;
pub mod continuous_diagnosis;
pub mod error;
pub mod exit;
mod failure_codes;
pub mod fleet_source;
pub mod guides;
pub mod help;
pub mod hints;
pub mod kubectl_completion;
pub mod kubernetes_job;
mod ledger;
pub mod output;
mod report_files;
pub mod run;
mod run_file;
pub mod run_seed;
pub mod selection;
mod step_check;
pub mod suite;
pub mod train;
pub mod upgrade;
