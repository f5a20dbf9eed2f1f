//! Rules for Argo CD's failed syncs and ApplicationSets. A rule for a sync applies to the side that failed: the comparison, without
//! which nothing is applied, or the operation. Facts about Argo CD are from v3.2.

mod admission;
mod application;
mod application_controller;
mod application_deletion;
mod application_health;
mod application_set;
mod application_set_view;
mod destination;
mod destination_failure;
mod field_differences;
mod generation;
mod hook;
mod immutable;
mod kept_applications;
mod kubefleet;
mod live_objects;
mod logs;
mod missing_crd;
mod names;
mod operation;
mod out_of_sync;
mod placed_applications;
mod placement;
mod progressive_sync;
mod project;
mod pruning;
mod rbac;
mod repository_failure;
mod resource_health;
mod retrying;
mod shared_resource;
mod stale_health;
mod sync_window;
mod tracking_label;
mod undeclared_field;
mod unnoticed_health;
mod unrecognized;
mod wave;

pub(super) use application_deletion::approved_at;
pub use destination::hub_is_destination;
pub(super) use live_objects::wanted_live_objects;
pub use logs::{WantedLog, wanted_logs};

use application::ApplicationView;

use super::draft::FindingDraft;
use super::fleet::FleetView;

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut all: Vec<ApplicationView<'_>> = ApplicationView::all_with_deleted(fleet).collect();
    all.sort_by_key(|application| (application.object.namespace(), application.object.name()));
    let applications: Vec<ApplicationView<'_>> =
        all.iter().copied().filter(|application| application.object.deleted_at().is_none()).collect();
    let mut drafts: Vec<FindingDraft> =
        applications.iter().flat_map(|application| application_findings(*application)).collect();
    drafts.extend(application_controller::rule(fleet, &applications));
    drafts.extend(admission::shared_webhooks(&applications));
    drafts.extend(application_set::rule(fleet, &all));
    drafts.extend(placed_applications::rule(fleet));
    drafts.extend(all.iter().filter_map(|application| application_deletion::rule(*application)));
    drafts
}

fn application_findings(application: ApplicationView<'_>) -> Vec<FindingDraft> {
    // While the comparison fails, nothing can be applied, so failures of an earlier operation matter only afterwards.
    let mut drafts: Vec<FindingDraft> = generation::rule(application).into_iter().collect();
    if drafts.is_empty() {
        drafts = operation::rule(application);
    }
    if drafts.is_empty() {
        drafts.extend(destination_failure::old_picture(application));
    }
    drafts.extend(out_of_sync::rule(application));
    drafts.extend(kubefleet::rule(application));
    drafts.extend(retrying::rule(application));
    drafts.extend(shared_resource::warning(application));
    drafts.extend(project::orphans(application));
    drafts.extend(sync_window::rule(application));
    drafts.extend(placement::rule(application));
    drafts.extend(pruning::rule(application));
    drafts.extend(tracking_label::rule(application));
    drafts.extend(application_health::rule(application));
    drafts.extend(stale_health::rule(application));
    drafts.extend(unnoticed_health::rule(application));
    drafts
}
