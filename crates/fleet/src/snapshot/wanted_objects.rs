//! Objects that [`diagnosis::wanted_objects`] asks for. Their kinds are known to the API server alone.

use std::collections::BTreeMap;

use diagnosis::{Snapshot, WantedObjects, WantedPart, WantedResource};
use futures::future::join_all;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::PartialObjectMeta;
use kube::discovery;
use serde_json::Value;

use super::applications::asked;
use super::lists::ClusterAccess;
use crate::pages::cleaned_as;
use crate::redact::Redactor;

/// Adds to a snapshot the objects that rules want besides the kinds which are read anyway. What can't be read is left out: without it
/// the rules find less, but nothing wrong.
pub(super) async fn add(
    snapshot: &mut Snapshot,
    hub: &ClusterAccess,
    members: &BTreeMap<String, ClusterAccess>,
    redactor: &Redactor,
) {
    let wanted = diagnosis::wanted_objects(snapshot);
    if wanted.is_empty() {
        return;
    }
    let wanted = &wanted;
    let additions = snapshot.clusters.iter_mut().map(|cluster| async move {
        let Some(asked) = asked(cluster, hub, members) else { return };
        for wanted in wanted.iter().filter(|wanted| wanted.cluster == cluster.name) {
            let read = read(&asked.client, wanted, redactor).await.unwrap_or_default();
            let is_new = |object: &Value| {
                let object = diagnosis::Object::new(object);
                cluster.object(object.group(), object.kind(), object.namespace(), object.name()).is_none()
            };
            let new: Vec<_> = read.into_iter().filter(is_new).collect();
            cluster.objects.extend(new);
        }
    });
    join_all(additions).await;
}

/// Reads wanted objects; nothing if the API server doesn't serve the resource.
pub(crate) async fn read(
    client: &Client,
    wanted: &WantedObjects,
    redactor: &Redactor,
) -> Result<Vec<Value>, kube::Error> {
    let Some(resource) = resource(client, wanted).await? else { return Ok(Vec::new()) };
    let api: Api<DynamicObject> = match &wanted.namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let metadata_alone = |item: PartialObjectMeta<DynamicObject>| DynamicObject {
        types: None,
        metadata: item.metadata,
        data: Value::Null,
    };
    let items: Vec<DynamicObject> = match (wanted.part, &wanted.name) {
        (WantedPart::Metadata, Some(name)) => {
            api.get_metadata_opt(name).await?.into_iter().map(metadata_alone).collect()
        }
        (WantedPart::Metadata, None) => {
            api.list_metadata(&ListParams::default()).await?.items.into_iter().map(metadata_alone).collect()
        }
        (WantedPart::Whole, Some(name)) => api.get_opt(name).await?.into_iter().collect(),
        (WantedPart::Whole, None) => api.list(&ListParams::default()).await?.items,
    };
    let object = |item: DynamicObject| {
        let object = serde_json::to_value(item).unwrap_or_default();
        cleaned_as(&resource.api_version, &resource.kind, object, redactor)
    };
    Ok(items.into_iter().map(object).collect())
}

/// Returns the kind of a resource; `None` if the API server doesn't serve it.
async fn resource(client: &Client, wanted: &WantedObjects) -> Result<Option<ApiResource>, kube::Error> {
    let group = discovery::group(client, &wanted.group).await?;
    let resources = match &wanted.version {
        Some(version) => group.versioned_resources(version),
        None => group.recommended_resources(),
    };
    let is_wanted = |resource: &ApiResource| match &wanted.resource {
        WantedResource::Plural(plural) => resource.plural == *plural,
        WantedResource::Kind(kind) => resource.kind == *kind,
    };
    Ok(resources.into_iter().map(|(resource, _)| resource).find(is_wanted))
}
