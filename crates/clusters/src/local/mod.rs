//! Clusters as processes on this machine: one etcd for all, and per cluster an API server and a controller manager;
//! a scheduler and a simulated kubelet where pods are needed.
//!
//! Everything binds to 127.0.0.1 on ports that the system gave. TLS is verified everywhere; etcd is reached by
//! a socket in the fleet's directory, which other users can't enter; all files are their owner's only.

mod control_plane;
mod pki;
mod pods;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kube::Client;
use kube::config::Kubeconfig;
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, watch};

pub use self::control_plane::MEMBER_NICENESS;
use self::pki::Pki;
pub use self::pki::{Pair, write_private};
pub use self::pods::{NODE, PodPrograms};
use crate::error::ClusterError;
use crate::keeper::protocol::Exit;
use crate::keeper::{Keeper, Program};
use crate::kubeconfig::{self, Access};

/// How long an API server may take until it is ready. It takes 3 to 7 s here with four at once on two cores.
const READY_LIMIT: Duration = Duration::from_secs(120);

/// Where the programs are, for the commands that come later.
const STATE: &str = "local.json";

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

/// What a cluster is to the fleet, as far as its controllers are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// No workload controllers.
    Hub,
    /// With workload controllers.
    Member,
}

/// A cluster that is ready.
#[derive(Clone)]
pub struct Cluster {
    /// Its name, unique in its fleet.
    pub name: String,
    /// `https://127.0.0.1:PORT`.
    pub server: String,
    /// The CA's certificate, PEM.
    pub ca: String,
    /// A kubeconfig file with its administrator's certificate.
    pub kubeconfig: PathBuf,
    /// A client for it, as its administrator.
    pub client: Client,
}

/// The local clusters of one fleet.
pub struct Local {
    keeper: Keeper,
    programs: Programs,
    pki: Pki,
    first_exit: watch::Receiver<Option<Exit>>,
    pods: Mutex<()>,
}

impl Local {
    /// Starts a keeper and etcd for a new fleet in `dir`. Clusters can be made at once: API servers wait for etcd by
    /// themselves.
    ///
    /// # Errors
    /// When the keeper or etcd can't be started.
    pub async fn create(program: &Program, dir: &Path, programs: Programs) -> Result<Self, ClusterError> {
        let keeper = Keeper::spawn(program, dir).await?;
        let pki = Pki::create(&dir.join("pki"))?;
        let [peer] = keeper.reserve().await?;
        let server = pki.server("etcd")?;
        keeper.start(control_plane::etcd(&programs.etcd, dir, &pki.ca_file(), &server, peer)).await?;
        write_private(&dir.join(STATE), &serde_json::to_string(&programs).unwrap_or_default())?;
        let first_exit = keeper.watch().await?;
        Ok(Self { keeper, programs, pki, first_exit, pods: Mutex::default() })
    }

    /// The local clusters of a fleet that is up.
    ///
    /// # Errors
    /// When no fleet lives in `dir`.
    pub async fn open(dir: &Path) -> Result<Self, ClusterError> {
        let keeper = Keeper::connect(dir)?;
        let path = dir.join(STATE);
        let text = std::fs::read_to_string(&path).map_err(ClusterError::io("read", &path))?;
        let programs =
            serde_json::from_str(&text).map_err(|e| ClusterError::Keeper(format!("{}: {e}", path.display())))?;
        let pki = Pki::open(&dir.join("pki"))?;
        let first_exit = keeper.watch().await?;
        Ok(Self { keeper, programs, pki, first_exit, pods: Mutex::default() })
    }

    /// The fleet's keeper.
    #[must_use]
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    /// What its control planes are made of.
    #[must_use]
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// A certificate of the fleet's CA for a server on loopback, beside the CA's own.
    ///
    /// # Errors
    /// When a file can't be written.
    pub fn serving_certificate(&self, name: &str) -> Result<Pair, ClusterError> {
        self.pki.server(name)
    }

    /// The certificate of the fleet's CA, PEM.
    #[must_use]
    pub fn ca(&self) -> &str {
        self.pki.ca()
    }

    /// The first process that ended without having been stopped, when one has.
    #[must_use]
    pub fn first_exit(&self) -> watch::Receiver<Option<Exit>> {
        self.first_exit.clone()
    }

    /// Makes a cluster and waits until its API server is ready. Its controllers don't run yet:
    /// [`Local::start_controllers`].
    ///
    /// # Errors
    /// When the API server dies or isn't ready after two minutes.
    pub async fn start_cluster(&self, name: &str, kind: Kind) -> Result<Cluster, ClusterError> {
        crate::state_dir::check_name(name)?;
        let [port] = self.keeper.reserve().await?;
        let apiserver = &self.programs.apiserver;
        let spec = control_plane::apiserver(apiserver, (name, kind), self.keeper.dir(), &self.pki, port)?;
        let process = spec.name.clone();
        self.keeper.start(spec).await?;

        let server = format!("https://127.0.0.1:{port}");
        let admin = self.pki.client(&format!("{name}-admin"), "fleetdrill", Some("system:masters"))?;
        let (kubeconfig, config) = self.access(name, &server, "admin", admin)?;
        let client = kubeconfig::client(config, name).await?;
        self.ready(name, &process, &client).await?;
        Ok(Cluster { name: name.to_owned(), server, ca: self.pki.ca().to_owned(), kubeconfig, client })
    }

    /// Starts a cluster's controllers. They take a second or two until they work, which isn't waited for.
    ///
    /// # Errors
    /// When they can't be started.
    pub async fn start_controllers(&self, cluster: &Cluster, kind: Kind) -> Result<(), ClusterError> {
        let name = &cluster.name;
        // The controllers' own roles belong to a ServiceAccount each; one administrator for all of them starts faster.
        let user = "system:kube-controller-manager";
        let pair = self.pki.client(&format!("{name}-manager"), user, Some("system:masters"))?;
        let (kubeconfig, _) = self.access(name, &cluster.server, "controller-manager", pair)?;
        let manager = &self.programs.controller_manager;
        self.keeper.start(control_plane::controller_manager(manager, (name, kind), &kubeconfig)).await
    }

    fn access(&self, name: &str, server: &str, user: &str, pair: Pair) -> Result<(PathBuf, Kubeconfig), ClusterError> {
        let access = Access {
            name: name.to_owned(),
            server: server.to_owned(),
            ca: self.pki.ca().to_owned(),
            certificate: pair.certificate,
            key: pair.key,
        };
        let config = kubeconfig::kubeconfig(&[&access]);
        let file = kubeconfig_file(self.keeper.dir(), name, user);
        write_private(&file, &kubeconfig::text(&config))?;
        Ok((file, config))
    }

    /// A cluster of a fleet that is up.
    ///
    /// # Errors
    /// When its kubeconfig can't be read.
    pub async fn cluster(&self, name: &str) -> Result<Cluster, ClusterError> {
        let kubeconfig = kubeconfig_file(self.keeper.dir(), name, "admin");
        let config = Kubeconfig::read_from(&kubeconfig)
            .map_err(|e| ClusterError::Kubeconfig { cluster: name.to_owned(), source: Box::new(e) })?;
        let server = config.clusters.first().and_then(|c| c.cluster.as_ref()).and_then(|c| c.server.clone());
        let client = kubeconfig::client(config, name).await?;
        let ca = self.pki.ca().to_owned();
        Ok(Cluster { name: name.to_owned(), server: server.unwrap_or_default(), ca, kubeconfig, client })
    }

    /// Ends a cluster's processes, for good.
    ///
    /// # Errors
    /// When there is no such cluster.
    pub async fn stop_cluster(&self, name: &str) -> Result<(), ClusterError> {
        let running = self.running().await?;
        for process in pods::PROCESSES.map(|program| control_plane::process(name, program)) {
            if running.contains(&process) {
                self.keeper.remove(&process).await?;
            }
        }
        for program in ["kube-controller-manager", "kube-apiserver"] {
            self.keeper.remove(&control_plane::process(name, program)).await?;
        }
        Ok(())
    }

    /// Waits until the API server says that it is ready, and fails as soon as it or etcd has died.
    async fn ready(&self, cluster: &str, process: &str, client: &Client) -> Result<(), ClusterError> {
        let started = Instant::now();
        let mut exits = self.first_exit.clone();
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
                    log: self.keeper.log_tail(process),
                });
            }
            // There is nothing to watch before the API server answers.
            let _ = tokio::time::timeout(Duration::from_millis(50), exits.changed()).await;
        }
    }
}

fn kubeconfig_file(dir: &Path, cluster: &str, user: &str) -> PathBuf {
    dir.join(format!("{cluster}-{user}.kubeconfig"))
}
