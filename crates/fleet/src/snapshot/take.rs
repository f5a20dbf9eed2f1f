//! One list per kind and cluster, all at once.
//!
//! Secrets are taken out of the objects as they come ([`Redactor`]), so that no finding can quote one, and a diagnosis
//! of a bundle says the same as a live one.

use std::collections::{BTreeMap, BTreeSet};

use diagnosis::{ClusterSnapshot, Role, Snapshot, UnreadKind, UnreadReason};
use futures::future::join_all;
use kube::Client;
use kube::api::{DynamicObject, ListParams};
use kube::core::PartialObjectMeta;
use serde_json::Value;

use super::applications;
use crate::bundle::Redactor;
use crate::error::{FleetError, in_full};
use crate::kinds::{self, APPLICATION, CRD, Kind, ROLE, ROLE_BINDING, SERVICE_ACCOUNT};
use crate::start::HUB;

/// A cluster that can be asked.
#[derive(Clone)]
pub struct Asked {
    /// A client for it.
    pub client: Client,
    /// Its API server's address, where it is known.
    pub server: Option<String>,
}

impl Asked {
    /// A cluster of a fleet that fleetdrill has made.
    #[must_use]
    pub fn of(cluster: &clusters::cluster::Cluster) -> Self {
        Self { client: cluster.client.clone(), server: Some(cluster.server.clone()) }
    }
}

/// The kinds that the diagnosis reads, with what is needed to address them.
pub(super) fn addressed(wanted: &'static [diagnosis::Kind]) -> impl Iterator<Item = Kind> {
    wanted.iter().filter_map(|w| kinds::find(w.group, w.kind))
}

/// A snapshot, and what it lacks of the hub.
#[derive(Debug)]
pub struct Taken {
    /// What could be read.
    pub snapshot: Snapshot,
    /// Lists that the hub didn't give, with the reason. Those of members are in the snapshot alone.
    pub missing: Vec<(Kind, FleetError)>,
}

/// What a cluster gave of the kinds that it was asked for.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The objects of the kinds that were given.
    pub(super) objects: Vec<Value>,
    /// Kinds that the API server doesn't know.
    pub(super) not_served: Vec<Kind>,
    /// Kinds that weren't given, with the reason.
    pub(super) missing: Vec<(Kind, FleetError)>,
}

impl Lists {
    /// What isn't there, as the snapshot says it.
    pub(super) fn unread(&self) -> Vec<UnreadKind> {
        let not_served = self.not_served.iter().map(|kind| UnreadKind {
            group: kind.group.to_owned(),
            resource: kind.plural.to_owned(),
            reason: UnreadReason::NotServed,
            message: String::new(),
        });
        let missing = self.missing.iter().map(|(kind, error)| unread_kind(*kind, error));
        not_served.chain(missing).collect()
    }
}

fn unread_kind(kind: Kind, error: &FleetError) -> UnreadKind {
    let reason = if error.is_refused() { UnreadReason::Forbidden } else { UnreadReason::Failed };
    let (group, resource) = (kind.group.to_owned(), kind.plural.to_owned());
    let message = error.status().map_or_else(|| in_full(error), |status| status.message.clone());
    UnreadKind { group, resource, reason, message }
}

/// Lists a fleet's objects. What a cluster doesn't give is in the snapshot with the reason, and so is a member that can't be
/// asked at all.
///
/// # Errors
/// When the hub can't be asked, or refuses a list that the diagnosis can't do without.
pub async fn take(hub: &Asked, members: &BTreeMap<String, Asked>) -> Result<Snapshot, FleetError> {
    let Taken { snapshot, missing } = take_what_can_be_had(hub, members, &Redactor::default()).await;
    let needed: Vec<_> = missing.into_iter().filter(|(kind, error)| is_needed(*kind, error)).collect();
    let resources = needed.iter().map(|(kind, _)| kind.plural.to_owned()).collect();
    match needed.into_iter().next() {
        Some((_, source)) => Err(FleetError::Unlisted { resources, source: Box::new(source) }),
        None => Ok(snapshot),
    }
}

/// Lists what a fleet's clusters give. A cluster that gives nothing at all is in the snapshot with the reason. What only
/// applications need is read where there is one.
pub async fn take_what_can_be_had(hub: &Asked, members: &BTreeMap<String, Asked>, redactor: &Redactor) -> Taken {
    let on_hub = lists(HUB, &hub.client, addressed(diagnosis::HUB_KINDS), redactor);
    let on_members = join_all(members.iter().map(|(name, member)| async move {
        let lists = lists(name, &member.client, addressed(diagnosis::MEMBER_KINDS), redactor).await;
        cluster(name, Role::Member, member, lists, diagnosis::MEMBER_KINDS.len()).0
    }));
    let (on_hub, on_members) = futures::join!(on_hub, on_members);
    let (on_hub, missing) = cluster(HUB, Role::Hub, hub, on_hub, diagnosis::HUB_KINDS.len());
    let clusters = std::iter::once(on_hub).chain(on_members).collect();
    let mut snapshot = Snapshot { taken_at: jiff::Timestamp::now(), clusters };
    applications::add(&mut snapshot, hub, members, redactor).await;
    snapshot.taken_at = jiff::Timestamp::now();
    Taken { snapshot, missing }
}

/// Whether a diagnosis without a list that failed like this would be wrong. Rules know that a reader may not be allowed
/// to see accounts, roles and applications; who isn't allowed to isn't told either whether there is such a kind.
pub(crate) fn is_needed(kind: Kind, error: &FleetError) -> bool {
    let refused = error.status().is_some_and(|status| status.code == 403);
    !(refused && [SERVICE_ACCOUNT, ROLE, ROLE_BINDING, APPLICATION].contains(&kind))
}

/// A cluster's part of the snapshot, and the lists that it didn't give. One that gave none of `asked_for` kinds is unreachable.
fn cluster(
    name: &str,
    role: Role,
    asked: &Asked,
    lists: Lists,
    asked_for: usize,
) -> (ClusterSnapshot, Vec<(Kind, FleetError)>) {
    let nothing = lists.missing.first().filter(|_| lists.missing.len() == asked_for);
    let unreachable = nothing.map(|(_, error)| in_full(error));
    let unread = if unreachable.is_some() { Vec::new() } else { lists.unread() };
    let (name, server) = (name.to_owned(), asked.server.clone());
    let snapshot =
        ClusterSnapshot { name, role, server, objects: lists.objects, logs: Vec::new(), unreachable, unread };
    (snapshot, lists.missing)
}

/// All objects of some kinds, and the lists that weren't given.
pub(super) async fn lists(
    cluster: &str,
    client: &Client,
    kinds: impl Iterator<Item = Kind>,
    redactor: &Redactor,
) -> Lists {
    let asked = join_all(kinds.map(|kind| async move { (kind, list(cluster, client, kind, redactor).await) }));
    let mut lists = Lists::default();
    let mut refused = Vec::new();
    for (kind, list) in asked.await {
        match list {
            Ok(Some(list)) => lists.objects.extend(list),
            Ok(None) => lists.not_served.push(kind),
            Err(error) if error.status().is_some_and(|status| status.code == 403) => refused.push((kind, error)),
            Err(error) => lists.missing.push((kind, error)),
        }
    }
    let served = served(client, refused.iter().map(|(kind, _)| *kind)).await;
    for (kind, error) in refused {
        // An API server refuses before it looks whether there is such a kind.
        match served.get(&kind.api_version()) {
            Some(plurals) if !plurals.contains(kind.plural) => lists.not_served.push(kind),
            _ => lists.missing.push((kind, error)),
        }
    }
    lists
}

/// The plurals of each of these kinds' groups, as far as the API server tells them, by group and version.
async fn served(client: &Client, kinds: impl Iterator<Item = Kind>) -> BTreeMap<String, BTreeSet<String>> {
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

/// All objects of a kind, without secrets; none where the cluster doesn't know the kind.
pub(crate) async fn list(
    cluster: &str,
    client: &Client,
    kind: Kind,
    redactor: &Redactor,
) -> Result<Option<Vec<Value>>, FleetError> {
    let api = kind.api(client, None);
    let list = if kind == CRD {
        // Their schemas are larger than all else together, and nothing reads them.
        let metadata = api.list_metadata(&ListParams::default()).await;
        metadata.map(|list| list.items.into_iter().map(|item| metadata_only(kind, item)).collect())
    } else {
        api.list(&ListParams::default()).await.map(|list| list.items)
    };
    match list {
        Ok(list) => Ok(Some(list.into_iter().map(|object| whole(kind, object, redactor)).collect())),
        // An unknown group is refused without a reason.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(FleetError::api(cluster, format!("list {}", kind.plural))(error)),
    }
}

fn metadata_only(kind: Kind, item: PartialObjectMeta<DynamicObject>) -> DynamicObject {
    let mut object = DynamicObject::new("", &kind.resource());
    object.metadata = item.metadata;
    object
}

/// Items of a list carry neither apiVersion nor kind; what managed a field is noise.
fn whole(kind: Kind, mut object: DynamicObject, redactor: &Redactor) -> Value {
    object.metadata.managed_fields = None;
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.insert("apiVersion".into(), kind.api_version().into());
        fields.insert("kind".into(), kind.kind.into());
    }
    redactor.object(&mut value);
    value
}

#[cfg(test)]
mod tests {
    use super::addressed;

    #[test]
    fn every_kind_that_the_diagnosis_reads_can_be_addressed() {
        let alone: &[diagnosis::Kind] = &[diagnosis::PROJECT];
        for wanted in [diagnosis::HUB_KINDS, diagnosis::MEMBER_KINDS, diagnosis::DESTINATION_KINDS, alone] {
            assert_eq!(addressed(wanted).count(), wanted.len());
        }
    }
}
