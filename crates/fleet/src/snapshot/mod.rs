//! Taking what the diagnosis reads, read-only. Beside the lists that every fleet has, where there are Argo CD applications:
//! what their destinations have, and the ends of some logs.
//!
//! Secrets are taken out of the objects as they come ([`crate::bundle::Redactor`]), so that no finding can quote one, and a
//! diagnosis of a bundle says the same as a live one.

mod applications;
mod logs;
mod take;

pub use take::{Asked, Taken, take, take_what_can_be_had};
pub(crate) use take::{is_needed, list};
