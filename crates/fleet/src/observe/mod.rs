//! Watching objects, recording how their conditions move, and waiting for what they say.
//!
//! An [`Observer`] belongs to one scenario (or one command). Each thing it is asked about is watched from then on, so
//! that the record of transitions has no gaps between two waits.

mod application;
mod conditions;
mod waiting;
mod watching;

pub use conditions::{State, Transition};
pub use waiting::{Held, Verdict};
pub use watching::{Objects, Observer, Watched};
