//! How a member's agent reaches the hub and its own cluster, where a scenario has changed that. An agent that is replaced, for example in
//! an upgrade, keeps it.

use std::net::IpAddr;
use std::path::PathBuf;

use clusters::agents::Agent;
use clusters::cluster::Cluster;
use serde::{Deserialize, Serialize};

use crate::agents::KubeFleetPrograms;
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::member::{Member, token_file};

/// What differs from the access that a member's agent has on a new fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentAccess {
    /// URL by which the agent reaches the hub.
    pub hub_url: Option<String>,
    /// Address at which the agent finds the host of that URL, if it isn't the one of its DNS.
    #[serde(default)]
    pub hub_address: Option<IpAddr>,
    /// CAs of the hub that the agent trusts, in PEM.
    pub hub_cas: Option<String>,
    /// File with the agent's kubeconfig for its own cluster.
    pub kubeconfig: Option<PathBuf>,
}

impl AgentAccess {
    /// Describes the agent of a member, with a token for the hub in the file `token`.
    pub fn agent(&self, programs: &KubeFleetPrograms, hub: &Cluster, member: &Cluster, token: PathBuf) -> Agent {
        let mut hub = hub.clone();
        if let Some(url) = &self.hub_url {
            hub.inner_server.clone_from(url);
        }
        if let Some(cas) = &self.hub_cas {
            hub.ca.clone_from(cas);
        }
        let mut agent = programs.member(&hub, member, token);
        agent.kubeconfig.clone_from(&self.kubeconfig);
        if let Some(access) = &mut agent.hub {
            access.address = self.hub_address;
        }
        agent
    }
}

impl Fleet {
    /// Describes the agent of a member, of this version of KubeFleet.
    pub(crate) fn member_agent(&self, programs: &KubeFleetPrograms, member: &Member) -> Agent {
        let token = token_file(self.supervisor().dir(), &member.cluster.name);
        member.access.agent(programs, self.hub(), &member.cluster, token)
    }

    /// Replaces a member's agent by one whose access is changed.
    pub(crate) async fn change_agent_access(
        &self,
        name: &str,
        change: impl FnOnce(&mut AgentAccess),
    ) -> Result<(), FleetError> {
        let mut member = self.member(name).await?;
        change(&mut member.access);
        self.0.provider.exchange_agent(&self.member_agent(&self.kubefleet().members.agents, &member)).await?;
        self.0.members.write().await.insert(name.to_owned(), member);
        self.save().await
    }
}

#[cfg(test)]
mod tests {
    use kube::{Client, Config};

    use super::*;

    fn cluster(name: &str) -> Cluster {
        let server = format!("https://{name}.test");
        Cluster {
            name: name.into(),
            inner_server: server.clone(),
            ca: format!("CA of {name}"),
            kubeconfig: format!("/{name}").into(),
            client: Client::try_from(Config::new(server.parse().expect("a URL"))).expect("a client"),
            server,
        }
    }

    #[tokio::test]
    async fn what_a_scenario_has_changed_is_what_the_next_agent_has() {
        let [hub, member] = ["hub", "east"].map(cluster);
        let agent = |access: &AgentAccess| {
            let agent = access.agent(&KubeFleetPrograms::default(), &hub, &member, "/token".into());
            let hub = agent.hub.expect("a member's agent has a hub");
            (hub.cluster.inner_server, hub.address, hub.cluster.ca, agent.kubeconfig)
        };
        let unchanged = (hub.inner_server.clone(), None, hub.ca.clone(), None);
        assert_eq!(agent(&AgentAccess::default()), unchanged);
        let changed = AgentAccess {
            hub_url: Some("https://127.0.0.1:7".into()),
            hub_address: Some([172, 18, 0, 1].into()),
            hub_cas: Some("CA".into()),
            kubeconfig: Some("/limited".into()),
        };
        let expected =
            ("https://127.0.0.1:7".into(), Some([172, 18, 0, 1].into()), "CA".into(), Some("/limited".into()));
        assert_eq!(agent(&changed), expected);
    }
}
