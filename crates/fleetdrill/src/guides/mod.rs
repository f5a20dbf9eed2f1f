//! Statements of the guides of KubeFleet and of Argo CD, and whether each one holds on real controllers.
//!
//! Statements are data (`guides/*.yaml`, [`statement`]). A scenario names by its tags the statements that it shows
//! ([`tags`]). When the scenario has passed, each of these statements is compared with the transitions that were seen
//! ([`statement_check`]), and with the results measured before on the same version ([`measured`]). [`coverage`] summarizes all
//! results for people.

pub mod coverage;
pub mod measured;
pub mod message;
pub mod statement;
pub mod statement_check;
pub mod tags;

pub use coverage::GuideCoverage;
pub use measured::{KnownResults, MeasuredResults};
pub use statement::{ConditionOwner, Statement, StatementClaim, StatementScope, TroubleshootingGuide, guide, guides};
pub use statement_check::check;
pub use tags::NamedStatement;
