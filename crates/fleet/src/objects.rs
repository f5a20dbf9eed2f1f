//! Objects of any kind: creating and deleting them, and their paths in status entries.

use clusters::cluster::Cluster;
use diagnosis::{JsonRef, Object};
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use record::ObjectPath;
use serde_json::{Value, json};

use crate::error::FleetError;
use crate::kinds::ResourceKind;

/// Path of the object that a status entry names with the fields `kind`, `namespace` and `name`, e.g. an entry of
/// `failedPlacements` or of a sync's result.
#[must_use]
pub fn path_in_entry(entry: JsonRef<'_>) -> ObjectPath {
    let entry = Object::new(entry);
    let name = entry.str("/name").unwrap_or_default();
    ObjectPath::new(entry.kind(), entry.str("/namespace"), name)
}

/// Creates an object unless it exists already.
pub(crate) async fn create(
    cluster: &Cluster,
    kind: ResourceKind,
    namespace: Option<&str>,
    value: Value,
) -> Result<(), FleetError> {
    let action = format!("create {}/{}", kind.kind, crate::install::name(&value));
    let object: DynamicObject = serde_json::from_value(value)
        .map_err(|e| FleetError::Unreadable { what: kind.kind.into(), why: e.to_string() })?;
    match kind.api(&cluster.client, namespace).create(&PostParams::default(), &object).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        Err(error) => Err(FleetError::api(&cluster.name, action)(error)),
    }
}

/// Applies a cluster-scoped object as it is (server-side apply), whether it exists already or not.
pub(crate) async fn apply(cluster: &Cluster, kind: ResourceKind, value: &Value) -> Result<(), FleetError> {
    let name = crate::install::name(value);
    let params = PatchParams::apply(crate::install::FIELD_MANAGER).force();
    let applied = kind.api(&cluster.client, None).patch(name, &params, &Patch::Apply(value)).await;
    applied.map(drop).map_err(FleetError::api(&cluster.name, format!("apply {}/{name}", kind.kind)))
}

/// Adds a finalizer to those that an object has.
///
/// # Errors
/// Returns an error if there is no such object, or the cluster refuses the request.
pub async fn add_finalizer(
    cluster: &Cluster,
    kind: ResourceKind,
    namespace: Option<&str>,
    name: &str,
    finalizer: &str,
) -> Result<(), FleetError> {
    let action = format!("add a finalizer to {}/{name}", kind.kind);
    change_finalizers(cluster, kind, namespace, name, |finalizers| finalizers.push(finalizer.to_owned()))
        .await
        .map_err(FleetError::api(&cluster.name, action))
}

/// Removes a finalizer from an object. An object that is gone or doesn't have the finalizer is no error.
///
/// # Errors
/// Returns an error if the cluster refuses the request.
pub async fn remove_finalizer(
    cluster: &Cluster,
    kind: ResourceKind,
    namespace: Option<&str>,
    name: &str,
    finalizer: &str,
) -> Result<(), FleetError> {
    let action = format!("remove a finalizer from {}/{name}", kind.kind);
    let changed = change_finalizers(cluster, kind, namespace, name, |finalizers| finalizers.retain(|f| f != finalizer));
    unless_gone(changed.await, cluster, action)
}

/// Removes all finalizers from an object. An object that is gone is no error.
///
/// # Errors
/// Returns an error if the cluster refuses the request.
pub async fn remove_all_finalizers(
    cluster: &Cluster,
    kind: ResourceKind,
    namespace: Option<&str>,
    name: &str,
) -> Result<(), FleetError> {
    let action = format!("remove the finalizers from {}/{name}", kind.kind);
    unless_gone(change_finalizers(cluster, kind, namespace, name, Vec::clear).await, cluster, action)
}

/// Returns the error of a request about an object, unless the object is gone.
fn unless_gone<T>(answer: Result<T, kube::Error>, cluster: &Cluster, action: String) -> Result<(), FleetError> {
    match answer {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        answer => answer.map(drop).map_err(FleetError::api(&cluster.name, action)),
    }
}

/// Changes the finalizers of an object. After a conflict with a controller's write, the object is read again.
async fn change_finalizers(
    cluster: &Cluster,
    kind: ResourceKind,
    namespace: Option<&str>,
    name: &str,
    change: impl Fn(&mut Vec<String>),
) -> Result<(), kube::Error> {
    let api = kind.api(&cluster.client, namespace);
    loop {
        let metadata = api.get_metadata(name).await?.metadata;
        let mut finalizers = metadata.finalizers.unwrap_or_default();
        change(&mut finalizers);
        let version = metadata.resource_version;
        let patch = Patch::Merge(json!({"metadata": {"finalizers": finalizers, "resourceVersion": version}}));
        match api.patch(name, &PatchParams::default(), &patch).await {
            Err(kube::Error::Api(status)) if status.is_conflict() => {}
            patched => return patched.map(drop),
        }
    }
}

/// Deletes an object. An object that is gone already is no error.
///
/// # Errors
/// Returns an error if the cluster refuses the request.
pub async fn delete(
    cluster: &Cluster,
    kind: ResourceKind,
    namespace: Option<&str>,
    name: &str,
) -> Result<(), FleetError> {
    let deleted = kind.api(&cluster.client, namespace).delete(name, &DeleteParams::default()).await;
    unless_gone(deleted, cluster, format!("delete {}/{name}", kind.kind))
}
