//! Objects of any kind: creating and deleting them, and their paths in status entries.

use clusters::cluster::Cluster;
use diagnosis::Object;
use kube::api::{DeleteParams, DynamicObject, PostParams};
use record::ObjectPath;
use serde_json::Value;

use crate::error::FleetError;
use crate::kinds::ResourceKind;

/// Path of the object that a status entry names with the fields `kind`, `namespace` and `name`, e.g. an entry of
/// `failedPlacements` or of a sync's result.
pub(crate) fn path_in_entry(entry: &Value) -> ObjectPath {
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
    match kind.api(&cluster.client, namespace).delete(name, &DeleteParams::default()).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        Err(error) => Err(FleetError::api(&cluster.name, format!("delete {}/{name}", kind.kind))(error)),
    }
}
