//! Making and deleting objects of any kind.

use clusters::cluster::Cluster;
use kube::api::{DeleteParams, DynamicObject, PostParams};
use serde_json::Value;

use crate::error::FleetError;
use crate::kinds::Kind;

/// Creates an object unless it exists already.
pub(crate) async fn create(
    cluster: &Cluster,
    kind: Kind,
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

/// Deletes an object; no error when it is gone already.
///
/// # Errors
/// When the cluster refuses.
pub async fn delete(cluster: &Cluster, kind: Kind, namespace: Option<&str>, name: &str) -> Result<(), FleetError> {
    match kind.api(&cluster.client, namespace).delete(name, &DeleteParams::default()).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        Err(error) => Err(FleetError::api(&cluster.name, format!("delete {}/{name}", kind.kind))(error)),
    }
}
