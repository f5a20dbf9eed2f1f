//! Refusals of fleets that can't be had, each written once.

use clusters::ability::ProviderAbility;
use fleet::Fleet;

use crate::error::CommandError;

/// Options that name a fleet that exists already.
const EXISTING: &str = "--provider existing --hub CONTEXT --member NAME=CONTEXT";

/// Returns a hint for users of a fleet, e.g. `scenarios`.
fn nothing_is_guessed(users: &str) -> String {
    format!("{users} break things on purpose, so nothing is guessed: {EXISTING}")
}

/// Contexts were given for a provider that makes clusters.
pub(super) fn contexts_of_new_fleet(users: &str) -> CommandError {
    let hint = nothing_is_guessed(users);
    CommandError::usage("--kubeconfig, --hub and --member are for a fleet that already exists", Some(&hint))
}

/// A fleet that exists already was requested without its hub's context, or without a member's.
pub(super) fn missing_contexts(users: &str) -> CommandError {
    let hint = nothing_is_guessed(users);
    CommandError::usage("--provider existing needs the contexts of the hub and of one member at least", Some(&hint))
}

/// `run` was asked for a fleet that is up, with a provider that makes a fleet in Docker.
pub(super) fn not_in_docker() -> CommandError {
    CommandError::usage(
        "--fleet goes with --provider local only",
        Some("a run with --provider docker or kind makes a fleet of its own"),
    )
}

/// `run` was asked for Argo CD, a fleet that is up, or to keep the fleet, on a fleet that exists already.
pub(super) fn not_on_external_fleet() -> CommandError {
    CommandError::usage(
        "--fleet, --argocd and --keep are for fleets that fleetdrill makes",
        Some("what a run makes on a fleet that already exists is always removed; failed scenarios leave a bundle"),
    )
}

/// Providers that have images, as a hint.
const IN_DOCKER: &str = "clusters in Docker: --provider docker, or with real nodes: --provider kind";

/// Options for images were given for clusters that aren't in Docker.
pub(super) fn images_without_docker() -> CommandError {
    CommandError::usage(
        "--node-image, --hub-agent-image, --member-agent-image, --build-images and --chart are for clusters in Docker",
        Some(IN_DOCKER),
    )
}

/// Options for kind's clusters were given for another provider in Docker.
pub(super) fn images_without_kind() -> CommandError {
    CommandError::usage("--node-image and --chart go with --provider kind", Some(IN_DOCKER))
}

/// An exercise needs an ability that the provider hasn't.
pub(super) fn lacking(exercise: &str, provider: &str, ability: ProviderAbility) -> CommandError {
    CommandError::usage(
        format!("exercise `{exercise}` can't be done on {provider}, which can't {ability}"),
        Some("--provider local can"),
    )
}

/// An exercise needs more members than a fleet that exists already has.
pub(super) fn too_few_members(exercise: &str, needed: usize, there: usize) -> CommandError {
    CommandError::usage(
        format!("exercise `{exercise}` needs {needed} members; this fleet has {there}"),
        Some("name more of them: --member NAME=CONTEXT"),
    )
}

/// The hub of a fleet that exists already doesn't say which version of KubeFleet it runs.
pub(super) fn unknown_kubefleet() -> CommandError {
    CommandError::usage(
        "which version of KubeFleet the hub runs can't be found out: it has no Deployment hub-agent whose image has it as \
         its tag",
        Some("say it with --kubefleet VERSION: what scenarios expect goes by it"),
    )
}

/// A fleet is up, and isn't the requested one.
pub(super) fn up_otherwise(fleet: &Fleet, difference: &str) -> CommandError {
    let name = fleet.name();
    CommandError::usage(
        format!("fleet `{name}` {difference}"),
        Some(&format!("end it first (fleetdrill down {name}), or give the new one another name")),
    )
}
