//! The vocabulary that features are written in: the World and the step definitions.

pub mod record;
