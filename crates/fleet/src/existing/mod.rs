//! A fleet that exists already and that fleetdrill didn't make: whether scenarios may run on it, and how it is left as it was.
//!
//! Scenarios break things on purpose. So they run only where somebody has marked each cluster as [`DISPOSABLE`], and everything
//! that a run makes carries its [`RUN_LABEL`]: what a run that died has left can be found by it ([`sweep`]).

mod error;
mod rights;
mod sweep;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clusters::cluster::Cluster;
use clusters::existing::Contexts;
use clusters::home::Home;
use clusters::keeper::Program;
use clusters::provider::{Ability, Recipe};
use diagnosis::Object;
use futures::future::try_join_all;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::core::DynamicObject;
use serde_json::{Value, json};

pub use self::error::ExistingError;
pub use self::sweep::{Swept, UnseenKind, sweep};
use crate::Fleet;
use crate::agents::Agents;
use crate::capability::Capabilities;
use crate::error::FleetError;
use crate::fleet::{Release, Site};
use crate::kinds::{CLUSTER_RESOURCE_PLACEMENT, CRD, DEPLOYMENT, MEMBER_CLUSTER, NAMESPACE};
use crate::member::{MEMBER_LABEL, Member};
use crate::start::HUB;

/// The label, with value `true`, by which a cluster's kube-system namespace says that anything may be broken in it.
pub const DISPOSABLE: &str = "fleetdrill.dev/disposable";

/// The label with a run's id on everything that it makes, and the annotation with it on MemberClusters that it uses.
pub const RUN_LABEL: &str = "fleetdrill.dev/run";

/// What every cluster has, and what tells one from another.
const SYSTEM: &str = "kube-system";

/// How long a cluster may take for its first answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);

/// A fleet that was found by its contexts.
pub struct Found {
    site: Site,
    /// KubeFleet's, as the hub has them.
    crds: Vec<Value>,
}

impl Found {
    /// Finds a fleet, and sees that it is one that scenarios may run on. `name` is that of its home here.
    ///
    /// # Errors
    /// When a cluster can't be reached, two are the same, one isn't marked, the hub is none, a member hasn't joined it, or rights
    /// are missing. Nothing was changed then.
    pub async fn by(name: &str, contexts: Contexts, keeper: &Program) -> Result<Self, FleetError> {
        let dir = clusters::state_dir::fleet(name)?;
        let home = Arc::new(Home::create(keeper, &dir).await?);
        let names: Vec<String> = contexts.of.keys().filter(|name| *name != HUB).cloned().collect();
        let recipe = Recipe::Existing(contexts);
        let provider = recipe.open(Arc::clone(&home));
        let hub = provider.cluster(HUB).await?;
        let mut members = BTreeMap::new();
        for name in names {
            let cluster = provider.cluster(&name).await?;
            members.insert(name, Member { cluster });
        }
        let site = Site { home, provider, recipe, hub, members };
        Ok(Self { crds: check(&site).await?, site })
    }

    /// The version of KubeFleet that the hub's own agent runs, by the tag of its image; none where the hub has no such Deployment,
    /// as those that are managed.
    ///
    /// # Errors
    /// When the hub refuses.
    pub async fn version(&self) -> Result<Option<String>, FleetError> {
        let params = ListParams::default();
        let deployments = DEPLOYMENT.api(&self.site.hub.client, None).list(&params).await;
        let deployments = deployments.map_err(FleetError::api(HUB, "list Deployments"))?;
        let agent =
            deployments.items.iter().find(|d| d.metadata.name.as_deref() == Some(clusters::provider::HUB_AGENT));
        let image = agent.and_then(|d| d.data.pointer("/spec/template/spec/containers/0/image")?.as_str());
        Ok(image.and_then(tag).map(ToOwned::to_owned))
    }

    /// How many members there are.
    #[must_use]
    pub fn members(&self) -> usize {
        self.site.members.len()
    }

    /// The provider's name.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        self.site.provider.name()
    }

    /// Whether fleetdrill can do that with it.
    #[must_use]
    pub fn can(&self, ability: Ability) -> bool {
        self.site.provider.can(ability)
    }

    /// What a version can do with the CRDs that the hub has.
    ///
    /// # Errors
    /// When the version's program can't be read.
    pub async fn capabilities(&self, agents: &Agents) -> Result<Capabilities, FleetError> {
        agents.with_crds(&self.crds).await
    }

    /// Takes the fleet for a run: members are labelled, so that placements can select them.
    ///
    /// # Errors
    /// When another run has it, or the hub refuses.
    pub async fn take(self, name: String, run: &str, agents: Agents) -> Result<Fleet, FleetError> {
        let Self { site, crds } = self;
        let labelled = try_join_all(site.members.keys().map(|member| label(&site.hub, member, run))).await;
        if let Err(error) = labelled {
            // What it labelled before it came to the one that failed.
            sweep::give_back(&site.hub, run).await?;
            return Err(error);
        }
        let fleet = Fleet::borrowed(name, site, Release { agents, crds });
        fleet.save().await?;
        Ok(fleet)
    }
}

/// Sees that scenarios may run there, and gives KubeFleet's CRDs as the hub has them.
async fn check(site: &Site) -> Result<Vec<Value>, FleetError> {
    let (hub, members) = (&site.hub, || site.members.values().map(|member| &member.cluster));
    let clusters: Vec<&Cluster> = std::iter::once(hub).chain(members()).collect();
    let systems = match try_join_all(clusters.iter().map(|cluster| system(cluster))).await {
        // Of all that is missing, not only of the first.
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
        return Err(ExistingError::NotDisposable { clusters: unmarked }.into());
    }
    rights::check(hub, members()).await?;
    Ok(crds)
}

/// Marks a cluster that fleetdrill has made.
pub(crate) async fn mark(cluster: &Cluster) -> Result<(), FleetError> {
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM, "labels": {DISPOSABLE: "true"}},
    });
    let params = PatchParams::apply(crate::install::FIELD_MANAGER).force();
    let applied = NAMESPACE.api(&cluster.client, None).patch(SYSTEM, &params, &Patch::Apply(namespace)).await;
    applied.map(drop).map_err(FleetError::api(&cluster.name, format!("label Namespace/{SYSTEM}")))
}

/// The kube-system namespace, the first thing that a cluster is asked for.
async fn system(cluster: &Cluster) -> Result<DynamicObject, FleetError> {
    let api: Api<DynamicObject> = NAMESPACE.api(&cluster.client, None);
    let unreached =
        |why: String| ExistingError::Unreachable { cluster: cluster.name.clone(), server: cluster.server.clone(), why };
    match tokio::time::timeout(ANSWER_LIMIT, api.get(SYSTEM)).await {
        Ok(Ok(namespace)) => Ok(namespace),
        Ok(Err(error @ kube::Error::Api(_))) => {
            Err(FleetError::api(&cluster.name, format!("read Namespace/{SYSTEM}"))(error))
        }
        Ok(Err(error)) => Err(unreached(crate::error::in_full(&error)).into()),
        Err(_) => Err(unreached(format!("no answer within {} s", ANSWER_LIMIT.as_secs())).into()),
    }
}

/// Sees that no two clusters are the same one.
fn apart(clusters: &[&Cluster], systems: &[DynamicObject]) -> Result<(), ExistingError> {
    for (n, (cluster, system)) in clusters.iter().zip(systems).enumerate() {
        let same = clusters[..n].iter().zip(systems).find(|(_, other)| other.metadata.uid == system.metadata.uid);
        if let Some((other, _)) = same {
            return Err(ExistingError::Same { one: other.name.clone(), other: cluster.name.clone() });
        }
    }
    Ok(())
}

/// KubeFleet's CRDs on the hub; an error where it isn't one.
async fn hub_crds(hub: &Cluster) -> Result<Vec<Value>, FleetError> {
    let crds = CRD.api(&hub.client, None).list(&ListParams::default()).await;
    let crds = crds.map_err(FleetError::api(HUB, "list CustomResourceDefinitions"))?;
    let crds: Vec<Value> = crds.items.into_iter().filter_map(|crd| serde_json::to_value(crd).ok()).collect();
    let has = |kind: crate::kinds::Kind| {
        let name = format!("{}.{}", kind.plural, kind.group);
        crds.iter().any(|crd| crate::install::name(crd) == name)
    };
    let missing: Vec<String> = [MEMBER_CLUSTER, CLUSTER_RESOURCE_PLACEMENT]
        .into_iter()
        .filter(|kind| !has(*kind))
        .map(|kind| format!("{}.{}", kind.plural, kind.group))
        .collect();
    if missing.is_empty() { Ok(crds) } else { Err(ExistingError::NoHub { missing }.into()) }
}

async fn have_joined(hub: &Cluster, names: impl Iterator<Item = &String>) -> Result<(), FleetError> {
    let members = MEMBER_CLUSTER.api(&hub.client, None).list(&ListParams::default()).await;
    let members = members.map_err(FleetError::api(HUB, "list MemberClusters"))?;
    let is_joined = |member: &DynamicObject| {
        let value = serde_json::to_value(member).unwrap_or_default();
        Object::new(&value).condition("Joined").is_some_and(|c| c.status == "True")
    };
    let joined: Vec<String> =
        members.items.iter().filter(|m| is_joined(m)).filter_map(|m| m.metadata.name.clone()).collect();
    for name in names {
        if !joined.contains(name) {
            return Err(ExistingError::NotJoined { name: name.clone(), joined }.into());
        }
    }
    Ok(())
}

/// Lets placements select a member, and says which run does.
async fn label(hub: &Cluster, member: &str, run: &str) -> Result<(), FleetError> {
    let api = MEMBER_CLUSTER.api(&hub.client, None);
    loop {
        let there = api.get(member).await.map_err(FleetError::api(HUB, format!("read MemberCluster/{member}")))?;
        let annotation = |object: &DynamicObject| object.metadata.annotations.as_ref()?.get(RUN_LABEL).cloned();
        if let Some(other) = annotation(&there) {
            return Err(ExistingError::Busy { member: member.to_owned(), run: other }.into());
        }
        let labelled = there.metadata.labels.as_ref().and_then(|l| l.get(MEMBER_LABEL)).is_some_and(|v| v == member);
        let mut patch = json!({"metadata": {
            "annotations": {RUN_LABEL: run},
            // Two runs that come at the same moment can't both have it.
            "resourceVersion": there.metadata.resource_version,
        }});
        if !labelled {
            patch["metadata"]["labels"] = json!({MEMBER_LABEL: member});
            patch["metadata"]["annotations"][sweep::LABELLED] = "true".into();
        }
        match api.patch(member, &PatchParams::default(), &Patch::Merge(&patch)).await {
            // Its agent writes heartbeats.
            Err(kube::Error::Api(status)) if status.is_conflict() => {}
            patched => {
                return patched.map(drop).map_err(FleetError::api(HUB, format!("label MemberCluster/{member}")));
            }
        }
    }
}

/// The tag of an image: `v0.1.2` of `ghcr.io/kubefleet-dev/kubefleet/hub-agent:v0.1.2`.
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
