//! The two ways in which a fleet has Argo CD.

use std::path::Path;

use clusters::cluster::Cluster;
use serde::{Deserialize, Serialize};

use super::manifests::ArgoCdManifests;
use super::programs::ArgoCdPrograms;

/// Installation of Argo CD on a hub.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ArgoCdInstallation {
    /// Processes on this machine.
    Processes(ArgoCdPrograms),
    /// Pods on the hub, from manifests.
    Pods(ArgoCdManifests),
}

impl ArgoCdInstallation {
    /// Version of Argo CD, e.g. `v3.5.7`.
    #[must_use]
    pub fn version(&self) -> &str {
        match self {
            Self::Processes(programs) => &programs.version,
            Self::Pods(manifests) => &manifests.version,
        }
    }

    /// Program `git`, for the repositories of scenarios.
    pub(crate) fn git(&self) -> &Path {
        match self {
            Self::Processes(programs) => &programs.git,
            Self::Pods(manifests) => &manifests.git,
        }
    }

    /// Programs on this machine; none if Argo CD runs in Pods.
    #[must_use]
    pub fn programs(&self) -> Option<&ArgoCdPrograms> {
        match self {
            Self::Processes(programs) => Some(programs),
            Self::Pods(_) => None,
        }
    }

    /// True if Argo CD runs in Pods.
    #[must_use]
    pub fn has_pods(&self) -> bool {
        matches!(self, Self::Pods(_))
    }

    /// Returns a cluster with the address by which Argo CD reaches it.
    pub(crate) fn reached(&self, cluster: &Cluster) -> Cluster {
        match self {
            Self::Processes(_) => cluster.clone(),
            Self::Pods(_) => Cluster { server: cluster.inner_server.clone(), ..cluster.clone() },
        }
    }
}
