//! Which logs a diagnosis would quote: those of the Pods of hooks that failed.

use serde_json::Value;

use super::application::{Application, Operation};
use crate::rules::fleet::Fleet;
use crate::rules::pods;
use crate::{ClusterSnapshot, Object, Snapshot};

/// How many Pods' logs are asked for at most, of each cluster.
const MOST: usize = 20;

/// A log that a diagnosis would quote.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WantedLog {
    /// The cluster.
    pub cluster: String,
    /// The Pod's namespace.
    pub namespace: String,
    /// The Pod.
    pub pod: String,
    /// The container.
    pub container: String,
}

/// The logs that a diagnosis would quote, of a snapshot without any: of containers that ended with something else than 0,
/// in the Pods of hooks that failed, of at most 20 Pods of each cluster.
#[must_use]
pub fn wanted_logs(snapshot: &Snapshot) -> Vec<WantedLog> {
    let Some(fleet) = Fleet::of(snapshot) else { return Vec::new() };
    let mut wanted = Vec::new();
    for application in Application::all(fleet).filter(|a| a.operation() == Operation::Failed) {
        let Some(cluster) = application.destination().cluster else { continue };
        for hook in application.outcomes().filter(|o| o.is_hook() && o.has_failed()) {
            let (group, kind, name) = (hook.text("group"), hook.text("kind"), hook.text("name"));
            let Some(workload) = cluster.object(group, kind, hook.namespace(), name) else { continue };
            for pod in pods::pods(cluster, workload) {
                wanted.extend(of_pod(cluster, pod));
            }
        }
    }
    wanted.sort();
    wanted.dedup();
    let mut kept: Vec<WantedLog> = Vec::new();
    for log in wanted {
        let pods = kept.iter().filter(|k| k.cluster == log.cluster).map(|k| (&k.namespace, &k.pod));
        let pods: std::collections::BTreeSet<_> = pods.collect();
        if pods.len() < MOST || pods.contains(&(&log.namespace, &log.pod)) {
            kept.push(log);
        }
    }
    kept
}

fn of_pod(cluster: &ClusterSnapshot, pod: Object<'_>) -> Vec<WantedLog> {
    let wanted = |container: &str| WantedLog {
        cluster: cluster.name.clone(),
        namespace: pod.namespace().unwrap_or_default().to_owned(),
        pod: pod.name().to_owned(),
        container: container.to_owned(),
    };
    let ended = pods::failed_containers(pod);
    if ended.is_empty() && pod.str("/status/phase") == Some("Failed") {
        // Evicted, or ended by its deadline: nothing says which container.
        let all = pod.list("/spec/containers").iter().filter_map(|c| c.get("name").and_then(Value::as_str));
        return all.map(wanted).collect();
    }
    ended.iter().map(|e| wanted(e.container)).collect()
}
