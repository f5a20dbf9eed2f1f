//! Logs that a diagnosis would quote: logs of the Pods of failed hooks.

use super::application::{ApplicationView, OperationState};
use crate::rules::fleet::FleetView;
use crate::rules::pods;
use crate::{ClusterSnapshot, JsonRef, Object, Snapshot};

/// Limit for the number of Pods of each cluster whose logs are asked for.
const MAX_PODS: usize = 20;

/// Log that a diagnosis would quote.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WantedLog {
    /// Name of the cluster.
    pub cluster: String,
    /// Namespace of the Pod.
    pub namespace: String,
    /// Name of the Pod.
    pub pod: String,
    /// Name of the container.
    pub container: String,
}

/// Returns the logs that a diagnosis of a snapshot without logs would quote: logs of containers that ended with an exit
/// code other than 0, in the Pods of failed hooks, of at most 20 Pods of each cluster.
#[must_use]
pub fn wanted_logs(snapshot: &Snapshot) -> Vec<WantedLog> {
    FleetView::with(snapshot, wanted_logs_of)
}

fn wanted_logs_of(fleet: FleetView<'_>) -> Vec<WantedLog> {
    let mut wanted = Vec::new();
    for application in ApplicationView::all(fleet).filter(|a| a.operation_state() == OperationState::Failed) {
        let Some(cluster) = application.destination().cluster else { continue };
        for hook in application.results().filter(|r| r.is_hook() && r.has_failed()) {
            let (group, kind, name) = (hook.text("group"), hook.text("kind"), hook.text("name"));
            let Some(workload) = cluster.object(group, kind, hook.namespace(), name) else { continue };
            for pod in pods::pods_of(cluster, workload) {
                wanted.extend(logs_of_pod(cluster, pod));
            }
        }
    }
    wanted.sort();
    wanted.dedup();
    let mut kept: Vec<WantedLog> = Vec::new();
    for log in wanted {
        let pods = kept.iter().filter(|k| k.cluster == log.cluster).map(|k| (&k.namespace, &k.pod));
        let pods: std::collections::BTreeSet<_> = pods.collect();
        if pods.len() < MAX_PODS || pods.contains(&(&log.namespace, &log.pod)) {
            kept.push(log);
        }
    }
    kept
}

fn logs_of_pod(cluster: &ClusterSnapshot, pod: Object<'_>) -> Vec<WantedLog> {
    let ended = pods::failed_containers(pod);
    if ended.is_empty() && pod.str("/status/phase") == Some("Failed") {
        // The Pod was evicted or ended by its deadline: no field says which container failed.
        let all = pod.list("/spec/containers").iter().filter_map(|c| c.get("name").and_then(JsonRef::as_str));
        return all.map(|container| wanted_log(cluster, pod, container)).collect();
    }
    ended.iter().map(|ended| wanted_log(cluster, pod, ended.container)).collect()
}

fn wanted_log(cluster: &ClusterSnapshot, pod: Object<'_>, container: &str) -> WantedLog {
    WantedLog {
        cluster: cluster.name.clone(),
        namespace: pod.namespace().unwrap_or_default().to_owned(),
        pod: pod.name().to_owned(),
        container: container.to_owned(),
    }
}
