//! Clusters as processes on this machine: one etcd for all, and per cluster an API server and a controller manager;
//! a scheduler and a simulated kubelet where pods are needed.
//!
//! Everything binds to 127.0.0.1 on ports that the system gave. TLS is verified everywhere; etcd is reached by
//! a socket in the fleet's directory, which other users can't enter; all files are their owner's only.

mod agents;
mod control_plane;
mod pods;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use kube::Client;
use kube::config::Kubeconfig;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

pub use self::pods::{NODE, PodPrograms};
use crate::cluster::{Cluster, Role};
use crate::error::ClusterError;
use crate::home::Home;
use crate::kubeconfig::{self, Access};
use crate::pki::Pair;
use crate::provider::{Ability, Agent, Provider};
use crate::state_dir::write_private;

/// How long an API server may take until it is ready. It takes 3 to 7 s here with four at once on two cores.
const READY_LIMIT: Duration = Duration::from_secs(120);

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
        let server = home.pki().server("etcd")?;
        let etcd = control_plane::etcd(&programs.etcd, home.dir(), &home.pki().ca_file(), &server, peer);
        home.keeper().start(etcd).await?;
        Ok(Self::open(home, programs))
    }

    /// The local clusters of a fleet that is up.
    #[must_use]
    pub fn open(home: Arc<Home>, programs: Programs) -> Self {
        Self { home, programs, pods: Mutex::default() }
    }

    fn access(&self, name: &str, server: &str, user: &str, pair: Pair) -> Result<(PathBuf, Kubeconfig), ClusterError> {
        let access = Access {
            name: name.to_owned(),
            server: server.to_owned(),
            ca: self.home.ca().to_owned(),
            certificate: pair.certificate,
            key: pair.key,
        };
        let config = kubeconfig::kubeconfig(&[&access]);
        let file = kubeconfig_file(self.home.dir(), name, user);
        write_private(&file, &kubeconfig::text(&config))?;
        Ok((file, config))
    }

    /// Waits until the API server says that it is ready, and fails as soon as it or etcd has died.
    async fn ready(&self, cluster: &str, process: &str, client: &Client) -> Result<(), ClusterError> {
        let started = Instant::now();
        let mut exits = self.home.first_exit();
        loop {
            let exit = exits.borrow_and_update().clone();
            if let Some(exit) = exit.filter(|e| e.name == process || e.name == "etcd" || e.name == "keeper") {
                let during = format!("cluster {cluster} was starting");
                return Err(ClusterError::Died { process: exit.name, during, status: exit.status, log: exit.log });
            }
            let request = http::Request::get("/readyz").body(Vec::new()).unwrap_or_default();
            let last = match client.request_text(request).await {
                Ok(_) => return Ok(()),
                Err(error) => error.to_string(),
            };
            if started.elapsed() > READY_LIMIT {
                return Err(ClusterError::NotReady {
                    cluster: cluster.to_owned(),
                    seconds: READY_LIMIT.as_secs(),
                    last,
                    process: process.to_owned(),
                    log: self.home.keeper().log_tail(process),
                });
            }
            // There is nothing to watch before the API server answers.
            let _ = tokio::time::timeout(Duration::from_millis(50), exits.changed()).await;
        }
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
        let spec = control_plane::apiserver(&self.programs.apiserver, (name, role), &self.home, port)?;
        let process = spec.name.clone();
        keeper.start(spec).await?;

        let server = format!("https://127.0.0.1:{port}");
        let admin = self.home.pki().client(&format!("{name}-admin"), "fleetdrill", Some("system:masters"))?;
        let (kubeconfig, config) = self.access(name, &server, "admin", admin)?;
        let cluster = Cluster::of(name, config, kubeconfig).await?;
        self.ready(name, &process, &cluster.client).await?;
        Ok(cluster)
    }

    async fn start_controllers(&self, cluster: &Cluster, role: Role) -> Result<(), ClusterError> {
        let name = &cluster.name;
        // The controllers' own roles belong to a ServiceAccount each; one administrator for all of them starts faster.
        let user = "system:kube-controller-manager";
        let pair = self.home.pki().client(&format!("{name}-manager"), user, Some("system:masters"))?;
        let (kubeconfig, _) = self.access(name, &cluster.server, "controller-manager", pair)?;
        let manager = &self.programs.controller_manager;
        self.home.keeper().start(control_plane::controller_manager(manager, (name, role), &kubeconfig)).await
    }

    async fn cluster(&self, name: &str) -> Result<Cluster, ClusterError> {
        let kubeconfig = kubeconfig_file(self.home.dir(), name, "admin");
        let config = Kubeconfig::read_from(&kubeconfig)
            .map_err(|e| ClusterError::Kubeconfig { cluster: name.to_owned(), source: Box::new(e) })?;
        Cluster::of(name, config, kubeconfig).await
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

    async fn exchange_agent(&self, agent: &Agent) -> Result<bool, ClusterError> {
        self.home.keeper().exchange(agents::process(agent)).await?;
        Ok(self.running().await?.contains(&agent.name))
    }

    async fn remove_agent(&self, name: &str) -> Result<(), ClusterError> {
        self.home.keeper().remove(name).await
    }

    async fn agent_log(&self, name: &str) -> Result<String, ClusterError> {
        let path = self.home.keeper().log(name);
        let read = tokio::fs::read(&path).await.map_err(ClusterError::io("read", &path))?;
        Ok(String::from_utf8_lossy(&read).into_owned())
    }
}

fn kubeconfig_file(dir: &Path, cluster: &str, user: &str) -> PathBuf {
    dir.join(format!("{cluster}-{user}.kubeconfig"))
}
