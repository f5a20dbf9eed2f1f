//! Steps about approval requests.

use cucumber::{given, when};
use diagnosis::Object;
use fleet::observe::Verdict;

use crate::error::StepError;
use crate::limits;
use crate::params::ObjectRef;
use crate::scene::Scene;
use crate::world::World;

/// Approves the request as the documentation says: the condition Approved, True, with the request's own generation.
/// Waits for the request first.
#[given(expr = "{object} is approved")]
#[when(expr = "{object} is approved")]
async fn is_approved(world: &mut World, object: ObjectRef) -> Result<(), StepError> {
    let scene = world.scene();
    let (name, generation) = requested(scene, &object).await?;
    approve(scene, &object, &name, generation).await?;
    scene.remedied(format!("{name} approved with observedGeneration {generation}, its generation"));
    Ok(())
}

/// Approves the request as a script does that leaves observedGeneration out: it is then 0, and the hub-agent ignores
/// the approval without a sign. Waits for the request first.
#[given(expr = "{object} is approved with a stale observedGeneration")]
#[when(expr = "{object} is approved with a stale observedGeneration")]
async fn is_approved_stale(world: &mut World, object: ObjectRef) -> Result<(), StepError> {
    let scene = world.scene();
    let (name, generation) = requested(scene, &object).await?;
    approve(scene, &object, &name, 0).await?;
    scene.induced(format!("{name} approved with observedGeneration 0 while its generation is {generation}"));
    Ok(())
}

async fn requested(scene: &Scene, object: &ObjectRef) -> Result<(String, i64), StepError> {
    let found = scene.find(object)?;
    let hub = scene.hub();
    let expectation = "the approval request is there";
    let held = scene
        .wait(&hub, &found.watched, expectation, limits::RUN, |objects| match found.pick(objects) {
            Some(_) => Verdict::Holds,
            None => Verdict::Pending("no such approval request".into()),
        })
        .await?;
    let request = found.pick(&held.objects).map(Object::new);
    Ok(request.map(|o| (o.path(), o.generation())).unwrap_or_default())
}

async fn approve(scene: &Scene, object: &ObjectRef, path: &str, generation: i64) -> Result<(), StepError> {
    let found = scene.find(object)?;
    let name = path.rsplit('/').next().unwrap_or_default();
    let hub = scene.hub();
    Ok(fleet::faults::approve(&hub, found.kind, found.watched.namespace.as_deref(), name, generation).await?)
}
