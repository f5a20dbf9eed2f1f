//! The rules: one file per family, each a function from the fleet to findings.
//!
//! A rule judges by types, statuses, reasons and generations and by the state of other objects. A message is read only
//! for what stands nowhere else, and in a way that the wording of another version doesn't break.

mod apply;
mod approval;
mod argocd;
mod availability;
mod draft;
mod envelope;
mod execution;
mod fleet;
mod initialization;
mod kubectl;
mod matching;
mod member;
mod pods;
mod preemption;
mod quote;
mod rollout;
mod scheduling;
mod scope;
mod state;
mod stuck;
mod work_synchronized;

pub use argocd::{WantedLog, hub_is_destination, wanted_logs};
pub use availability::PATIENCE;

use draft::{Draft, arrange};
use fleet::Fleet;

use crate::{Access, Finding, Snapshot};

/// Names what has failed and why.
///
/// The order is the same for the same snapshot: what loses data first, then failures, then notices, each by code and
/// subject. What one finding explains hangs under it as its consequence. A snapshot without a readable hub gives
/// nothing.
///
/// ```
/// let snapshot = diagnosis::Snapshot { taken_at: "2026-01-08T00:00:00Z".parse().unwrap(), clusters: Vec::new() };
/// assert!(diagnosis::diagnose(&snapshot).is_empty());
/// ```
#[must_use]
pub fn diagnose(snapshot: &Snapshot) -> Vec<Finding> {
    diagnose_with(snapshot, &Access::same_names())
}

/// As [`diagnose`], with commands for the contexts that the reader has.
#[must_use]
pub fn diagnose_with(snapshot: &Snapshot, access: &Access) -> Vec<Finding> {
    let Some(fleet) = Fleet::of(snapshot) else { return Vec::new() };
    let rules: [fn(Fleet<'_>) -> Vec<Draft>; 12] = [
        work_synchronized::rule,
        scheduling::rule,
        rollout::rule,
        apply::rule,
        availability::rule,
        member::rule,
        initialization::rule,
        execution::rule,
        stuck::rule,
        approval::rule,
        state::rule,
        argocd::rule,
    ];
    arrange(rules.into_iter().flat_map(|rule| rule(fleet)).collect(), access)
}
