//! Starting a fleet, and joining members to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use clusters::cluster::{Cluster, Role};
use clusters::home::Home;
pub use clusters::provider::HUB;
use clusters::provider::Provider;
use futures::future::{try_join, try_join_all, try_join3};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::agents::Agents;
use crate::error::FleetError;
use crate::existing::mark;
use crate::install::{apply_crds, name};
use crate::kinds::MEMBER_CLUSTER;
use crate::member::{self, Member};
use crate::observe::Observer;

/// Something that a fleet's start has reached; for a progress line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The API server of this cluster answers.
    ClusterReady(String),
    /// The hub has KubeFleet's CRDs and its hub-agent runs.
    HubInstalled,
    /// Argo CD runs on the hub, and the members are its destinations.
    ArgoCdRuns,
    /// This member has joined.
    Joined(String),
}

/// Told of each [`Stage`].
pub type Progress = Arc<dyn Fn(Stage) + Send + Sync>;

/// What a start is made from.
pub(crate) struct Start<'a> {
    /// The fleet's home.
    pub home: &'a Home,
    /// Where the clusters come from.
    pub provider: &'a dyn Provider,
    /// KubeFleet's programs.
    pub agents: &'a Agents,
    /// KubeFleet's CRDs, the hub's and the members'.
    pub crds: &'a [Value],
    /// Told of what is reached.
    pub progress: &'a Progress,
}

impl Start<'_> {
    /// Starts the hub and members named `member-1` and so on: all clusters at once, KubeFleet on the hub as soon as that is
    /// ready, each member joined as soon as both are.
    pub async fn all(&self, members: usize) -> Result<(Cluster, BTreeMap<String, Member>), FleetError> {
        let (hub_up, _) = watch::channel(None::<Cluster>);
        let hub = self.hub(|hub| drop(hub_up.send_replace(Some(hub.clone()))));
        let labels = json!({});
        let members = (1..=members).map(|n| format!("member-{n}")).map(|name| {
            let mut hub_up = hub_up.subscribe();
            let labels = &labels;
            async move {
                let hub = async {
                    match hub_up.wait_for(Option::is_some).await.map(|hub| hub.clone()) {
                        Ok(Some(hub)) => hub,
                        // The hub's own branch says what went wrong.
                        _ => std::future::pending().await,
                    }
                };
                let member = self.member(&name, labels, hub).await?;
                Ok::<_, FleetError>((name, member))
            }
        });
        let (hub, members) = try_join(hub, try_join_all(members)).await?;
        // Joining needs no controllers: they start when nothing waits for the processors any more.
        self.provider.start_controllers(&hub, Role::Hub).await?;
        try_join_all(members.iter().map(|(_, m)| self.provider.start_controllers(&m.cluster, Role::Member))).await?;
        Ok((hub, members.into_iter().collect()))
    }

    /// Starts the hub's cluster and KubeFleet on it. `registers` is called as soon as the hub knows MemberClusters, long
    /// before its agent runs.
    ///
    /// Their CRDs come first: an API server lets the first objects of a kind wait for two seconds if the kind is younger
    /// than that (1.36.3), and members would wait for it at the end.
    async fn hub(&self, registers: impl FnOnce(&Cluster)) -> Result<Cluster, FleetError> {
        let hub = self.provider.start_cluster(HUB, Role::Hub).await?;
        (self.progress)(Stage::ClusterReady(HUB.into()));
        let of_hub = self.crds.iter().filter(|crd| !is_for_members(crd));
        let (of_clusters, of_placements): (Vec<_>, Vec<_>) = of_hub.partition(|crd| is_of_clusters(crd));
        try_join3(apply_crds(&hub, of_clusters), member::create_namespaces(&hub), mark(&hub)).await?;
        registers(&hub);
        apply_crds(&hub, of_placements).await?;
        self.provider.start_agent(&self.agents.hub(&hub)).await?;
        (self.progress)(Stage::HubInstalled);
        Ok(hub)
    }

    /// Starts a cluster and joins it as soon as there is a hub. Its controllers don't run yet.
    pub async fn member(
        &self,
        name: &str,
        labels: &Value,
        hub: impl Future<Output = Cluster>,
    ) -> Result<Member, FleetError> {
        let observer = Observer::silent(self.home.first_exit());
        let cluster = async {
            let cluster = self.provider.start_cluster(name, Role::Member).await?;
            (self.progress)(Stage::ClusterReady(name.to_owned()));
            let crds = self.crds.iter().filter(|crd| is_for_members(crd));
            try_join(apply_crds(&cluster, crds), mark(&cluster)).await?;
            Ok::<_, FleetError>(cluster)
        };
        let registered = async {
            let hub = hub.await;
            let token = member::register(&hub, self.home.dir(), name, labels).await?;
            member::rights_granted(&hub, &observer, name).await?;
            Ok((hub, token))
        };
        let (cluster, (hub, token)) = try_join(cluster, registered).await?;
        self.provider.start_agent(&self.agents.member(&hub, &cluster, token)).await?;
        member::joined(&hub, &observer, name).await?;
        (self.progress)(Stage::Joined(name.to_owned()));
        Ok(Member { cluster })
    }
}

/// AppliedWork lives on members, everything else of KubeFleet on the hub.
pub(crate) fn is_for_members(crd: &Value) -> bool {
    name(crd).starts_with("appliedworks.")
}

/// MemberCluster and InternalMemberCluster.
fn is_of_clusters(crd: &Value) -> bool {
    crd.pointer("/spec/group").and_then(Value::as_str) == Some(MEMBER_CLUSTER.group)
}
