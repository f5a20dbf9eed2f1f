//! Conditions of whole objects, flattened, so that two moments of an object can be compared.

use std::collections::BTreeMap;
use std::fmt;

use diagnosis::{APPLICATION, Condition, Object};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::application;

/// A condition's change, with the time at which it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    /// `hub` or a member's name.
    pub cluster: String,
    /// `Kind/name` or `Kind/namespace/name`.
    pub object: String,
    /// Where in the object: a member, a stage, both or nothing, e.g. `stage staging, member-1`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<String>,
    /// The condition's type.
    pub condition: String,
    /// What it was: status and reason; none when it wasn't there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<State>,
    /// What it became; none when it went away.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<State>,
}

/// A condition's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// CamelCase.
    pub reason: String,
    /// The controller's words.
    pub message: String,
    /// The generation that the controller had seen.
    pub observed_generation: i64,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status, self.reason)
    }
}

impl From<Condition> for State {
    fn from(c: Condition) -> Self {
        Self { status: c.status, reason: c.reason, message: c.message, observed_generation: c.observed_generation }
    }
}

/// Where a condition stands (part, type) and what it says.
pub(super) type Conditions = BTreeMap<(Option<String>, String), State>;

/// All conditions of an object: its own, per cluster of a placement with its failed resources, per stage and per cluster of
/// a run. A namespace's phase and an object's deletion count as conditions too: they are what one would look at.
pub(super) fn flatten(value: &Value) -> Conditions {
    let object = Object::new(value);
    let mut all = Conditions::new();
    let mut add = |part: Option<String>, holder: Option<&Value>| {
        for condition in diagnosis::conditions(holder) {
            all.insert((part.clone(), condition.type_.clone()), condition.into());
        }
    };
    add(None, object.at("/status"));
    let name = |v: &Value, key: &str| v.get(key).and_then(Value::as_str).unwrap_or("(none)").to_owned();
    for cluster in object.list("/status/placementStatuses") {
        let cluster_name = name(cluster, "clusterName");
        add(Some(cluster_name.clone()), Some(cluster));
        for failed in cluster.get("failedPlacements").and_then(Value::as_array).into_iter().flatten() {
            let part = format!("{cluster_name}, {}", failed_resource(failed));
            add(Some(part), Some(&json!({ "conditions": [failed.get("condition")] })));
        }
    }
    for stage in object.list("/status/stagesStatus") {
        let stage_name = format!("stage {}", name(stage, "stageName"));
        add(Some(stage_name.clone()), Some(stage));
        for cluster in stage.get("clusters").and_then(Value::as_array).into_iter().flatten() {
            add(Some(format!("{stage_name}, {}", name(cluster, "clusterName"))), Some(cluster));
        }
    }
    if object.group() == APPLICATION.group && object.kind() == APPLICATION.kind {
        all.extend(application::flatten(object));
    }
    if object.deleted_at().is_some() {
        let message = "metadata.deletionTimestamp is set".to_owned();
        let state = State { status: "True".into(), reason: "Terminating".into(), message, observed_generation: 0 };
        all.insert((None, "(deletion)".into()), state);
    }
    all
}

/// `Kind name` or `Kind namespace/name` of a resource among a placement's `failedPlacements`.
fn failed_resource(failed: &Value) -> String {
    let text = |key: &str| failed.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("namespace") {
        "" => format!("{} {}", text("kind"), text("name")),
        namespace => format!("{} {namespace}/{}", text("kind"), text("name")),
    }
}

/// What changed in status or reason. A message or generation that changes alone is no transition, but for an operation's
/// message: it says what a running one waits for.
pub(super) fn transitions(cluster: &str, object: &str, before: &Conditions, after: &Conditions) -> Vec<Transition> {
    let differs = |name: &str, a: Option<&State>, b: Option<&State>| match (a, b) {
        (Some(a), Some(b)) => {
            let says = name == application::OPERATION && a.message != b.message;
            a.status != b.status || a.reason != b.reason || says
        }
        (None, None) => false,
        _ => true,
    };
    let mut keys: Vec<_> = before.keys().chain(after.keys()).collect();
    keys.sort();
    keys.dedup();
    keys.into_iter()
        .filter(|key| differs(&key.1, before.get(*key), after.get(*key)))
        .map(|key| Transition {
            cluster: cluster.to_owned(),
            object: object.to_owned(),
            part: key.0.clone(),
            condition: key.1.clone(),
            from: before.get(key).cloned(),
            to: after.get(key).cloned(),
        })
        .collect()
}

/// An object's state in a few lines, for the error of a wait.
pub(super) fn describe(value: &Value) -> String {
    let object = Object::new(value);
    let mut lines = vec![format!("{} (generation {})", object.path(), object.generation())];
    for ((part, type_), state) in flatten(value) {
        let part = part.map(|p| format!("{p}: ")).unwrap_or_default();
        let message = if state.status == "True" || state.message.is_empty() {
            String::new()
        } else {
            format!(": {}", state.message)
        };
        lines.push(format!("    {part}{type_}={state}{message} (observedGeneration {})", state.observed_generation));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{flatten, transitions};

    #[test]
    fn a_failed_resource_has_its_condition_beside_its_cluster_s() {
        let failed = |namespace: &str| {
            flatten(&json!({"status": {"placementStatuses": [{
                "clusterName": "m",
                "failedPlacements": [{
                    "kind": "Deployment", "name": "app", "namespace": namespace,
                    "condition": {"type": "Available", "status": "False", "reason": "ManifestNotAvailableYet"},
                }],
            }]}}))
        };
        let parts = |all: super::Conditions| all.into_keys().map(|(part, _)| part.unwrap()).collect::<Vec<_>>();
        assert_eq!(parts(failed("web")), ["m, Deployment web/app"]);
        assert_eq!(parts(failed("")), ["m, Deployment app"]);
    }

    #[test]
    fn an_application_s_operation_and_its_results_count_as_conditions() {
        let application = |message: &str| {
            flatten(&json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "status": {
                "sync": {"status": "OutOfSync"}, "health": {"status": "Missing"},
                "conditions": [{"type": "SyncError", "message": "no"}],
                "operationState": {"phase": "Failed", "message": message, "syncResult": {"resources": [
                    {"kind": "Service", "namespace": "web", "name": "api", "status": "SyncFailed", "hookPhase": "Failed"},
                ]}},
            }}))
        };
        let all = application("a");
        let lines = all.iter().map(|((part, name), s)| format!("{}{name} {s}", part.as_deref().unwrap_or_default()));
        let expected = [
            "SyncError True ",
            "health Missing ",
            "operation Failed ",
            "sync OutOfSync ",
            "Service web/apiresult SyncFailed Failed",
        ];
        assert_eq!(lines.collect::<Vec<_>>(), expected);
        assert_eq!(transitions("hub", "Application/argocd/web", &all, &application("b")).len(), 1);
    }

    #[test]
    fn a_transition_is_a_change_of_status_or_reason() {
        let run = |status: &str, message: &str| {
            flatten(&json!({"status": {
                "conditions": [{"type": "Initialized", "status": "True", "reason": "Ok"}],
                "stagesStatus": [{"stageName": "one", "clusters": [{"clusterName": "m",
                    "conditions": [{"type": "Started", "status": status, "reason": "R", "message": message}]}]}],
            }}))
        };
        let changes = transitions("hub", "Run/r", &run("False", "a"), &run("True", "a"));
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].part.as_deref(), Some("stage one, m"));
        assert!(transitions("hub", "Run/r", &run("True", "a"), &run("True", "b")).is_empty());
    }
}
