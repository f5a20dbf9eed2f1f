//! A fleet's home on this machine: its directory, the keeper of its processes, and a CA for what listens here.

use std::path::Path;

use tokio::sync::watch;

use crate::error::ClusterError;
use crate::keeper::protocol::Exit;
use crate::keeper::{Keeper, Program};
use crate::pki::{Pair, Pki};

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

    /// The first process that ended without having been stopped, when one has.
    #[must_use]
    pub fn first_exit(&self) -> watch::Receiver<Option<Exit>> {
        self.first_exit.clone()
    }
}

/// The CA's directory in the fleet's.
const PKI: &str = "pki";
