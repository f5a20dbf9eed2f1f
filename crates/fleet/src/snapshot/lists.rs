//! Lists of a cluster's objects: one list per kind, all at once.
//!
//! Secrets are taken out of the objects as they come ([`Redactor`]), so that no finding can quote one, and a diagnosis
//! of a bundle says the same as a live one.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use diagnosis::{UnreadKind, UnreadReason};
use futures::future::join_all;
use kube::Client;
use kube::api::{DynamicObject, ListParams};
use kube::core::PartialObjectMeta;
use serde_json::Value;

use crate::error::{FleetError, in_full};
use crate::kinds::{self, CRD, ResourceKind};
use crate::redact::Redactor;

/// Access to a cluster whose objects are listed.
#[derive(Clone)]
pub struct ClusterAccess {
    /// Client for the cluster.
    pub client: Client,
    /// Address of the API server, if it is known.
    pub server: Option<String>,
}

impl ClusterAccess {
    /// Access to a cluster of a running fleet.
    #[must_use]
    pub fn of(cluster: &clusters::cluster::Cluster) -> Self {
        Self { client: cluster.client.clone(), server: Some(cluster.server.clone()) }
    }
}

/// Kinds that the diagnosis reads, with everything that is needed to address their objects.
pub(super) fn addressed(wanted: &'static [diagnosis::GroupKind]) -> impl Iterator<Item = ResourceKind> {
    wanted.iter().filter_map(|w| kinds::find(w.group, w.kind))
}

/// Results of listing some kinds on a cluster.
#[derive(Debug, Default)]
pub(super) struct ListResults {
    /// Objects of the kinds that were listed.
    pub(super) objects: Vec<Value>,
    /// Kinds that the API server doesn't serve.
    pub(super) not_served: Vec<ResourceKind>,
    /// Kinds whose group the API server serves in other versions only, each with these versions.
    pub(super) other_version: Vec<(ResourceKind, Vec<String>)>,
    /// Kinds that couldn't be listed, with the reason.
    pub(super) missing: Vec<(ResourceKind, FleetError)>,
}

impl ListResults {
    /// Missing lists, in the form that the snapshot has.
    pub(super) fn unread(&self) -> Vec<UnreadKind> {
        let not_served = self.not_served.iter().map(|kind| UnreadKind {
            group: kind.group.to_owned(),
            resource: kind.plural.to_owned(),
            reason: UnreadReason::NotServed,
            message: String::new(),
        });
        let other_version = self.other_version.iter().map(|(kind, versions)| UnreadKind {
            group: kind.group.to_owned(),
            resource: kind.plural.to_owned(),
            reason: UnreadReason::OtherVersion,
            message: format!("{} is served in {}, not in {}", kind.group, versions.join(", "), kind.version),
        });
        let missing = self.missing.iter().map(|(kind, error)| unread_kind(*kind, error));
        not_served.chain(other_version).chain(missing).collect()
    }
}

fn unread_kind(kind: ResourceKind, error: &FleetError) -> UnreadKind {
    let reason = if error.is_refused() { UnreadReason::Forbidden } else { UnreadReason::Failed };
    let (group, resource) = (kind.group.to_owned(), kind.plural.to_owned());
    let message = error.status().map_or_else(|| in_full(error), |status| status.message.clone());
    UnreadKind { group, resource, reason, message }
}

/// Lists all objects of some kinds. Lists that fail are part of the result.
pub(super) async fn lists(
    cluster: &str,
    client: &Client,
    kinds: impl Iterator<Item = ResourceKind>,
    redactor: &Redactor,
) -> ListResults {
    let asked = join_all(kinds.map(|kind| async move { (kind, list(cluster, client, kind, redactor).await) }));
    let (mut objects, mut failed, mut not_served) = (Vec::new(), Vec::new(), Vec::new());
    for (kind, list) in asked.await {
        match list {
            Ok(Some(list)) => objects.extend(list),
            Ok(None) => not_served.push(kind),
            Err(error) => failed.push((kind, error)),
        }
    }
    ListResults { objects, ..without(client, failed, not_served).await }
}

/// Returns what a snapshot says of kinds that couldn't be read.
pub(super) async fn unread_kinds(client: &Client, mut failed: Vec<(ResourceKind, FleetError)>) -> Vec<UnreadKind> {
    let mut seen = HashSet::new();
    failed.retain(|(kind, _)| seen.insert(*kind));
    without(client, failed, Vec::new()).await.unread()
}

/// Returns the results of lists that have failed, with the kinds that the API server doesn't serve told from the others.
async fn without(
    client: &Client,
    failed: Vec<(ResourceKind, FleetError)>,
    not_served: Vec<ResourceKind>,
) -> ListResults {
    let mut lists = ListResults { not_served, ..ListResults::default() };
    let mut refused = Vec::new();
    for (kind, error) in failed {
        match error.status().map(|status| status.code) {
            // The API server answers 404 without a reason if it doesn't know the group.
            Some(404) => lists.not_served.push(kind),
            Some(403) => refused.push((kind, error)),
            _ => lists.missing.push((kind, error)),
        }
    }
    let served = served(client, refused.iter().map(|(kind, _)| *kind)).await;
    for (kind, error) in refused {
        // An API server checks rights before it checks if it serves the kind.
        match served.get(&kind.api_version()) {
            Some(plurals) if !plurals.contains(kind.plural) => lists.not_served.push(kind),
            _ => lists.missing.push((kind, error)),
        }
    }
    lists.other_version = of_other_versions(client, &mut lists.not_served).await;
    lists
}

/// Takes the kinds out of `not_served` whose group the API server serves, but not in the kind's version, and returns each
/// with the versions. Such a kind may have objects.
async fn of_other_versions(client: &Client, not_served: &mut Vec<ResourceKind>) -> Vec<(ResourceKind, Vec<String>)> {
    if not_served.is_empty() {
        return Vec::new();
    }
    let Ok(groups) = client.list_api_groups().await else { return Vec::new() };
    let served: BTreeMap<String, Vec<String>> = groups
        .groups
        .into_iter()
        .map(|group| (group.name, group.versions.into_iter().map(|version| version.version).collect()))
        .collect();
    let versions = |kind: &ResourceKind| {
        served.get(kind.group).filter(|versions| !versions.iter().any(|version| version == kind.version)).cloned()
    };
    let found = not_served.iter().filter_map(|kind| Some((*kind, versions(kind)?))).collect();
    not_served.retain(|kind| versions(kind).is_none());
    found
}

/// Plural names that the API server serves in the groups of these kinds, by group and version, as far as it tells them.
async fn served(client: &Client, kinds: impl Iterator<Item = ResourceKind>) -> BTreeMap<String, BTreeSet<String>> {
    let versions: BTreeSet<(bool, String)> = kinds.map(|kind| (kind.group.is_empty(), kind.api_version())).collect();
    let asked = versions.into_iter().map(|(is_core, version)| async move {
        let resources = if is_core {
            client.list_core_api_resources(&version).await
        } else {
            client.list_api_group_resources(&version).await
        };
        match resources {
            Ok(list) => Some((version, list.resources.into_iter().map(|resource| resource.name).collect())),
            Err(kube::Error::Api(status)) if status.code == 404 => Some((version, BTreeSet::new())),
            Err(_) => None,
        }
    });
    join_all(asked).await.into_iter().flatten().collect()
}

/// Lists all objects of a kind, without secrets; `None` if the cluster doesn't serve the kind.
pub(crate) async fn list(
    cluster: &str,
    client: &Client,
    kind: ResourceKind,
    redactor: &Redactor,
) -> Result<Option<Vec<Value>>, FleetError> {
    let api = kind.api(client, None);
    let list = if kind == CRD {
        // The schemas of CRDs are larger than everything else together, and nothing reads them.
        let metadata = api.list_metadata(&ListParams::default()).await;
        metadata.map(|list| list.items.into_iter().map(|item| metadata_only(kind, item)).collect())
    } else {
        api.list(&ListParams::default()).await.map(|list| list.items)
    };
    match list {
        Ok(list) => {
            let whole = |object| whole(&kind.api_version(), kind.kind, object, redactor);
            Ok(Some(list.into_iter().map(whole).collect()))
        }
        // The API server answers 404 without a reason if it doesn't know the group.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(FleetError::api(cluster, format!("list {}", kind.plural))(error)),
    }
}

fn metadata_only(kind: ResourceKind, item: PartialObjectMeta<DynamicObject>) -> DynamicObject {
    let mut object = DynamicObject::new("", &kind.resource());
    object.metadata = item.metadata;
    object
}

/// Adds apiVersion and kind, which items of a list don't have, and reduces managedFields to who wrote when.
pub(super) fn whole(api_version: &str, kind: &str, mut object: DynamicObject, redactor: &Redactor) -> Value {
    for write in object.metadata.managed_fields.iter_mut().flatten() {
        write.fields_v1 = None;
    }
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.insert("apiVersion".into(), api_version.into());
        fields.insert("kind".into(), kind.into());
    }
    redactor.object(&mut value);
    value
}

#[cfg(test)]
mod tests {
    use super::addressed;

    #[test]
    fn every_kind_that_the_diagnosis_reads_can_be_addressed() {
        let alone: &[diagnosis::GroupKind] = &[diagnosis::APP_PROJECT];
        for wanted in [diagnosis::HUB_KINDS, diagnosis::MEMBER_KINDS, diagnosis::DESTINATION_KINDS, alone] {
            assert_eq!(addressed(wanted).count(), wanted.len());
        }
    }
}
