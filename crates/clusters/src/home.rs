//! Local part of every fleet: its directory, the supervisor of its processes, and a CA for the servers on this machine.

use std::path::{Path, PathBuf};

use kube::config::Kubeconfig;
use tokio::sync::watch;

use crate::agents::{Agent, SYSTEM};
use crate::cluster::Cluster;
use crate::error::ClusterError;
use crate::kubeconfig::{self, AdminAccess};
use crate::pki::{CertificateKeyPair, Pki};
use crate::state_dir::write_private;
use crate::supervisor::protocol::ProcessExit;
use crate::supervisor::{SupervisorClient, SupervisorProgram};

/// Local part of a fleet, which exists for every provider: directory, supervisor and CA.
pub struct FleetHome {
    supervisor: SupervisorClient,
    /// Program of the supervisor, and of the servers that fleetdrill itself runs for the fleet.
    program: SupervisorProgram,
    pki: Pki,
    first_exit: watch::Receiver<Option<ProcessExit>>,
}

impl FleetHome {
    /// Creates the fleet's directory `dir`, which must not exist yet, with a supervisor and a CA. The directory is
    /// removed when this program ends, unless the fleet is kept.
    ///
    /// # Errors
    /// Returns an error if the supervisor can't be started, or a file can't be written.
    pub async fn create(program: &SupervisorProgram, dir: &Path) -> Result<Self, ClusterError> {
        let supervisor = SupervisorClient::spawn(program, dir).await?;
        let pki = Pki::create(&dir.join(PKI))?;
        let first_exit = supervisor.watch().await?;
        Ok(Self { supervisor, program: program.clone(), pki, first_exit })
    }

    /// Opens the directory of a running fleet.
    ///
    /// # Errors
    /// Returns an error if no fleet runs in `dir`.
    pub async fn open(dir: &Path) -> Result<Self, ClusterError> {
        let supervisor = SupervisorClient::connect(dir)?;
        let pki = Pki::open(&dir.join(PKI))?;
        let first_exit = supervisor.watch().await?;
        Ok(Self { supervisor, program: SupervisorProgram::this()?, pki, first_exit })
    }

    /// Client of the fleet's supervisor.
    #[must_use]
    pub fn supervisor(&self) -> &SupervisorClient {
        &self.supervisor
    }

    /// Program of the supervisor, and of the servers that fleetdrill itself runs for the fleet.
    #[must_use]
    pub fn program(&self) -> &SupervisorProgram {
        &self.program
    }

    /// The fleet's directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.supervisor.dir()
    }

    /// Creates a certificate for a server on loopback, signed by the fleet's CA and stored beside the CA's own
    /// certificate.
    ///
    /// # Errors
    /// Returns an error if a file can't be written.
    pub fn serving_certificate(&self, name: &str) -> Result<CertificateKeyPair, ClusterError> {
        self.pki.server(name)
    }

    /// Creates a certificate for a client of a server on loopback, signed by the fleet's CA. It gives no rights on the clusters.
    ///
    /// # Errors
    /// Returns an error if a file can't be written.
    pub fn client_certificate(&self, name: &str) -> Result<CertificateKeyPair, ClusterError> {
        self.pki.client(name, name, None)
    }

    /// Certificate of the fleet's CA, PEM.
    #[must_use]
    pub fn ca(&self) -> &str {
        self.pki.ca()
    }

    /// The fleet's CA.
    pub(crate) fn pki(&self) -> &Pki {
        &self.pki
    }

    /// Writes the kubeconfig of a user of a cluster whose CA is the fleet's.
    pub(crate) fn access(
        &self,
        cluster: &str,
        server: &str,
        user: &str,
        pair: CertificateKeyPair,
    ) -> Result<(PathBuf, Kubeconfig), ClusterError> {
        self.access_by(cluster, server, self.ca(), user, pair)
    }

    /// Writes the kubeconfig of a user who trusts other CAs than the fleet's, in PEM.
    fn access_by(
        &self,
        cluster: &str,
        server: &str,
        ca: &str,
        user: &str,
        pair: CertificateKeyPair,
    ) -> Result<(PathBuf, Kubeconfig), ClusterError> {
        let access = AdminAccess {
            name: cluster.to_owned(),
            server: server.to_owned(),
            ca: ca.to_owned(),
            certificate: pair.certificate,
            key: pair.key,
        };
        let config = kubeconfig::kubeconfig(&[&access]);
        let file = self.kubeconfig_file(cluster, user);
        write_private(&file, &kubeconfig::text(&config))?;
        Ok((file, config))
    }

    /// Writes a new administrator's kubeconfig for a cluster and connects to the cluster.
    pub(crate) async fn administered(&self, cluster: &str, server: &str) -> Result<Cluster, ClusterError> {
        let admin = self.pki.client(&format!("{cluster}-{ADMIN}"), "fleetdrill", Some("system:masters"))?;
        let (file, config) = self.access(cluster, server, ADMIN, admin)?;
        Cluster::of(cluster, config, file).await
    }

    /// Writes the kubeconfig of a cluster's kube-controller-manager, as one administrator for all controllers. That
    /// starts faster than the controllers' default roles, which need a ServiceAccount for each controller.
    pub(crate) fn manager(&self, cluster: &str, server: &str) -> Result<(PathBuf, Kubeconfig), ClusterError> {
        let user = "system:kube-controller-manager";
        let pair = self.pki.client(&format!("{cluster}-manager"), user, Some("system:masters"))?;
        self.access(cluster, server, "controller-manager", pair)
    }

    /// Writes the kubeconfig of a hub-agent, which is its `ServiceAccount`, whose rights can be taken away. It trusts the CA of the agent's
    /// cluster.
    pub(crate) fn hub_agent(&self, agent: &Agent, server: &str) -> Result<(PathBuf, Kubeconfig), ClusterError> {
        let user = format!("system:serviceaccount:{SYSTEM}:{}", agent.name);
        let pair = self.pki.client(&format!("{}-user", agent.name), &user, Some("system:serviceaccounts"))?;
        self.access_by(&agent.cluster.name, server, &agent.cluster.ca, &agent.name, pair)
    }

    /// Connects to a cluster by the administrator's kubeconfig that was written for it earlier.
    pub(crate) async fn known(&self, cluster: &str) -> Result<Cluster, ClusterError> {
        let file = self.kubeconfig_file(cluster, ADMIN);
        let config = Kubeconfig::read_from(&file)
            .map_err(|e| ClusterError::Kubeconfig { cluster: cluster.to_owned(), source: Box::new(e) })?;
        Cluster::of(cluster, config, file).await
    }

    fn kubeconfig_file(&self, cluster: &str, user: &str) -> PathBuf {
        self.dir().join(format!("{cluster}-{user}.kubeconfig"))
    }

    /// Receiver of the first process that ended without having been stopped, if there is one.
    #[must_use]
    pub fn first_exit(&self) -> watch::Receiver<Option<ProcessExit>> {
        self.first_exit.clone()
    }
}

/// Part of file names that stands for the administrator.
const ADMIN: &str = "admin";

/// Name of the CA's directory in the fleet's directory.
const PKI: &str = "pki";
