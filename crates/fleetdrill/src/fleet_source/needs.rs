//! Needs of a fleet's users beside KubeFleet.

use crate::abilities;
use crate::component_version::ArgoCdRequest;
use crate::suite::Suite;

/// Needs of scenarios, or of a person, that a fleet of KubeFleet alone doesn't meet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetNeeds {
    /// True if members need pods.
    pub pods: bool,
    /// Argo CD on the hub.
    pub argocd: ArgoCdRequest,
}

impl FleetNeeds {
    /// Returns the needs of a suite's scenarios; Argo CD in this version, or in the default one.
    #[must_use]
    pub fn of_suite(suite: &Suite, argocd: Option<&str>) -> Self {
        let argocd = if suite.needs_argocd() { ArgoCdRequest::of_version(argocd) } else { ArgoCdRequest::No };
        Self { pods: suite.needs_pods(), argocd }
    }

    /// Returns the needs of both, of which the other's Argo CD counts where there is one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let argocd = if other.argocd.is_requested() { other.argocd } else { self.argocd };
        Self { pods: self.pods || other.pods, argocd }
    }
}

/// Returns the number of shared members that a suite's scenarios speak of.
#[must_use]
pub fn members_of(suite: &Suite) -> usize {
    let members = suite.scenarios().map(|(feature, scenario)| abilities::members(feature, scenario));
    members.max().unwrap_or_default()
}
