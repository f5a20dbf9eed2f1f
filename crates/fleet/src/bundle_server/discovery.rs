//! Discovery: the groups, versions and resources that a cluster of a bundle has.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use kube::core::Version;
use serde_json::{Value, json};

use super::cluster::ServedCluster;
use super::request::GroupVersion;
use super::resource::ServedResource;
use super::status::ApiError;
use crate::kinds::POD;

/// `/version`. A bundle doesn't know the version of the cluster's API server.
pub(super) fn version() -> Value {
    json!({"major": "0", "minor": "0", "gitVersion": "v0.0.0-bundle", "gitCommit": "", "gitTreeState": "", "buildDate": "",
        "goVersion": "", "compiler": "", "platform": ""})
}

/// `/api`.
pub(super) fn core_versions() -> Value {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

/// `/apis`.
pub(super) fn groups(cluster: &ServedCluster) -> Value {
    let groups: Vec<Value> = versions(cluster).iter().map(|(group, versions)| group_entry(group, versions)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/GROUP`.
pub(super) fn group(cluster: &ServedCluster, name: &str) -> Result<Value, ApiError> {
    let versions = versions(cluster);
    let mut entry = group_entry(name, versions.get(name).ok_or(ApiError::NoResource)?);
    entry["kind"] = "APIGroup".into();
    entry["apiVersion"] = "v1".into();
    Ok(entry)
}

/// `/api/v1` or `/apis/GROUP/VERSION`.
pub(super) fn resources(cluster: &ServedCluster, version: &GroupVersion) -> Result<Value, ApiError> {
    let of_version: Vec<&ServedResource> =
        cluster.resources.iter().filter(|resource| resource.version == *version).collect();
    let is_core = *version == GroupVersion::new("", "v1");
    if of_version.is_empty() && !is_core {
        return Err(ApiError::NoResource);
    }
    let mut resources: Vec<Value> = of_version.iter().map(|resource| resource_entry(resource)).collect();
    if of_version.iter().any(|resource| resource.version.group.is_empty() && resource.plural == POD.plural) {
        resources
            .push(json!({"name": "pods/log", "singularName": "", "namespaced": true, "kind": "Pod", "verbs": ["get"]}));
    }
    let group_version = version.api_version();
    Ok(json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources}))
}

/// Versions by group, the preferred one first, without the core group.
fn versions(cluster: &ServedCluster) -> BTreeMap<&str, Vec<&str>> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for GroupVersion { group, version } in cluster.resources.iter().map(|resource| &resource.version) {
        if !group.is_empty() {
            groups.entry(group).or_default().push(version);
        }
    }
    for versions in groups.values_mut() {
        versions.sort_by_cached_key(|version| Reverse(Version::parse(version).priority()));
        versions.dedup();
    }
    groups
}

fn group_entry(name: &str, versions: &[&str]) -> Value {
    let entry = |version: &&str| json!({"groupVersion": format!("{name}/{version}"), "version": version});
    let entries: Vec<Value> = versions.iter().map(entry).collect();
    json!({"name": name, "versions": entries, "preferredVersion": entries.first()})
}

fn resource_entry(resource: &ServedResource) -> Value {
    let ServedResource { kind, plural, namespaced, short_names, categories, .. } = resource;
    json!({
        "name": plural, "singularName": kind.to_lowercase(), "namespaced": namespaced, "kind": kind,
        "verbs": ["get", "list", "watch"], "shortNames": short_names, "categories": categories,
    })
}
