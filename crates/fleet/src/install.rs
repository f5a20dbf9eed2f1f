//! Putting a version's CRDs on a cluster.

use std::path::{Path, PathBuf};

use clusters::local::Cluster;
use futures::future::try_join_all;
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use serde_json::Value;

use crate::error::FleetError;
use crate::kinds::CRD;

/// fleetdrill's name as a field manager.
pub const FIELD_MANAGER: &str = "fleetdrill";

/// Reads CRDs from their files, which takes longer than applying them: do it while clusters start.
pub(crate) async fn read_crds(files: Vec<PathBuf>) -> Result<Vec<Value>, FleetError> {
    let read = |file: &Path| -> Result<Value, String> {
        let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
        serde_saphyr::from_str(&text).map_err(|e| e.to_string())
    };
    let read_all = move || {
        let unreadable = |file: &Path, why| FleetError::Unreadable { what: file.display().to_string(), why };
        files.iter().map(|file| read(file).map_err(|why| unreadable(file, why))).collect()
    };
    let joined = tokio::task::spawn_blocking(read_all).await;
    joined.unwrap_or_else(|e| Err(FleetError::Unreadable { what: "the CRDs".into(), why: e.to_string() }))
}

/// Applies CRDs and waits until all of them are served.
pub(crate) async fn apply_crds(cluster: &Cluster, crds: impl Iterator<Item = &Value>) -> Result<(), FleetError> {
    let crds: Vec<&Value> = crds.collect();
    let api = CRD.api(&cluster.client, None);
    let params = PatchParams::apply(FIELD_MANAGER).force();
    let apply = |crd: &Value| {
        let name = name(crd).to_owned();
        let (api, params, crd) = (api.clone(), params.clone(), crd.clone());
        async move {
            let failed = FleetError::api(&cluster.name, format!("apply CustomResourceDefinition/{name}"));
            let object = serde_json::from_value(crd.clone())
                .map_err(|e| FleetError::Unreadable { what: name.clone(), why: e.to_string() })?;
            // Creating costs the API server much less than applying does.
            match api.create(&PostParams::default(), &object).await {
                Err(kube::Error::Api(status)) if status.is_already_exists() => {
                    api.patch(&name, &params, &Patch::Apply(crd)).await.map(drop).map_err(failed)
                }
                created => created.map(drop).map_err(failed),
            }
        }
    };
    try_join_all(crds.iter().map(|crd| apply(crd))).await?;
    established(cluster, &api, &crds).await
}

async fn established(cluster: &Cluster, api: &Api<DynamicObject>, crds: &[&Value]) -> Result<(), FleetError> {
    let limit = std::time::Duration::from_secs(60);
    let started = std::time::Instant::now();
    loop {
        let list = api.list(&ListParams::default()).await;
        let list = list.map_err(FleetError::api(&cluster.name, "list CustomResourceDefinitions"))?;
        let waiting: Vec<&str> = crds
            .iter()
            .map(|crd| name(crd))
            .filter(|name| !list.items.iter().any(|i| i.metadata.name.as_deref() == Some(name) && is_established(i)))
            .collect();
        if waiting.is_empty() {
            return Ok(());
        }
        if started.elapsed() > limit {
            return Err(FleetError::TimedOut {
                expectation: format!("all CRDs are served by {}", cluster.name),
                seconds: limit.as_secs_f64(),
                last: format!("not yet: {}", waiting.join(", ")),
            });
        }
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
    }
}

fn is_established(crd: &DynamicObject) -> bool {
    let conditions = diagnosis::conditions(crd.data.get("status"));
    conditions.iter().any(|c| c.type_ == "Established" && c.status == "True")
}

pub(crate) fn name(object: &Value) -> &str {
    object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}
