//! What somebody may do who wants to be rid of a symptom and not of its cause.

use cucumber::when;
use diagnosis::{JsonRef, Object};
use fleet::FleetError;
use jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use record::{Action, ObjectPath};
use serde_json::{Value, json};

use crate::error::StepError;
use crate::params::ObjectRef;
use crate::world::World;

/// Field manager of `kubectl edit`.
const MANAGER: &str = "kubectl-edit";

/// Writes a condition into the object's status by hand, in place of the controller's, as `kubectl edit --subresource=status` does.
/// For what a repair must not be: no condition that was written so is ever asserted.
#[when(expr = "condition {string} of {object} is forged as {string}")]
async fn is_forged(world: &mut World, type_: String, object: ObjectRef, status: String) -> Result<(), StepError> {
    let context = world.context();
    let found = context.find(&object)?;
    let (kind, namespace, hub) = (found.kind, found.watched.namespace.clone(), context.hub());
    let api = kind.api(&hub.client, namespace.as_deref());
    let name = found.name().ok_or_else(|| StepError::Feature("only an object with a name can be written to".into()))?;
    let what = format!("write the status of {}/{name}", kind.kind);
    let read = api.get(name).await.map_err(FleetError::api("hub", &what))?;
    let value = serde_json::to_value(&read).unwrap_or_default();
    let object = Object::new(&value);
    let mut conditions: Vec<Value> = object.list("/status/conditions").iter().map(JsonRef::to_value).collect();
    conditions.retain(|condition| condition["type"] != type_.as_str());
    conditions.push(json!({
        "type": type_, "status": status, "reason": "Fixed", "message": "", "lastTransitionTime": Timestamp::now(),
        "observedGeneration": value.pointer("/metadata/generation"),
    }));
    let params = PatchParams { field_manager: Some(MANAGER.into()), ..PatchParams::default() };
    let patch = Patch::Merge(json!({"status": {"conditions": conditions}}));
    api.patch_status(name, &params, &patch).await.map_err(FleetError::api("hub", &what))?;
    let sentence = format!("{}/{name}: condition {type_} written by hand as {status}", kind.kind);
    context.did(Action::new(sentence).on(ObjectPath::new(kind.kind, namespace.as_deref(), name)));
    Ok(())
}
