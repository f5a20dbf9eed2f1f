//! Watches objects, records the transitions of their conditions, and waits until checks of objects hold.
//!
//! An [`Observer`] belongs to one scenario or one command. Objects are watched from the first request for them on, so
//! that the record of transitions has no gap between two waits.

mod application;
mod conditions;
mod waiting;
mod watching;

pub use waiting::{Verdict, WaitHeld};
pub use watching::{Observer, WatchSelection, WatchedObjects};
