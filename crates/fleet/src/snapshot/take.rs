//! One list per kind and cluster, all at once.
//!
//! Secrets are taken out of the objects as they come ([`Redactor`]), so that no finding can quote one, and a diagnosis
//! of a bundle says the same as a live one.

use std::collections::BTreeMap;

use diagnosis::{ClusterSnapshot, Role, Snapshot};
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
    /// Lists that the hub didn't give, with the reason. A member that didn't give one counts as not read at all.
    pub missing: Vec<(Kind, FleetError)>,
}

/// Lists a fleet's objects. A kind that the cluster doesn't know is left out; a member that can't be asked is in the
/// snapshot with the reason.
///
/// # Errors
/// When the hub can't be asked, or refuses a list that the diagnosis can't do without.
pub async fn take(hub: &Asked, members: &BTreeMap<String, Asked>) -> Result<Snapshot, FleetError> {
    let taken = take_what_can_be_had(hub, members, &Redactor::default()).await;
    match taken.missing.into_iter().find(|(kind, error)| is_needed(*kind, error)) {
        Some((_, error)) => Err(error),
        None => Ok(taken.snapshot),
    }
}

/// Lists what a fleet's clusters give. A hub that gives nothing at all is in the snapshot with the reason. What only
/// applications need is read where there is one.
pub async fn take_what_can_be_had(hub: &Asked, members: &BTreeMap<String, Asked>, redactor: &Redactor) -> Taken {
    let on_hub = objects(HUB, &hub.client, addressed(diagnosis::HUB_KINDS), redactor);
    let on_members = join_all(members.iter().map(|(name, member)| async move {
        let (objects, missing) = objects(name, &member.client, addressed(diagnosis::MEMBER_KINDS), redactor).await;
        match missing.first() {
            Some((_, error)) => cluster(name, Role::Member, member, Vec::new(), Some(error)),
            None => cluster(name, Role::Member, member, objects, None),
        }
    }));
    let ((objects, missing), on_members) = futures::join!(on_hub, on_members);
    let nothing = missing.first().filter(|_| missing.len() == diagnosis::HUB_KINDS.len());
    let on_hub = cluster(HUB, Role::Hub, hub, objects, nothing.map(|(_, error)| error));
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

fn cluster(name: &str, role: Role, asked: &Asked, objects: Vec<Value>, error: Option<&FleetError>) -> ClusterSnapshot {
    let (name, server) = (name.to_owned(), asked.server.clone());
    ClusterSnapshot { name, role, server, objects, logs: Vec::new(), unreachable: error.map(|e| in_full(e)) }
}

/// All objects of some kinds, and the lists that weren't given.
pub(super) async fn objects(
    cluster: &str,
    client: &Client,
    kinds: impl Iterator<Item = Kind>,
    redactor: &Redactor,
) -> (Vec<Value>, Vec<(Kind, FleetError)>) {
    let lists = join_all(kinds.map(|kind| async move { (kind, list(cluster, client, kind, redactor).await) }));
    let (mut objects, mut missing) = (Vec::new(), Vec::new());
    for (kind, list) in lists.await {
        match list {
            Ok(list) => objects.extend(list),
            Err(error) => missing.push((kind, error)),
        }
    }
    (objects, missing)
}

/// All objects of a kind, without secrets; none where the cluster doesn't know the kind.
pub(crate) async fn list(
    cluster: &str,
    client: &Client,
    kind: Kind,
    redactor: &Redactor,
) -> Result<Vec<Value>, FleetError> {
    let api = kind.api(client, None);
    let list = if kind == CRD {
        // Their schemas are larger than all else together, and nothing reads them.
        let metadata = api.list_metadata(&ListParams::default()).await;
        metadata.map(|list| list.items.into_iter().map(|item| metadata_only(kind, item)).collect())
    } else {
        api.list(&ListParams::default()).await.map(|list| list.items)
    };
    match list {
        Ok(list) => Ok(list.into_iter().map(|object| whole(kind, object, redactor)).collect()),
        // An unknown group is refused without a reason.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
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
