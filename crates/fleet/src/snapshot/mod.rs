//! Takes snapshots of fleets for the diagnosis, by read-only requests. If a fleet has Argo CD Applications, its
//! snapshot also has the objects on their destinations and the ends of some logs.
//!
//! Secrets are removed from the objects as they are read ([`crate::redact::Redactor`]), so that no finding can quote a
//! secret, and a diagnosis of a bundle finds the same as a live one.

mod applications;
mod as_needed;
pub(crate) mod clock;
mod lists;
pub(crate) mod logs;
mod shared;
mod take;
pub(crate) mod wanted_objects;

pub(crate) use applications::kinds_of_destination;
pub use as_needed::{DEFAULT_LIMIT, Focus, ReadCounter, ReadOptions, take_as_needed};
pub use lists::ClusterAccess;
pub(crate) use lists::{addressed, list};
pub(crate) use shared::SharedSnapshot;
pub(crate) use take::is_needed;
pub use take::{TakenSnapshot, take, take_what_can_be_had, take_with};
