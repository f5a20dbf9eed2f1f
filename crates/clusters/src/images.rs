//! Images of KubeFleet's agents, where they run in containers.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::error::ClusterError;
use crate::outside::Outside;
use crate::provider::Agent;

/// Docker's command.
pub(crate) const DOCKER: Outside = Outside("docker");

/// How long Docker may take for what it has: a question, an image of one file.
pub(crate) const SHORT: Duration = Duration::from_secs(60);

/// How long an image may take to come.
const PULL_LIMIT: Duration = Duration::from_secs(600);

/// Where KubeFleet's images are published, by version.
const PUBLISHED: &str = "ghcr.io/kubefleet-dev/kubefleet";

/// What an image of a static program is made by. Agents run as nobody, and need no file but themselves.
const DOCKERFILE: &str = "FROM scratch\nCOPY agent /agent\nUSER 65532:65532\nENTRYPOINT [\"/agent\"]\n";

/// Where the agents' images come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Images {
    /// A registry, or what Docker has already: those named, or else the published ones of the agents' version.
    Named {
        /// The hub-agent's.
        hub_agent: Option<String>,
        /// The member-agent's.
        member_agent: Option<String>,
    },
    /// Made here of the agents' programs, without a registry.
    Built,
}

/// Images that Docker has.
pub(crate) struct Ready {
    images: Images,
    names: Mutex<Vec<String>>,
}

impl Ready {
    pub(crate) fn new(images: Images) -> Self {
        Self { images, names: Mutex::default() }
    }

    /// Sees that Docker has an agent's image, and gives its name.
    pub(crate) async fn image(&self, agent: &Agent) -> Result<String, ClusterError> {
        let name = self.images.name(agent);
        // One after the other: hub and members ask for theirs at the same time.
        let mut names = self.names.lock().await;
        if !names.contains(&name) {
            match self.images {
                Images::Built => build(&name, &agent.program).await?,
                Images::Named { .. } => pull(&name).await?,
            }
            names.push(name.clone());
        }
        Ok(name)
    }

    /// Sees that Docker has this image.
    pub(crate) async fn named(&self, name: &str) -> Result<(), ClusterError> {
        let mut names = self.names.lock().await;
        if !names.iter().any(|there| there == name) {
            pull(name).await?;
            names.push(name.to_owned());
        }
        Ok(())
    }
}

/// The published image of the container that keeps a member's token in KubeFleet's charts.
pub(crate) fn refresh_token(version: &str) -> String {
    format!("{PUBLISHED}/refresh-token:{version}")
}

impl Images {
    fn name(&self, agent: &Agent) -> String {
        let program = if agent.hub.is_none() { "hub-agent" } else { "member-agent" };
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

/// Makes an image of a static program.
async fn build(image: &str, program: &Path) -> Result<(), ClusterError> {
    let context = tempfile::tempdir().map_err(ClusterError::io("make", &std::env::temp_dir()))?;
    let (agent, file) = (context.path().join("agent"), context.path().join("Dockerfile"));
    tokio::fs::copy(program, &agent).await.map_err(ClusterError::io("copy", program))?;
    tokio::fs::write(&file, DOCKERFILE).await.map_err(ClusterError::io("write", &file))?;
    let context = context.path().display().to_string();
    DOCKER.run(["build", "--quiet", "--tag", image, &context], PULL_LIMIT).await.map(drop)
}

async fn pull(image: &str) -> Result<(), ClusterError> {
    match DOCKER.run(["image", "inspect", "--format", "{{.Id}}", image], SHORT).await {
        Err(ClusterError::Outside { .. }) => DOCKER.run(["pull", "--quiet", image], PULL_LIMIT).await.map(drop),
        there => there.map(drop),
    }
}

/// An image's name and its tag, or what stands for one.
pub(crate) fn split(image: &str) -> (&str, &str) {
    let after_host = image.rfind('/').map_or(0, |slash| slash + 1);
    match image[after_host..].rfind(':') {
        Some(colon) => (&image[..after_host + colon], &image[after_host + colon + 1..]),
        None => (image, "latest"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_named_by_tag_digest_or_id() {
        assert_eq!(split("ghcr.io/x/hub-agent:v0.1.2"), ("ghcr.io/x/hub-agent", "v0.1.2"));
        assert_eq!(split("localhost:5000/hub-agent"), ("localhost:5000/hub-agent", "latest"));
        assert_eq!(split("x/hub-agent@sha256:ab"), ("x/hub-agent@sha256", "ab"));
        assert_eq!(split("sha256:ab"), ("sha256", "ab"));
    }
}
