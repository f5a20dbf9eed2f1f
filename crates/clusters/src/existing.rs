//! Clusters that exist already, reached by contexts of a kubeconfig. This module neither creates nor deletes clusters.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use kube::config::Kubeconfig;
use serde::{Deserialize, Serialize};

use crate::ability::ProviderAbility;
use crate::agents::Agent;
use crate::cluster::{Cluster, FleetRole};
use crate::error::ClusterError;
use crate::home::FleetHome;
use crate::kubeconfig;
use crate::local::PodPrograms;
use crate::provider::Provider;
use crate::state_dir::write_private;

/// Kubeconfig contexts of a fleet's clusters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClusterContexts {
    /// Kubeconfig file with the contexts; `None` stands for the one that kubectl uses.
    pub kubeconfig: Option<PathBuf>,
    /// Context of each cluster, by the cluster's name: `hub`, and members by the names of their MemberClusters.
    pub of: BTreeMap<String, String>,
}

/// Provider of clusters that exist already.
pub struct ExistingProvider {
    home: Arc<FleetHome>,
    contexts: ClusterContexts,
}

impl ExistingProvider {
    /// Creates the provider for the clusters of these contexts. Nothing is sent to them yet.
    #[must_use]
    pub fn new(home: Arc<FleetHome>, contexts: ClusterContexts) -> Self {
        Self { home, contexts }
    }

    fn cannot(&self, ability: ProviderAbility) -> ClusterError {
        ClusterError::Cannot { provider: self.name(), ability }
    }
}

impl ClusterContexts {
    /// Connects to a cluster without writing a kubeconfig file for it.
    ///
    /// # Errors
    /// Returns an error if the kubeconfig can't be read or used, or has no such context.
    pub async fn cluster(&self, name: &str) -> Result<Cluster, ClusterError> {
        Cluster::of(name, self.one(name)?, PathBuf::new()).await
    }

    /// Returns a kubeconfig that contains one cluster's context only, renamed to the cluster's name.
    ///
    /// # Errors
    /// Returns an error if the kubeconfig can't be read, or has no such context.
    pub fn one(&self, cluster: &str) -> Result<Kubeconfig, ClusterError> {
        let mut config = match &self.kubeconfig {
            Some(path) => Kubeconfig::read_from(path),
            None => Kubeconfig::read(),
        }
        .map_err(|source| ClusterError::Kubeconfig { cluster: cluster.to_owned(), source: Box::new(source) })?;
        let context = self.of.get(cluster).map(String::as_str).unwrap_or_default();
        let Some(mut found) = config.contexts.iter().find(|c| c.name == context).cloned() else {
            let contexts = config.contexts.into_iter().map(|c| c.name).collect();
            return Err(ClusterError::NoContext { context: context.to_owned(), contexts });
        };
        // Keep only this context's cluster and user, under the cluster's name: other entries may have that name
        // already, and the kubeconfigs of a fleet's clusters are merged into one.
        let inner = found.context.get_or_insert_default();
        let (of_cluster, user) = (inner.cluster.clone(), inner.user.clone());
        config.clusters.retain(|c| c.name == of_cluster);
        config.auth_infos.retain(|u| Some(&u.name) == user.as_ref());
        for named in &mut config.clusters {
            cluster.clone_into(&mut named.name);
        }
        for named in &mut config.auth_infos {
            cluster.clone_into(&mut named.name);
        }
        cluster.clone_into(&mut inner.cluster);
        inner.user = user.map(|_| cluster.to_owned());
        cluster.clone_into(&mut found.name);
        config.contexts = vec![found];
        config.current_context = Some(cluster.to_owned());
        Ok(config)
    }
}

#[async_trait]
impl Provider for ExistingProvider {
    fn name(&self) -> &'static str {
        "existing"
    }

    fn can(&self, _: ProviderAbility) -> bool {
        false
    }

    async fn start_cluster(&self, _: &str, _: FleetRole) -> Result<Cluster, ClusterError> {
        Err(self.cannot(ProviderAbility::MakeClusters))
    }

    async fn start_controllers(&self, _: &Cluster, _: FleetRole) -> Result<(), ClusterError> {
        Ok(())
    }

    async fn cluster(&self, name: &str) -> Result<Cluster, ClusterError> {
        let (config, file) = (self.contexts.one(name)?, self.home.dir().join(format!("{name}.kubeconfig")));
        write_private(&file, &kubeconfig::text(&config))?;
        Cluster::of(name, config, file).await
    }

    async fn stop_cluster(&self, _: &str) -> Result<(), ClusterError> {
        Err(self.cannot(ProviderAbility::MakeClusters))
    }

    async fn machine_address(&self, _: &str) -> Result<IpAddr, ClusterError> {
        Err(self.cannot(ProviderAbility::BreakNetworks))
    }

    async fn start_pods(&self, _: &Cluster, _: Option<&PodPrograms>) -> Result<(), ClusterError> {
        Err(self.cannot(ProviderAbility::RunPods))
    }

    async fn start_agent(&self, _: &Agent) -> Result<(), ClusterError> {
        Err(self.cannot(ProviderAbility::StopAgents))
    }

    async fn stop_agent(&self, _: &str) -> Result<(), ClusterError> {
        Err(self.cannot(ProviderAbility::StopAgents))
    }

    async fn start_agent_again(&self, _: &str) -> Result<(), ClusterError> {
        Err(self.cannot(ProviderAbility::StopAgents))
    }

    async fn hand_over_token(&self, _: &str, _: &Path) -> Result<(), ClusterError> {
        Err(self.cannot(ProviderAbility::StopAgents))
    }

    async fn exchange_agent(&self, _: &Agent) -> Result<bool, ClusterError> {
        Err(self.cannot(ProviderAbility::StopAgents))
    }

    async fn remove_agent(&self, _: &str) -> Result<(), ClusterError> {
        Err(self.cannot(ProviderAbility::StopAgents))
    }

    async fn agent_log(&self, _: &str) -> Result<String, ClusterError> {
        Err(self.cannot(ProviderAbility::ReadAgentLogs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "
apiVersion: v1
kind: Config
current-context: shop
clusters:
  - {name: c, cluster: {server: 'https://10.0.0.1:6443'}}
  - {name: d, cluster: {server: 'https://10.0.0.2:6443'}}
users:
  - {name: u, user: {token: secret}}
  - {name: v, user: {token: other}}
contexts:
  - {name: shop, context: {cluster: c, user: u, namespace: shop}}
  - {name: aks-east, context: {cluster: d, user: v}}
";

    #[test]
    fn one_context_is_taken_out_under_the_cluster_s_name() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), TWO).expect("written");
        let of = [("hub", "aks-east"), ("east", "nowhere")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        let contexts = ClusterContexts { kubeconfig: Some(file.path().to_owned()), of: of.into() };
        let one = kubeconfig::text(&contexts.one("hub").expect("it is there"));
        for (part, there) in [("10.0.0.2", true), ("other", true), ("10.0.0.1", false), ("secret", false)] {
            assert_eq!(one.contains(part), there, "{part}: {one}");
        }
        assert!(one.contains(r#""current-context": "hub""#), "{one}");
        let error = contexts.one("east").expect_err("there is none").to_string();
        assert_eq!(error, "the kubeconfig has no context `nowhere`, only: shop, aks-east");
    }
}
