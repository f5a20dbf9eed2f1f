//! A cluster of a fleet, from any provider.

use std::path::PathBuf;

use kube::Client;
use kube::config::Kubeconfig;
use serde::{Deserialize, Serialize};

use crate::error::ClusterError;
use crate::kubeconfig;

/// Name of the hub in its fleet.
pub const HUB: &str = "hub";

/// Role of a cluster in its fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FleetRole {
    /// Runs no workloads.
    Hub,
    /// Runs the workloads of placements.
    Member,
}

/// A cluster that is ready.
#[derive(Clone)]
pub struct Cluster {
    /// Name of the cluster, unique in its fleet.
    pub name: String,
    /// Address of the API server from this machine, e.g. `https://127.0.0.1:PORT`.
    pub server: String,
    /// Address of the API server from where the fleet's agents run.
    pub inner_server: String,
    /// Certificate of the cluster's CA, PEM.
    pub ca: String,
    /// Kubeconfig file with one context, an administrator's; empty if there is no such file.
    pub kubeconfig: PathBuf,
    /// Client for the cluster, with the administrator's credentials.
    pub client: Client,
}

impl Cluster {
    /// Connects to a cluster by a kubeconfig with one context, which has the cluster's name. `file` is the kubeconfig's
    /// path.
    ///
    /// # Errors
    /// Returns an error if the kubeconfig's credentials can't be used.
    pub async fn of(name: &str, config: Kubeconfig, file: PathBuf) -> Result<Self, ClusterError> {
        let of = config.clusters.first().and_then(|c| c.cluster.clone()).unwrap_or_default();
        Ok(Self {
            name: name.to_owned(),
            server: of.server.clone().unwrap_or_default(),
            inner_server: of.server.unwrap_or_default(),
            ca: of.certificate_authority_data.and_then(|data| kubeconfig::from_base64(&data)).unwrap_or_default(),
            kubeconfig: file,
            client: kubeconfig::client(config, name).await?,
        })
    }
}
