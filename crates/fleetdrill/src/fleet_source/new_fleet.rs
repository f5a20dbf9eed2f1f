//! Fleets that are made for a command: checked, then with agents whose capabilities are known, then built, then started.

use std::sync::Arc;

use clusters::ability::ProviderAbility;
use clusters::supervisor::SupervisorProgram;
use fleet::Fleet;
use fleet::agents::KubeFleetPrograms;

use super::cluster_source::ClusterSource;
use super::needs::{FleetNeeds, check_argocd_pods};
use super::profile::FleetProfile;
use super::progress::{FleetBuilder, stage_text};
use crate::component_version::{ArgoCdRequest, ComponentVersion};
use crate::components::{ComponentSet, FleetToolchain};
use crate::error::CommandError;

/// Plan of a fleet.
#[derive(Clone, Debug)]
pub struct FleetPlan {
    /// Name of the fleet.
    pub name: String,
    /// Number of members.
    pub members: usize,
    /// Source of the clusters.
    pub clusters: ClusterSource,
    /// KubeFleet, as [`FleetToolchain::kubefleet`] returns it, which checks the version.
    pub kubefleet: ComponentVersion,
}

/// A fleet to be made: nothing that shows before the first build stands against it.
#[derive(Clone, Debug)]
pub struct NewFleet {
    plan: FleetPlan,
    has_argocd_in_pods: bool,
}

/// A fleet to be made whose agents are there.
pub struct ProbedNewFleet {
    fleet: NewFleet,
    /// KubeFleet's programs, and their capabilities.
    pub agents: KubeFleetPrograms,
}

/// A fleet to be made whose components are there. It can be started several times, one after the other.
pub struct BuiltFleet {
    name: String,
    members: usize,
    /// Components of the fleet.
    pub components: ComponentSet,
}

impl FleetPlan {
    /// Checks, before anything is built, that the fleet can be made.
    ///
    /// # Errors
    /// Returns an error if the machine or the system lacks something, or if there is no such version of Argo CD.
    pub async fn check(self, needs: &FleetNeeds, components: &FleetToolchain) -> Result<NewFleet, CommandError> {
        check_argocd_pods(&needs.argocd, self.clusters.provider(), self.clusters.can(ProviderAbility::LoadImages))?;
        components.check_argocd(&needs.argocd)?;
        self.clusters.check().await?;
        Ok(NewFleet { plan: self, has_argocd_in_pods: matches!(needs.argocd, ArgoCdRequest::Manifests(_)) })
    }
}

impl NewFleet {
    /// Gets KubeFleet's agents and their capabilities.
    ///
    /// # Errors
    /// Returns an error if they can't be built.
    pub async fn probe(self, builder: &FleetBuilder) -> Result<ProbedNewFleet, CommandError> {
        // The shorter build comes first, so that its errors are reported at once and not after ten minutes.
        let agents = builder.components.agents(&self.plan.kubefleet, &|event| builder.progress.build(event)).await?;
        Ok(ProbedNewFleet { fleet: self, agents })
    }
}

impl ProbedNewFleet {
    /// Facts of the fleet.
    #[must_use]
    pub fn profile(&self) -> &dyn FleetProfile {
        &self.fleet
    }

    /// Gets the other components.
    ///
    /// # Errors
    /// Returns an error if one can't be built, or if the system lacks a program.
    pub async fn build(self, needs: &FleetNeeds, builder: &FleetBuilder) -> Result<BuiltFleet, CommandError> {
        let Self { fleet: NewFleet { plan: FleetPlan { name, members, clusters, .. }, .. }, agents } = self;
        let components =
            clusters.components(&builder.components, agents, needs, &|event| builder.progress.build(event)).await?;
        Ok(BuiltFleet { name, members, components })
    }
}

impl BuiltFleet {
    /// Name of the fleet.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts the fleet. It ends when its last clone is dropped.
    ///
    /// # Errors
    /// Returns an error if a cluster or an agent doesn't start.
    pub async fn start(&self, builder: &FleetBuilder) -> Result<Fleet, CommandError> {
        builder.progress.phase("starting the fleet");
        let options =
            self.components.clone().fleet_options(self.name.clone(), self.members, SupervisorProgram::this()?);
        let progress = Arc::clone(&builder.progress);
        Ok(Fleet::create(options, Arc::new(move |stage| progress.phase(&stage_text(&stage)))).await?)
    }
}

impl FleetProfile for NewFleet {
    fn provider(&self) -> &'static str {
        self.plan.clusters.provider()
    }

    fn kubefleet(&self) -> &ComponentVersion {
        &self.plan.kubefleet
    }

    fn members(&self) -> usize {
        self.plan.members
    }

    fn has_argocd_in_pods(&self) -> bool {
        self.has_argocd_in_pods
    }

    fn can(&self, ability: ProviderAbility) -> bool {
        self.plan.clusters.can(ability)
    }
}
