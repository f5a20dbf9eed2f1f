//! Objects that [`diagnosis::wanted_objects`] asks for. Their kinds are known to the API server alone.

use std::collections::{BTreeMap, HashMap};

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
        let mut reader = WantedObjectReader::new(&asked.client, redactor);
        for wanted in wanted.iter().filter(|wanted| wanted.cluster == cluster.name) {
            let read = reader.read(wanted).await;
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

/// Reads wanted objects of one cluster. What the API server calls each resource is asked once.
pub(crate) struct WantedObjectReader<'a> {
    client: &'a Client,
    redactor: &'a Redactor,
    /// Resources by group and version; none where the API server didn't tell.
    resources: HashMap<(&'a str, Option<&'a str>), Vec<ApiResource>>,
}

impl<'a> WantedObjectReader<'a> {
    pub(crate) fn new(client: &'a Client, redactor: &'a Redactor) -> Self {
        Self { client, redactor, resources: HashMap::new() }
    }

    /// Reads wanted objects; nothing if the API server doesn't serve the resource, or they can't be read.
    pub(crate) async fn read(&mut self, wanted: &'a WantedObjects) -> Vec<Value> {
        let redactor = self.redactor;
        let Some(resource) = self.resource(wanted).await else { return Vec::new() };
        let api = match &wanted.namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None => Api::all_with(self.client.clone(), &resource),
        };
        let object = |item: DynamicObject| {
            let object = serde_json::to_value(item).unwrap_or_default();
            cleaned_as(&resource.api_version, &resource.kind, object, redactor)
        };
        items(&api, wanted).await.unwrap_or_default().into_iter().map(object).collect()
    }

    /// Returns the kind of a resource; `None` if the API server doesn't serve it.
    async fn resource(&mut self, wanted: &'a WantedObjects) -> Option<ApiResource> {
        let key = (wanted.group.as_str(), wanted.version.as_deref());
        if !self.resources.contains_key(&key) {
            let served = resources(self.client, wanted).await.unwrap_or_default();
            self.resources.insert(key, served);
        }
        let is_wanted = |resource: &&ApiResource| match &wanted.resource {
            WantedResource::Plural(plural) => resource.plural == *plural,
            WantedResource::Kind(kind) => resource.kind == *kind,
        };
        self.resources.get(&key)?.iter().find(is_wanted).cloned()
    }
}

/// Reads objects, or their metadata alone.
async fn items(api: &Api<DynamicObject>, wanted: &WantedObjects) -> Result<Vec<DynamicObject>, kube::Error> {
    let metadata_alone = |item: PartialObjectMeta<DynamicObject>| DynamicObject {
        types: None,
        metadata: item.metadata,
        data: Value::Null,
    };
    Ok(match (wanted.part, &wanted.name) {
        (WantedPart::Metadata, Some(name)) => {
            api.get_metadata_opt(name).await?.into_iter().map(metadata_alone).collect()
        }
        (WantedPart::Metadata, None) => {
            api.list_metadata(&ListParams::default()).await?.items.into_iter().map(metadata_alone).collect()
        }
        (WantedPart::Whole, Some(name)) => api.get_opt(name).await?.into_iter().collect(),
        (WantedPart::Whole, None) => api.list(&ListParams::default()).await?.items,
    })
}

/// Returns the resources of a wanted object's group and version, or of the version that the API server prefers.
async fn resources(client: &Client, wanted: &WantedObjects) -> Result<Vec<ApiResource>, kube::Error> {
    let group = discovery::group(client, &wanted.group).await?;
    let resources = match &wanted.version {
        Some(version) => group.versioned_resources(version),
        None => group.recommended_resources(),
    };
    Ok(resources.into_iter().map(|(resource, _)| resource).collect())
}
