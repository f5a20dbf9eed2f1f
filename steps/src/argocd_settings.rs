//! Settings in Argo CD's ConfigMap.

use clusters::cluster::Cluster;
use fleet::FleetError;
use fleet::argocd;
use fleet::kinds;
use kube::api::{Patch, PatchParams};
use serde_json::{Map, Value, json};

use crate::error::StepError;

/// Name of the ConfigMap with Argo CD's settings.
pub(crate) const CONFIG_MAP: &str = "argocd-cm";

/// Removes the settings that the scenario has set.
pub(crate) async fn take_back(hub: &Cluster, settings: &[String]) -> Result<(), StepError> {
    let data: Map<String, Value> = settings.iter().map(|key| (key.clone(), Value::Null)).collect();
    if data.is_empty() { Ok(()) } else { patch(hub, data).await }
}

/// Merges data into the ConfigMap.
pub(crate) async fn patch(hub: &Cluster, data: Map<String, Value>) -> Result<(), StepError> {
    let api = kinds::CONFIG_MAP.api(&hub.client, Some(argocd::NAMESPACE));
    let patched = api.patch(CONFIG_MAP, &PatchParams::default(), &Patch::Merge(json!({"data": data}))).await;
    patched.map_err(FleetError::api("hub", format!("change ConfigMap/{CONFIG_MAP}")))?;
    Ok(())
}
