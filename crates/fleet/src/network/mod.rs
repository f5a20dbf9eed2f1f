//! Faults of networks: between a member's agent and the hub, and between Argo CD and what it reads and deploys to.
//!
//! [Toxiproxy](https://github.com/Shopify/toxiproxy) passes the connections on. It runs under the fleet's supervisor as soon as the first
//! [`NetworkLink`] needs it. Each link has a proxy, at whose address the client finds the server.

mod fault;
mod link;
mod toxiproxy;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clusters::supervisor::protocol::ProcessSpec;
use serde_json::Value;

pub use self::fault::NetworkFault;
pub use self::link::NetworkLink;
use self::toxiproxy::ToxiproxyClient;
use crate::agent_access::AgentAccess;
use crate::argocd::{self, ArgoCdComponent, Repository};
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
    /// the agent calls the proxy by the hub's host name, to which its `/etc/hosts` has the proxy's address unless both are on loopback.
    ///
    /// # Errors
    /// Returns the errors of [`Fleet::add_member`], or an error if Toxiproxy can't be started.
    pub async fn add_member_over_network(&self, name: &str, labels: &Value) -> Result<Member, FleetError> {
        let (link, hub) = (NetworkLink::MemberToHub(name.to_owned()), self.hub());
        let address = self.0.provider.machine_address(&hub.name).await?;
        let port = self.proxy(&link, &hub.server, address).await?;
        let inner: http::Uri = hub.inner_server.parse().unwrap_or_default();
        let access = AgentAccess {
            hub_url: Some(format!("https://{}:{port}", inner.host().unwrap_or_default())),
            hub_address: (!address.is_loopback()).then_some(address),
            ..AgentAccess::default()
        };
        self.add_member_by(name, labels, access).await
    }

    /// Lets Argo CD reach a member over a network that can be broken. TLS goes through unchanged, as to the hub.
    ///
    /// # Errors
    /// Returns an error if Argo CD runs in Pods, which can't reach the proxy, if the member isn't there, or if Toxiproxy can't be started.
    pub async fn put_destination_on_network(&self, member: &str) -> Result<(), FleetError> {
        self.argocd_programs("put a proxy before a member").await?;
        let cluster = self.member(member).await?.cluster;
        let server = self.proxied(&NetworkLink::ArgoCdToMember(member.to_owned()), &cluster.server).await?;
        argocd::move_destination(self.hub(), member, &server).await
    }

    /// Lets Argo CD reach a repository that is served over HTTP by a network that can be broken. Returns the repository with its new URL.
    ///
    /// # Errors
    /// Returns an error if Argo CD runs in Pods, which can't reach the proxy, if the repository isn't served over HTTP, or if Toxiproxy
    /// can't be started.
    pub async fn put_repository_on_network(&self, repository: &Repository) -> Result<Repository, FleetError> {
        self.argocd_programs("put a proxy before a repository").await?;
        let origin = repository.http_origin().ok_or_else(|| FleetError::NotServedOverHttp(repository.name()))?;
        let link = NetworkLink::ArgoCdToRepository(repository.name());
        Ok(repository.served_at(&self.proxied(&link, &origin).await?))
    }

    /// Lets Argo CD reach its redis over a network that can be broken: redis listens on a port of loopback, too. Restarts redis, which
    /// loses its content, the repo-server and the application-controller, and waits until Argo CD compares an Application.
    ///
    /// # Errors
    /// Returns an error if Argo CD runs in Pods, which can't reach the proxy, or if Toxiproxy or a component can't be started.
    pub async fn put_redis_on_network(&self) -> Result<(), FleetError> {
        self.argocd_programs("put a proxy before its redis").await?;
        let [port] = self.supervisor().reserve().await?;
        let listening = ["--bind", "127.0.0.1", "--port", &port.to_string()].map(ToOwned::to_owned);
        self.restart_argocd_with(ArgoCdComponent::Redis, &listening).await?;
        listens(&self.0.home, ArgoCdComponent::Redis.process(), port).await?;
        let server = self.proxied(&NetworkLink::ArgoCdToRedis, &format!("tcp://127.0.0.1:{port}")).await?;
        let flag = format!("--redis={}", server.trim_start_matches("tcp://"));
        for component in [ArgoCdComponent::RepoServer, ArgoCdComponent::Controller] {
            self.restart_argocd_with(component, std::slice::from_ref(&flag)).await?;
        }
        self.argocd_compares().await
    }

    /// Brings a fault upon a link, in place of an earlier one.
    ///
    /// # Errors
    /// Returns an error if the link isn't on a network that can be broken.
    pub async fn break_network(&self, link: &NetworkLink, fault: NetworkFault) -> Result<(), FleetError> {
        let toxiproxy = self.toxiproxy().await?;
        toxiproxy.repair(&link.proxy()).await?;
        toxiproxy.break_proxy(&link.proxy(), fault).await
    }

    /// Takes the fault away from a link. Connections that lost something are closed with it.
    ///
    /// # Errors
    /// Returns an error if the link isn't on a network that can be broken.
    pub async fn repair_network(&self, link: &NetworkLink) -> Result<(), FleetError> {
        self.toxiproxy().await?.repair(&link.proxy()).await
    }

    /// Repairs the networks of a member that is about to leave, if it is on any that can be broken.
    ///
    /// # Errors
    /// Returns an error if Toxiproxy doesn't answer.
    pub async fn repair_networks_of(&self, member: &str) -> Result<(), FleetError> {
        if !self.has_toxiproxy().await? {
            return Ok(());
        }
        let toxiproxy = self.toxiproxy().await?;
        for link in NetworkLink::of_member(member) {
            toxiproxy.repair_if_there(&link.proxy()).await?;
        }
        Ok(())
    }

    /// Creates the proxy of a link to a server on loopback, and returns the URL by which the server is reached over it. `server` is a URL, too.
    async fn proxied(&self, link: &NetworkLink, server: &str) -> Result<String, FleetError> {
        let scheme = server.split_once("://").map_or("https", |(scheme, _)| scheme);
        let port = self.proxy(link, server, Ipv4Addr::LOCALHOST.into()).await?;
        Ok(format!("{scheme}://127.0.0.1:{port}"))
    }

    /// Creates the proxy of a link to a server at an address of this machine, and returns its port. `server` is a URL.
    async fn proxy(&self, link: &NetworkLink, server: &str, address: IpAddr) -> Result<u16, FleetError> {
        let upstream = server.trim_end_matches('/').split_once("://").map_or(server, |(_, upstream)| upstream);
        let toxiproxy = self.toxiproxy().await?;
        // Reserved on loopback: no other fleet gets the port at this address either.
        let [port] = self.supervisor().reserve().await?;
        toxiproxy.create(&link.proxy(), SocketAddr::new(address, port), upstream).await?;
        Ok(port)
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
