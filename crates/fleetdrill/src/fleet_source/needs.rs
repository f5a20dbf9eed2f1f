//! Needs of a fleet's users beside KubeFleet.

use crate::abilities;
use crate::component_version::ArgoCdRequest;
use crate::error::CommandError;
use crate::suite::Suite;

/// Needs of scenarios, or of a person, that a fleet of KubeFleet alone doesn't meet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetNeeds {
    /// True if members need pods.
    pub pods: bool,
    /// True if the network of a member is broken.
    pub network_faults: bool,
    /// Argo CD on the hub.
    pub argocd: ArgoCdRequest,
}

impl FleetNeeds {
    /// Returns the needs of a suite's scenarios; Argo CD as it is requested, if they need it.
    #[must_use]
    pub fn of_suite(suite: &Suite, argocd: ArgoCdRequest) -> Self {
        let argocd = if suite.needs_argocd() { argocd } else { ArgoCdRequest::No };
        Self { pods: suite.needs_pods(), network_faults: suite.breaks_networks(), argocd }
    }

    /// Returns the needs of both, of which the other's Argo CD counts where there is one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let argocd = if other.argocd.is_requested() { other.argocd } else { self.argocd };
        Self { pods: self.pods || other.pods, network_faults: self.network_faults || other.network_faults, argocd }
    }
}

/// Checks that Argo CD can be installed from manifests, if that is requested, with a provider that can load images or can't.
///
/// # Errors
/// Returns an error if the provider can't.
pub fn check_argocd_pods(request: &ArgoCdRequest, provider: &str, loads_images: bool) -> Result<(), CommandError> {
    if loads_images || !matches!(request, ArgoCdRequest::Manifests(_)) {
        return Ok(());
    }
    Err(CommandError::usage(
        format!(
            "--argocd-manifests goes with --provider kind; provider {provider} has no nodes on which Argo CD's Pods run"
        ),
        Some("leave it out: Argo CD runs as processes on this machine then"),
    ))
}

/// Returns the number of shared members that a suite's scenarios speak of.
#[must_use]
pub fn members_of(suite: &Suite) -> usize {
    let members = suite.scenarios().map(|(feature, scenario)| abilities::members(feature, scenario));
    members.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_go_with_a_provider_that_has_nodes() {
        let manifests = ArgoCdRequest::Manifests("core-install.yaml".into());
        let refused = |request: &ArgoCdRequest, loads| {
            check_argocd_pods(request, "local", loads).err().map(|error| error.to_string())
        };
        assert_eq!(refused(&manifests, true), None);
        assert_eq!(refused(&ArgoCdRequest::Default, false), None);
        let said = refused(&manifests, false).expect("refused");
        assert!(
            said.starts_with("--argocd-manifests goes with --provider kind; provider local has no nodes"),
            "{said}"
        );
    }
}
