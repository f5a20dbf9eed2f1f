//! Argo CD's failed syncs. Which side failed is asked first: the comparison, before which nothing is applied, or the
//! operation. Facts about Argo CD are those of v3.2.

mod admission;
mod application;
mod destination;
mod generation;
mod hook;
mod immutable;
mod logs;
mod missing_crd;
mod names;
mod operation;
mod other;
mod placement;
mod rbac;
mod retrying;
mod shared_resource;
mod wave;

pub use destination::hub_is_destination;
pub use logs::{WantedLog, wanted_logs};

use application::Application;

use super::draft::Draft;
use super::fleet::Fleet;

pub(super) fn rule(fleet: Fleet<'_>) -> Vec<Draft> {
    let applications: Vec<Application<'_>> = Application::all(fleet).collect();
    let mut drafts: Vec<Draft> = applications.iter().flat_map(|application| of_one(*application)).collect();
    drafts.extend(admission::shared(&applications));
    drafts
}

fn of_one(application: Application<'_>) -> Vec<Draft> {
    // While the comparison fails nothing can be applied: what an earlier operation ran into comes after it.
    let mut drafts: Vec<Draft> = generation::rule(application).into_iter().collect();
    if drafts.is_empty() {
        drafts = operation::rule(application);
    }
    drafts.extend(retrying::rule(application));
    drafts.extend(shared_resource::warning(application));
    drafts.extend(placement::rule(application));
    drafts
}
