//! Facts of a fleet that are known before a command has it.

use clusters::ability::ProviderAbility;

use crate::component_version::ComponentVersion;

/// Facts of a fleet that is to be made, is up, or exists already.
pub trait FleetProfile {
    /// Name of the provider of its clusters.
    fn provider(&self) -> &'static str;

    /// KubeFleet in the version that the fleet runs or will run.
    fn kubefleet(&self) -> &ComponentVersion;

    /// Number of members.
    fn members(&self) -> usize;

    /// True if the provider has an ability.
    fn can(&self, ability: ProviderAbility) -> bool;

    /// True if Argo CD runs in Pods, or will.
    fn has_argocd_in_pods(&self) -> bool {
        false
    }
}
