//! A cluster, wherever it comes from.

use std::path::PathBuf;

use kube::Client;
use kube::config::Kubeconfig;
use serde::{Deserialize, Serialize};

use crate::error::ClusterError;
use crate::kubeconfig;

/// What a cluster is to its fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Runs no workloads.
    Hub,
    /// Runs the workloads of placements.
    Member,
}

/// A cluster that is ready.
#[derive(Clone)]
pub struct Cluster {
    /// Its name, unique in its fleet.
    pub name: String,
    /// Its address from here, e.g. `https://127.0.0.1:PORT`.
    pub server: String,
    /// Its address from where the fleet's agents run.
    pub inner_server: String,
    /// Its CA's certificate, PEM.
    pub ca: String,
    /// A kubeconfig file with one context, an administrator's.
    pub kubeconfig: PathBuf,
    /// A client for it, as that administrator.
    pub client: Client,
}

impl Cluster {
    /// The cluster of a kubeconfig with one context, which has the cluster's name, and the file that it is in.
    ///
    /// # Errors
    /// When its credentials can't be used.
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
