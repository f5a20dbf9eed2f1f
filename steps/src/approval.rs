//! Steps about approval requests.

use cucumber::{given, then, when};
use diagnosis::Object;
use fleet::faults::{Answer, answer};
use fleet::observe::{Objects, Verdict};
use serde_json::json;

use crate::error::StepError;
use crate::limits;
use crate::objects::Found;
use crate::params::ObjectRef;
use crate::scene::Scene;
use crate::wording;
use crate::world::World;

/// Approves the request as the documentation says: the condition Approved, True, with the request's own generation.
/// Waits for the request first.
#[given(expr = "{object} is approved")]
#[when(expr = "{object} is approved")]
async fn is_approved(world: &mut World, object: ObjectRef) -> Result<(), StepError> {
    let scene = world.scene();
    let request = requested(scene, &object).await?;
    let generation = request.generation;
    request.answer(scene, Answer::Approved(generation)).await?;
    scene.remedied(format!("{} approved with observedGeneration {generation}, its generation", request.path));
    Ok(())
}

/// Approves the request as a script does that leaves observedGeneration out: it is then 0, and the hub-agent ignores
/// the approval without a sign. Waits for the request first.
#[given(expr = "{object} is approved with a stale observedGeneration")]
#[when(expr = "{object} is approved with a stale observedGeneration")]
async fn is_approved_stale(world: &mut World, object: ObjectRef) -> Result<(), StepError> {
    let scene = world.scene();
    let request = requested(scene, &object).await?;
    request.answer(scene, Answer::Approved(0)).await?;
    let Request { path, generation, .. } = request;
    scene.induced(format!("{path} approved with observedGeneration 0 while its generation is {generation}"));
    Ok(())
}

/// Answers the request with the condition Approved, False, as somebody may who doesn't want the run to go on.
#[when(expr = "{object} is refused")]
async fn is_refused(world: &mut World, object: ObjectRef) -> Result<(), StepError> {
    let scene = world.scene();
    let request = requested(scene, &object).await?;
    request.answer(scene, Answer::Refused(request.generation)).await?;
    scene.induced(format!("{}: Approved False", request.path));
    Ok(())
}

/// Deletes the request and waits until it is gone; the hub-agent may have made another of its name by then.
#[when(expr = "{object} is deleted by mistake")]
async fn is_deleted(world: &mut World, object: ObjectRef) -> Result<(), StepError> {
    let scene = world.scene();
    let request = requested(scene, &object).await?;
    scene.delete(request.found.kind, request.found.watched.namespace.as_deref(), &request.name).await?;
    scene.induced(format!("{} deleted", request.path));
    let hub = scene.hub();
    let expectation = format!("{} is gone", request.path);
    let is_old = |objects: &Objects| request.found.pick(objects).is_some_and(|o| uid(Object::new(o)) == request.uid);
    scene
        .wait(&hub, &request.found.watched, &expectation, limits::REPORTED, |objects| {
            if is_old(objects) { Verdict::Pending("it is still there".into()) } else { Verdict::Holds }
        })
        .await?;
    Ok(())
}

/// Waits until the request is there and nobody has answered it.
#[given(expr = "{object} is there, without an answer")]
#[then(expr = "{object} is there, without an answer")]
async fn is_there(world: &mut World, object: ObjectRef) -> Result<(), StepError> {
    let scene = world.scene();
    let found = scene.find(&object)?;
    let hub = scene.hub();
    scene
        .wait(&hub, &found.watched, "the request is there", limits::REPORTED, |objects| match found.pick(objects) {
            Some(o) if Object::new(o).condition("Approved").is_none() => Verdict::Holds,
            Some(_) => Verdict::Pending("it has an answer".into()),
            None => Verdict::Pending("no such approval request".into()),
        })
        .await?;
    Ok(())
}

/// A request of the name that the run will give its own, made by somebody for another run.
#[given(
    expr = "the approval request that update run {string} of placement {string} will make {word} stage {string} is there already, for another run"
)]
async fn is_another_runs(
    world: &mut World,
    run: String,
    placement: String,
    when: String,
    stage: String,
) -> Result<(), StepError> {
    let scene = world.scene();
    let other = scene.names.make("other");
    let early = Early { run, placement, when, stage };
    let (kind, _, name) = early.make(scene, &other).await?;
    scene.induced(format!("{}/{name} created for stage {} of {other}", kind.kind, early.stage));
    Ok(())
}

/// A request of the name that the run will give its own, for this run and stage, made and approved by somebody beforehand.
#[given(
    expr = "the approval request that update run {string} of placement {string} will make {word} stage {string} is there already, and approved"
)]
async fn is_approved_early(
    world: &mut World,
    run: String,
    placement: String,
    when: String,
    stage: String,
) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.make(&run);
    let early = Early { run, placement, when, stage };
    let (kind, namespace, name) = early.make(scene, &real).await?;
    // A new object's generation is 1.
    answer(&scene.hub(), kind, namespace.as_deref(), &name, Answer::Approved(1)).await?;
    scene.did(format!("{}/{name} created for stage {} of {real}, and approved", kind.kind, early.stage));
    Ok(())
}

/// A request that is there before its run.
struct Early {
    run: String,
    placement: String,
    /// `before` or `after`.
    when: String,
    stage: String,
}

impl Early {
    /// Makes it under the name that the controller will use for `run`, for a stage of the run `target`.
    async fn make(
        &self,
        scene: &mut Scene,
        target: &str,
    ) -> Result<(fleet::kinds::Kind, Option<String>, String), StepError> {
        let scope = scene.placement(&self.placement)?.scope;
        let (kind, namespace) = (scope.approval_request(), scope.namespace().map(ToOwned::to_owned));
        let run = scene.names.make(&self.run);
        let name = wording::request(&scene.fleet.capabilities(), &run, &self.when, &self.stage);
        let spec = json!({"parentStageRollout": target, "targetStage": self.stage});
        scene.make(kind, namespace.as_deref(), json!({"metadata": {"name": name}, "spec": spec})).await?;
        Ok((kind, namespace, name))
    }
}

/// A request as it was when a step looked for it.
struct Request {
    found: Found,
    name: String,
    path: String,
    uid: String,
    generation: i64,
}

impl Request {
    async fn answer(&self, scene: &Scene, what: Answer) -> Result<(), StepError> {
        let namespace = self.found.watched.namespace.as_deref();
        Ok(answer(&scene.hub(), self.found.kind, namespace, &self.name, what).await?)
    }
}

async fn requested(scene: &Scene, object: &ObjectRef) -> Result<Request, StepError> {
    let found = scene.find(object)?;
    let hub = scene.hub();
    let expectation = "the approval request is there";
    let held = scene
        .wait(&hub, &found.watched, expectation, limits::RUN, |objects| match found.pick(objects) {
            Some(_) => Verdict::Holds,
            None => Verdict::Pending("no such approval request".into()),
        })
        .await?;
    let Some(request) = found.pick(&held.objects).map(Object::new) else {
        return Err(StepError::Differs("the approval request went while it was looked at".into()));
    };
    let (name, path) = (request.name().to_owned(), request.path());
    let (uid, generation) = (uid(request), request.generation());
    Ok(Request { found, name, path, uid, generation })
}

fn uid(object: Object<'_>) -> String {
    object.str("/metadata/uid").unwrap_or_default().to_owned()
}
