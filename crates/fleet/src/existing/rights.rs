//! Checks that the credentials have the rights that scenarios need.

use std::collections::BTreeMap;

use clusters::cluster::Cluster;
use futures::StreamExt as _;
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
use kube::api::{Api, PostParams};

use crate::error::FleetError;
use crate::existing_error::ExistingFleetError;
use crate::kinds::{self, ResourceKind};

/// Verbs that scenarios use with each kind.
const VERBS: [&str; 6] = ["get", "list", "watch", "create", "patch", "delete"];

/// Kinds that scenarios use on a hub.
const ON_HUB: [ResourceKind; 19] = [
    kinds::MEMBER_CLUSTER,
    kinds::CLUSTER_RESOURCE_PLACEMENT,
    kinds::RESOURCE_PLACEMENT,
    kinds::CLUSTER_RESOURCE_BINDING,
    kinds::RESOURCE_BINDING,
    kinds::CLUSTER_RUN,
    kinds::RUN,
    kinds::CLUSTER_STRATEGY,
    kinds::STRATEGY,
    kinds::CLUSTER_APPROVAL_REQUEST,
    kinds::APPROVAL_REQUEST,
    kinds::CLUSTER_ENVELOPE,
    kinds::ENVELOPE,
    kinds::WORK,
    kinds::OVERRIDE,
    kinds::NAMESPACE,
    kinds::CONFIG_MAP,
    kinds::DEPLOYMENT,
    kinds::CRD,
];

/// Kinds that scenarios use on a member.
const ON_MEMBER: [ResourceKind; 4] = [kinds::NAMESPACE, kinds::CONFIG_MAP, kinds::DEPLOYMENT, kinds::CRD];

/// Number of access reviews that run at the same time.
const AT_ONCE: usize = 16;

/// Checks that no request of a scenario would be refused.
pub(super) async fn check(hub: &Cluster, members: impl Iterator<Item = &Cluster>) -> Result<(), FleetError> {
    of_cluster(hub, &ON_HUB).await?;
    for member in members {
        of_cluster(member, &ON_MEMBER).await?;
    }
    Ok(())
}

async fn of_cluster(cluster: &Cluster, kinds: &[ResourceKind]) -> Result<(), FleetError> {
    // One review is enough for an administrator.
    if may(cluster, "*", "*", "*").await? {
        return Ok(());
    }
    let asked = kinds.iter().flat_map(|kind| VERBS.map(|verb| (verb, *kind)));
    let answers: Vec<_> = futures::stream::iter(asked)
        .map(async |(verb, kind)| {
            let allowed = may(cluster, verb, kind.group, kind.plural).await?;
            let group = if kind.group.is_empty() { String::new() } else { format!(".{}", kind.group) };
            Ok::<_, FleetError>((!allowed).then(|| (format!("{}{group}", kind.plural), verb)))
        })
        .buffered(AT_ONCE)
        .collect()
        .await;
    let mut rights: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for answer in answers {
        if let Some((resource, verb)) = answer? {
            rights.entry(resource).or_default().push(verb);
        }
    }
    if rights.is_empty() {
        Ok(())
    } else {
        Err(ExistingFleetError::Rights { cluster: cluster.name.clone(), rights }.into())
    }
}

async fn may(cluster: &Cluster, verb: &str, group: &str, resource: &str) -> Result<bool, FleetError> {
    let api: Api<SelfSubjectAccessReview> = Api::all(cluster.client.clone());
    let attributes = ResourceAttributes {
        verb: Some(verb.into()),
        group: Some(group.into()),
        resource: Some(resource.into()),
        ..ResourceAttributes::default()
    };
    let spec = SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), ..Default::default() };
    let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
    let answer = api.create(&PostParams::default(), &review).await;
    let answer = answer.map_err(FleetError::api(&cluster.name, "ask for one's own rights"))?;
    Ok(answer.status.is_some_and(|status| status.allowed))
}
