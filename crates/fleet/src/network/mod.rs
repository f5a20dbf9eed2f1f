//! Faults of the network between a member's agent and the hub, and between Argo CD and a member.
//!
//! [Toxiproxy](https://github.com/Shopify/toxiproxy) passes the connections on. It runs under the fleet's supervisor as soon as the first
//! route goes through it. A route belongs to a member: the agent of a member with a route finds the hub at an address of Toxiproxy.

mod fault;
mod toxiproxy;

use std::path::PathBuf;

use clusters::cluster::Cluster;
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

/// Connection of which a member's network has one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "kebab-case")]
pub enum NetworkRoute {
    /// From the member's agent to the hub's API server.
    AgentToHub,
}

impl NetworkRoute {
    /// Name of the route's proxy in Toxiproxy.
    fn proxy(self, member: &str) -> String {
        format!("{member}-{self}")
    }
}

impl Fleet {
    /// Sets Toxiproxy's program, on a fleet that was created without it.
    ///
    /// # Errors
    /// Returns an error if the fleet's state can't be written.
    pub async fn allow_network_faults(&self, toxiproxy: PathBuf) -> Result<(), FleetError> {
        *self.0.toxiproxy.write().await = Some(toxiproxy);
        self.save().await
    }

    /// Starts a cluster and joins it as a member whose agent reaches the hub over a network that can be broken.
    ///
    /// # Errors
    /// Returns the errors of [`Fleet::add_member`], or an error if Toxiproxy can't be started.
    pub async fn add_member_over_network(&self, name: &str, labels: &Value) -> Result<Member, FleetError> {
        let address = self.open_route(name, NetworkRoute::AgentToHub, self.hub()).await?;
        self.add_member_by(name, labels, Some(address)).await
    }

    /// Opens a route of a member, and returns the address of its near end. TLS goes through unchanged: the near end is on the host of the
    /// server's certificate, loopback.
    async fn open_route(&self, member: &str, route: NetworkRoute, to: &Cluster) -> Result<String, FleetError> {
        let toxiproxy = self.toxiproxy().await?;
        let [port] = self.supervisor().reserve().await?;
        let upstream = to.server.trim_start_matches("https://").trim_end_matches('/');
        toxiproxy.create(&route.proxy(member), port, upstream).await?;
        Ok(format!("https://127.0.0.1:{port}"))
    }

    /// Brings a fault upon a member's route, in place of an earlier one.
    ///
    /// # Errors
    /// Returns an error if the member has no such route.
    pub async fn break_network(
        &self,
        member: &str,
        route: NetworkRoute,
        fault: NetworkFault,
    ) -> Result<(), FleetError> {
        let (toxiproxy, proxy) = (self.toxiproxy().await?, route.proxy(member));
        toxiproxy.repair(&proxy).await?;
        toxiproxy.break_proxy(&proxy, fault).await
    }

    /// Takes the fault away from a member's route. Connections that lost something are closed with it.
    ///
    /// # Errors
    /// Returns an error if the member has no such route.
    pub async fn repair_network(&self, member: &str, route: NetworkRoute) -> Result<(), FleetError> {
        self.toxiproxy().await?.repair(&route.proxy(member)).await
    }

    /// Takes all faults away from the routes of a member that is about to leave.
    ///
    /// # Errors
    /// Returns an error if Toxiproxy doesn't answer.
    pub async fn repair_routes(&self, member: &str) -> Result<(), FleetError> {
        if self.has_toxiproxy().await? {
            let toxiproxy = self.toxiproxy().await?;
            for route in [NetworkRoute::AgentToHub] {
                toxiproxy.repair_if_there(&route.proxy(member)).await?;
            }
        }
        Ok(())
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
