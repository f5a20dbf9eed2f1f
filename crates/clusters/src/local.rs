//! Clusters as processes on this machine: one etcd for all clusters, an API server and a controller manager for each
//! cluster, and a scheduler and a simulated kubelet where pods are needed.
//!
//! All servers listen on 127.0.0.1, on ports that the system has chosen. TLS is verified everywhere. etcd is reached by
//! a socket in the fleet's directory, which other users can't enter. All files are readable by their owner only.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::ability::ProviderAbility;
use crate::agents::deployment::AgentDeployment;
use crate::agents::{self, Agent};
use crate::cluster::{Cluster, FleetRole, HUB};
pub use crate::control_plane::GARBAGE_COLLECTION;
use crate::control_plane::{self, ControlPlaneLocation};
use crate::error::ClusterError;
use crate::etcd::{self, EtcdBackup};
use crate::home::FleetHome;
use crate::pki::Pki;
use crate::pods::{self, KWOK, KWOK_USER, SCHEDULER};
pub use crate::pods::{NODE, PodPrograms};
use crate::provider::Provider;
use crate::service_account_token::{self, SigningKey};
use crate::state_dir::write_private;
use crate::supervisor::ProcessFault;
use crate::supervisor::protocol::{ProcessSpec, ShutdownHook};

/// Time limit for another fleet on this machine to end that has KubeFleet's webhooks.
const WEBHOOKS_LIMIT: Duration = Duration::from_secs(300);

/// Directory of the certificates that the hub-agent makes for its webhooks (v0.1.2, v0.3.1).
const WEBHOOK_CERTIFICATES: &str = "/tmp/k8s-webhook-server";

/// Name of the hub's host for agents that get another certificate of it than everybody else, who call it by its address.
pub const AGENTS_HUB: &str = "localhost";

/// Programs of a control plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ControlPlanePrograms {
    /// Path of etcd.
    pub etcd: PathBuf,
    /// Path of kube-apiserver.
    pub apiserver: PathBuf,
    /// Path of kube-controller-manager.
    pub controller_manager: PathBuf,
}

/// Provider of local clusters for one fleet.
pub struct LocalProvider {
    home: Arc<FleetHome>,
    programs: ControlPlanePrograms,
    pods: Mutex<()>,
}

impl LocalProvider {
    /// Starts etcd for a new fleet. Clusters can be started at once: API servers wait for etcd by themselves.
    ///
    /// # Errors
    /// Returns an error if etcd can't be started.
    pub async fn create(home: Arc<FleetHome>, programs: ControlPlanePrograms) -> Result<Self, ClusterError> {
        let [peer] = home.supervisor().reserve().await?;
        let etcd = control_plane::etcd(&programs.etcd, &mut ControlPlaneLocation::here(&home), home.pki(), peer)?;
        home.supervisor().start(etcd).await?;
        Ok(Self::open(home, programs))
    }

    /// Creates the provider for a running fleet.
    #[must_use]
    pub fn open(home: Arc<FleetHome>, programs: ControlPlanePrograms) -> Self {
        Self { home, programs, pods: Mutex::default() }
    }

    /// Starts a scheduler and KWOK for a member, unless they run already. Pods are scheduled a second or two later,
    /// when the Node is ready; this function doesn't wait for that.
    async fn simulate_pods(&self, cluster: &Cluster, programs: &PodPrograms) -> Result<(), ClusterError> {
        // Scenarios that share a member may ask for its pods at the same time.
        let _turn = self.pods.lock().await;
        let running = self.running().await?;
        let (pki, mut site) = (self.home.pki(), ControlPlaneLocation::here(&self.home));
        if !running.contains(&control_plane::process(&cluster.name, SCHEDULER)) {
            let pair = pki.client(&format!("{}-scheduler", cluster.name), "system:kube-scheduler", None)?;
            let (kubeconfig, _) = self.home.access(&cluster.name, &cluster.server, "scheduler", pair)?;
            self.home.supervisor().start(pods::scheduler(&programs.scheduler, &cluster.name, &kubeconfig)).await?;
        }
        pods::prepare(cluster).await?;
        if !running.contains(&control_plane::process(&cluster.name, KWOK)) {
            let config = pods::configure(self.home.dir(), &mut site)?;
            let pair = pki.client(&format!("{}-kwok", cluster.name), KWOK_USER, None)?;
            let (kubeconfig, _) = self.home.access(&cluster.name, &cluster.server, KWOK, pair)?;
            let serving = pki.server(&format!("{}-kubelet", cluster.name))?;
            let [port] = self.home.supervisor().reserve().await?;
            let files = (kubeconfig.as_path(), config.as_path());
            let kwok = pods::kwok(&programs.kwok, &cluster.name, files, &mut site, (port, &serving));
            self.home.supervisor().start(kwok).await?;
        }
        Ok(())
    }

    /// Returns the specification of an agent's process. The hub-agent is its `ServiceAccount`, whose rights can be taken away; a member's
    /// agent is an administrator of its member.
    fn agent_process(&self, agent: &Agent) -> Result<ProcessSpec, ClusterError> {
        let cluster = &agent.cluster;
        if agent.hub.is_some() {
            return Ok(agents::process(agent, agent.kubeconfig.as_ref().unwrap_or(&cluster.kubeconfig)));
        }
        let (kubeconfig, _) = self.home.hub_agent(agent, &cluster.server)?;
        Ok(agents::process(agent, &kubeconfig))
    }

    /// Waits until no other fleet on this machine has KubeFleet's webhooks, whose port and whose certificates' directory are constants of
    /// the hub-agent. The directory is removed at the fleet's end.
    async fn claim_webhooks(&self) -> Result<(), ClusterError> {
        let supervisor = self.home.supervisor();
        supervisor.claim("webhooks", WEBHOOKS_LIMIT).await?;
        // Another user may have made the directory in advance, to read the key that the hub-agent writes into it.
        crate::state_dir::make_own(WEBHOOK_CERTIFICATES.as_ref())?;
        let command = ["rm", "-r", "-f", WEBHOOK_CERTIFICATES].map(str::to_owned).to_vec();
        supervisor.at_end(ShutdownHook { name: "webhooks".into(), command, left: Vec::new() }).await
    }

    /// Starts an API server again with these flags after its own, and waits until it is ready. Of a flag that is given twice, the last one
    /// counts. The flags stay with it.
    async fn restart_api_server_with(&self, cluster: &str, flags: &[String]) -> Result<(), ClusterError> {
        self.run_api_server(cluster, false).await?;
        let process = control_plane::process(cluster, "kube-apiserver");
        self.home.supervisor().start_again_with(&process, flags).await?;
        self.api_server_started(cluster).await
    }

    /// Stops a cluster's controller manager, or starts it again, if the cluster has one already. At its start it gives the API server 10 s to
    /// get healthy, and ends otherwise (Kubernetes 1.36): it must not start while the API server is stopped.
    async fn run_controller_manager(&self, cluster: &str, running: bool) -> Result<(), ClusterError> {
        let (supervisor, name) = (self.home.supervisor(), control_plane::process(cluster, "kube-controller-manager"));
        let processes = supervisor.processes().await?;
        match processes.iter().find(|process| process.name == name) {
            Some(_) if !running => supervisor.stop(&name).await,
            Some(process) if process.pid.is_none() => supervisor.start_again(&name).await,
            _ => Ok(()),
        }
    }

    /// Waits until a cluster's API server that was started again is ready, and starts the controller manager again.
    async fn api_server_started(&self, cluster: &str) -> Result<(), ClusterError> {
        let (process, client) =
            (control_plane::process(cluster, "kube-apiserver"), self.cluster(cluster).await?.client);
        control_plane::ready(&self.home, cluster, &[&process], &client).await?;
        self.run_controller_manager(cluster, true).await
    }

    /// Directory of a CA for the hub's certificate for agents.
    fn hub_ca_dir(&self, number: usize) -> PathBuf {
        self.home.dir().join(format!("hub-ca-{number}"))
    }

    fn etcd_socket(&self) -> PathBuf {
        control_plane::etcd_socket(self.home.dir())
    }

    /// Returns the names of the running processes.
    async fn running(&self) -> Result<Vec<String>, ClusterError> {
        let processes = self.home.supervisor().processes().await?;
        Ok(processes.into_iter().filter(|p| p.pid.is_some()).map(|p| p.name).collect())
    }
}

/// Returns the prefix of a cluster's keys in etcd.
fn etcd_prefix(cluster: &Cluster) -> String {
    let port = cluster.server.rsplit(':').next().unwrap_or_default();
    format!("{}/", control_plane::etcd_prefix(&cluster.name, port))
}

/// Returns true if a local fleet has this ability: all but the load of images, for which there are no nodes.
#[must_use]
pub fn can(ability: ProviderAbility) -> bool {
    ability != ProviderAbility::LoadImages && ability.is_possible_here()
}

#[async_trait]
impl Provider for LocalProvider {
    fn name(&self) -> &'static str {
        "local"
    }

    fn can(&self, ability: ProviderAbility) -> bool {
        can(ability)
    }

    async fn start_cluster(&self, name: &str, role: FleetRole) -> Result<Cluster, ClusterError> {
        crate::state_dir::check_name(name)?;
        let supervisor = self.home.supervisor();
        let [port] = supervisor.reserve().await?;
        let mut site = ControlPlaneLocation::here(&self.home);
        let pki = self.home.pki();
        let spec = control_plane::apiserver(&self.programs.apiserver, (name, role), &mut site, pki, (None, port))?;
        let process = spec.name.clone();
        supervisor.start(spec).await?;
        let cluster = self.home.administered(name, &format!("https://127.0.0.1:{port}")).await?;
        control_plane::ready(&self.home, name, &[&process, "etcd"], &cluster.client).await?;
        Ok(cluster)
    }

    async fn start_controllers(&self, cluster: &Cluster, role: FleetRole) -> Result<(), ClusterError> {
        let name = &cluster.name;
        let (kubeconfig, _) = self.home.manager(name, &cluster.server)?;
        let manager = &self.programs.controller_manager;
        self.home.supervisor().start(control_plane::controller_manager(manager, (name, role), &kubeconfig)).await
    }

    async fn cluster(&self, name: &str) -> Result<Cluster, ClusterError> {
        self.home.known(name).await
    }

    async fn stop_cluster(&self, name: &str) -> Result<(), ClusterError> {
        let (supervisor, running) = (self.home.supervisor(), self.running().await?);
        for process in pods::PROCESSES.map(|program| control_plane::process(name, program)) {
            if running.contains(&process) {
                supervisor.remove(&process).await?;
            }
        }
        for program in ["kube-controller-manager", "kube-apiserver"] {
            supervisor.remove(&control_plane::process(name, program)).await?;
        }
        Ok(())
    }

    async fn throttle_api_server(&self, cluster: &str, percent: u8) -> Result<ProcessFault, ClusterError> {
        self.home.supervisor().throttle(&control_plane::process(cluster, "kube-apiserver"), percent).await
    }

    async fn hang_api_server(&self, cluster: &str) -> Result<ProcessFault, ClusterError> {
        self.throttle_api_server(cluster, 0).await
    }

    async fn machine_address(&self, _: &str) -> Result<IpAddr, ClusterError> {
        Ok(Ipv4Addr::LOCALHOST.into())
    }

    async fn run_api_server(&self, cluster: &str, running: bool) -> Result<(), ClusterError> {
        let process = control_plane::process(cluster, "kube-apiserver");
        if !running {
            self.run_controller_manager(cluster, false).await?;
            return self.home.supervisor().stop(&process).await;
        }
        self.home.supervisor().start_again(&process).await?;
        self.api_server_started(cluster).await
    }

    async fn back_up(&self, cluster: &Cluster, file: &Path) -> Result<(), ClusterError> {
        let failed = |source| ClusterError::Backup { cluster: cluster.name.clone(), source };
        let backup = etcd::back_up(&self.etcd_socket(), &etcd_prefix(cluster)).await.map_err(failed)?;
        let text = serde_json::to_string(&backup).map_err(|error| failed(error.into()))?;
        write_private(file, &text)
    }

    async fn restore(&self, cluster: &Cluster, file: &Path) -> Result<(), ClusterError> {
        let failed = |source| ClusterError::Backup { cluster: cluster.name.clone(), source };
        let text = std::fs::read_to_string(file).map_err(failed)?;
        let backup: EtcdBackup = serde_json::from_str(&text).map_err(|error| failed(error.into()))?;
        self.run_api_server(&cluster.name, false).await?;
        etcd::restore(&self.etcd_socket(), &etcd_prefix(cluster), &backup).await.map_err(failed)?;
        self.run_api_server(&cluster.name, true).await
    }

    async fn start_pods(&self, cluster: &Cluster, programs: Option<&PodPrograms>) -> Result<(), ClusterError> {
        self.simulate_pods(cluster, programs.ok_or(ClusterError::NoPodPrograms)?).await
    }

    async fn hang_agent(&self, name: &str) -> Result<ProcessFault, ClusterError> {
        self.home.supervisor().throttle(name, 0).await
    }

    async fn shift_agent_clock(&self, name: &str, seconds: i32) -> Result<ProcessFault, ClusterError> {
        self.home.supervisor().shift_clock(name, seconds).await
    }

    async fn shift_api_server_clock(&self, cluster: &str, seconds: i32) -> Result<ProcessFault, ClusterError> {
        self.home.supervisor().shift_clock(&control_plane::process(cluster, "kube-apiserver"), seconds).await
    }

    async fn limit_storage(&self, limited: bool) -> Result<(), ClusterError> {
        let supervisor = self.home.supervisor();
        supervisor.stop("etcd").await?;
        supervisor.start_again_with("etcd", &[etcd::quota_flag(limited)]).await?;
        if limited { Ok(()) } else { etcd::disarm(&self.etcd_socket()).await }
    }

    async fn throttle_storage(&self, percent: u8) -> Result<ProcessFault, ClusterError> {
        self.home.supervisor().throttle("etcd", percent).await
    }

    async fn defragment_storage(&self) -> Result<(), ClusterError> {
        etcd::defragment(&self.etcd_socket()).await
    }

    async fn expiring_token(&self, cluster: &str, token: &str, at: Timestamp) -> Result<String, ClusterError> {
        let key = SigningKey::from_pem(&self.home.pki().service_account_key(cluster)?)?;
        service_account_token::expiring(token, at, &key)
    }

    async fn set_priorities(&self, cluster: &str) -> Result<(), ClusterError> {
        self.restart_api_server_with(cluster, &control_plane::PRIORITY_FLAGS.map(str::to_owned)).await
    }

    async fn make_hub_ca(&self, number: usize) -> Result<String, ClusterError> {
        Ok(Pki::create(&self.hub_ca_dir(number))?.ca().to_owned())
    }

    async fn use_hub_ca(&self, number: usize) -> Result<(), ClusterError> {
        let pair = Pki::open(&self.hub_ca_dir(number))?.server("hub")?;
        let [certificate, key] = ["crt", "key"].map(|ending| self.home.dir().join(format!("hub-for-agents.{ending}")));
        let is_served = certificate.exists();
        write_private(&certificate, &pair.certificate)?;
        write_private(&key, &pair.key)?;
        if is_served {
            // The API server watches the files.
            return Ok(());
        }
        let flag = format!("--tls-sni-cert-key={},{}:{AGENTS_HUB}", certificate.display(), key.display());
        self.restart_api_server_with(HUB, &[flag]).await
    }

    async fn start_agent(&self, agent: &Agent) -> Result<(), ClusterError> {
        if agent.webhooks {
            self.claim_webhooks().await?;
        }
        if agent.hub.is_none() {
            AgentDeployment { cluster: agent.cluster.clone(), agent: agent.name.clone() }.grant().await?;
        }
        self.home.supervisor().start(self.agent_process(agent)?).await
    }

    async fn stop_agent(&self, name: &str) -> Result<(), ClusterError> {
        self.home.supervisor().stop(name).await
    }

    async fn start_agent_again(&self, name: &str) -> Result<(), ClusterError> {
        self.home.supervisor().start_again(name).await
    }

    async fn hand_over_token(&self, _: &str, _: &Path) -> Result<(), ClusterError> {
        // The agent reads this very file.
        Ok(())
    }

    async fn exchange_agent(&self, agent: &Agent) -> Result<bool, ClusterError> {
        self.home.supervisor().exchange(self.agent_process(agent)?).await?;
        Ok(self.running().await?.contains(&agent.name))
    }

    async fn remove_agent(&self, name: &str) -> Result<(), ClusterError> {
        self.home.supervisor().remove(name).await
    }

    async fn agent_log(&self, name: &str) -> Result<String, ClusterError> {
        self.home.supervisor().read_log(name).await
    }
}
