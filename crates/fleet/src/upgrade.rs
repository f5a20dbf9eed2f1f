//! Replaces KubeFleet or Argo CD with another version, on a fleet that keeps its data.
//!
//! The steps are an operator's: the new version's CRDs replace the old ones, then the agents' processes are replaced.
//! KubeFleet's hub and members are replaced separately, in either order; in between the fleet runs both versions. What an operator
//! does for Argo CD is in `argocd/upgrade.rs`.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use clusters::cluster::Cluster;
use futures::future::{try_join, try_join_all};
use jiff::Timestamp;
pub use record::{FleetPart, Product, UpgradeOrder, UpgradePhase};
use serde_json::Value;

use crate::agents::KubeFleetPrograms;
use crate::argocd::ArgoCdPrograms;
use crate::error::FleetError;
use crate::fleet::{Fleet, Release};
use crate::hub_probe::{self, ANSWER_LIMIT};
use crate::install::replace_crds;
use crate::kinds::MEMBER_CLUSTER;
use crate::member::Member;
use crate::observe::{Observer, Verdict, WatchSelection};
use crate::start::is_for_members;

/// Version that a fleet is upgraded to, with its programs.
#[derive(Clone, Debug)]
pub enum UpgradeTarget {
    /// A version of KubeFleet.
    KubeFleet(KubeFleetPrograms),
    /// A version of Argo CD.
    ArgoCd(ArgoCdPrograms),
}

impl UpgradeTarget {
    /// Product that is upgraded.
    #[must_use]
    pub fn product(&self) -> Product {
        match self {
            Self::KubeFleet(_) => Product::KubeFleet,
            Self::ArgoCd(_) => Product::ArgoCd,
        }
    }

    /// Version of the product.
    #[must_use]
    pub fn version(&self) -> &str {
        match self {
            Self::KubeFleet(programs) => &programs.version,
            Self::ArgoCd(programs) => &programs.version,
        }
    }

    /// The phases after [`UpgradePhase::Before`], each with what is exchanged at its beginning. Argo CD has one, in each order.
    #[must_use]
    pub fn phases(&self, order: UpgradeOrder) -> &'static [(UpgradePhase, &'static [FleetPart])] {
        match self {
            Self::KubeFleet(_) => order.phases(),
            Self::ArgoCd(_) => &[(UpgradePhase::After, &[FleetPart::ArgoCd])],
        }
    }
}

impl Fleet {
    /// Version of a product on the fleet: of KubeFleet, the hub's while the members run another. `None` for Argo CD on a fleet without it.
    pub async fn version_of(&self, product: Product) -> Option<String> {
        match product {
            Product::KubeFleet => Some(self.version()),
            Product::ArgoCd => self.argocd_version().await,
        }
    }

    /// Replaces parts of the fleet with another version, all parts at the same time, and waits until the new version works: KubeFleet
    /// until hub-agent and member-agents answer, Argo CD until it compares an Application.
    ///
    /// # Errors
    /// Returns an error if the API server refuses a CRD, or a process ends or doesn't work in time. Parts that are
    /// replaced by then stay replaced.
    pub async fn exchange(
        &self,
        parts: &[FleetPart],
        to: &UpgradeTarget,
        healthy: &BTreeSet<String>,
    ) -> Result<(), FleetError> {
        match to {
            UpgradeTarget::KubeFleet(programs) => self.exchange_kubefleet(parts, programs, healthy).await,
            UpgradeTarget::ArgoCd(programs) => self.exchange_argocd(programs).await,
        }
    }

    /// Replaces parts of KubeFleet with another version, all parts at the same time. Waits until the new hub-agent
    /// schedules a placement, and until the new agents of the members in `healthy` send heartbeats. Other members
    /// aren't waited for, since a fault may stop their agents from working.
    ///
    /// # Errors
    /// Returns an error if the API server refuses a CRD, or an agent ends or doesn't work in time. Parts that are
    /// replaced by then stay replaced.
    async fn exchange_kubefleet(
        &self,
        parts: &[FleetPart],
        to: &KubeFleetPrograms,
        healthy: &BTreeSet<String>,
    ) -> Result<(), FleetError> {
        let release = Release::read(to.clone()).await?;
        let (hub, members) = (parts.contains(&FleetPart::Hub), parts.contains(&FleetPart::Members));
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

    /// Replaces a member's agent by one that logs at this level (`--v`), and waits for its first heartbeat. An upgrade of the member
    /// sets the default level again.
    ///
    /// # Errors
    /// Returns an error if there is no such member, or its agent sends no heartbeat.
    pub async fn set_member_agent_log_level(&self, member: &str, level: u8) -> Result<(), FleetError> {
        let mut agent = self.member_agent(&self.kubefleet().members.agents, &self.member(member).await?);
        agent.flags.push(format!("--v={level}"));
        let since = Timestamp::now();
        self.0.provider.exchange_agent(&agent).await?;
        sends_heartbeats(self.hub(), &Observer::silent(self.first_exit()), member, since).await
    }

    async fn exchange_hub(&self, release: &Release) -> Result<(), FleetError> {
        replace_crds(self.hub(), release.crds.iter().filter(|crd| !is_for_members(crd))).await?;
        self.0.provider.exchange_agent(&release.agents.hub(self.hub(), self.0.webhooks)).await?;
        let observer = Observer::silent(self.first_exit());
        hub_probe::schedules(self.hub(), &observer).await?;
        hub_probe::notices_changes(self.hub(), &release.agents.capabilities, &observer).await
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
        let runs = self.0.provider.exchange_agent(&self.member_agent(&release.agents, member)).await?;
        let since = Timestamp::now();
        // Don't wait for an agent that was stopped on purpose: it stays stopped.
        if !runs || !healthy.contains(name) {
            return Ok(());
        }
        sends_heartbeats(self.hub(), &Observer::silent(self.first_exit()), name, since).await
    }
}

fn last_heartbeat(member: &Arc<Value>) -> Option<Timestamp> {
    member.pointer("/status/agentStatus/0/lastReceivedHeartbeat")?.as_str()?.parse().ok()
}

/// Waits for a heartbeat of a member-agent that was started at `since`.
async fn sends_heartbeats(hub: &Cluster, observer: &Observer, name: &str, since: Timestamp) -> Result<(), FleetError> {
    let watched = WatchSelection::one(&hub.name, MEMBER_CLUSTER, None, name);
    let expectation = format!("the new member-agent of {name} sends a heartbeat");
    observer
        .until(hub, &watched, &expectation, ANSWER_LIMIT, |objects| {
            match objects.get(name).and_then(last_heartbeat) {
                // Heartbeats have whole seconds: a heartbeat of the same second may be the old agent's.
                Some(last) if last > since => Verdict::Holds,
                last => Verdict::Pending(last.map_or("none yet".into(), |last| format!("the last is of {last}"))),
            }
        })
        .await?;
    Ok(())
}
