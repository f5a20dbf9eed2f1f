//! Probe that shows whether an Argo CD that was just started works: an Application without resources, which it compares.

use clusters::cluster::Cluster;
use serde_json::{Value, json};

use super::{NAMESPACE, Repository};
use crate::error::FleetError;
use crate::hub_probe::{ANSWER_LIMIT, PROBE};
use crate::kinds::APPLICATION;
use crate::objects::{create, delete};
use crate::observe::{Observer, Verdict, WatchSelection};

/// Waits until Argo CD has compared the probe, and deletes it. The repository needs a commit. Its path `.` has no manifests, so nothing
/// is deployed, and the probe is Synced as soon as the repo-server has rendered it and the controller has read the hub.
pub(crate) async fn compares(hub: &Cluster, observer: &Observer, repository: &Repository) -> Result<(), FleetError> {
    create(hub, APPLICATION, Some(NAMESPACE), application(&repository.url())).await?;
    let watched = WatchSelection::one(&hub.name, APPLICATION, Some(NAMESPACE), PROBE);
    let compared = observer
        .until(hub, &watched, "the new Argo CD compares an Application", ANSWER_LIMIT, |objects| {
            let sync =
                objects.get(PROBE).and_then(|probe| probe.pointer("/status/sync/status")).and_then(Value::as_str);
            match sync {
                Some("Synced") => Verdict::Holds,
                sync => Verdict::Pending(sync.map_or("it hasn't compared it".into(), |sync| format!("it is {sync}"))),
            }
        })
        .await;
    delete(hub, APPLICATION, Some(NAMESPACE), PROBE).await?;
    compared?;
    let gone = "the probe of Argo CD is gone";
    observer.until(hub, &watched, gone, ANSWER_LIMIT, |objects| Verdict::gone(objects, PROBE)).await.map(drop)
}

fn application(repository: &str) -> Value {
    json!({
        "apiVersion": APPLICATION.api_version(), "kind": APPLICATION.kind, "metadata": {"name": PROBE},
        "spec": {
            "project": "default",
            "source": {"repoURL": repository, "path": ".", "targetRevision": "HEAD"},
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "default"},
        },
    })
}
