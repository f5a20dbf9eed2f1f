//! Output of the commands that isn't a report of a run, an upgrade or a diagnosis: errors, logs, configuration, guides, training.

pub mod configuration;
pub mod coverage;
pub mod data;
pub mod drift;
pub mod error;
pub mod log;
pub mod training;

pub use error::print_error;
