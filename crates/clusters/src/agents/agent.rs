//! An agent of KubeFleet: names, flags, the cluster that it serves, the way to its hub.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use crate::cluster::{Cluster, HUB};
use crate::kubeconfig::base64;

/// KubeFleet's name of the hub's agent: of its program, image and chart, and in a fleet of its process or Deployment.
pub const HUB_AGENT: &str = "hub-agent";

/// KubeFleet's name of a member's agent: of its program, image and chart.
pub const MEMBER_AGENT: &str = "member-agent";

/// Namespace of KubeFleet's own objects on hub and members.
pub const SYSTEM: &str = "fleet-system";

/// Name of a member's agent in its fleet: of its process or Deployment.
#[must_use]
pub fn member_agent_name(member: &str) -> String {
    format!("{member}-{MEMBER_AGENT}")
}

/// True if a process or Deployment of this name is an agent.
#[must_use]
pub fn is_agent(name: &str) -> bool {
    name == HUB_AGENT || member_of(name).is_some()
}

/// Name of the cluster that the agent of this name serves.
pub(crate) fn served_by(agent: &str) -> &str {
    member_of(agent).unwrap_or(HUB)
}

/// Name of the member whose agent has this name.
fn member_of(agent: &str) -> Option<&str> {
    agent.strip_suffix(MEMBER_AGENT)?.strip_suffix('-')
}

/// An agent of KubeFleet.
pub struct Agent {
    /// Name of the agent, unique in its fleet: [`HUB_AGENT`] or [`member_agent_name`].
    pub name: String,
    /// Version of KubeFleet.
    pub version: String,
    /// Path of the agent's program.
    pub program: PathBuf,
    /// Flags of the agent, without the flags for access to its clusters.
    pub flags: Vec<String>,
    /// Cluster that the agent serves. An agent that is a Deployment runs in this cluster.
    pub cluster: Cluster,
    /// File with the agent's kubeconfig for that cluster, if it isn't to have all rights there.
    pub kubeconfig: Option<PathBuf>,
    /// Access to the hub, for a member's agent.
    pub hub: Option<HubAccess>,
    /// True for a hub-agent with KubeFleet's webhooks.
    pub webhooks: bool,
}

impl Agent {
    /// KubeFleet's name of the agent's program, image and chart: [`HUB_AGENT`] or [`MEMBER_AGENT`].
    pub(crate) fn component(&self) -> &'static str {
        if self.hub.is_none() { HUB_AGENT } else { MEMBER_AGENT }
    }
}

/// Access of a member's agent to its hub.
pub struct HubAccess {
    /// The hub.
    pub cluster: Cluster,
    /// File with the token of the member's identity on the hub.
    pub token: PathBuf,
    /// Address at which the agent finds the host of the hub's URL, if it isn't the one of its DNS.
    pub address: Option<IpAddr>,
}

impl HubAccess {
    /// Returns the host and the address of a line in the agent's `/etc/hosts`, if it needs one.
    pub(crate) fn host_entry(&self) -> Option<(String, IpAddr)> {
        let url: http::Uri = self.cluster.inner_server.parse().ok()?;
        Some((url.host()?.to_owned(), self.address?))
    }

    /// Returns the environment variables by which the agent of `member` finds the hub; `token` is the path of the token
    /// as the agent sees it (v0.1.2).
    pub(crate) fn environment(&self, member: &str, token: &Path) -> [(&'static str, String); 4] {
        [
            ("HUB_SERVER_URL", self.cluster.inner_server.clone()),
            ("HUB_CERTIFICATE_AUTHORITY", base64(&self.cluster.ca)),
            ("MEMBER_CLUSTER_NAME", member.to_owned()),
            ("CONFIG_PATH", token.display().to_string()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_known_by_their_names() {
        assert_eq!(member_agent_name("member-1"), "member-1-member-agent");
        assert!(is_agent("hub-agent") && is_agent("member-1-member-agent"));
        assert!(!is_agent("hub-kube-apiserver") && !is_agent("member-agent"));
        assert_eq!((served_by("hub-agent"), served_by("member-1-member-agent")), ("hub", "member-1"));
    }
}
