//! Health of live objects by Argo CD's own checks, as far as rules need it: `status.resources` of an Application has no health by default
//! (v3.2 and v3.5). Checks that an administrator has added to argocd-cm aren't known here.

use super::field_differences::is_built_in;
use crate::object::text_field;
use crate::{Condition, JsonRef, Object};

/// Kind of trouble of an object that isn't healthy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trouble {
    /// A workload has failed, or its Pods aren't ready.
    Workload,
    /// A Service or an Ingress has no address.
    NoAddress,
    /// Another object that says itself what it lacks.
    Other,
    /// The workload is paused.
    Suspended,
}

/// Health of an object that isn't healthy.
#[derive(Clone, Debug)]
pub(super) struct ObjectHealth {
    pub trouble: Trouble,
    /// Field of the object that shows it.
    pub path: String,
    /// Value of that field, with the object's message if it has one.
    pub value: String,
    /// True if the object doesn't become healthy by itself.
    pub is_degraded: bool,
}

impl ObjectHealth {
    fn new(trouble: Trouble, path: &str, value: impl Into<String>, is_degraded: bool) -> Self {
        Self { trouble, path: path.to_owned(), value: value.into(), is_degraded }
    }
}

/// Returns the health of an object that isn't healthy; `None` for one that is, and for a kind that has no check here.
pub(super) fn unhealthy(object: Object<'_>) -> Option<ObjectHealth> {
    match (object.group(), object.kind()) {
        ("apps", "Deployment") => deployment(object),
        ("apps", "StatefulSet") => replicas(object, "/status/readyReplicas"),
        ("apps", "DaemonSet") => daemon_set(object),
        ("", "Pod") => pod(object),
        ("", "Service") if object.str("/spec/type") == Some("LoadBalancer") => address(object),
        ("networking.k8s.io" | "extensions", "Ingress") => address(object),
        ("", "PersistentVolumeClaim") => claim(object),
        ("batch", "Job") => job(object),
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler(object),
        (group, _) if !is_built_in(group) => custom(object),
        _ => None,
    }
}

/// Kinds of which [`unhealthy`] knows the whole of Argo CD's check.
const KNOWN_CHECKS: [(&str, &str); 7] = [
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("", "Pod"),
    ("", "Service"),
    ("networking.k8s.io", "Ingress"),
    ("", "PersistentVolumeClaim"),
];

/// Kinds for which Argo CD has no check, so that they don't count (v3.2, v3.5).
const NO_CHECKS: [(&str, &str); 11] = [
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "ServiceAccount"),
    ("", "ResourceQuota"),
    ("", "LimitRange"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("storage.k8s.io", "StorageClass"),
];

/// True if an object of a kind for which [`unhealthy`] finds nothing is healthy for Argo CD, too.
pub(super) fn has_known_check(group: &str, kind: &str) -> bool {
    KNOWN_CHECKS.contains(&(group, kind))
}

/// True if Argo CD doesn't compute the health of a kind.
pub(super) fn has_no_check(group: &str, kind: &str) -> bool {
    NO_CHECKS.contains(&(group, kind))
}

/// True if the controller of a workload has seen its present spec, and no Pod of an old one is left. Other objects have no such fields.
pub(super) fn is_observed(object: Object<'_>) -> bool {
    let observed = number(object, "/status/observedGeneration");
    let [all, updated] = ["/status/replicas", "/status/updatedReplicas"].map(|field| number(object, field));
    observed.is_none_or(|observed| observed >= object.generation())
        && all.zip(updated).is_none_or(|(all, updated)| all <= updated)
}

/// Returns the condition Ready of a custom resource, if it is False. One that is paused on purpose says so in the reason.
pub(super) fn not_ready(object: Object<'_>) -> Option<Condition> {
    let condition = object.condition("Ready").filter(|condition| condition.status == "False")?;
    let reason = condition.reason.to_lowercase();
    let is_paused = ["suspend", "paus"].iter().any(|word| reason.contains(word));
    (!is_paused).then_some(condition)
}

fn custom(object: Object<'_>) -> Option<ObjectHealth> {
    let condition = not_ready(object)?;
    let value = format!("{}: {}", condition.reason, condition.message);
    Some(ObjectHealth::new(Trouble::Other, "status.conditions[Ready]", value, true))
}

fn number(object: Object<'_>, pointer: &str) -> Option<i64> {
    object.at(pointer).and_then(JsonRef::as_i64)
}

fn deployment(object: Object<'_>) -> Option<ObjectHealth> {
    if object.at("/spec/paused").and_then(JsonRef::as_bool) == Some(true) {
        return Some(ObjectHealth::new(Trouble::Suspended, "spec.paused", "true", false));
    }
    let failed = object.condition("Progressing").filter(|condition| condition.reason == "ProgressDeadlineExceeded");
    if let Some(condition) = failed {
        let value = format!("{}: {}", condition.reason, condition.message);
        return Some(ObjectHealth::new(Trouble::Workload, "status.conditions[Progressing]", value, true));
    }
    let wanted = number(object, "/spec/replicas").unwrap_or(1);
    let updated = number(object, "/status/updatedReplicas").unwrap_or_default();
    if updated < wanted {
        let value = format!("{updated} of {wanted}");
        return Some(ObjectHealth::new(Trouble::Workload, "status.updatedReplicas", value, false));
    }
    replicas(object, "/status/availableReplicas")
}

fn replicas(object: Object<'_>, ready: &str) -> Option<ObjectHealth> {
    let wanted = number(object, "/spec/replicas").unwrap_or(1);
    lacking(number(object, ready).unwrap_or_default(), wanted, ready)
}

fn daemon_set(object: Object<'_>) -> Option<ObjectHealth> {
    let ready = "/status/numberAvailable";
    lacking(number(object, ready).unwrap_or_default(), number(object, "/status/desiredNumberScheduled")?, ready)
}

fn lacking(ready: i64, wanted: i64, pointer: &str) -> Option<ObjectHealth> {
    let path = pointer.trim_start_matches('/').replace('/', ".");
    (ready < wanted).then(|| ObjectHealth::new(Trouble::Workload, &path, format!("{ready} of {wanted}"), false))
}

fn pod(object: Object<'_>) -> Option<ObjectHealth> {
    let phase = object.str("/status/phase").unwrap_or_default();
    let is_ready = object.condition("Ready").is_some_and(|condition| condition.status == "True");
    if phase == "Succeeded" || is_ready {
        return None;
    }
    Some(ObjectHealth::new(Trouble::Workload, "status.phase", phase, phase == "Failed"))
}

/// A Service of type `LoadBalancer`, or an Ingress, is healthy once its status has an address.
fn address(object: Object<'_>) -> Option<ObjectHealth> {
    let path = "status.loadBalancer.ingress";
    let is_absent = object.list("/status/loadBalancer/ingress").is_empty();
    is_absent.then(|| ObjectHealth::new(Trouble::NoAddress, path, "(absent)", false))
}

fn claim(object: Object<'_>) -> Option<ObjectHealth> {
    let phase = object.str("/status/phase").unwrap_or("(absent)");
    (phase != "Bound").then(|| ObjectHealth::new(Trouble::Other, "status.phase", phase, phase == "Lost"))
}

fn job(object: Object<'_>) -> Option<ObjectHealth> {
    if object.at("/spec/suspend").and_then(JsonRef::as_bool) == Some(true) {
        return Some(ObjectHealth::new(Trouble::Suspended, "spec.suspend", "true", false));
    }
    let failed = object.condition("Failed").filter(|condition| condition.status == "True")?;
    let value = format!("{}: {}", failed.reason, failed.message);
    Some(ObjectHealth::new(Trouble::Other, "status.conditions[Failed]", value, true))
}

/// Conditions of an autoscaler that are False while it can't scale.
const SCALING: [&str; 2] = ["AbleToScale", "ScalingActive"];

/// An autoscaler of a workload without replicas is inactive on purpose.
fn autoscaler(object: Object<'_>) -> Option<ObjectHealth> {
    let conditions = SCALING.into_iter().filter_map(|type_| object.condition(type_));
    let condition = conditions
        .into_iter()
        .find(|condition| condition.status == "False" && condition.reason != "ScalingDisabled")?;
    let value = format!("{}: {}", condition.reason, condition.message);
    Some(ObjectHealth::new(Trouble::Other, &format!("status.conditions[{}]", condition.type_), value, true))
}

/// Returns a sentence's part that says what an object lacks, for the templates.
pub(super) fn in_words(object: Object<'_>, health: &ObjectHealth) -> String {
    let class = object.at("/spec").map_or("", |spec| text_field(spec, "storageClassName"));
    match (object.kind(), class) {
        ("PersistentVolumeClaim", "") => format!("is {}", health.value),
        ("PersistentVolumeClaim", class) => format!("is {} (StorageClass {class})", health.value),
        _ => format!("says {}", health.value),
    }
}
