//! Where a fleet's clusters come from, and where KubeFleet's agents run.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::cluster::{Cluster, Role};
use crate::docker::{self, InDocker};
use crate::error::ClusterError;
use crate::existing::{Contexts, Existing};
use crate::home::Home;
use crate::kind::{self, InKind};
use crate::kubeconfig::base64;
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
    async fn start_cluster(&self, name: &str, role: Role) -> Result<Cluster, ClusterError>;

    /// Starts a cluster's controllers, where they don't run from its making on. They take a second or two until they work, which
    /// isn't waited for.
    ///
    /// # Errors
    /// When they can't be started.
    async fn start_controllers(&self, cluster: &Cluster, role: Role) -> Result<(), ClusterError>;

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

    /// Starts what pods need on a member, unless it runs already: of these programs, where the provider has none of its own. Pods
    /// can be created at once.
    ///
    /// # Errors
    /// When it can't be started, or the programs are missing.
    async fn start_pods(&self, cluster: &Cluster, programs: Option<&PodPrograms>) -> Result<(), ClusterError>;

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

    /// Hands a new token for its hub, in this file, to a member's agent, which reads it when it is started again at the latest.
    ///
    /// # Errors
    /// When there is no such agent, or it can't be handed over.
    async fn hand_over_token(&self, name: &str, token: &Path) -> Result<(), ClusterError>;

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
    /// Run pods, with images that can be had and others.
    RunPods,
    /// Have members on which workloads get no pods that run.
    LeavePodsOut,
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
            Self::RunPods => "run pods",
            Self::LeavePodsOut => "leave workloads without pods",
            Self::RunArgoCd => "run an Argo CD of fleetdrill's own",
        })
    }
}

/// The hub's name as a cluster.
pub const HUB: &str = "hub";

/// The hub-agent's name: of its process, and of the Deployment in which others run it.
pub const HUB_AGENT: &str = "hub-agent";

/// A member-agent's name, of its process or its Deployment.
#[must_use]
pub fn member_agent_name(member: &str) -> String {
    format!("{member}{MEMBER_AGENT}")
}

/// Whether a name is an agent's.
#[must_use]
pub fn is_agent(name: &str) -> bool {
    name == HUB_AGENT || name.ends_with(MEMBER_AGENT)
}

/// The cluster that an agent of this name serves.
pub(crate) fn served_by(agent: &str) -> &str {
    agent.strip_suffix(MEMBER_AGENT).unwrap_or(HUB)
}

const MEMBER_AGENT: &str = "-member-agent";

/// An agent of KubeFleet.
pub struct Agent {
    /// Unique in its fleet: [`HUB_AGENT`], or [`member_agent_name`].
    pub name: String,
    /// KubeFleet's version.
    pub version: String,
    /// Its program.
    pub program: PathBuf,
    /// Its flags, without those that say how it reaches clusters.
    pub flags: Vec<String>,
    /// The cluster that it serves, and in which it would be a Deployment.
    pub cluster: Cluster,
    /// The hub of a member's agent.
    pub hub: Option<Hub>,
}

/// The namespace of KubeFleet's own objects on hub and members.
pub const SYSTEM: &str = "fleet-system";

/// How a member's agent reaches its hub.
pub struct Hub {
    /// The hub.
    pub cluster: Cluster,
    /// The file with the token of the member's identity there.
    pub token: PathBuf,
}

impl Hub {
    /// The environment in which the agent of `member` finds it, with the token in this file (v0.1.2).
    pub(crate) fn environment(&self, member: &str, token: &Path) -> [(&'static str, String); 4] {
        [
            ("HUB_SERVER_URL", self.cluster.inner_server.clone()),
            ("HUB_CERTIFICATE_AUTHORITY", base64(&self.cluster.ca)),
            ("MEMBER_CLUSTER_NAME", member.to_owned()),
            ("CONFIG_PATH", token.display().to_string()),
        ]
    }
}

/// What a fleet's clusters are made of; enough to make another fleet like it, or to open this one again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recipe {
    /// Processes on this machine.
    Local(Programs),
    /// Containers.
    Docker(docker::Setup),
    /// Clusters that kind makes.
    Kind(kind::Setup),
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
            Self::Docker(setup) => Ok(Arc::new(InDocker::create(home, setup.clone()).await?)),
            Self::Kind(_) | Self::Existing(_) => Ok(self.open(home)),
        }
    }

    /// The provider of a fleet that is up.
    #[must_use]
    pub fn open(&self, home: Arc<Home>) -> Arc<dyn Provider> {
        match self {
            Self::Local(programs) => Arc::new(Local::open(home, programs.clone())),
            Self::Docker(setup) => Arc::new(InDocker::open(home, setup.clone())),
            Self::Kind(setup) => Arc::new(InKind::new(home, setup.clone())),
            Self::Existing(contexts) => Arc::new(Existing::new(home, contexts.clone())),
        }
    }
}
