//! Steps about the envelopes in which a placement's resources may be wrapped, and the Works that are made of them.

use cucumber::when;
use diagnosis::Object;
use diagnosis::kubefleet::ENVELOPE_CONFIG_MAP;
use fleet::kinds;
use fleet::observe::Verdict;
use record::{Action, ObjectPath};
use serde_json::{Value, json};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::limits;
use crate::needs::{Capability, StepCall, needs};
use crate::objects::{ENVELOPE, Placement, second_work};
use crate::params::ObjectRef;
use crate::placement_objects::changed;
use crate::world::World;

/// Adds a ResourceEnvelope (in the namespace that is placed) or a ClusterResourceEnvelope with this object, as JSON, to the
/// placement's resources; or a ConfigMap with whatever text, which KubeFleet took for an envelope before there were those.
/// `{name}` stands for the real name of what the scenario calls so. Should KubeFleet make two Works of it, the second is deleted.
#[needs(capability: envelope_capability, settles: limits::CACHED)]
#[when(expr = "the resources of placement {string} include a {word} with {string}")]
async fn include_envelope(world: &mut World, name: String, kind: String, object: String) -> Result<(), StepError> {
    let context = world.context();
    let p = context.placement(&name)?;
    let (kind, namespace, envelope) = envelope(&p, &kind)?;
    let object = wrapped(context, kind, &object)?;
    let mut value = json!({"metadata": {"name": envelope}, "data": {"wrapped.yaml": object}});
    if kind == kinds::CONFIG_MAP {
        value["metadata"]["annotations"] = json!({ ENVELOPE_CONFIG_MAP: "true" });
    }
    context.keep_one_work(&name);
    context.make(kind, namespace.as_deref(), value).await?;
    let path = ObjectPath::new(kind.kind, namespace.as_deref(), &envelope);
    context.induced(Action::new(format!("{}/{envelope} wraps {object}", kind.kind)).on(path));
    changed(context, &name).await
}

/// Gives the envelope another object, as JSON (a ConfigMap: another text).
#[needs(capability: envelope_capability, settles: limits::CACHED)]
#[when(expr = "the {word} of placement {string} is corrected to {string}")]
async fn correct_envelope(world: &mut World, kind: String, name: String, object: String) -> Result<(), StepError> {
    let context = world.context();
    let p = context.placement(&name)?;
    let (kind, namespace, envelope) = envelope(&p, &kind)?;
    let object = wrapped(context, kind, &object)?;
    let data = json!({"data": {"wrapped.yaml": null, "right.yaml": object}});
    context.patch(kind, namespace.as_deref(), &envelope, data).await?;
    let path = ObjectPath::new(kind.kind, namespace.as_deref(), &envelope);
    context.remedied(Action::new(format!("{}/{envelope} wraps {object}", kind.kind)).on(path));
    changed(context, &name).await
}

fn envelope(p: &Placement, kind: &str) -> Result<(kinds::ResourceKind, Option<String>, String), StepError> {
    match kind {
        "ResourceEnvelope" => Ok((kinds::ENVELOPE, Some(p.content.clone()), ENVELOPE.to_owned())),
        "ClusterResourceEnvelope" => Ok((kinds::CLUSTER_ENVELOPE, None, format!("{}-{ENVELOPE}", p.name))),
        "ConfigMap" => Ok((kinds::CONFIG_MAP, Some(p.content.clone()), ENVELOPE.to_owned())),
        other => {
            let there = "ResourceEnvelope, ClusterResourceEnvelope and ConfigMap";
            Err(StepError::Feature(format!("`{other}` is not an envelope; there are {there}")))
        }
    }
}

/// Envelopes of kinds of their own need a version that has these; any version takes a ConfigMap.
fn envelope_capability(call: &StepCall<'_>) -> Option<Capability> {
    (!call.parameters.iter().any(|kind| kind == kinds::CONFIG_MAP.kind)).then_some(Capability::Envelopes)
}

/// Returns the content of an envelope of that kind: an object, or in a ConfigMap a text that should be one.
fn wrapped(context: &ScenarioContext, kind: kinds::ResourceKind, text: &str) -> Result<Value, StepError> {
    if kind == kinds::CONFIG_MAP { Ok(context.ledger.names.fill(text).into()) } else { context.json(text) }
}

/// Makes a second Work on the hub that says that it is of the same envelope. KubeFleet itself does when it looks for the first
/// one before it has heard that it is there: see docs/controllers.md.
#[when(expr = "a second Work of the envelope of placement {string} is made for {string}")]
async fn second_work_made(world: &mut World, placement: String, member: String) -> Result<(), StepError> {
    let context = world.context();
    let p = context.placement(&placement)?;
    let found = context.find(&ObjectRef::Work { placement, member, enveloped: true })?;
    let hub = context.hub();
    let held = context
        .wait(&hub, &found.watched, "the Work of the envelope is applied", limits::AVAILABLE, |objects| {
            let applied = found.pick(objects).and_then(|work| Object::new(work).current_condition("Applied"));
            match applied {
                Some(c) if c.status == "True" => Verdict::Holds,
                Some(c) => Verdict::Pending(format!("Applied is {} {}", c.status, c.reason)),
                None => Verdict::Pending("it isn't".into()),
            }
        })
        .await?;
    let work =
        found.pick(&held.objects).ok_or_else(|| StepError::Differs("the Work of the envelope is gone".into()))?;
    let of = &work["metadata"];
    let (name, namespace) = (second_work(&p), of["namespace"].clone());
    let metadata = json!({
        "name": name, "labels": of["labels"], "annotations": of["annotations"], "ownerReferences": of["ownerReferences"],
    });
    let spec = work["spec"].clone();
    context.make(kinds::WORK, namespace.as_str(), json!({"metadata": metadata, "spec": spec})).await?;
    let path = ObjectPath::new(kinds::WORK.kind, namespace.as_str(), &name);
    context.induced(Action::new(format!("Work/{name} made, with the labels of the envelope's own")).on(path));
    Ok(())
}
