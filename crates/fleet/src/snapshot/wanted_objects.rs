//! Objects that [`diagnosis::wanted_objects`] asks for. Their kinds are known to the API server alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use diagnosis::{AbsentObject, Snapshot, WantedObjects, WantedPart, WantedResource};
use futures::future::join_all;
use futures::{StreamExt as _, stream};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::PartialObjectMeta;
use kube::discovery;
use kube::error::DiscoveryError;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::applications::asked;
use super::lists::ClusterAccess;
use crate::pages::cleaned_as;
use crate::redact::Redactor;

/// Requests to a cluster at the same time.
const REQUESTS_AT_ONCE: usize = 8;

/// Adds to a snapshot the objects that rules want besides the kinds which are read anyway, and what the clusters say not to have. What
/// can't be read until `end` is left out: without it the rules find less, but nothing wrong.
pub(super) async fn add(
    snapshot: &mut Snapshot,
    hub: &ClusterAccess,
    members: &BTreeMap<String, ClusterAccess>,
    redactor: &Redactor,
    end: Instant,
) {
    let wanted = diagnosis::wanted_objects(snapshot);
    if wanted.is_empty() {
        return;
    }
    let wanted = &wanted;
    let additions = snapshot.clusters.iter_mut().map(|cluster| async move {
        let Some(asked) = asked(cluster, hub, members) else { return };
        let reader = WantedObjectReader { client: &asked.client, redactor, end };
        let of_it: Vec<&WantedObjects> = wanted.iter().filter(|wanted| wanted.cluster == cluster.name).collect();
        let answers = reader.read(&of_it).await;
        let is_new = |object: &Value| {
            let object = diagnosis::Object::new(object);
            cluster.object(object.group(), object.kind(), object.namespace(), object.name()).is_none()
        };
        let (objects, absent): (Vec<_>, Vec<_>) =
            answers.into_iter().map(|answer| (answer.objects, answer.absent)).unzip();
        let new: Vec<_> = objects.into_iter().flatten().filter(is_new).collect();
        cluster.objects.extend(new);
        cluster.absent.extend(absent.into_iter().flatten());
    });
    join_all(additions).await;
}

/// Answer of an API server about wanted objects. Nothing if there was no answer.
#[derive(Debug, Default)]
pub(crate) struct WantedAnswer {
    /// Objects, without secrets.
    pub objects: Vec<Value>,
    /// Object that was asked for by name, and doesn't exist.
    pub absent: Option<AbsentObject>,
}

/// Resources by group and version; none where the API server didn't tell.
type ServedResources<'a> = HashMap<GroupVersion<'a>, Option<Vec<ApiResource>>>;

/// Group and version of wanted objects; `None` for the version that the API server prefers.
type GroupVersion<'a> = (&'a str, Option<&'a str>);

/// Reads wanted objects of one cluster.
pub(crate) struct WantedObjectReader<'a> {
    pub client: &'a Client,
    pub redactor: &'a Redactor,
    /// Deadline for all answers.
    pub end: Instant,
}

impl WantedObjectReader<'_> {
    /// Reads wanted objects, several at the same time. Returns an answer for each, in the same order.
    pub(crate) async fn read(&self, wanted: &[&WantedObjects]) -> Vec<WantedAnswer> {
        let served = self.served(wanted).await;
        let served = &served;
        let answers: Vec<_> = wanted
            .iter()
            .map(|wanted| async move {
                let Some(Some(resources)) = served.get(&group_version(wanted)) else { return WantedAnswer::default() };
                timeout_at(self.end, self.answer(wanted, resources)).await.unwrap_or_default()
            })
            .collect();
        stream::iter(answers).buffered(REQUESTS_AT_ONCE).collect().await
    }

    /// Asks what the API server calls the resources of each group and version.
    async fn served<'w>(&self, wanted: &[&'w WantedObjects]) -> ServedResources<'w> {
        let versions: BTreeSet<GroupVersion<'w>> = wanted.iter().map(|wanted| group_version(wanted)).collect();
        let asked: Vec<_> = versions
            .into_iter()
            .map(|version| async move {
                let resources = timeout_at(self.end, resources(self.client, version)).await;
                (version, resources.ok().and_then(Result::ok))
            })
            .collect();
        stream::iter(asked).buffered(REQUESTS_AT_ONCE).collect().await
    }

    async fn answer(&self, wanted: &WantedObjects, served: &[ApiResource]) -> WantedAnswer {
        let is_wanted = |resource: &&ApiResource| match &wanted.resource {
            WantedResource::Plural(plural) => resource.plural == *plural,
            WantedResource::Kind(kind) => resource.kind == *kind,
        };
        let Some(resource) = served.iter().find(is_wanted) else {
            return WantedAnswer { absent: absent(wanted, None), ..WantedAnswer::default() };
        };
        let api = match &wanted.namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, resource),
            None => Api::all_with(self.client.clone(), resource),
        };
        let object = |item: DynamicObject| {
            let object = serde_json::to_value(item).unwrap_or_default();
            cleaned_as(&resource.api_version, &resource.kind, object, self.redactor)
        };
        match items(&api, wanted).await {
            Ok(items) if items.is_empty() => {
                WantedAnswer { absent: absent(wanted, Some(resource)), ..WantedAnswer::default() }
            }
            Ok(items) => WantedAnswer { objects: items.into_iter().map(object).collect(), absent: None },
            Err(_) => WantedAnswer::default(),
        }
    }
}

fn group_version(wanted: &WantedObjects) -> GroupVersion<'_> {
    (&wanted.group, wanted.version.as_deref())
}

/// Returns the single wanted object that a cluster doesn't have; `None` if all objects of a resource were wanted.
fn absent(wanted: &WantedObjects, resource: Option<&ApiResource>) -> Option<AbsentObject> {
    let kind = match (&wanted.resource, resource) {
        (WantedResource::Kind(kind), _) => kind,
        (WantedResource::Plural(_), Some(resource)) => &resource.kind,
        (WantedResource::Plural(_), None) => return None,
    };
    Some(AbsentObject {
        group: wanted.group.clone(),
        kind: kind.clone(),
        namespace: wanted.namespace.clone(),
        name: wanted.name.clone()?,
    })
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

/// Returns the resources of a group and version. None if the API server doesn't serve the group, or not in the version.
async fn resources(client: &Client, (group, version): GroupVersion<'_>) -> Result<Vec<ApiResource>, kube::Error> {
    let group = match discovery::group(client, group).await {
        Err(kube::Error::Discovery(DiscoveryError::MissingApiGroup(_))) => return Ok(Vec::new()),
        group => group?,
    };
    let resources = match version {
        Some(version) => group.versioned_resources(version),
        None => group.recommended_resources(),
    };
    Ok(resources.into_iter().map(|(resource, _)| resource).collect())
}
