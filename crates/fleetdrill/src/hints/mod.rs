//! Hints: what to do about each error of the crates below, one file per crate of errors.
//!
//! A lower crate's error says what is wrong, as typed data. What to do about it depends on the command line, its flags and its
//! variables, and stands here.

mod bundle;
mod bundle_server;
mod clusters;
mod credentials;
mod fleet;
mod toolchain;

pub use bundle::for_bundle;
pub use bundle_server::for_bundle_server;
pub use clusters::for_cluster;
pub use credentials::for_credentials;
pub use fleet::{READER_HINT, for_fleet};
pub use toolchain::for_toolchain;
