//! Where a fleet's clusters come from, and where KubeFleet's agents run.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::cluster::{Cluster, Kind};
use crate::error::ClusterError;
use crate::existing::{Contexts, Existing};
use crate::home::Home;
use crate::local::{Local, PodPrograms, Programs};

/// Makes clusters, and runs agents for them.
#[async_trait]
pub trait Provider: Send + Sync {
    /// By which name it is asked for, e.g. `local`.
    fn name(&self) -> &'static str;

    /// Whether it can do that; scenarios that need it are not run otherwise.
    fn can(&self, ability: Ability) -> bool;

    /// Makes a cluster and waits until its API server is ready. Its controllers needn't run yet:
    /// [`Provider::start_controllers`].
    ///
    /// # Errors
    /// When it doesn't get ready.
    async fn start_cluster(&self, name: &str, kind: Kind) -> Result<Cluster, ClusterError>;

    /// Starts a cluster's controllers, where they don't run from its making on. They take a second or two until they work, which
    /// isn't waited for.
    ///
    /// # Errors
    /// When they can't be started.
    async fn start_controllers(&self, cluster: &Cluster, kind: Kind) -> Result<(), ClusterError>;

    /// A cluster of a fleet that is up.
    ///
    /// # Errors
    /// When there is none of that name, or it can't be reached.
    async fn cluster(&self, name: &str) -> Result<Cluster, ClusterError>;

    /// Ends a cluster, for good.
    ///
    /// # Errors
    /// When there is no such cluster.
    async fn stop_cluster(&self, name: &str) -> Result<(), ClusterError>;

    /// Starts what pods need on a member, unless it runs already. Pods can be created at once.
    ///
    /// # Errors
    /// When it can't be started.
    async fn start_pods(&self, cluster: &Cluster, programs: &PodPrograms) -> Result<(), ClusterError>;

    /// Starts an agent.
    ///
    /// # Errors
    /// When one of that name runs, or it can't be started.
    async fn start_agent(&self, agent: &Agent) -> Result<(), ClusterError>;

    /// Ends an agent, as a crash does; no error when it doesn't run.
    ///
    /// # Errors
    /// When there never was one of that name.
    async fn stop_agent(&self, name: &str) -> Result<(), ClusterError>;

    /// Starts an agent again that was stopped, as it was.
    ///
    /// # Errors
    /// When it runs, or there never was one of that name.
    async fn start_agent_again(&self, name: &str) -> Result<(), ClusterError>;

    /// Makes another agent of one, under its name; one that was stopped stays so. Says whether it runs.
    ///
    /// # Errors
    /// When there never was one of that name, or it can't be started.
    async fn exchange_agent(&self, agent: &Agent) -> Result<bool, ClusterError>;

    /// Ends an agent and forgets it.
    ///
    /// # Errors
    /// When there never was one of that name.
    async fn remove_agent(&self, name: &str) -> Result<(), ClusterError>;

    /// What an agent has logged.
    ///
    /// # Errors
    /// When it can't be read.
    async fn agent_log(&self, name: &str) -> Result<String, ClusterError>;
}

/// What one provider can do and another can't.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ability {
    /// Make clusters, and end them.
    MakeClusters,
    /// Stop agents and start them again.
    StopAgents,
    /// Read what agents log.
    ReadAgentLogs,
    /// Play pods, as if images could be had or not.
    PlayPods,
    /// Run Argo CD on the hub, with webhooks and repositories on this machine.
    RunArgoCd,
}

/// As it follows `can't`.
impl fmt::Display for Ability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MakeClusters => "make clusters",
            Self::StopAgents => "stop and start agents",
            Self::ReadAgentLogs => "read agents' logs",
            Self::PlayPods => "play pods",
            Self::RunArgoCd => "run an Argo CD of fleetdrill's own",
        })
    }
}

/// An agent of KubeFleet.
pub struct Agent {
    /// Unique in its fleet, e.g. `member-1-member-agent`.
    pub name: String,
    /// Its program.
    pub program: PathBuf,
    /// Its flags, without those that say how it reaches clusters.
    pub flags: Vec<String>,
    /// The cluster that it serves, and in which it would be a Deployment.
    pub cluster: Cluster,
    /// The hub of a member's agent.
    pub hub: Option<Hub>,
}

/// How a member's agent reaches its hub.
pub struct Hub {
    /// The hub.
    pub cluster: Cluster,
    /// The file with the token of the member's identity there.
    pub token: PathBuf,
}

/// What a fleet's clusters are made of; enough to make another fleet like it, or to open this one again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recipe {
    /// Processes on this machine.
    Local(Programs),
    /// Clusters that exist already.
    Existing(Contexts),
}

impl Recipe {
    /// A provider for a new fleet.
    ///
    /// # Errors
    /// When what its clusters have in common can't be started.
    pub async fn create(&self, home: Arc<Home>) -> Result<Arc<dyn Provider>, ClusterError> {
        match self {
            Self::Local(programs) => Ok(Arc::new(Local::create(home, programs.clone()).await?)),
            Self::Existing(_) => Ok(self.open(home)),
        }
    }

    /// The provider of a fleet that is up.
    #[must_use]
    pub fn open(&self, home: Arc<Home>) -> Arc<dyn Provider> {
        match self {
            Self::Local(programs) => Arc::new(Local::open(home, programs.clone())),
            Self::Existing(contexts) => Arc::new(Existing::new(home, contexts.clone())),
        }
    }
}
