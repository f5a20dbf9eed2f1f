//! Steps about the envelopes in which a placement's resources may be wrapped, and the Works that are made of them.

use cucumber::when;
use diagnosis::Object;
use fleet::kinds;
use fleet::observe::{Verdict, Watched};
use serde_json::{Value, json};

use crate::error::StepError;
use crate::limits;
use crate::objects::Placement;
use crate::params::ObjectRef;
use crate::placement::changed;
use crate::scene::Scene;
use crate::world::World;

/// The envelope that a placement may have; a cluster-scoped one carries the placement's name before it.
pub(crate) const ENVELOPE: &str = "envelope";

/// The annotation by which a ConfigMap is an envelope.
const IS_ENVELOPE: &str = "kubernetes-fleet.io/envelope-configmap";

/// The Work that there is once too often; the placement's name stands before it.
const SECOND: &str = "second-work";

/// Adds a ResourceEnvelope (in the namespace that is placed) or a ClusterResourceEnvelope with this object, as JSON, to the
/// placement's resources; or a ConfigMap with whatever text, which KubeFleet took for an envelope before there were those.
/// `{name}` stands for the real name of what the scenario calls so. Should KubeFleet make two Works of it, the second is deleted.
#[when(expr = "the resources of placement {string} include a {word} with {string}")]
async fn include_envelope(world: &mut World, name: String, kind: String, object: String) -> Result<(), StepError> {
    let scene = world.scene();
    let p = scene.placement(&name)?;
    let (kind, namespace, envelope) = envelope(&p, &kind)?;
    let object = wrapped(scene, kind, &object)?;
    let mut value = json!({"metadata": {"name": envelope}, "data": {"wrapped.yaml": object}});
    if kind == kinds::CONFIG_MAP {
        value["metadata"]["annotations"] = json!({ IS_ENVELOPE: "true" });
    }
    scene.keep_one_work(&name);
    scene.make(kind, namespace.as_deref(), value).await?;
    scene.induced(format!("{}/{envelope} wraps {object}", kind.kind));
    changed(scene, &name).await
}

/// Gives the envelope another object, as JSON (a ConfigMap: another text).
#[when(expr = "the {word} of placement {string} is corrected to {string}")]
async fn correct_envelope(world: &mut World, kind: String, name: String, object: String) -> Result<(), StepError> {
    let scene = world.scene();
    let p = scene.placement(&name)?;
    let (kind, namespace, envelope) = envelope(&p, &kind)?;
    let object = wrapped(scene, kind, &object)?;
    let data = json!({"data": {"wrapped.yaml": null, "right.yaml": object}});
    scene.patch(kind, namespace.as_deref(), &envelope, data).await?;
    scene.remedied(format!("{}/{envelope} wraps {object}", kind.kind));
    changed(scene, &name).await
}

fn envelope(p: &Placement, kind: &str) -> Result<(kinds::Kind, Option<String>, String), StepError> {
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

/// What an envelope of that kind wraps: an object, or in a ConfigMap a text that should be one.
fn wrapped(scene: &Scene, kind: kinds::Kind, text: &str) -> Result<Value, StepError> {
    if kind == kinds::CONFIG_MAP { Ok(scene.names.fill(text).into()) } else { scene.json(text) }
}

/// Makes a second Work on the hub that says that it is of the same envelope. KubeFleet itself does when it looks for the first
/// one before it has heard that it is there: see docs/controllers.md.
#[when(expr = "a second Work of the envelope of placement {string} is made for {string}")]
async fn second_work(world: &mut World, placement: String, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let p = scene.placement(&placement)?;
    let found = scene.find(&ObjectRef::Work { placement, member, enveloped: true })?;
    let hub = scene.hub();
    let held = scene
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
    let of = |field: &str| work["metadata"][field].clone();
    let (name, namespace) = (format!("{}-{SECOND}", p.name), of("namespace"));
    let metadata = json!({
        "name": name, "labels": of("labels"), "annotations": of("annotations"), "ownerReferences": of("ownerReferences"),
    });
    let spec = work["spec"].clone();
    scene.make(kinds::WORK, namespace.as_str(), json!({"metadata": metadata, "spec": spec})).await?;
    scene.induced(format!("Work/{name} made, with the labels of the envelope's own"));
    Ok(())
}

/// Deletes the Work that was made so, and waits until it is gone.
#[when(expr = "the second Work of the envelope of placement {string} for {string} is deleted")]
async fn second_work_deleted(world: &mut World, placement: String, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let name = format!("{}-{SECOND}", scene.placement(&placement)?.name);
    let namespace = fleet::member_namespace(&scene.names.get(&member)?);
    scene.delete(kinds::WORK, Some(&namespace), &name).await?;
    scene.remedied(format!("Work/{name} deleted"));
    let (hub, watched) = (scene.hub(), Watched::one("hub", kinds::WORK, Some(&namespace), &name));
    let expectation = format!("{name} is gone");
    scene.wait(&hub, &watched, &expectation, limits::REPORTED, |objects| Verdict::gone(objects, &name)).await?;
    Ok(())
}
