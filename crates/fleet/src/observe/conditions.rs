//! Conditions of whole objects in a flat map, so that two states of an object can be compared.

use std::collections::{BTreeMap, BTreeSet};

use diagnosis::{APPLICATION, Condition, JsonRef, Object};
use record::{ConditionPlace, ConditionState, DELETION, ObjectPath, ObservedCondition, ObservedObject, Transition};
use serde_json::Value;

use super::application;
use crate::objects::path_in_entry;
use crate::redact::Redactor;

/// State of each condition of an object, by its place and its type.
pub(super) type ConditionStates = BTreeMap<(ConditionPlace, String), ConditionState>;

/// Returns a condition's state without the time of its last change.
pub(super) fn state_of(condition: Condition) -> ConditionState {
    let Condition { status, reason, message, observed_generation, .. } = condition;
    // Transitions are part of reports.
    let message = Redactor::default().text(&message).into_owned();
    ConditionState { status, reason, message, observed_generation }
}

/// Returns all conditions of an object: the object's own, those of each cluster and failed resource of a placement,
/// those of each manifest of a Work, and those of each stage and cluster of a run. The state of an Argo CD Application and the deletion of an object count as
/// conditions, too.
pub(super) fn flatten(value: &Value) -> ConditionStates {
    let object = Object::new(value);
    let mut all = ConditionStates::new();
    add(&mut all, &ConditionPlace::Object, object.at("/status"));
    for cluster in object.list("/status/placementStatuses") {
        let member = name(cluster, "clusterName");
        add(&mut all, &ConditionPlace::Member { member: member.clone() }, Some(cluster));
        for failed in cluster.get("failedPlacements").and_then(JsonRef::as_array).unwrap_or_default() {
            let resource = path_in_entry(failed);
            let place = ConditionPlace::FailedPlacement { member: member.clone(), resource, envelope: None };
            let condition = failed.get("condition").and_then(Condition::read);
            all.extend(condition.map(|condition| ((place, condition.type_.clone()), state_of(condition))));
        }
    }
    for manifest in object.list("/status/manifestConditions") {
        let resource = manifest.get("identifier").map(path_in_entry).unwrap_or_default();
        add(&mut all, &ConditionPlace::Manifest { resource }, Some(manifest));
    }
    for in_status in object.list("/status/stagesStatus") {
        let stage = name(in_status, "stageName");
        add(&mut all, &ConditionPlace::Stage { stage: stage.clone() }, Some(in_status));
        for cluster in in_status.get("clusters").and_then(JsonRef::as_array).unwrap_or_default() {
            let place = ConditionPlace::StageMember { stage: stage.clone(), member: name(cluster, "clusterName") };
            add(&mut all, &place, Some(cluster));
        }
    }
    if object.group() == APPLICATION.group && object.kind() == APPLICATION.kind {
        all.extend(application::flatten(object));
    }
    if object.deleted_at().is_some() {
        let message = "metadata.deletionTimestamp is set".to_owned();
        let state =
            ConditionState { status: "True".into(), reason: "Terminating".into(), message, observed_generation: 0 };
        all.insert((ConditionPlace::Object, DELETION.into()), state);
    }
    all
}

/// Adds the conditions of a part of an object.
fn add(all: &mut ConditionStates, place: &ConditionPlace, holder: Option<JsonRef<'_>>) {
    for condition in diagnosis::conditions(holder) {
        all.insert((place.clone(), condition.type_.clone()), state_of(condition));
    }
}

fn name(value: JsonRef<'_>, key: &str) -> String {
    value.get(key).and_then(JsonRef::as_str).unwrap_or("(none)").to_owned()
}

/// Returns the changes of status or reason. A message or generation that changes alone is no transition, but for an operation's
/// message: it says what a running one waits for.
pub(super) fn transitions(
    cluster: &str,
    object: &ObjectPath,
    before: &ConditionStates,
    after: &ConditionStates,
) -> Vec<Transition> {
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    keys.into_iter()
        .filter(|key| differs(&key.1, before.get(*key), after.get(*key)))
        .map(|key| Transition {
            cluster: cluster.to_owned(),
            object: object.clone(),
            place: key.0.clone(),
            condition: key.1.clone(),
            from: before.get(key).cloned(),
            to: after.get(key).cloned(),
        })
        .collect()
}

fn differs(condition: &str, before: Option<&ConditionState>, after: Option<&ConditionState>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => {
            let other_message = condition == application::OPERATION && before.message != after.message;
            before.status != after.status || before.reason != after.reason || other_message
        }
        (None, None) => false,
        _ => true,
    }
}

/// Returns an object's state, for the error of a wait.
pub(super) fn observed(value: &Value) -> ObservedObject {
    let object = Object::new(value);
    let conditions = flatten(value).into_iter();
    ObservedObject {
        object: object.path(),
        generation: object.generation(),
        conditions: conditions
            .map(|((place, condition), state)| ObservedCondition { place, condition, state })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use record::ConditionPlace;
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
        let parts =
            |all: super::ConditionStates| all.into_keys().map(|(place, _)| place.to_string()).collect::<Vec<_>>();
        assert_eq!(parts(failed("web")), ["m, Deployment web/app"]);
        assert_eq!(parts(failed("")), ["m, Deployment app"]);
    }

    #[test]
    fn a_manifest_of_a_work_has_its_conditions_beside_the_work_s() {
        let all = flatten(&json!({"kind": "Work", "status": {
            "conditions": [{"type": "Applied", "status": "False", "reason": "WorkNotAllManifestsApplied"}],
            "manifestConditions": [{
                "identifier": {"ordinal": 0, "kind": "Namespace", "name": "web", "version": "v1"},
                "conditions": [{"type": "Applied", "status": "False", "reason": "NotTakenOver"}],
            }],
        }}));
        let lines = all.iter().map(|((place, name), state)| format!("[{place}] {name} {state}"));
        let expected = ["[] Applied False WorkNotAllManifestsApplied", "[Namespace web] Applied False NotTakenOver"];
        assert_eq!(lines.collect::<Vec<_>>(), expected);
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
        let lines = all.iter().map(|((place, name), s)| format!("{place}{name} {s}"));
        let expected = [
            "SyncError True ",
            "health Missing ",
            "operation Failed ",
            "sync OutOfSync ",
            "Service web/apiresult SyncFailed Failed",
        ];
        assert_eq!(lines.collect::<Vec<_>>(), expected);
        assert_eq!(transitions("hub", &"Application/argocd/web".into(), &all, &application("b")).len(), 1);
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
        let changes = transitions("hub", &"Run/r".into(), &run("False", "a"), &run("True", "a"));
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].place, ConditionPlace::StageMember { stage: "one".into(), member: "m".into() });
        assert!(transitions("hub", &"Run/r".into(), &run("True", "a"), &run("True", "b")).is_empty());
    }
}
