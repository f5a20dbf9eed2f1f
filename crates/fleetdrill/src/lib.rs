//! The command line's parts: what `main.rs`, a thin wrapper, calls.
//!
//! [`cli`] says what can be asked, [`commands`] does it, one file per command. [`suite`] reads features and selects
//! scenarios, [`needed`] says what they need KubeFleet to do, `abilities` what they need of the fleet's provider,
//! [`guides`] what KubeFleet's guides say and whether it is so, [`run`] runs scenarios on a fleet, [`upgrade`] across an upgrade of it, [`train`]
//! has people repair what they break, [`reporter`] turns what happened into
//! what people and CI systems read, [`names`] takes names out of what controllers wrote so that it can be compared, and
//! [`output`] holds the texts that several commands share; [`help`] has examples and environment variables for each command. [`exit`] is the contract on exit codes.

mod abilities;
pub mod cli;
pub mod commands;
pub mod components;
pub mod error;
pub mod exit;
pub mod guides;
pub mod help;
pub mod names;
pub mod needed;
pub mod output;
pub mod reporter;
pub mod run;
mod step_check;
pub mod suite;
pub mod train;
pub mod upgrade;
