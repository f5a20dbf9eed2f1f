//! The interface of what makes a fleet's clusters and runs KubeFleet's agents.

use std::net::IpAddr;
use std::path::Path;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::ability::ProviderAbility;
use crate::agents::Agent;
use crate::cluster::{Cluster, FleetRole};
use crate::error::ClusterError;
use crate::local::PodPrograms;
use crate::supervisor::ProcessFault;

/// A provider, which makes clusters and runs agents for them.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Name of the provider, as users write it, e.g. `local`.
    fn name(&self) -> &'static str;

    /// Returns true if the provider has this ability. Scenarios that need another ability are not run.
    fn can(&self, ability: ProviderAbility) -> bool;

    /// Makes a cluster and waits until its API server is ready. The cluster's controllers may start later, with
    /// [`Provider::start_controllers`].
    ///
    /// # Errors
    /// Returns an error if the cluster doesn't become ready.
    async fn start_cluster(&self, name: &str, role: FleetRole) -> Result<Cluster, ClusterError>;

    /// Starts a cluster's controllers, unless they run from the cluster's creation on. The controllers need a second or
    /// two until they work; this function doesn't wait for that.
    ///
    /// # Errors
    /// Returns an error if the controllers can't be started.
    async fn start_controllers(&self, cluster: &Cluster, role: FleetRole) -> Result<(), ClusterError>;

    /// Connects to a cluster of a running fleet.
    ///
    /// # Errors
    /// Returns an error if there is no cluster of this name, or it can't be reached.
    async fn cluster(&self, name: &str) -> Result<Cluster, ClusterError>;

    /// Deletes a cluster.
    ///
    /// # Errors
    /// Returns an error if there is no such cluster.
    async fn stop_cluster(&self, name: &str) -> Result<(), ClusterError>;

    /// Gives a cluster's API server only a part of its processor time, `percent` of it, until the returned value is
    /// dropped.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::ThrottleApiServers`]), or there is no such
    /// cluster.
    async fn throttle_api_server(&self, _cluster: &str, _percent: u8) -> Result<ProcessFault, ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::ThrottleApiServers })
    }

    /// Lets a cluster's API server hang: it runs, and does nothing, until the returned value is dropped.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::HangApiServers`]), or there is no such cluster.
    async fn hang_api_server(&self, _cluster: &str) -> Result<ProcessFault, ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::HangApiServers })
    }

    /// Stops a cluster's API server, or starts it again and waits until it is ready.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::StopApiServers`]), there is no such cluster, or its API server
    /// doesn't get ready.
    async fn run_api_server(&self, _cluster: &str, _running: bool) -> Result<(), ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::StopApiServers })
    }

    /// Lets an agent hang: it runs, and does nothing, until the returned value is dropped.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::HangAgents`]), or the agent doesn't run.
    async fn hang_agent(&self, _name: &str) -> Result<ProcessFault, ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::HangAgents })
    }

    /// Shifts the clock of an agent by a number of seconds until the returned value is dropped. An agent that is restarted keeps it if the provider
    /// starts processes itself.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::ShiftClocks`]), or the agent doesn't run.
    async fn shift_agent_clock(&self, _name: &str, _seconds: i32) -> Result<ProcessFault, ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::ShiftClocks })
    }

    /// Shifts the clock of a cluster's API server by a number of seconds until the returned value is dropped, as that of an agent.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::ShiftClocks`]), or the API server doesn't run.
    async fn shift_api_server_clock(&self, _cluster: &str, _seconds: i32) -> Result<ProcessFault, ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::ShiftClocks })
    }

    /// Limits the space of the hub's etcd to less than it uses, or takes the limit and its consequences back. With less than it uses, etcd
    /// refuses all writes but deletions.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::LimitStorage`]), or etcd can't be restarted.
    async fn limit_storage(&self, _limited: bool) -> Result<(), ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::LimitStorage })
    }

    /// Gives the hub's etcd only a part of its processor time, `percent` of it, until the returned value is dropped.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::SlowStorage`]).
    async fn throttle_storage(&self, _percent: u8) -> Result<ProcessFault, ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::SlowStorage })
    }

    /// Has the hub's etcd defragmented, as `etcdctl defrag` does: it answers nothing meanwhile.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::DefragmentStorage`]), or etcd refuses.
    async fn defragment_storage(&self) -> Result<(), ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::DefragmentStorage })
    }

    /// Returns a token with the claims of a cluster's `token` that expires at another time, signed as the API server signs its own.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::SignTokens`]), or the token can't be signed.
    async fn expiring_token(&self, _cluster: &str, _token: &str, _at: Timestamp) -> Result<String, ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::SignTokens })
    }

    /// Starts a cluster's API server again with API Priority and Fairness, and waits until it is ready.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::SetPriorities`]), or the API server doesn't get ready.
    async fn set_priorities(&self, _cluster: &str) -> Result<(), ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::SetPriorities })
    }

    /// Makes a CA for the certificate by which the hub answers agents that call it by the name `localhost`, and returns the CA's certificate.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::ChangeHubCertificate`]), or a file can't be written.
    async fn make_hub_ca(&self, _number: usize) -> Result<String, ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::ChangeHubCertificate })
    }

    /// Has the hub answer agents that call it by the name `localhost` with a certificate of a CA that [`Provider::make_hub_ca`] made. Open
    /// connections stay. The API server takes up to a minute.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::ChangeHubCertificate`]), or the API server doesn't get ready.
    async fn use_hub_ca(&self, _number: usize) -> Result<(), ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::ChangeHubCertificate })
    }

    /// Writes all that a cluster stores, but what ends by itself such as events, to a file.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::RestoreClusters`]), or etcd or the file can't be used.
    async fn back_up(&self, _cluster: &Cluster, _file: &Path) -> Result<(), ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::RestoreClusters })
    }

    /// Stops a cluster's API server, makes the cluster store what a backup has and nothing else, and starts the API server again.
    ///
    /// # Errors
    /// Returns an error if the provider lacks the ability ([`ProviderAbility::RestoreClusters`]), there is no such backup, or the API server
    /// doesn't get ready.
    async fn restore(&self, _cluster: &Cluster, _file: &Path) -> Result<(), ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::RestoreClusters })
    }

    /// Starts on a member what pods need, unless it runs already. `programs` are used if the provider has none of its
    /// own. Pods can be created at once.
    ///
    /// # Errors
    /// Returns an error if something can't be started, or the programs are missing.
    async fn start_pods(&self, cluster: &Cluster, programs: Option<&PodPrograms>) -> Result<(), ClusterError>;

    /// Makes sure that a cluster's nodes have an image.
    ///
    /// # Errors
    /// Returns an error if the provider has no nodes ([`ProviderAbility::LoadImages`]), or the image can't be had.
    async fn load_image(&self, _cluster: &str, _image: &str) -> Result<(), ClusterError> {
        Err(ClusterError::Cannot { provider: self.name(), ability: ProviderAbility::LoadImages })
    }

    /// Returns the address of this machine by which the agents and the pods of a cluster reach it.
    ///
    /// # Errors
    /// Returns an error if the address isn't known.
    async fn machine_address(&self, cluster: &str) -> Result<IpAddr, ClusterError>;

    /// Starts an agent.
    ///
    /// # Errors
    /// Returns an error if an agent of this name runs already, or the agent can't be started.
    async fn start_agent(&self, agent: &Agent) -> Result<(), ClusterError>;

    /// Stops an agent, as a crash would. Stopping an agent that doesn't run is no error.
    ///
    /// # Errors
    /// Returns an error if no agent of this name was started before.
    async fn stop_agent(&self, name: &str) -> Result<(), ClusterError>;

    /// Starts a stopped agent again, unchanged.
    ///
    /// # Errors
    /// Returns an error if the agent runs, or no agent of this name was started before.
    async fn start_agent_again(&self, name: &str) -> Result<(), ClusterError>;

    /// Gives a member's agent a new token for its hub, from the file `token`. The agent reads the token at its next
    /// start at the latest.
    ///
    /// # Errors
    /// Returns an error if there is no such agent, or the token can't be given to it.
    async fn hand_over_token(&self, name: &str, token: &Path) -> Result<(), ClusterError>;

    /// Replaces an agent with another of the same name. A stopped agent stays stopped. Returns true if the new agent
    /// runs.
    ///
    /// # Errors
    /// Returns an error if no agent of this name was started before, or the new agent can't be started.
    async fn exchange_agent(&self, agent: &Agent) -> Result<bool, ClusterError>;

    /// Stops an agent and forgets it.
    ///
    /// # Errors
    /// Returns an error if no agent of this name was started before.
    async fn remove_agent(&self, name: &str) -> Result<(), ClusterError>;

    /// Returns all that an agent has logged.
    ///
    /// # Errors
    /// Returns an error if the log can't be read.
    async fn agent_log(&self, name: &str) -> Result<String, ClusterError>;
}
