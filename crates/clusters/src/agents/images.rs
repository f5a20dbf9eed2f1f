//! Images of KubeFleet's agents that run in containers.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use super::Agent;
use crate::docker_images::{PULL_LIMIT, pull};
use crate::error::ClusterError;
use crate::external_program::DOCKER;

/// Registry path of KubeFleet's published images, which are tagged with KubeFleet's versions.
const PUBLISHED: &str = "ghcr.io/kubefleet-dev/kubefleet";

/// Dockerfile for an image of a static program. Agents run as an unprivileged user and need no other file.
const DOCKERFILE: &str = "FROM scratch\nCOPY agent /agent\nUSER 65532:65532\nENTRYPOINT [\"/agent\"]\n";

/// Source of the agents' images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentImageSource {
    /// A registry, or Docker's local images. An image that isn't named is the published one of the agents' version.
    Named {
        /// Image of the hub-agent.
        hub_agent: Option<String>,
        /// Image of the member-agent.
        member_agent: Option<String>,
    },
    /// A build of the agents' programs on this machine, without a registry.
    Built,
}

/// The agents' images that Docker has.
pub(crate) struct AgentImages {
    images: AgentImageSource,
    names: Mutex<Vec<String>>,
}

impl AgentImages {
    pub(crate) fn new(images: AgentImageSource) -> Self {
        Self { images, names: Mutex::default() }
    }

    /// Makes sure that Docker has an agent's image, and returns the image's name.
    pub(crate) async fn image(&self, agent: &Agent) -> Result<String, ClusterError> {
        let name = self.images.name(agent);
        // One after the other: the hub and its members may need the same image at the same time.
        let mut names = self.names.lock().await;
        if !names.contains(&name) {
            match self.images {
                AgentImageSource::Built => build(&name, &agent.program).await?,
                AgentImageSource::Named { .. } => pull(&name).await?,
            }
            names.push(name.clone());
        }
        Ok(name)
    }

    /// Makes sure that Docker has this image.
    pub(crate) async fn named(&self, name: &str) -> Result<(), ClusterError> {
        let mut names = self.names.lock().await;
        if !names.iter().any(|there| there == name) {
            pull(name).await?;
            names.push(name.to_owned());
        }
        Ok(())
    }
}

/// Returns the published image of the container that refreshes a member's token in KubeFleet's charts.
pub(crate) fn refresh_token(version: &str) -> String {
    format!("{PUBLISHED}/refresh-token:{version}")
}

impl AgentImageSource {
    fn name(&self, agent: &Agent) -> String {
        let program = agent.component();
        let version = &agent.version;
        match self {
            Self::Built => format!("fleetdrill.dev/{program}:{version}"),
            Self::Named { hub_agent, member_agent } => {
                let named = if agent.hub.is_none() { hub_agent } else { member_agent };
                named.clone().unwrap_or_else(|| format!("{PUBLISHED}/{program}:{version}"))
            }
        }
    }
}

/// Builds an image of a static program.
async fn build(image: &str, program: &Path) -> Result<(), ClusterError> {
    let context = tempfile::tempdir().map_err(ClusterError::io("make", &std::env::temp_dir()))?;
    let (agent, file) = (context.path().join("agent"), context.path().join("Dockerfile"));
    tokio::fs::copy(program, &agent).await.map_err(ClusterError::io("copy", program))?;
    tokio::fs::write(&file, DOCKERFILE).await.map_err(ClusterError::io("write", &file))?;
    let context = context.path().display().to_string();
    DOCKER.run(["build", "--quiet", "--tag", image, &context], PULL_LIMIT).await.map(drop)
}
