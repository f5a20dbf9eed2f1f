//! Acquisition of a resolved fleet: it is probed, prepared, and taken.

use std::time::Instant;

use fleet::Fleet;
use fleet::capability::Capabilities;

use super::external_fleet::ProbedExternalFleet;
use super::needs::FleetNeeds;
use super::new_fleet::ProbedNewFleet;
use super::profile::FleetProfile;
use super::progress::FleetBuilder;
use super::resolve::ResolvedFleet;
use super::running_fleet::RunningFleet;
use crate::component_version::ComponentVersion;
use crate::error::CommandError;

/// A fleet whose capabilities are known.
pub enum ProbedFleet {
    /// A fleet to be made, of agents that are there.
    New(ProbedNewFleet),
    /// A fleet that is up.
    Running(RunningFleet),
    /// A fleet that exists already.
    External(Box<ProbedExternalFleet>),
}

/// A fleet with all components that are needed.
pub enum PreparedFleet {
    /// A fleet that was made, or was up.
    Started(AcquiredFleet),
    /// A fleet that exists already, and isn't changed yet.
    External(Box<ProbedExternalFleet>),
}

/// A fleet that a command may break things on.
pub struct AcquiredFleet {
    /// The fleet.
    pub fleet: Fleet,
    /// Versions of its components.
    pub versions: Vec<ComponentVersion>,
    /// Seconds from nothing to all joined, without building the components; 0 for a fleet that wasn't made now.
    pub start_seconds: f64,
}

impl ResolvedFleet {
    /// Finds out what the fleet can do, building KubeFleet's agents where they are needed.
    ///
    /// # Errors
    /// Returns an error if they can't be built, or if a cluster refuses.
    pub async fn probe(self, builder: &FleetBuilder) -> Result<ProbedFleet, CommandError> {
        match self {
            Self::New(fleet) => Ok(ProbedFleet::New(fleet.probe(builder).await?)),
            Self::Running(fleet) => Ok(ProbedFleet::Running(fleet)),
            Self::External(fleet) => Ok(ProbedFleet::External(Box::new(fleet.probe(builder).await?))),
        }
    }
}

impl ProbedFleet {
    /// Facts of the fleet.
    #[must_use]
    pub fn profile(&self) -> &dyn FleetProfile {
        match self {
            Self::New(fleet) => fleet.profile(),
            Self::Running(fleet) => fleet,
            Self::External(fleet) => fleet.profile(),
        }
    }

    /// Capabilities of KubeFleet on the fleet.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        match self {
            Self::New(fleet) => fleet.agents.capabilities.clone(),
            Self::Running(fleet) => fleet.fleet.capabilities(),
            Self::External(fleet) => fleet.agents.capabilities.clone(),
        }
    }

    /// Makes a new fleet, and adds to one that is up what it lacks. Nothing is changed on an external one.
    ///
    /// # Errors
    /// Returns an error if a component can't be had, or if the fleet doesn't start.
    pub async fn prepare(self, needs: &FleetNeeds, builder: &FleetBuilder) -> Result<PreparedFleet, CommandError> {
        match self {
            Self::New(fleet) => {
                let built = fleet.build(needs, builder).await?;
                let started = Instant::now();
                let fleet = built.start(builder).await?;
                let start_seconds = started.elapsed().as_secs_f64();
                let versions = built.components.versions;
                Ok(PreparedFleet::Started(AcquiredFleet { fleet, versions, start_seconds }))
            }
            Self::Running(running) => {
                let versions = running.extend(needs, builder).await?;
                Ok(PreparedFleet::Started(AcquiredFleet { fleet: running.fleet, versions, start_seconds: 0.0 }))
            }
            Self::External(fleet) => Ok(PreparedFleet::External(fleet)),
        }
    }
}

impl PreparedFleet {
    /// Takes the fleet. Not to be interrupted: labels that it puts on an external fleet are taken back by its sweep.
    ///
    /// # Errors
    /// Returns an error if another run has the external fleet, or if its hub refuses.
    pub async fn take(self) -> Result<AcquiredFleet, CommandError> {
        match self {
            Self::Started(fleet) => Ok(fleet),
            Self::External(fleet) => {
                let versions = vec![fleet.profile().kubefleet().clone()];
                Ok(AcquiredFleet { fleet: fleet.take().await?, versions, start_seconds: 0.0 })
            }
        }
    }
}
