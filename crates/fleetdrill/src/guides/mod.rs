//! What the guides of KubeFleet and of Argo CD say, statement by statement, and whether it is so.
//!
//! Statements are data (`guides/*.yaml`, [`statement`]). Scenarios name those that they show by tags ([`tags`]); when
//! one has passed, each is compared with the transitions that it saw ([`shown`]), and with what was measured before on
//! the same version ([`measured`]). [`coverage`] puts it all together for people.

pub mod coverage;
pub mod measured;
pub mod message;
pub mod product;
pub mod shown;
pub mod statement;
pub mod tags;

pub use coverage::GuideCoverage;
pub use measured::{Known, Measured};
pub use product::Product;
pub use shown::check;
pub use statement::{Claim, Guide, Of, Scope, Statement, guide, guides};
pub use tags::Named;
