//! The keeper: a process that holds a fleet's processes.
//!
//! It is the parent of everything that runs for a fleet. Its owner (the `fleetdrill` that made the fleet) holds the
//! other end of its standard input: when the owner ends, by whatever cause, the keeper kills all its process groups,
//! removes the fleet's directory and ends, unless it was told to keep the fleet. When the keeper itself is killed, the
//! kernel kills its children (parent death signal, Linux).
//!
//! [`serve`] is the keeper's own side, [`Keeper`] the side of those who ask it, [`protocol`] what they say: JSON lines
//! on a Unix socket in the fleet's directory.

mod children;
mod client;
pub mod protocol;
mod server;

pub use children::exec;
pub use client::{Keeper, Program};
pub use server::serve;
