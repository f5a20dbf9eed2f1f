//! Configuration: the file `fleetdrill.toml` and environment variables, which give options their defaults, and waivers.
//!
//! [`location`] finds the file, [`file`](mod@file) reads it, [`setting`] has the settings and the options that they give. [`command_line`] parses a
//! command line with these defaults: an option counts more than an environment variable, and that more than the file. `usage` says which
//! settings a command line uses, [`effective`] where each value comes from.

pub mod command_line;
pub mod configuration;
pub mod effective;
pub mod error;
pub mod file;
pub mod location;
pub mod setting;
#[cfg(test)]
mod tests;
mod usage;
mod value_check;
pub mod waivers;

pub use command_line::{Invocation, InvocationError};
pub use configuration::Configuration;
pub use error::ConfigError;
pub use waivers::ConfiguredWaiver;
