//! Starts a fleet and joins members to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use clusters::cluster::{Cluster, FleetRole, HUB};
use clusters::home::FleetHome;
use clusters::provider::Provider;
use futures::FutureExt as _;
use futures::future::{try_join, try_join_all, try_join3};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::agent_access::AgentAccess;
use crate::agents::KubeFleetPrograms;
use crate::error::FleetError;
use crate::hub_probe;
use crate::install::{apply_crds, name};
use crate::kinds::MEMBER_CLUSTER;
use crate::kubefleet_webhooks;
use crate::labels::mark_disposable;
use crate::member::{self, Member};
use crate::observe::Observer;

/// A milestone of a fleet's start, for progress lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartMilestone {
    /// The API server of this cluster answers.
    ClusterReady(String),
    /// The hub has KubeFleet's CRDs and its hub-agent runs.
    HubInstalled,
    /// Argo CD runs on the hub, and the members are its destinations.
    ArgoCdRuns,
    /// The member of this name has joined.
    Joined(String),
}

/// Callback that receives each [`StartMilestone`] when it is reached.
pub type OnStartMilestone = Arc<dyn Fn(StartMilestone) + Send + Sync>;

/// Inputs for the start of a fleet's clusters.
pub(crate) struct FleetStartInputs<'a> {
    /// Home of the fleet on this machine.
    pub home: &'a FleetHome,
    /// Provider of the clusters.
    pub provider: &'a dyn Provider,
    /// Programs of KubeFleet.
    pub agents: &'a KubeFleetPrograms,
    /// CRDs of KubeFleet, for the hub and for the members.
    pub crds: &'a [Value],
    /// True if the hub-agent runs with KubeFleet's webhooks.
    pub webhooks: bool,
    /// Callback for each stage that is reached.
    pub progress: &'a OnStartMilestone,
}

impl FleetStartInputs<'_> {
    /// Starts the hub, and members named `member-1` and so on: all clusters at once, KubeFleet as soon as the hub is
    /// ready, and the join of each member as soon as hub and member are ready.
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
                        // The hub didn't start. Its own future returns the error, so this one only waits to be dropped.
                        _ => std::future::pending().await,
                    }
                };
                let member = self.member(&name, labels, hub, AgentAccess::default()).await?;
                Ok::<_, FleetError>((name, member))
            }
        });
        let (hub, members) = try_join(hub, try_join_all(members)).await?;
        // Joining needs no controllers: start them last, when no join competes for processor time any more.
        self.provider.start_controllers(&hub, FleetRole::Hub).await?;
        try_join_all(members.iter().map(|(_, m)| self.provider.start_controllers(&m.cluster, FleetRole::Member)))
            .await?;
        Ok((hub, members.into_iter().collect()))
    }

    /// Starts the hub's cluster and KubeFleet on it. Calls `registers` as soon as the hub serves MemberClusters, long
    /// before the hub-agent runs.
    ///
    /// The CRDs of MemberCluster and InternalMemberCluster come first: an API server lets the first objects of a kind
    /// wait for two seconds if the kind is younger than that (1.36.3). Applied last, these CRDs would delay the
    /// members.
    async fn hub(&self, registers: impl FnOnce(&Cluster)) -> Result<Cluster, FleetError> {
        let hub = self.provider.start_cluster(HUB, FleetRole::Hub).await?;
        (self.progress)(StartMilestone::ClusterReady(HUB.into()));
        let of_hub = self.crds.iter().filter(|crd| !is_for_members(crd));
        let (of_clusters, of_placements): (Vec<_>, Vec<_>) = of_hub.partition(|crd| is_of_clusters(crd));
        try_join3(apply_crds(&hub, of_clusters), member::create_namespaces(&hub), mark_disposable(&hub)).await?;
        registers(&hub);
        apply_crds(&hub, of_placements).await?;
        let observer = Observer::silent(self.home.first_exit());
        if self.webhooks {
            kubefleet_webhooks::create_service(&hub).await?;
        }
        self.provider.start_agent(&self.agents.hub(&hub, self.webhooks)).await?;
        if self.webhooks {
            kubefleet_webhooks::answer(&hub, &observer, None).await?;
        }
        (self.progress)(StartMilestone::HubInstalled);
        hub_probe::notices_changes(&hub, &self.agents.capabilities, &observer).await?;
        Ok(hub)
    }

    /// Starts a cluster and joins it as soon as `hub` is ready, with an agent that has this access. The cluster's controllers don't run yet when this
    /// returns.
    pub async fn member(
        &self,
        name: &str,
        labels: &Value,
        hub: impl Future<Output = Cluster>,
        access: AgentAccess,
    ) -> Result<Member, FleetError> {
        let observer = Observer::silent(self.home.first_exit());
        let cluster = async {
            let cluster = self.provider.start_cluster(name, FleetRole::Member).await?;
            (self.progress)(StartMilestone::ClusterReady(name.to_owned()));
            let crds = self.crds.iter().filter(|crd| is_for_members(crd));
            try_join(apply_crds(&cluster, crds), mark_disposable(&cluster)).await?;
            Ok::<_, FleetError>(cluster)
        };
        // A MemberCluster without an agent counts as a failure after two minutes (KF-MC-005), and a cluster on kind may take as long.
        let (cluster, hub) = try_join(cluster, hub.map(Ok)).await?;
        let token = member::register(&hub, self.home.dir(), name, labels).await?;
        member::rights_granted(&hub, &observer, name).await?;
        self.provider.start_agent(&access.agent(self.agents, &hub, &cluster, token)).await?;
        member::joined(&hub, &observer, name).await?;
        (self.progress)(StartMilestone::Joined(name.to_owned()));
        Ok(Member { cluster, access })
    }
}

/// True for the CRD of AppliedWork, which members need. All other CRDs of KubeFleet belong on the hub.
pub(crate) fn is_for_members(crd: &Value) -> bool {
    name(crd).starts_with("appliedworks.")
}

/// True for the CRDs of MemberCluster and InternalMemberCluster.
fn is_of_clusters(crd: &Value) -> bool {
    crd.pointer("/spec/group").and_then(Value::as_str) == Some(MEMBER_CLUSTER.group)
}
