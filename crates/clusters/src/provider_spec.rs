//! Descriptions of a fleet's clusters, of which providers are made.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::docker::{self, DockerProvider};
use crate::error::ClusterError;
use crate::existing::{ClusterContexts, ExistingProvider};
use crate::home::FleetHome;
use crate::kind::{self, KindProvider};
use crate::local::{ControlPlanePrograms, LocalProvider};
use crate::provider::Provider;

/// Description of a fleet's clusters, which is enough to make another such fleet, or to open this one again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderSpec {
    /// Clusters as processes on this machine.
    Local(ControlPlanePrograms),
    /// Clusters in Docker containers.
    Docker(docker::DockerSetup),
    /// Clusters that kind creates.
    Kind(kind::KindSetup),
    /// Clusters that exist already.
    Existing(ClusterContexts),
}

impl ProviderSpec {
    /// Creates the provider for a new fleet.
    ///
    /// # Errors
    /// Returns an error if what the fleet's clusters share, such as etcd or a network, can't be created.
    pub async fn create(&self, home: Arc<FleetHome>) -> Result<Arc<dyn Provider>, ClusterError> {
        match self {
            Self::Local(programs) => Ok(Arc::new(LocalProvider::create(home, programs.clone()).await?)),
            Self::Docker(setup) => Ok(Arc::new(DockerProvider::create(home, setup.clone()).await?)),
            Self::Kind(_) | Self::Existing(_) => Ok(self.open(home)),
        }
    }

    /// Creates the provider for a running fleet.
    #[must_use]
    pub fn open(&self, home: Arc<FleetHome>) -> Arc<dyn Provider> {
        match self {
            Self::Local(programs) => Arc::new(LocalProvider::open(home, programs.clone())),
            Self::Docker(setup) => Arc::new(DockerProvider::open(home, setup.clone())),
            Self::Kind(setup) => Arc::new(KindProvider::new(home, setup.clone())),
            Self::Existing(contexts) => Arc::new(ExistingProvider::new(home, contexts.clone())),
        }
    }
}
