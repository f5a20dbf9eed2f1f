//! Search for the origin of an object on a member.
//!
//! KubeFleet's agent makes an `AppliedWork` an owner of each object that it applies (v0.1.2, v0.3.1). The `AppliedWork` names the Work on
//! the hub; labels and an annotation of the Work name the placement, the binding and the resource snapshot.

use std::collections::BTreeSet;

use diagnosis::kubefleet::{
    ENVELOPE_NAME, ENVELOPE_NAMESPACE, PARENT_BINDING, PARENT_PLACEMENT, PARENT_PLACEMENT_NAMESPACE, member_namespace,
};
use diagnosis::{JsonRef, Object};
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::{Client, ResourceExt as _};
use record::{ManifestReport, ObjectOrigin, ObjectPath, ObjectWriter, WorkOrigin};
use serde_json::Value;

use crate::HUB;
use crate::error::FleetError;
use crate::kinds::{self, ResourceKind};

/// Annotation of a Work with the name of the resource snapshot that it was made of.
const SNAPSHOT_NAME: &str = "kubernetes-fleet.io/parent-resource-snapshot-name";

/// Number of owners that are followed at most.
const MAX_OWNERS: usize = 10;

/// Kind on a member, as its API server names it.
#[derive(Clone, Debug)]
pub struct ServedKind {
    resource: ApiResource,
    namespaced: bool,
}

impl ServedKind {
    /// True if objects of the kind live in namespaces.
    #[must_use]
    pub fn is_namespaced(&self) -> bool {
        self.namespaced
    }

    /// Name of the kind, e.g. `Deployment`.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.resource.kind
    }

    fn api(&self, client: &Client, namespace: Option<&str>) -> Api<DynamicObject> {
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &self.resource),
            None => Api::all_with(client.clone(), &self.resource),
        }
    }
}

/// Returns the kind that a word means on a cluster, as for `kubectl get`: a kind, plural, singular or short name, with or without
/// `.GROUP`. Core kinds win over those of other groups. `None` if the cluster serves no such kind.
///
/// # Errors
/// Returns an error if the API server doesn't answer.
pub async fn kind_called(cluster: &str, client: &Client, word: &str) -> Result<Option<ServedKind>, FleetError> {
    let word = word.to_lowercase();
    let (name, group) = word.split_once('.').map_or((word.as_str(), None), |(name, group)| (name, Some(group)));
    let failed = || FleetError::api(cluster, "list the API's resources");
    if group.is_none_or(str::is_empty) {
        let resources = client.list_core_api_resources("v1").await.map_err(failed())?;
        if let Some(found) = called(&resources, "", "v1", name) {
            return Ok(Some(found));
        }
    }
    let groups = client.list_api_groups().await.map_err(failed())?.groups;
    for found in groups.into_iter().filter(|found| group.is_none_or(|group| group == found.name)) {
        let Some(version) = found.preferred_version.or_else(|| found.versions.into_iter().next()) else { continue };
        // An aggregated API server that is down keeps nobody from the kinds of others.
        let Ok(resources) = client.list_api_group_resources(&version.group_version).await else { continue };
        if let Some(found) = called(&resources, &found.name, &version.version, name) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn called(
    resources: &k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList,
    group: &str,
    version: &str,
    name: &str,
) -> Option<ServedKind> {
    let found = resources.resources.iter().find(|resource| kinds::is_called(resource, name))?;
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let resource = ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version,
        kind: found.kind.clone(),
        plural: found.name.clone(),
    };
    Some(ServedKind { resource, namespaced: found.namespaced })
}

/// Clients for a member and its hub.
#[derive(Clone)]
pub struct OriginReader {
    /// Client for the hub.
    pub hub: Client,
    /// Client for the member.
    pub member: Client,
    /// Name of the member.
    pub member_name: String,
}

/// Owner of an object on a member.
enum Owner {
    /// `AppliedWork`s: KubeFleet has applied the object.
    AppliedWorks(Vec<String>),
    /// Controller that has made the object.
    Controller {
        kind: String,
        api_version: String,
        name: String,
    },
    Nobody,
}

impl OriginReader {
    /// Finds the origin of an object.
    ///
    /// # Errors
    /// Returns an error if an API server doesn't answer, or refuses to show an object.
    pub async fn find(
        &self,
        kind: &ServedKind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<ObjectOrigin, FleetError> {
        let namespace = namespace.filter(|_| kind.namespaced);
        let path = ObjectPath::new(&kind.resource.kind, namespace, name);
        let mut origin =
            ObjectOrigin { object: path.clone(), member: self.member_name.clone(), ..ObjectOrigin::default() };
        let mut applied = ObjectIdentity { group: kind.resource.group.clone(), path };
        let mut kind = kind.clone();
        let mut names = Vec::new();
        let mut object = self.read(&kind, namespace, name).await?;
        origin.exists = object.is_some();
        origin.writers = object.as_ref().map(writers).unwrap_or_default();
        while let Some(read) = object.take() {
            match owner(&read) {
                Owner::AppliedWorks(found) => names = found,
                Owner::Controller { kind: owner, api_version, name } if origin.owners.len() < MAX_OWNERS => {
                    let group = api_version.split_once('/').map_or("", |(group, _)| group);
                    let word = if group.is_empty() { owner.clone() } else { format!("{owner}.{group}") };
                    let Some(found) = kind_called(&self.member_name, &self.member, &word).await? else { break };
                    kind = found;
                    object = self.read(&kind, namespace, &name).await?;
                    let path = ObjectPath::new(&owner, namespace.filter(|_| kind.namespaced), &name);
                    origin.owners.push(path.clone());
                    applied = ObjectIdentity { group: group.to_owned(), path };
                }
                Owner::Controller { .. } | Owner::Nobody => {}
            }
        }
        if names.is_empty() {
            // Owners that KubeFleet hasn't applied don't lead to a placement.
            let first = ObjectIdentity { group: applied.group.clone(), path: origin.object.clone() };
            let wanted = if origin.owners.is_empty() { &first } else { &applied };
            origin.wanted_by = self.containing(wanted).await?;
            return Ok(origin);
        }
        for name in names {
            let found = self.applied_work(&name, &applied).await?;
            origin.placed_by.push(found);
        }
        let placed: BTreeSet<ObjectPath> = origin.placed_by.iter().map(|found| found.work.clone()).collect();
        let mut wanted = self.containing(&applied).await?;
        wanted.retain(|found| !placed.contains(&found.work));
        origin.wanted_by = wanted;
        Ok(origin)
    }

    async fn read(
        &self,
        kind: &ServedKind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<DynamicObject>, FleetError> {
        let failed = FleetError::api(&self.member_name, format!("read {}/{name}", kind.resource.kind));
        kind.api(&self.member, namespace).get_opt(name).await.map_err(failed)
    }

    async fn on_hub(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Value>, FleetError> {
        let failed = FleetError::api(HUB, format!("read {}/{name}", kind.kind));
        let object = kind.api(&self.hub, namespace).get_opt(name).await.map_err(failed)?;
        Ok(object.map(|object| json(kind, &object)))
    }

    /// Reads the snapshot of an override. KubeFleet v0.14.0 serves its kinds as `v1alpha1` only.
    async fn override_snapshot(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Value>, FleetError> {
        match self.on_hub(kind, namespace, name).await {
            Err(error) if error.is_not_served() => {
                self.on_hub(ResourceKind { version: "v1alpha1", ..kind }, namespace, name).await
            }
            read => read,
        }
    }

    /// Follows an `AppliedWork` that owns an object to its placement.
    async fn applied_work(&self, name: &str, object: &ObjectIdentity) -> Result<WorkOrigin, FleetError> {
        let kind = kinds::APPLIED_WORK;
        let failed = FleetError::api(&self.member_name, format!("read {}/{name}", kind.kind));
        let read = kind.api(&self.member, None).get_opt(name).await.map_err(failed)?;
        let spec = read.as_ref().and_then(|read| read.data.get("spec"));
        let text = |field: &str| spec.and_then(|spec| spec.get(field)).and_then(Value::as_str).map(ToOwned::to_owned);
        let namespace = text("workNamespace").unwrap_or_else(|| member_namespace(&self.member_name));
        let work_name = text("workName").unwrap_or_else(|| name.to_owned());
        let work = self.on_hub(kinds::WORK, Some(&namespace), &work_name).await?;
        let applied_work = Some(ObjectPath::new(kind.kind, None, name));
        match work {
            Some(work) => Ok(WorkOrigin { applied_work, ..self.work(&work, object).await? }),
            None => Ok(WorkOrigin {
                applied_work,
                work: ObjectPath::new(kinds::WORK.kind, Some(&namespace), &work_name),
                ..WorkOrigin::default()
            }),
        }
    }

    /// Returns the Works of the member that contain an object.
    async fn containing(&self, object: &ObjectIdentity) -> Result<Vec<WorkOrigin>, FleetError> {
        let namespace = member_namespace(&self.member_name);
        let failed = FleetError::api(HUB, format!("list the Works of {}", self.member_name));
        let works = kinds::WORK.api(&self.hub, Some(&namespace)).list(&ListParams::default()).await.map_err(failed)?;
        let mut found = Vec::new();
        for work in works.items.iter().map(|work| json(kinds::WORK, work)) {
            let contains = Object::new(&work).list("/spec/workload/manifests").iter().map(Object::new);
            if contains.into_iter().any(|manifest| object.is(manifest)) {
                found.push(self.work(&work, object).await?);
            }
        }
        Ok(found)
    }

    /// Follows a Work to its placement.
    async fn work(&self, work: &Value, object: &ObjectIdentity) -> Result<WorkOrigin, FleetError> {
        let work = Object::new(work);
        let namespace = work.label(PARENT_PLACEMENT_NAMESPACE);
        let (placement_kind, binding_kind, snapshot_kind) = match namespace {
            Some(_) => (kinds::RESOURCE_PLACEMENT, kinds::RESOURCE_BINDING, kinds::RESOURCE_SNAPSHOT),
            None => {
                (kinds::CLUSTER_RESOURCE_PLACEMENT, kinds::CLUSTER_RESOURCE_BINDING, kinds::CLUSTER_RESOURCE_SNAPSHOT)
            }
        };
        let path = |kind: ResourceKind, name: &str| ObjectPath::new(kind.kind, namespace, name);
        let placement = work.label(PARENT_PLACEMENT);
        let placement_exists = match placement {
            Some(name) => self.on_hub(placement_kind, namespace, name).await?.is_some(),
            None => false,
        };
        let binding_name = work.label(PARENT_BINDING);
        let binding = match binding_name {
            Some(name) => self.on_hub(binding_kind, namespace, name).await?,
            None => None,
        };
        let annotations = work.at("/metadata/annotations");
        let snapshot = annotations.and_then(|annotations| annotations.get(SNAPSHOT_NAME)?.as_str());
        let snapshot = snapshot.or_else(|| Object::new(binding.as_ref()?).str("/spec/resourceSnapshotName"));
        let envelope = work.label(ENVELOPE_NAME).map(|name| {
            let within = work.label(ENVELOPE_NAMESPACE).filter(|namespace| !namespace.is_empty());
            let kind = if within.is_some() { kinds::ENVELOPE } else { kinds::CLUSTER_ENVELOPE };
            ObjectPath::new(kind.kind, within, name)
        });
        let overrides = match &binding {
            Some(binding) if envelope.is_none() => self.overrides(Object::new(binding), object).await?,
            _ => Vec::new(),
        };
        Ok(WorkOrigin {
            applied_work: None,
            work: work.path(),
            work_exists: true,
            manifest: report(work, object),
            placement: placement.map(|name| path(placement_kind, name)),
            placement_exists,
            binding: binding_name.map(|name| path(binding_kind, name)),
            resource_snapshot: snapshot.map(|name| path(snapshot_kind, name)),
            envelope,
            overrides,
        })
    }

    /// Returns the snapshots of a binding's overrides that select the object.
    async fn overrides(&self, binding: Object<'_>, object: &ObjectIdentity) -> Result<Vec<ObjectPath>, FleetError> {
        let mut found = Vec::new();
        for named in binding.list("/spec/resourceOverrideSnapshots") {
            let (namespace, name) = (text(named, "namespace"), text(named, "name"));
            let snapshot = self.override_snapshot(kinds::OVERRIDE_SNAPSHOT, Some(namespace), name).await?;
            let selects = snapshot.as_ref().is_some_and(|snapshot| {
                let selectors = Object::new(snapshot).list("/spec/overrideSpec/resourceSelectors");
                object.path.namespace.as_deref() == Some(namespace) && selectors.iter().any(|s| object.is_selected(s))
            });
            if selects {
                found.push(ObjectPath::new(kinds::OVERRIDE_SNAPSHOT.kind, Some(namespace), name));
            }
        }
        for named in binding.list("/spec/clusterResourceOverrideSnapshots").iter().filter_map(JsonRef::as_str) {
            let snapshot = self.override_snapshot(kinds::CLUSTER_OVERRIDE_SNAPSHOT, None, named).await?;
            let selects = snapshot.as_ref().is_some_and(|snapshot| {
                let selectors = Object::new(snapshot).list("/spec/overrideSpec/clusterResourceSelectors");
                selectors.iter().any(|selector| {
                    // A selected namespace stands for everything in it.
                    let is_namespace = text(selector, "kind") == kinds::NAMESPACE.kind
                        && object.path.namespace.as_deref() == Some(text(selector, "name"));
                    is_namespace || object.is_selected(selector)
                })
            });
            if selects {
                found.push(ObjectPath::new(kinds::CLUSTER_OVERRIDE_SNAPSHOT.kind, None, named));
            }
        }
        Ok(found)
    }
}

/// Group, kind, namespace and name of an object; its version may differ between hub and member.
struct ObjectIdentity {
    group: String,
    path: ObjectPath,
}

impl ObjectIdentity {
    fn is(&self, object: Object<'_>) -> bool {
        object.group() == self.group && object.path() == self.path
    }

    /// True if a selector of an override, or an identifier in a Work's status, names the object, whatever its namespace.
    fn is_selected(&self, selector: JsonRef<'_>) -> bool {
        text(selector, "group") == self.group
            && text(selector, "kind") == self.path.kind
            && text(selector, "name") == self.path.name
    }
}

fn text<'a>(value: JsonRef<'a>, field: &str) -> &'a str {
    value.get(field).and_then(JsonRef::as_str).unwrap_or_default()
}

/// Returns what a Work's status says of an object.
fn report(work: Object<'_>, object: &ObjectIdentity) -> Option<ManifestReport> {
    let namespace = object.path.namespace.as_deref().unwrap_or_default();
    let entry = work.list("/status/manifestConditions").iter().find(|entry| {
        entry.get("identifier").is_some_and(|id| object.is_selected(id) && text(id, "namespace") == namespace)
    })?;
    let conditions = diagnosis::conditions(Some(entry));
    let condition =
        ["Applied", "DiffReported"].iter().find_map(|type_| conditions.iter().find(|c| c.type_ == *type_))?;
    Some(ManifestReport {
        condition: condition.type_.clone(),
        status: condition.status.clone(),
        reason: condition.reason.clone(),
        message: condition.message.clone(),
    })
}

fn owner(object: &DynamicObject) -> Owner {
    let references = object.owner_references();
    let is_applied_work = |kind: &str, api_version: &str| {
        kind == kinds::APPLIED_WORK.kind && api_version.split('/').next() == Some(kinds::APPLIED_WORK.group)
    };
    let works: Vec<String> = references
        .iter()
        .filter(|reference| is_applied_work(&reference.kind, &reference.api_version))
        .map(|reference| reference.name.clone())
        .collect();
    if !works.is_empty() {
        return Owner::AppliedWorks(works);
    }
    match references.iter().find(|reference| reference.controller == Some(true)).or_else(|| references.first()) {
        Some(reference) => Owner::Controller {
            kind: reference.kind.clone(),
            api_version: reference.api_version.clone(),
            name: reference.name.clone(),
        },
        None => Owner::Nobody,
    }
}

/// Returns who has written an object outside of its status; the last one first.
fn writers(object: &DynamicObject) -> Vec<ObjectWriter> {
    let mut writers: Vec<ObjectWriter> = Vec::new();
    for entry in object.managed_fields() {
        if entry.subresource.as_deref().is_some_and(|part| !part.is_empty()) {
            continue;
        }
        let at = entry.time.as_ref().map(|time| time.0);
        let manager = entry.manager.clone().unwrap_or_default();
        match writers.iter_mut().find(|writer| writer.manager == manager) {
            Some(writer) => writer.at = writer.at.max(at),
            None => writers.push(ObjectWriter { manager, at }),
        }
    }
    writers.sort_by_key(|writer| std::cmp::Reverse(writer.at));
    writers
}

fn json(kind: ResourceKind, object: &DynamicObject) -> Value {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    value["apiVersion"] = kind.api_version().into();
    value["kind"] = kind.kind.into();
    value
}
