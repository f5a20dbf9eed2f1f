//! Fleets that exist already and that fleetdrill didn't make: found by their contexts, and used for one run.

use clusters::ability::ProviderAbility;
use clusters::supervisor::SupervisorProgram;
use fleet::Fleet;
use fleet::agents::KubeFleetPrograms;
use fleet::existing::ExistingFleet;

use super::contexts;
use super::options::ContextOptions;
use super::profile::FleetProfile;
use super::progress::FleetBuilder;
use super::refusal;
use crate::component_version::ComponentVersion;
use crate::components::FleetToolchain;
use crate::error::CommandError;

/// A fleet that exists already, is marked as disposable, and isn't changed yet.
pub struct ExternalFleet {
    /// Name of the fleet's directory on this machine.
    name: String,
    /// Id of the run, on everything that it makes there.
    run: String,
    found: ExistingFleet,
    kubefleet: ComponentVersion,
}

/// An external fleet for which KubeFleet's programs are there: scenarios expect what this version can do.
pub struct ProbedExternalFleet {
    fleet: ExternalFleet,
    /// KubeFleet's programs, and their capabilities with the CRDs of the hub.
    pub agents: KubeFleetPrograms,
}

impl ExternalFleet {
    /// Finds a fleet by its contexts.
    ///
    /// # Errors
    /// Returns an error if a context is wrong, if a cluster can't be reached or isn't marked, if rights are missing, or if
    /// KubeFleet's version is unknown. Nothing was changed then.
    pub async fn find(
        name: String,
        run: &str,
        options: &ContextOptions,
        kubefleet: Option<&str>,
        components: &FleetToolchain,
    ) -> Result<Self, CommandError> {
        let found = ExistingFleet::by(&name, contexts::contexts(options)?, &SupervisorProgram::this()?).await?;
        let version = match kubefleet {
            Some(version) => Some(version.to_owned()),
            None => found.version().await?,
        };
        let version = version.ok_or_else(refusal::unknown_kubefleet)?;
        let kubefleet = components.kubefleet(Some(&version))?;
        Ok(Self { name, run: run.to_owned(), found, kubefleet })
    }

    /// Gets KubeFleet's programs and their capabilities with the CRDs of the hub.
    ///
    /// # Errors
    /// Returns an error if they can't be built.
    pub async fn probe(self, builder: &FleetBuilder) -> Result<ProbedExternalFleet, CommandError> {
        let mut agents = builder.components.agents(&self.kubefleet, &|event| builder.progress.build(event)).await?;
        agents.capabilities = self.found.capabilities(&agents).await?;
        Ok(ProbedExternalFleet { fleet: self, agents })
    }
}

impl ProbedExternalFleet {
    /// Takes the fleet for the run: its members are labelled.
    ///
    /// # Errors
    /// Returns an error if another run has it, or if the hub refuses.
    pub async fn take(self) -> Result<Fleet, CommandError> {
        let ExternalFleet { name, run, found, .. } = self.fleet;
        Ok(found.take(name, &run, self.agents).await?)
    }

    /// Facts of the fleet.
    #[must_use]
    pub fn profile(&self) -> &dyn FleetProfile {
        &self.fleet
    }
}

impl FleetProfile for ExternalFleet {
    fn provider(&self) -> &'static str {
        self.found.provider()
    }

    fn kubefleet(&self) -> &ComponentVersion {
        &self.kubefleet
    }

    fn members(&self) -> usize {
        self.found.members()
    }

    fn can(&self, ability: ProviderAbility) -> bool {
        self.found.can(ability)
    }
}
