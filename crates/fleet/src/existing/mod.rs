//! External fleets, which exist already: checks that scenarios may run on one, and leaves it as it was.
//!
//! Scenarios break things on purpose, so they run only if somebody has marked each cluster as [`DISPOSABLE`]. Every
//! object that a run makes has the label [`RUN_LABEL`], by which [`sweep`] finds the objects of a run that died.

mod rights;
mod sweep;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clusters::ability::ProviderAbility;
use clusters::cluster::{Cluster, HUB};
use clusters::existing::ClusterContexts;
use clusters::home::FleetHome;
use clusters::provider_spec::ProviderSpec;
use clusters::supervisor::SupervisorProgram;
use diagnosis::Object;
use futures::future::try_join_all;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::core::DynamicObject;
use serde_json::{Value, json};

pub use self::sweep::{SweepResult, UnlistableKind, sweep};
use crate::Fleet;
use crate::agent_access::AgentAccess;
use crate::agents::KubeFleetPrograms;
use crate::capability::Capabilities;
use crate::error::FleetError;
pub use crate::existing_error::ExistingFleetError;
use crate::fleet::{FleetClusters, Release};
use crate::kinds::{CLUSTER_RESOURCE_PLACEMENT, CRD, DEPLOYMENT, MEMBER_CLUSTER, NAMESPACE};
use crate::labels::{DISPOSABLE, LABELLED, MEMBER_LABEL, RUN_LABEL, SYSTEM};
use crate::member::Member;

/// Time limit for the first answer of a cluster.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);

/// An external fleet that was found by its contexts.
pub struct ExistingFleet {
    site: FleetClusters,
    /// CRDs of the hub, KubeFleet's among them.
    crds: Vec<Value>,
}

impl ExistingFleet {
    /// Finds a fleet by its contexts, and checks that scenarios may run on it. `name` is the name of the fleet's home
    /// on this machine.
    /// # Errors
    /// Returns an error if a cluster can't be reached, two contexts lead to the same cluster, a cluster isn't marked,
    /// the hub has no KubeFleet, a member hasn't joined the hub, or rights are missing. Nothing has been changed then.
    pub async fn by(name: &str, contexts: ClusterContexts, supervisor: &SupervisorProgram) -> Result<Self, FleetError> {
        let dir = clusters::state_dir::fleet(name)?;
        let home = Arc::new(FleetHome::create(supervisor, &dir).await?);
        let names: Vec<String> = contexts.of.keys().filter(|name| *name != HUB).cloned().collect();
        let recipe = ProviderSpec::Existing(contexts);
        let provider = recipe.open(Arc::clone(&home));
        let hub = provider.cluster(HUB).await?;
        let mut members = BTreeMap::new();
        for name in names {
            let cluster = provider.cluster(&name).await?;
            members.insert(name, Member { cluster, access: AgentAccess::default() });
        }
        let site = FleetClusters { home, provider, recipe, hub, members };
        Ok(Self { crds: check(&site).await?, site })
    }

    /// Version of KubeFleet that the hub's own agent runs, from the tag of its image. `None` if the hub has no such
    /// Deployment, as managed hubs, or if the tag is no version.
    ///
    /// # Errors
    /// Returns an error if the hub refuses the request.
    pub async fn version(&self) -> Result<Option<String>, FleetError> {
        let params = ListParams::default();
        let deployments = DEPLOYMENT.api(&self.site.hub.client, None).list(&params).await;
        let deployments = deployments.map_err(FleetError::api(HUB, "list Deployments"))?;
        let agent = deployments.items.iter().find(|d| d.metadata.name.as_deref() == Some(clusters::agents::HUB_AGENT));
        let image = agent.and_then(|d| d.data.pointer("/spec/template/spec/containers/0/image")?.as_str());
        Ok(image.and_then(tag).map(ToOwned::to_owned))
    }

    /// Number of members.
    #[must_use]
    pub fn members(&self) -> usize {
        self.site.members.len()
    }

    /// Name of the provider.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        self.site.provider.name()
    }

    /// True if the fleet's provider has this ability.
    #[must_use]
    pub fn can(&self, ability: ProviderAbility) -> bool {
        self.site.provider.can(ability)
    }

    /// Capabilities of these agents together with the hub's CRDs.
    ///
    /// # Errors
    /// Returns an error if the hub-agent's file can't be read.
    pub async fn capabilities(&self, agents: &KubeFleetPrograms) -> Result<Capabilities, FleetError> {
        agents.with_crds(&self.crds).await
    }

    /// Takes the fleet for a run, and labels the members so that placements can select them.
    ///
    /// # Errors
    /// Returns an error if another run uses a member, or the hub refuses the request.
    pub async fn take(self, name: String, run: &str, agents: KubeFleetPrograms) -> Result<Fleet, FleetError> {
        let Self { site, crds } = self;
        let labelled = try_join_all(site.members.keys().map(|member| label(&site.hub, member, run))).await;
        if let Err(error) = labelled {
            // Take the labels off the members that were labelled before the failure.
            sweep::give_back(&site.hub, run).await?;
            return Err(error);
        }
        let fleet = Fleet::borrowed(name, site, Release { agents, crds });
        fleet.save().await?;
        Ok(fleet)
    }
}

/// Checks that scenarios may run on the fleet. Returns the hub's CRDs.
async fn check(site: &FleetClusters) -> Result<Vec<Value>, FleetError> {
    let (hub, members) = (&site.hub, || site.members.values().map(|member| &member.cluster));
    let clusters: Vec<&Cluster> = std::iter::once(hub).chain(members()).collect();
    let systems = match try_join_all(clusters.iter().map(|cluster| system(cluster))).await {
        // Report all missing rights, not only the one that was refused first.
        Err(error) if error.status().is_some_and(|status| status.code == 403) => {
            rights::check(hub, members()).await?;
            return Err(error);
        }
        systems => systems?,
    };
    apart(&clusters, &systems)?;
    let crds = hub_crds(hub).await?;
    have_joined(hub, site.members.keys()).await?;
    let unmarked: Vec<String> = clusters
        .iter()
        .zip(&systems)
        .filter(|(_, system)| {
            system.metadata.labels.as_ref().and_then(|l| l.get(DISPOSABLE)).is_none_or(|v| v != "true")
        })
        .map(|(cluster, _)| cluster.name.clone())
        .collect();
    if !unmarked.is_empty() {
        return Err(ExistingFleetError::NotDisposable { clusters: unmarked }.into());
    }
    rights::check(hub, members()).await?;
    Ok(crds)
}

/// Reads the kube-system namespace. This is the first request to a cluster, so it tells whether the cluster can be
/// reached.
async fn system(cluster: &Cluster) -> Result<DynamicObject, FleetError> {
    let api: Api<DynamicObject> = NAMESPACE.api(&cluster.client, None);
    let unreached = |why: String| ExistingFleetError::Unreachable {
        cluster: cluster.name.clone(),
        server: cluster.server.clone(),
        why,
    };
    match tokio::time::timeout(ANSWER_LIMIT, api.get(SYSTEM)).await {
        Ok(Ok(namespace)) => Ok(namespace),
        Ok(Err(error @ kube::Error::Api(_))) => {
            Err(FleetError::api(&cluster.name, format!("read Namespace/{SYSTEM}"))(error))
        }
        Ok(Err(error)) => Err(unreached(crate::error::in_full(&error)).into()),
        Err(_) => Err(unreached(format!("no answer within {} s", ANSWER_LIMIT.as_secs())).into()),
    }
}

/// Checks that no two contexts lead to the same cluster.
fn apart(clusters: &[&Cluster], systems: &[DynamicObject]) -> Result<(), ExistingFleetError> {
    for (n, (cluster, system)) in clusters.iter().zip(systems).enumerate() {
        let same = clusters[..n].iter().zip(systems).find(|(_, other)| other.metadata.uid == system.metadata.uid);
        if let Some((other, _)) = same {
            return Err(ExistingFleetError::Same { one: other.name.clone(), other: cluster.name.clone() });
        }
    }
    Ok(())
}

/// Returns the hub's CRDs. Fails if KubeFleet's aren't among them.
async fn hub_crds(hub: &Cluster) -> Result<Vec<Value>, FleetError> {
    let crds = CRD.api(&hub.client, None).list(&ListParams::default()).await;
    let crds = crds.map_err(FleetError::api(HUB, "list CustomResourceDefinitions"))?;
    let crds: Vec<Value> = crds.items.into_iter().filter_map(|crd| serde_json::to_value(crd).ok()).collect();
    let missing: Vec<String> = [MEMBER_CLUSTER, CLUSTER_RESOURCE_PLACEMENT]
        .map(|kind| format!("{}.{}", kind.plural, kind.group))
        .into_iter()
        .filter(|name| !crds.iter().any(|crd| crate::install::name(crd) == name))
        .collect();
    if missing.is_empty() { Ok(crds) } else { Err(ExistingFleetError::NoHub { missing }.into()) }
}

async fn have_joined(hub: &Cluster, names: impl Iterator<Item = &String>) -> Result<(), FleetError> {
    let members = MEMBER_CLUSTER.api(&hub.client, None).list(&ListParams::default()).await;
    let members = members.map_err(FleetError::api(HUB, "list MemberClusters"))?;
    let joined: Vec<String> =
        members.items.iter().filter(|m| is_joined(m)).filter_map(|m| m.metadata.name.clone()).collect();
    for name in names {
        if !joined.contains(name) {
            return Err(ExistingFleetError::NotJoined { name: name.clone(), joined }.into());
        }
    }
    Ok(())
}

fn is_joined(member: &DynamicObject) -> bool {
    let value = serde_json::to_value(member).unwrap_or_default();
    Object::new(&value).condition("Joined").is_some_and(|c| c.status == "True")
}

/// Labels a MemberCluster so that placements can select it, and annotates it with the run that uses it.
async fn label(hub: &Cluster, member: &str, run: &str) -> Result<(), FleetError> {
    let api = MEMBER_CLUSTER.api(&hub.client, None);
    loop {
        let there = api.get(member).await.map_err(FleetError::api(HUB, format!("read MemberCluster/{member}")))?;
        if let Some(other) = there.metadata.annotations.as_ref().and_then(|a| a.get(RUN_LABEL)) {
            return Err(ExistingFleetError::Busy { member: member.to_owned(), run: other.clone() }.into());
        }
        let labelled = there.metadata.labels.as_ref().and_then(|l| l.get(MEMBER_LABEL)).is_some_and(|v| v == member);
        let mut patch = json!({"metadata": {
            "annotations": {RUN_LABEL: run},
            // Of two runs that write at the same moment, only one succeeds.
            "resourceVersion": there.metadata.resource_version,
        }});
        if !labelled {
            patch["metadata"]["labels"] = json!({MEMBER_LABEL: member});
            patch["metadata"]["annotations"][LABELLED] = "true".into();
        }
        match api.patch(member, &PatchParams::default(), &Patch::Merge(&patch)).await {
            // Conflict: the member's agent has written a heartbeat meanwhile. Read the MemberCluster again.
            Err(kube::Error::Api(status)) if status.is_conflict() => {}
            patched => {
                return patched.map(drop).map_err(FleetError::api(HUB, format!("label MemberCluster/{member}")));
            }
        }
    }
}

/// Returns the tag of an image: `v0.1.2` of `ghcr.io/kubefleet-dev/kubefleet/hub-agent:v0.1.2`.
fn tag(image: &str) -> Option<&str> {
    let image = image.split_once('@').map_or(image, |(image, _)| image);
    let last = image.rsplit('/').next().unwrap_or(image);
    last.split_once(':').map(|(_, tag)| tag).filter(|tag| tag.starts_with('v'))
}

#[cfg(test)]
mod tests {
    use super::tag;

    #[test]
    fn a_tag_follows_the_last_colon_of_the_name() {
        assert_eq!(tag("ghcr.io/kubefleet-dev/kubefleet/hub-agent:v0.1.2"), Some("v0.1.2"));
        assert_eq!(tag("registry:5000/hub-agent:v0.3.1@sha256:abc"), Some("v0.3.1"));
        assert_eq!(tag("registry:5000/hub-agent"), None);
        assert_eq!(tag("hub-agent:latest"), None);
    }
}
