//! KubeFleet's webhooks: the Service by which the API server reaches them, and the wait until they answer.
//!
//! The hub-agent serves them on port 9443, with a certificate that it makes at each start, and creates the configurations anew (v0.1.2,
//! v0.3.1).

use std::sync::Arc;

use clusters::agents::SYSTEM;
use clusters::cluster::Cluster;
use diagnosis::kubefleet::VALIDATING_WEBHOOKS;
use kube::api::{DynamicObject, PostParams};
use record::{FailedWait, Observation, WaitEnd};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::agents::WEBHOOK_SERVICE;
use crate::error::FleetError;
use crate::hub_probe::ANSWER_LIMIT;
use crate::kinds::{POD, SERVICE, WEBHOOK_CONFIGURATION};
use crate::objects::create;
use crate::observe::{Observer, Verdict, WatchSelection};

/// Port of the hub-agent's webhooks, a constant of its program.
const PORT: u16 = 9443;

/// Interval between two attempts to create a pod.
const INTERVAL: std::time::Duration = std::time::Duration::from_millis(200);

/// Creates the Service. The chart's is for the hub-agent's pods; here its agent is a process on this machine, and the API server asks an
/// `ExternalName` itself, with the name of the Service in TLS.
pub(crate) async fn create_service(hub: &Cluster) -> Result<(), FleetError> {
    let spec = json!({"type": "ExternalName", "externalName": "localhost", "ports": [{"port": PORT}]});
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": WEBHOOK_SERVICE}, "spec": spec});
    create(hub, SERVICE, Some(SYSTEM), service).await
}

/// Returns the uid of the webhooks' configuration, if there is one.
pub(crate) async fn configuration(hub: &Cluster) -> Result<Option<String>, FleetError> {
    let api = WEBHOOK_CONFIGURATION.api(&hub.client, None);
    let action = format!("read ValidatingWebhookConfiguration/{VALIDATING_WEBHOOKS}");
    let object = api.get_metadata_opt(VALIDATING_WEBHOOKS).await.map_err(FleetError::api(&hub.name, action))?;
    Ok(object.and_then(|object| object.metadata.uid))
}

/// Waits until the hub-agent has replaced the configuration with the uid `before`, and the API server gets answers.
pub(crate) async fn answer(hub: &Cluster, observer: &Observer, before: Option<String>) -> Result<(), FleetError> {
    let watched = WatchSelection::one(&hub.name, WEBHOOK_CONFIGURATION, None, VALIDATING_WEBHOOKS);
    let is_new = |object: Option<&Arc<Value>>| {
        let uid = object.and_then(|object| object.pointer("/metadata/uid")?.as_str());
        uid.is_some_and(|uid| before.as_deref() != Some(uid))
    };
    observer
        .until(hub, &watched, "the hub-agent configures its webhooks", ANSWER_LIMIT, |objects| {
            if is_new(objects.get(VALIDATING_WEBHOOKS)) { Verdict::Holds } else { Verdict::Pending("not yet".into()) }
        })
        .await?;
    let started = Instant::now();
    while let Err(refused) = try_pod(hub).await {
        if started.elapsed() > ANSWER_LIMIT {
            let expectation = "the hub-agent's webhooks answer".to_owned();
            let (seconds, end) = (ANSWER_LIMIT.as_secs_f64(), WaitEnd::TimedOut { pending: Some(refused) });
            return Err(FailedWait { expectation, seconds, end, last: Observation::NoObjects }.into());
        }
        tokio::time::sleep(INTERVAL).await;
    }
    Ok(())
}

/// Tries to create a pod of KubeFleet's own namespace, which the webhooks admit, without creating it. Returns the API server's refusal.
async fn try_pod(hub: &Cluster) -> Result<(), String> {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "fleetdrill-probe-"},
        "spec": {"containers": [{"name": "probe", "image": "probe"}]},
    });
    let pod: DynamicObject = serde_json::from_value(pod).map_err(|e| e.to_string())?;
    let params = PostParams { dry_run: true, ..PostParams::default() };
    let tried = POD.api(&hub.client, Some(SYSTEM)).create(&params, &pod).await;
    tried.map(drop).map_err(|error| error.to_string())
}
