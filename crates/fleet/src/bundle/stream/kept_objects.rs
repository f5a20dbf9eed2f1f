//! Objects that are kept in memory while a bundle is taken: those that decide what else the bundle has.
//!
//! These are few in a fleet that is well: names of members, Applications, and what is being deleted or has failed.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use diagnosis::{Object, Snapshot};
use serde_json::{Value, json};

use crate::kinds::{APPLICATION, APPLIED_WORK, JOB, MEMBER_CLUSTER, NAMESPACE, POD, ResourceKind, WORK};

/// Choice of the objects that are kept.
#[derive(Debug, Default)]
pub(super) struct KeptObjects {
    /// Names of Works that are being deleted.
    deleted_works: HashSet<String>,
    /// True if an operation of an Application has failed.
    has_failed_operations: AtomicBool,
}

impl KeptObjects {
    /// Learns from the hub's objects which of the members' matter. Returns true if there are Applications.
    pub(super) fn learn_from_hub(&mut self, snapshot: &Snapshot) -> bool {
        let Some(hub) = snapshot.hub() else { return false };
        self.deleted_works = hub.of_kind(WORK.group, WORK.kind).map(|work| work.name().to_owned()).collect();
        hub.of_kind(APPLICATION.group, APPLICATION.kind).next().is_some()
    }

    /// Returns what is kept of an object.
    pub(super) fn kept(&self, kind: ResourceKind, object: &Value) -> Option<Value> {
        let seen = Object::new(object);
        match kind {
            MEMBER_CLUSTER => Some(named(object)),
            NAMESPACE | WORK => seen.deleted_at().is_some().then(|| object.clone()),
            APPLIED_WORK => self.deleted_works.contains(seen.name()).then(|| object.clone()),
            APPLICATION => Some(self.application(object)),
            // Failed hooks are Jobs or Pods.
            POD | JOB => (self.has_failed_operations.load(Ordering::Relaxed) && !is_well(seen)).then(|| object.clone()),
            _ => None,
        }
    }

    /// An Application of which no operation has failed is kept for its destination.
    fn application(&self, object: &Value) -> Value {
        let phase = object.pointer("/status/operationState/phase").and_then(Value::as_str);
        if matches!(phase, Some("Failed" | "Error")) {
            self.has_failed_operations.store(true, Ordering::Relaxed);
            return object.clone();
        }
        let mut kept = named(object);
        kept["spec"] = json!({"destination": object.pointer("/spec/destination")});
        kept
    }
}

/// True if a Pod or a Job runs or has succeeded.
fn is_well(object: Object<'_>) -> bool {
    let conditions = object.list("/status/conditions");
    let has_failed = conditions.iter().any(|condition| {
        let text = |field| condition.get(field).and_then(|value| value.as_str().map(str::to_owned));
        text("type").as_deref() == Some("Failed") && text("status").as_deref() == Some("True")
    });
    let containers = ["/status/containerStatuses", "/status/initContainerStatuses"];
    let has_ended = containers.iter().flat_map(|path| object.list(path)).any(|container| {
        let states = ["state", "lastState"].into_iter().filter_map(|state| container.get(state)?.get("terminated"));
        states.filter_map(|ended| ended.get("exitCode")?.as_i64()).any(|code| code != 0)
    });
    object.str("/status/phase") != Some("Failed") && !has_failed && !has_ended
}

/// An object without anything but its name.
fn named(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let mut name = json!({"name": metadata["name"]});
    if let Some(namespace) = metadata.get("namespace") {
        name["namespace"] = namespace.clone();
    }
    json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": name})
}
