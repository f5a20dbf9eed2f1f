//! Members that a placement selects by a label, and the parts of a policy that select them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The members that a policy selects: these, and those that get its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SelectedMembers {
    pub label: String,
    pub members: Vec<String>,
}

pub(crate) fn label(name: &str) -> String {
    format!("fleetdrill.dev/{name}")
}

pub(crate) fn affinity(choice: &SelectedMembers) -> Value {
    let mut terms = vec![json!({"labelSelector": {"matchLabels": {&choice.label: "true"}}})];
    if !choice.members.is_empty() {
        terms.push(json!({"labelSelector": named(&choice.members)}));
    }
    json!({"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": terms}}})
}

/// A label selector of members by their real names.
pub(crate) fn named(members: &[String]) -> Value {
    json!({"matchExpressions": [{"key": fleet::MEMBER_LABEL, "operator": "In", "values": members}]})
}

/// Policy PickAll of members by their real names.
pub(crate) fn pick_named(members: &[String]) -> Value {
    let terms = json!([{"labelSelector": named(members)}]);
    let affinity = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": terms}});
    json!({"placementType": "PickAll", "affinity": {"clusterAffinity": affinity}})
}

pub(crate) fn pick_all(choice: &SelectedMembers) -> Value {
    json!({"placementType": "PickAll", "affinity": affinity(choice)})
}
