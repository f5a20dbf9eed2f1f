//! Hints for errors of a fleet, made by fleetdrill or there before.

use fleet::FleetError;
use fleet::existing::ExistingFleetError;
use fleet::labels::DISPOSABLE;

use super::clusters::{for_cluster, log_of_program};

/// Hint for credentials that an API server refuses.
pub const READER_HINT: &str = "check the context's user (kubectl auth whoami) and its rights: the role in docs/own-fleet.md is \
    enough for `fleetdrill diagnose` and `collect`";

/// Returns a hint, where one can be given.
#[must_use]
pub fn for_fleet(error: &FleetError) -> Option<String> {
    match error {
        FleetError::Cluster(error) => for_cluster(error),
        FleetError::Existing(error) => Some(existing(error)),
        FleetError::Broken { exit } if exit.name == "supervisor" && exit.log.trim().is_empty() => {
            Some("it was killed from outside, by a person or for want of memory; the fleet has ended with it".into())
        }
        FleetError::Broken { exit } => log_of_program(&exit.log),
        FleetError::NoArgoCd(_) => {
            Some("tag scenarios that need Argo CD with @argocd, or bring the fleet up with --argocd".into())
        }
        FleetError::WithoutSsh => Some("build it without --no-default-features: cargo build --release".into()),
        FleetError::OtherArgoCd => {
            Some("delete the namespace if nothing of it is needed, or use a fleet of another name".into())
        }
        FleetError::Unlisted { .. } | FleetError::Api { .. } if error.is_refused() => Some(READER_HINT.into()),
        _ => None,
    }
}

/// Returns a hint for a fleet that exists already and can't be used.
fn existing(error: &ExistingFleetError) -> String {
    match error {
        ExistingFleetError::Unreachable { .. } => {
            "check that it runs, and the context's address: kubectl cluster-info".into()
        }
        ExistingFleetError::Same { .. } => {
            "give each cluster a context of its own: --hub CONTEXT --member NAME=CONTEXT".into()
        }
        ExistingFleetError::NoHub { .. } => "name the hub's context with --hub CONTEXT".into(),
        ExistingFleetError::NotJoined { .. } => {
            "a member's name is that of its MemberCluster: --member NAME=CONTEXT".into()
        }
        ExistingFleetError::NotDisposable { .. } => format!(
            "if nothing in them is needed, mark each: kubectl --context CONTEXT label namespace kube-system \
             {DISPOSABLE}=true; `fleetdrill diagnose` and `collect` need no mark, they only read"
        ),
        ExistingFleetError::Rights { .. } => {
            "use contexts of an administrator of each cluster: scenarios make and delete objects; to \
             read only, the role in docs/own-fleet.md is enough (fleetdrill diagnose, collect)"
                .into()
        }
        ExistingFleetError::Busy { run, .. } => {
            format!("wait for it, or if it has died: fleetdrill down --run {run}, with the same contexts")
        }
        ExistingFleetError::Left { run, .. } => {
            format!("look at what holds them; then: fleetdrill down --run {run}, with the same contexts")
        }
    }
}
