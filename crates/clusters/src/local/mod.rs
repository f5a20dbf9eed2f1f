//! Clusters as processes on this machine: one etcd for all, and per cluster an API server and a controller manager;
//! a scheduler and a simulated kubelet where pods are needed.
//!
//! Everything binds to 127.0.0.1 on ports that the system gave. TLS is verified everywhere; etcd is reached by
//! a socket in the fleet's directory, which other users can't enter; all files are their owner's only.

mod agents;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::cluster::{Cluster, Role};
use crate::control_plane::{self, Site};
use crate::error::ClusterError;
use crate::home::Home;
use crate::pods::{self, KWOK, KWOK_USER, SCHEDULER};
pub use crate::pods::{NODE, PodPrograms};
use crate::provider::{Ability, Agent, Provider};

/// The programs that clusters are made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Programs {
    /// etcd's path.
    pub etcd: PathBuf,
    /// kube-apiserver's path.
    pub apiserver: PathBuf,
    /// kube-controller-manager's path.
    pub controller_manager: PathBuf,
}

/// The local clusters of one fleet.
pub struct Local {
    home: Arc<Home>,
    programs: Programs,
    pods: Mutex<()>,
}

impl Local {
    /// Starts etcd for a new fleet. Clusters can be made at once: API servers wait for etcd by themselves.
    ///
    /// # Errors
    /// When etcd can't be started.
    pub async fn create(home: Arc<Home>, programs: Programs) -> Result<Self, ClusterError> {
        let [peer] = home.keeper().reserve().await?;
        let etcd = control_plane::etcd(&programs.etcd, &mut Site::here(&home), home.pki(), peer)?;
        home.keeper().start(etcd).await?;
        Ok(Self::open(home, programs))
    }

    /// The local clusters of a fleet that is up.
    #[must_use]
    pub fn open(home: Arc<Home>, programs: Programs) -> Self {
        Self { home, programs, pods: Mutex::default() }
    }

    /// Starts a scheduler and KWOK for a member, unless they run already. Pods get to the Node a second or two later, as soon as
    /// it is ready, which isn't waited for.
    async fn simulate_pods(&self, cluster: &Cluster, programs: &PodPrograms) -> Result<(), ClusterError> {
        // Scenarios that share a member ask for its pods at the same time.
        let _turn = self.pods.lock().await;
        let running = self.running().await?;
        let runs = |program: &str| running.contains(&control_plane::process(&cluster.name, program));
        let (pki, mut site) = (self.home.pki(), Site::here(&self.home));
        if !runs(SCHEDULER) {
            let pair = pki.client(&format!("{}-scheduler", cluster.name), "system:kube-scheduler", None)?;
            let (kubeconfig, _) = self.home.access(&cluster.name, &cluster.server, "scheduler", pair)?;
            self.home.keeper().start(pods::scheduler(&programs.scheduler, &cluster.name, &kubeconfig)).await?;
        }
        pods::prepare(cluster).await?;
        if !runs(KWOK) {
            let config = pods::configure(self.home.dir(), &mut site)?;
            let pair = pki.client(&format!("{}-kwok", cluster.name), KWOK_USER, None)?;
            let (kubeconfig, _) = self.home.access(&cluster.name, &cluster.server, KWOK, pair)?;
            let serving = pki.server(&format!("{}-kubelet", cluster.name))?;
            let [port] = self.home.keeper().reserve().await?;
            let files = (kubeconfig.as_path(), config.as_path());
            let kwok = pods::kwok(&programs.kwok, &cluster.name, files, &mut site, (port, &serving));
            self.home.keeper().start(kwok).await?;
        }
        Ok(())
    }

    /// The names of the processes that run.
    async fn running(&self) -> Result<Vec<String>, ClusterError> {
        let processes = self.home.keeper().processes().await?;
        Ok(processes.into_iter().filter(|p| p.pid.is_some()).map(|p| p.name).collect())
    }
}

#[async_trait]
impl Provider for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    fn can(&self, _: Ability) -> bool {
        true
    }

    async fn start_cluster(&self, name: &str, role: Role) -> Result<Cluster, ClusterError> {
        crate::state_dir::check_name(name)?;
        let keeper = self.home.keeper();
        let [port] = keeper.reserve().await?;
        let mut site = Site::here(&self.home);
        let pki = self.home.pki();
        let spec = control_plane::apiserver(&self.programs.apiserver, (name, role), &mut site, pki, (None, port))?;
        let process = spec.name.clone();
        keeper.start(spec).await?;
        let cluster = self.home.administered(name, &format!("https://127.0.0.1:{port}")).await?;
        control_plane::ready(&self.home, name, &[&process, "etcd"], &cluster.client).await?;
        Ok(cluster)
    }

    async fn start_controllers(&self, cluster: &Cluster, role: Role) -> Result<(), ClusterError> {
        let name = &cluster.name;
        let (kubeconfig, _) = self.home.manager(name, &cluster.server)?;
        let manager = &self.programs.controller_manager;
        self.home.keeper().start(control_plane::controller_manager(manager, (name, role), &kubeconfig)).await
    }

    async fn cluster(&self, name: &str) -> Result<Cluster, ClusterError> {
        self.home.known(name).await
    }

    async fn stop_cluster(&self, name: &str) -> Result<(), ClusterError> {
        let (keeper, running) = (self.home.keeper(), self.running().await?);
        for process in pods::PROCESSES.map(|program| control_plane::process(name, program)) {
            if running.contains(&process) {
                keeper.remove(&process).await?;
            }
        }
        for program in ["kube-controller-manager", "kube-apiserver"] {
            keeper.remove(&control_plane::process(name, program)).await?;
        }
        Ok(())
    }

    async fn start_pods(&self, cluster: &Cluster, programs: Option<&PodPrograms>) -> Result<(), ClusterError> {
        self.simulate_pods(cluster, programs.ok_or(ClusterError::NoPodPrograms)?).await
    }

    async fn start_agent(&self, agent: &Agent) -> Result<(), ClusterError> {
        self.home.keeper().start(agents::process(agent)).await
    }

    async fn stop_agent(&self, name: &str) -> Result<(), ClusterError> {
        self.home.keeper().stop(name).await
    }

    async fn start_agent_again(&self, name: &str) -> Result<(), ClusterError> {
        self.home.keeper().start_again(name).await
    }

    async fn hand_over_token(&self, _: &str, _: &Path) -> Result<(), ClusterError> {
        // It reads the very file.
        Ok(())
    }

    async fn exchange_agent(&self, agent: &Agent) -> Result<bool, ClusterError> {
        self.home.keeper().exchange(agents::process(agent)).await?;
        Ok(self.running().await?.contains(&agent.name))
    }

    async fn remove_agent(&self, name: &str) -> Result<(), ClusterError> {
        self.home.keeper().remove(name).await
    }

    async fn agent_log(&self, name: &str) -> Result<String, ClusterError> {
        self.home.keeper().read_log(name).await
    }
}
