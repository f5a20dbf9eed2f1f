//! The resources that a cluster of a bundle serves: those of its objects, and those that were read and have none.

use std::collections::BTreeMap;

use diagnosis::{ClusterSnapshot, GroupKind, HUB_KINDS, JsonRef, MEMBER_KINDS, SnapshotRole, UnreadKind, UnreadReason};
use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use serde::Deserialize;

use super::request::GroupVersion;
use super::well_known;
use crate::kinds::{self, CONFIG_MAP, CRD, EVENT, ResourceKind, SECRET};

/// Reason why there are no objects of kinds that hold secrets.
const LEFT_OUT: &str = "a bundle has no ConfigMaps and no Secrets";

/// Resource of an API server.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ServedResource {
    pub(super) version: GroupVersion,
    pub(super) kind: String,
    pub(super) plural: String,
    pub(super) namespaced: bool,
    pub(super) short_names: Vec<String>,
    pub(super) categories: Vec<String>,
    /// Columns of its `CustomResourceDefinition`, if the bundle has that.
    pub(super) columns: Option<Vec<PrinterColumn>>,
    /// Reason why objects of the resource are missing.
    pub(super) missing: Option<String>,
    /// True if some objects are in the bundle, or if it is known that there are none.
    pub(super) was_read: bool,
}

/// Column of a `CustomResourceDefinition`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PrinterColumn {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) type_: String,
    #[serde(default)]
    pub(super) format: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) priority: i32,
    pub(super) json_path: String,
}

/// Part of a `CustomResourceDefinition` that discovery and tables need.
#[derive(Deserialize)]
struct Definition {
    spec: DefinitionSpec,
}

#[derive(Deserialize)]
struct DefinitionSpec {
    group: String,
    names: DefinitionNames,
    scope: String,
    #[serde(default)]
    versions: Vec<DefinitionVersion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DefinitionNames {
    kind: String,
    plural: String,
    #[serde(default)]
    short_names: Vec<String>,
    #[serde(default)]
    categories: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DefinitionVersion {
    name: String,
    #[serde(default)]
    additional_printer_columns: Vec<PrinterColumn>,
}

impl ServedResource {
    /// Plural name with the group, as API servers write it in errors.
    pub(super) fn full_name(&self) -> String {
        if self.version.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.version.group)
        }
    }

    fn known(kind: ResourceKind) -> Self {
        Self {
            version: GroupVersion::new(kind.group, kind.version),
            kind: kind.kind.to_owned(),
            plural: kind.plural.to_owned(),
            namespaced: kind.namespaced,
            short_names: well_known::short_names(kind.group, kind.kind),
            categories: Vec::new(),
            columns: None,
            missing: None,
            was_read: true,
        }
    }

    /// Resource of a kind that fleetdrill doesn't know, with the plural that most kinds have.
    fn guessed(version: GroupVersion, kind: &str, namespaced: bool) -> Self {
        let guess = ApiResource::from_gvk(&GroupVersionKind::gvk(&version.group, &version.version, kind));
        Self {
            short_names: well_known::short_names(&version.group, kind),
            version,
            kind: kind.to_owned(),
            plural: guess.plural,
            namespaced,
            categories: Vec::new(),
            columns: None,
            missing: None,
            was_read: true,
        }
    }

    fn defined(definition: &Definition, version: GroupVersion) -> Self {
        let DefinitionSpec { names, scope, versions, .. } = &definition.spec;
        let of_version = versions.iter().find(|candidate| candidate.name == version.version);
        Self {
            kind: names.kind.clone(),
            plural: names.plural.clone(),
            namespaced: scope == "Namespaced",
            short_names: names.short_names.clone(),
            categories: names.categories.clone(),
            columns: of_version.map(|version| version.additional_printer_columns.clone()),
            version,
            missing: None,
            was_read: true,
        }
    }
}

/// Returns the resources of a cluster, by group, version and plural name.
pub(super) fn of_cluster(cluster: &ClusterSnapshot) -> Vec<ServedResource> {
    if cluster.unreachable.is_some() {
        return Vec::new();
    }
    let mut resources = of_objects(cluster);
    let read = match cluster.role {
        SnapshotRole::Hub => HUB_KINDS,
        SnapshotRole::Member => MEMBER_KINDS,
    };
    let read = read.iter().filter_map(|GroupKind { group, kind }| kinds::find(group, kind)).chain([EVENT]);
    resources.extend(missing_from(&resources, read.map(ServedResource::known)));
    let left_out = [SECRET, CONFIG_MAP].map(|kind| ServedResource {
        missing: Some(LEFT_OUT.to_owned()),
        was_read: false,
        ..ServedResource::known(kind)
    });
    resources.extend(missing_from(&resources, left_out.into_iter()));
    for unread in &cluster.unread {
        mark_unread(&mut resources, unread);
    }
    resources.sort_by(|a, b| {
        let key = |resource: &ServedResource| (resource.version.api_version(), resource.plural.clone());
        key(a).cmp(&key(b))
    });
    resources
}

/// Returns the resources whose kinds aren't in a list.
fn missing_from(known: &[ServedResource], of: impl Iterator<Item = ServedResource>) -> Vec<ServedResource> {
    let is_known = |resource: &ServedResource| {
        known.iter().any(|known| known.version.group == resource.version.group && known.kind == resource.kind)
    };
    of.filter(|resource| !is_known(resource)).collect()
}

/// Returns the resources of all objects.
fn of_objects(cluster: &ClusterSnapshot) -> Vec<ServedResource> {
    let definitions = definitions(cluster);
    let mut found: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    for object in cluster.objects.iter() {
        let key = (object.str("/apiVersion").unwrap_or_default(), object.kind());
        *found.entry(key).or_default() |= object.namespace().is_some();
    }
    let found = found.into_iter().filter(|((api_version, kind), _)| !api_version.is_empty() && !kind.is_empty());
    let resources = found.map(|((api_version, kind), namespaced)| {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let of_version = GroupVersion::new(group, version);
        let is_of_kind =
            |definition: &&Definition| definition.spec.group == group && definition.spec.names.kind == kind;
        if let Some(definition) = definitions.iter().find(is_of_kind) {
            return ServedResource::defined(definition, of_version);
        }
        match kinds::find(group, kind) {
            Some(known) => ServedResource { version: of_version, ..ServedResource::known(known) },
            None => ServedResource::guessed(of_version, kind, namespaced),
        }
    });
    resources.collect()
}

/// Returns the definitions of custom resources. Of some only the metadata is in the bundle.
fn definitions(cluster: &ClusterSnapshot) -> Vec<Definition> {
    let objects = cluster.objects.of_kind(CRD.group, CRD.kind).map(|object| object.value());
    objects.map(JsonRef::to_value).filter_map(|value| serde_json::from_value(value).ok()).collect()
}

/// Notes of a resource that its objects weren't read, or not all of them.
fn mark_unread(resources: &mut Vec<ServedResource>, unread: &UnreadKind) {
    let is_it =
        |resource: &ServedResource| resource.version.group == unread.group && resource.plural == unread.resource;
    let position = resources.iter().position(is_it);
    if unread.reason == UnreadReason::NotServed {
        // The cluster had no such resource.
        if let Some(position) = position {
            resources.remove(position);
        }
        return;
    }
    let known = kinds::ALL.iter().find(|kind| kind.group == unread.group && kind.plural == unread.resource);
    let resource = match (position, known) {
        (Some(position), _) => &mut resources[position],
        (None, Some(kind)) => {
            resources.push(ServedResource::known(*kind));
            let Some(last) = resources.last_mut() else { return };
            last
        }
        (None, None) => return,
    };
    let what = if unread.message.is_empty() { "no reason is known" } else { &unread.message };
    resource.missing = Some(format!("it couldn't be read when the bundle was taken: {what}"));
    resource.was_read = false;
}
