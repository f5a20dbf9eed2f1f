//! Taking what the diagnosis reads: one list per kind and cluster, all at once, read-only.

use std::collections::BTreeMap;

use diagnosis::{ClusterSnapshot, Role, Snapshot};
use futures::future::{join_all, try_join_all};
use kube::Client;
use kube::api::ListParams;
use serde_json::Value;

use crate::error::FleetError;
use crate::kinds::{self, Kind};

/// The kinds that the diagnosis reads, with what is needed to address them.
fn addressed(wanted: &'static [diagnosis::Kind]) -> impl Iterator<Item = Kind> {
    let find = |w: &diagnosis::Kind| kinds::ALL.iter().find(|k| k.group == w.group && k.kind == w.kind).copied();
    wanted.iter().filter_map(find)
}

/// Lists a fleet's objects. A kind that the cluster doesn't know is left out; a member that can't be asked is in the
/// snapshot with the reason.
///
/// # Errors
/// When the hub can't be asked, or refuses a list.
pub async fn take(hub: &Client, members: &BTreeMap<String, Client>) -> Result<Snapshot, FleetError> {
    let on_hub = async { Ok::<_, FleetError>(objects("hub", hub, diagnosis::HUB_KINDS).await?) };
    let on_members = join_all(members.iter().map(|(name, client)| async move {
        let (objects, unreachable) = match objects(name, client, diagnosis::MEMBER_KINDS).await {
            Ok(objects) => (objects, None),
            Err(error) => (Vec::new(), Some(in_full(&error))),
        };
        ClusterSnapshot { name: name.clone(), role: Role::Member, objects, unreachable }
    }));
    let (on_hub, on_members) = futures::join!(on_hub, on_members);
    let hub = ClusterSnapshot { name: "hub".into(), role: Role::Hub, objects: on_hub?, unreachable: None };
    let clusters = std::iter::once(hub).chain(on_members).collect();
    Ok(Snapshot { taken_at: jiff::Timestamp::now(), clusters })
}

async fn objects(cluster: &str, client: &Client, kinds: &'static [diagnosis::Kind]) -> Result<Vec<Value>, FleetError> {
    let lists = addressed(kinds).map(|kind| async move {
        match kind.api(client, None).list(&ListParams::default()).await {
            Ok(list) => Ok(list.items.into_iter().map(|object| whole(kind, object)).collect::<Vec<_>>()),
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(Vec::new()),
            Err(error) => Err(FleetError::api(cluster, format!("list {}", kind.plural))(error)),
        }
    });
    Ok(try_join_all(lists).await?.into_iter().flatten().collect())
}

/// Items of a list carry neither apiVersion nor kind; what managed a field is noise.
fn whole(kind: Kind, mut object: kube::api::DynamicObject) -> Value {
    object.metadata.managed_fields = None;
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.insert("apiVersion".into(), kind.api_version().into());
        fields.insert("kind".into(), kind.kind.into());
    }
    value
}

/// An error with all its causes on one line.
fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::addressed;

    #[test]
    fn every_kind_that_the_diagnosis_reads_can_be_addressed() {
        for wanted in [diagnosis::HUB_KINDS, diagnosis::MEMBER_KINDS] {
            assert_eq!(addressed(wanted).count(), wanted.len());
        }
    }
}
