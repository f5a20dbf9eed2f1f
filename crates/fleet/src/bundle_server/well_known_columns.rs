//! Columns of well-known kinds between name and age, for bundles without their definitions.

use serde_json::Value;

use super::columns::{CellSource, Column};

/// Column that shows the status of a condition: its name, and the condition's type.
type ConditionColumn = (&'static str, &'static str);

/// Columns that show the status of conditions, by kind.
const CONDITIONS: &[(&str, &[ConditionColumn])] = &[
    (
        "ClusterResourcePlacement",
        &[("Scheduled", "ClusterResourcePlacementScheduled"), ("Available", "ClusterResourcePlacementAvailable")],
    ),
    ("ResourcePlacement", &[("Scheduled", "ResourcePlacementScheduled"), ("Available", "ResourcePlacementAvailable")]),
    ("ClusterResourceBinding", BINDING),
    ("ResourceBinding", BINDING),
    ("Work", &[("Applied", "Applied"), ("Available", "Available")]),
    ("ClusterStagedUpdateRun", RUN),
    ("StagedUpdateRun", RUN),
    ("ClusterApprovalRequest", &[("Approved", "Approved")]),
    ("ApprovalRequest", &[("Approved", "Approved")]),
    ("ClusterResourcePlacementEviction", &[("Valid", "Valid"), ("Executed", "Executed")]),
    ("MemberCluster", &[("Joined", "Joined")]),
];

const BINDING: &[ConditionColumn] =
    &[("WorkSynchronized", "WorkSynchronized"), ("ResourcesApplied", "Applied"), ("ResourceAvailable", "Available")];

const RUN: &[ConditionColumn] =
    &[("Initialized", "Initialized"), ("Progressing", "Progressing"), ("Succeeded", "Succeeded")];

/// Times of an event, the latest first. Not every event has each of them.
const LAST_SEEN: [&str; 4] =
    [".series.lastObservedTime", ".lastTimestamp", ".eventTime", ".metadata.creationTimestamp"];

/// Ending of the names of KubeFleet's API groups.
const KUBEFLEET: &str = "kubernetes-fleet.io";

/// All columns of a kind that shows neither name nor age.
pub(super) fn without_name_and_age(group: &str, kind: &str) -> Option<Vec<Column>> {
    if (group, kind) != ("", "Event") {
        return None;
    }
    Some(vec![
        Column::new("Last Seen", CellSource::Age(LAST_SEEN.map(str::to_owned).to_vec())),
        Column::path("Type", ".type"),
        Column::path("Reason", ".reason"),
        Column::new("Object", CellSource::Computed(involved_object)),
        Column::path("Message", ".message"),
    ])
}

/// Columns of a kind between name and age; empty if none are known.
pub(super) fn between_name_and_age(group: &str, kind: &str) -> Vec<Column> {
    if group.ends_with(KUBEFLEET) {
        let known = CONDITIONS.iter().find(|(known, _)| *known == kind);
        let conditions = known.into_iter().flat_map(|(_, conditions)| conditions.iter());
        return conditions
            .map(|(name, type_)| Column::path(name, &format!(".status.conditions[?(@.type==\"{type_}\")].status")))
            .collect();
    }
    match (group, kind) {
        ("", "Namespace") => vec![Column::path("Status", ".status.phase")],
        ("", "Pod") => vec![
            Column::new("Ready", CellSource::Computed(ready_containers)),
            Column::new("Status", CellSource::Computed(pod_status)),
            Column::new("Restarts", CellSource::Computed(restarts)),
        ],
        ("apps", "Deployment") => vec![
            Column::new("Ready", CellSource::Computed(ready_replicas)),
            Column::new("Up-to-date", CellSource::Computed(|object| number(object, "/status/updatedReplicas"))),
            Column::new("Available", CellSource::Computed(|object| number(object, "/status/availableReplicas"))),
        ],
        ("apps", "StatefulSet") => vec![Column::new("Ready", CellSource::Computed(ready_replicas))],
        ("argoproj.io", "Application") => {
            vec![
                Column::path("Sync Status", ".status.sync.status"),
                Column::path("Health Status", ".status.health.status"),
            ]
        }
        _ => Vec::new(),
    }
}

fn number(object: &Value, pointer: &str) -> Value {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default().into()
}

fn ready_replicas(object: &Value) -> Value {
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    format!("{}/{wanted}", number(object, "/status/readyReplicas")).into()
}

fn container_statuses(pod: &Value) -> impl Iterator<Item = &Value> {
    pod["status"]["containerStatuses"].as_array().into_iter().flatten()
}

fn ready_containers(pod: &Value) -> Value {
    let ready = container_statuses(pod).filter(|status| status["ready"] == true).count();
    format!("{ready}/{}", pod["spec"]["containers"].as_array().map_or(0, Vec::len)).into()
}

fn restarts(pod: &Value) -> Value {
    container_statuses(pod).filter_map(|status| status["restartCount"].as_i64()).sum::<i64>().into()
}

/// Returns the reason why a container waits or has ended, if there is one; otherwise the Pod's reason or phase.
fn pod_status(pod: &Value) -> Value {
    if pod["metadata"]["deletionTimestamp"].is_string() {
        return "Terminating".into();
    }
    let of_container = container_statuses(pod).find_map(|status| {
        let state = &status["state"];
        state["waiting"]["reason"].as_str().or_else(|| state["terminated"]["reason"].as_str())
    });
    let status = &pod["status"];
    of_container.or_else(|| status["reason"].as_str()).or_else(|| status["phase"].as_str()).unwrap_or_default().into()
}

fn involved_object(event: &Value) -> Value {
    let of = |field: &str| event["involvedObject"][field].as_str().unwrap_or_default();
    format!("{}/{}", of("kind").to_lowercase(), of("name")).into()
}
