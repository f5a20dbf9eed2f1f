//! Faults of the network between a member's agent and the hub.
//!
//! [Toxiproxy](https://github.com/Shopify/toxiproxy) passes the connections on. It runs under the fleet's supervisor as soon as the first
//! member needs it. Its proxy for a member has the member's name, and the member's agent finds the hub at the proxy's address.

mod fault;
mod toxiproxy;

use std::path::PathBuf;

use clusters::supervisor::protocol::ProcessSpec;
use serde_json::Value;

pub use self::fault::NetworkFault;
use self::toxiproxy::ToxiproxyClient;
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::member::Member;
use crate::port::{self, listens};

/// Name of Toxiproxy's process in a fleet.
const PROCESS: &str = "toxiproxy";

impl Fleet {
    /// Sets Toxiproxy's program, on a fleet that was created without it.
    ///
    /// # Errors
    /// Returns an error if the fleet's state can't be written.
    pub async fn allow_network_faults(&self, toxiproxy: PathBuf) -> Result<(), FleetError> {
        *self.0.toxiproxy.write().await = Some(toxiproxy);
        self.save().await
    }

    /// Starts a cluster and joins it as a member whose agent reaches the hub over a network that can be broken. TLS goes through unchanged:
    /// the proxy is on the host of the hub's certificate, loopback.
    ///
    /// # Errors
    /// Returns the errors of [`Fleet::add_member`], or an error if Toxiproxy can't be started.
    pub async fn add_member_over_network(&self, name: &str, labels: &Value) -> Result<Member, FleetError> {
        let toxiproxy = self.toxiproxy().await?;
        let [port] = self.supervisor().reserve().await?;
        let upstream = self.hub().server.trim_start_matches("https://").trim_end_matches('/');
        toxiproxy.create(name, port, upstream).await?;
        self.add_member_by(name, labels, Some(format!("https://127.0.0.1:{port}"))).await
    }

    /// Brings a fault upon the network of a member, in place of an earlier one.
    ///
    /// # Errors
    /// Returns an error if the member isn't on such a network.
    pub async fn break_network(&self, member: &str, fault: NetworkFault) -> Result<(), FleetError> {
        let toxiproxy = self.toxiproxy().await?;
        toxiproxy.repair(member).await?;
        toxiproxy.break_proxy(member, fault).await
    }

    /// Takes the fault away from the network of a member. Connections that lost something are closed with it.
    ///
    /// # Errors
    /// Returns an error if the member isn't on such a network.
    pub async fn repair_network(&self, member: &str) -> Result<(), FleetError> {
        self.toxiproxy().await?.repair(member).await
    }

    /// Repairs the network of a member that is about to leave, if the member is on one that can be broken.
    ///
    /// # Errors
    /// Returns an error if Toxiproxy doesn't answer.
    pub async fn repair_network_if_any(&self, member: &str) -> Result<(), FleetError> {
        if !self.has_toxiproxy().await? {
            return Ok(());
        }
        self.toxiproxy().await?.repair_if_there(member).await
    }

    /// True if Toxiproxy runs.
    async fn has_toxiproxy(&self) -> Result<bool, FleetError> {
        Ok(self.supervisor().processes().await?.iter().any(|process| process.name == PROCESS && process.pid.is_some()))
    }

    /// Returns a client of the fleet's Toxiproxy, and starts it unless it runs.
    async fn toxiproxy(&self) -> Result<ToxiproxyClient, FleetError> {
        let program = self.0.toxiproxy.write().await;
        let port_file = self.supervisor().dir().join("toxiproxy.port");
        if self.has_toxiproxy().await? {
            return Ok(ToxiproxyClient::new(port::read(&port_file)?));
        }
        let program = program.clone().ok_or_else(|| FleetError::NoToxiproxy(self.name().to_owned()))?;
        let [port] = self.supervisor().reserve().await?;
        port::write(&port_file, port)?;
        let args = ["-host".to_owned(), "127.0.0.1".to_owned(), "-port".to_owned(), port.to_string()].to_vec();
        self.supervisor().start(ProcessSpec { name: PROCESS.into(), program, args, ..ProcessSpec::default() }).await?;
        listens(&self.0.home, PROCESS, port).await?;
        Ok(ToxiproxyClient::new(port))
    }
}
