//! Exchanging KubeFleet for another version, on a fleet that keeps its data.
//!
//! As an operator does it: a version's CRDs take the place of those that are there, then the agents' processes are
//! exchanged. Hub and members are exchanged apart from each other, in either order, and between the two the fleet runs with both.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use clusters::cluster::Cluster;
use futures::future::{try_join, try_join_all};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strum::{Display, EnumIter, EnumString};

use crate::agents::Agents;
use crate::error::FleetError;
use crate::fleet::{Fleet, Release};
use crate::install::replace_crds;
use crate::kinds::{CLUSTER_RESOURCE_PLACEMENT, MEMBER_CLUSTER};
use crate::member::{self, MEMBER_LABEL, Member};
use crate::objects::{create, delete};
use crate::observe::{Observer, Verdict, Watched};
use crate::start::is_for_members;

/// How long a new hub-agent may take until it answers. It took about 3 s here (v0.1.2, v0.14.0).
const ANSWER_LIMIT: Duration = Duration::from_secs(120);

/// The placement that asks a new hub-agent whether it works. It selects nothing and no member.
const PROBE: &str = "fleetdrill-upgrade";

/// In which order a fleet is upgraded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Display, EnumIter, EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Order {
    /// The hub, and then its members.
    HubFirst,
    /// The members, and then their hub.
    MembersFirst,
    /// Hub and members together.
    AtOnce,
}

/// How far an upgrade is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Phase {
    /// The old version runs everywhere.
    Before,
    /// Hub and members run different versions.
    Skew,
    /// The new version runs everywhere.
    After,
}

impl Phase {
    /// In words.
    #[must_use]
    pub fn told(self) -> &'static str {
        match self {
            Self::Before => "the old version runs everywhere",
            Self::Skew => "hub and members run different versions",
            Self::After => "the new version runs everywhere",
        }
    }
}

impl Order {
    /// The phases after [`Phase::Before`], each with what is exchanged at its beginning.
    #[must_use]
    pub fn phases(self) -> &'static [(Phase, &'static [Part])] {
        match self {
            Self::HubFirst => &[(Phase::Skew, &[Part::Hub]), (Phase::After, &[Part::Members])],
            Self::MembersFirst => &[(Phase::Skew, &[Part::Members]), (Phase::After, &[Part::Hub])],
            Self::AtOnce => &[(Phase::After, &[Part::Hub, Part::Members])],
        }
    }
}

/// What is exchanged by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display)]
#[strum(serialize_all = "kebab-case")]
pub enum Part {
    /// The hub's CRDs and hub-agent.
    Hub,
    /// The members' CRDs and member-agents.
    Members,
}

impl Fleet {
    /// Exchanges parts of KubeFleet for a version's, all at the same time, and waits until what is new works: until the hub-agent
    /// answers, and those member-agents send heartbeats that are `healthy`. Others may be kept from it, by a fault on purpose.
    ///
    /// # Errors
    /// When the API server refuses a CRD, or an agent ends or doesn't work in time. The fleet is then as far as it came.
    pub async fn exchange(&self, parts: &[Part], to: &Agents, healthy: &BTreeSet<String>) -> Result<(), FleetError> {
        let release = Release::read(to.clone()).await?;
        let (hub, members) = (parts.contains(&Part::Hub), parts.contains(&Part::Members));
        let result = try_join(async { if hub { self.exchange_hub(&release).await } else { Ok(()) } }, async {
            if members { self.exchange_members(&release, healthy).await } else { Ok(()) }
        })
        .await;
        let mut kubefleet = self.kubefleet();
        if hub {
            kubefleet.hub = Arc::clone(&release);
        }
        if members {
            kubefleet.members = release;
        }
        *self.0.kubefleet.write().unwrap_or_else(PoisonError::into_inner) = kubefleet;
        self.save().await?;
        result.map(drop)
    }

    async fn exchange_hub(&self, release: &Release) -> Result<(), FleetError> {
        replace_crds(self.hub(), release.crds.iter().filter(|crd| !is_for_members(crd))).await?;
        self.0.provider.exchange_agent(&release.agents.hub(self.hub())).await?;
        answers(self.hub(), &Observer::silent(self.first_exit())).await
    }

    async fn exchange_members(&self, release: &Release, healthy: &BTreeSet<String>) -> Result<(), FleetError> {
        let members = self.members().await;
        try_join_all(members.values().map(|member| self.exchange_member(member, release, healthy))).await.map(drop)
    }

    async fn exchange_member(
        &self,
        member: &Member,
        release: &Release,
        healthy: &BTreeSet<String>,
    ) -> Result<(), FleetError> {
        let (cluster, name) = (&member.cluster, &member.cluster.name);
        replace_crds(cluster, release.crds.iter().filter(|crd| is_for_members(crd))).await?;
        let token = member::token_file(self.keeper().dir(), name);
        let runs = self.0.provider.exchange_agent(&release.agents.member(self.hub(), cluster, token)).await?;
        let since = Timestamp::now();
        // One that was stopped on purpose stays so.
        if !runs || !healthy.contains(name) {
            return Ok(());
        }
        sends_heartbeats(self.hub(), &Observer::silent(self.first_exit()), name, since).await
    }
}

/// Waits until the hub-agent has scheduled a placement that was made for it to answer, and has let it go again.
async fn answers(hub: &Cluster, observer: &Observer) -> Result<(), FleetError> {
    let kind = CLUSTER_RESOURCE_PLACEMENT;
    let nobody = json!({"labelSelector": {"matchLabels": {MEMBER_LABEL: "nobody"}}});
    let terms = json!({"clusterSelectorTerms": [nobody]});
    let placement = json!({
        "apiVersion": kind.api_version(), "kind": kind.kind, "metadata": {"name": PROBE},
        "spec": {
            "resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": "fleetdrill-nothing"}],
            "policy": {"placementType": "PickAll", "affinity": {"clusterAffinity":
                {"requiredDuringSchedulingIgnoredDuringExecution": terms}}},
        },
    });
    create(hub, kind, None, placement).await?;
    let watched = Watched::one(&hub.name, kind, None, PROBE);
    let scheduled =
        |object: &Value| diagnosis::Object::new(object).condition("ClusterResourcePlacementScheduled").is_some();
    let answered = observer
        .until(hub, &watched, "the new hub-agent answers", ANSWER_LIMIT, |objects| {
            if objects.get(PROBE).is_some_and(|object| scheduled(object)) {
                Verdict::Holds
            } else {
                Verdict::Pending("it hasn't scheduled a placement".into())
            }
        })
        .await;
    delete(hub, kind, None, PROBE).await?;
    answered?;
    let gone = "the new hub-agent lets a placement go";
    observer.until(hub, &watched, gone, ANSWER_LIMIT, |objects| Verdict::gone(objects, PROBE)).await?;
    Ok(())
}

/// Waits for a heartbeat of an agent that was started at that time.
async fn sends_heartbeats(hub: &Cluster, observer: &Observer, name: &str, since: Timestamp) -> Result<(), FleetError> {
    let watched = Watched::one(&hub.name, MEMBER_CLUSTER, None, name);
    let expectation = format!("the new member-agent of {name} sends a heartbeat");
    let heartbeat = |member: &Value| -> Option<Timestamp> {
        member.pointer("/status/agentStatus/0/lastReceivedHeartbeat")?.as_str()?.parse().ok()
    };
    observer
        .until(hub, &watched, &expectation, ANSWER_LIMIT, |objects| {
            match objects.get(name).and_then(|member| heartbeat(member)) {
                // They have whole seconds: one of this second may be the old agent's.
                Some(last) if last > since => Verdict::Holds,
                last => Verdict::Pending(last.map_or("none yet".into(), |last| format!("the last is of {last}"))),
            }
        })
        .await?;
    Ok(())
}
