//! A fleet's home on this machine: its directory, the keeper of its processes, and a CA for what listens here.

use std::path::{Path, PathBuf};

use kube::config::Kubeconfig;
use tokio::sync::watch;

use crate::cluster::Cluster;
use crate::error::ClusterError;
use crate::keeper::protocol::Exit;
use crate::keeper::{Keeper, Program};
use crate::kubeconfig::{self, Access};
use crate::pki::{Pair, Pki};
use crate::state_dir::write_private;

/// A fleet's home, wherever its clusters are.
pub struct Home {
    keeper: Keeper,
    pki: Pki,
    first_exit: watch::Receiver<Option<Exit>>,
}

impl Home {
    /// Makes a new fleet's home in `dir`, which must not exist yet. It is gone with this program, unless it is kept.
    ///
    /// # Errors
    /// When the keeper can't be started, or a file can't be written.
    pub async fn create(program: &Program, dir: &Path) -> Result<Self, ClusterError> {
        let keeper = Keeper::spawn(program, dir).await?;
        let pki = Pki::create(&dir.join(PKI))?;
        let first_exit = keeper.watch().await?;
        Ok(Self { keeper, pki, first_exit })
    }

    /// The home of a fleet that is up.
    ///
    /// # Errors
    /// When no fleet lives in `dir`.
    pub async fn open(dir: &Path) -> Result<Self, ClusterError> {
        let keeper = Keeper::connect(dir)?;
        let pki = Pki::open(&dir.join(PKI))?;
        let first_exit = keeper.watch().await?;
        Ok(Self { keeper, pki, first_exit })
    }

    /// The keeper of what runs here.
    #[must_use]
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    /// The fleet's directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.keeper.dir()
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

    /// The fleet's CA.
    pub(crate) fn pki(&self) -> &Pki {
        &self.pki
    }

    /// Writes the kubeconfig of a user of a cluster with the fleet's CA.
    pub(crate) fn access(
        &self,
        cluster: &str,
        server: &str,
        user: &str,
        pair: Pair,
    ) -> Result<(PathBuf, Kubeconfig), ClusterError> {
        let access = Access {
            name: cluster.to_owned(),
            server: server.to_owned(),
            ca: self.ca().to_owned(),
            certificate: pair.certificate,
            key: pair.key,
        };
        let config = kubeconfig::kubeconfig(&[&access]);
        let file = self.kubeconfig_file(cluster, user);
        write_private(&file, &kubeconfig::text(&config))?;
        Ok((file, config))
    }

    /// A cluster of which an administrator's kubeconfig is written anew.
    pub(crate) async fn administered(&self, cluster: &str, server: &str) -> Result<Cluster, ClusterError> {
        let admin = self.pki.client(&format!("{cluster}-{ADMIN}"), "fleetdrill", Some("system:masters"))?;
        let (file, config) = self.access(cluster, server, ADMIN, admin)?;
        Cluster::of(cluster, config, file).await
    }

    /// Writes the kubeconfig of a cluster's kube-controller-manager. The controllers' own roles belong to a ServiceAccount each; one
    /// administrator for all of them starts faster.
    pub(crate) fn manager(&self, cluster: &str, server: &str) -> Result<(PathBuf, Kubeconfig), ClusterError> {
        let user = "system:kube-controller-manager";
        let pair = self.pki.client(&format!("{cluster}-manager"), user, Some("system:masters"))?;
        self.access(cluster, server, "controller-manager", pair)
    }

    /// A cluster by the administrator's kubeconfig that was written for it.
    pub(crate) async fn known(&self, cluster: &str) -> Result<Cluster, ClusterError> {
        let file = self.kubeconfig_file(cluster, ADMIN);
        let config = Kubeconfig::read_from(&file)
            .map_err(|e| ClusterError::Kubeconfig { cluster: cluster.to_owned(), source: Box::new(e) })?;
        Cluster::of(cluster, config, file).await
    }

    fn kubeconfig_file(&self, cluster: &str, user: &str) -> PathBuf {
        self.dir().join(format!("{cluster}-{user}.kubeconfig"))
    }

    /// The first process that ended without having been stopped, when one has.
    #[must_use]
    pub fn first_exit(&self) -> watch::Receiver<Option<Exit>> {
        self.first_exit.clone()
    }
}

/// The administrator, in the names of files.
const ADMIN: &str = "admin";

/// The CA's directory in the fleet's.
const PKI: &str = "pki";
