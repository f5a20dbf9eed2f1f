//! Tests of the rules for Argo CD's failed syncs, with messages as v3.2 writes them.

mod admission;
mod application_controller;
mod application_deletion;
mod application_health;
mod application_set;
mod destination;
mod destination_failure;
mod generation;
mod hook;
mod kubefleet;
mod operation;
mod out_of_sync;
mod output;
mod placed_applications;
mod placement;
mod project;
mod pruning;
mod rbac;
mod repository_failure;
mod retrying;
pub mod shapes;
mod shared_resource;
mod stale_health;
mod tracking_label;
mod undeclared_field;
mod unnoticed_health;
mod unusual;
mod wave;

/// Applications that fail, one for each kind of failure.
pub fn troubled() -> Vec<serde_json::Value> {
    let mut all = generation::troubled();
    all.extend(admission::troubled());
    all.extend(application_controller::troubled());
    all.extend(application_set::troubled());
    all.extend(hook::troubled());
    all.extend(kubefleet::troubled());
    all.extend(placed_applications::troubled());
    all.extend(project::troubled());
    all.extend(application_deletion::troubled());
    all.extend(application_health::troubled());
    all.extend(pruning::troubled());
    all.extend(rbac::troubled());
    all.extend(destination_failure::troubled());
    all.extend(repository_failure::troubled());
    all.extend(retrying::troubled());
    all.extend(shared_resource::troubled());
    all.extend(undeclared_field::troubled());
    all.extend(wave::troubled());
    all
}
