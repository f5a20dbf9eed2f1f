//! Steps about staged update runs and their strategies.

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use diagnosis::Object;
use fleet::observe::{Verdict, Watched};
use serde_json::{Value, json};

use crate::error::StepError;
use crate::limits;
use crate::objects::UpdateRun;
use crate::placement::absent;
use crate::scene::Scene;
use crate::world::World;

/// A strategy for a placement's runs. Columns: `stage`, `members` (separated by commas), and where wanted `before` and
/// `after`, each `Approval` or `TimedWait 5s`.
#[given(expr = "a staged update strategy {string} for placement {string}")]
async fn strategy(world: &mut World, name: String, placement: String, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    let placement = scene.placement(&placement)?;
    let table = step.table.as_ref().ok_or_else(|| StepError::Feature("this step needs a table of stages".into()))?;
    let [header, rows @ ..] = &table.rows[..] else {
        return Err(StepError::Feature("the table of stages is empty".into()));
    };
    let real = scene.names.make(&name);
    let mut stages = Vec::new();
    for row in rows {
        let cell = |name: &str| {
            let column = header.iter().position(|h| h == name)?;
            row.get(column).map(String::as_str).filter(|cell| !cell.is_empty())
        };
        let stage = cell("stage").ok_or_else(|| StepError::Feature("a row has no `stage`".into()))?;
        let members = cell("members").ok_or_else(|| StepError::Feature("a row has no `members`".into()))?;
        let label = format!("fleetdrill.dev/{real}-{stage}");
        for member in members.split(", ") {
            let member = scene.names.get(member)?;
            scene.label_member(&member, json!({ &label: "true" })).await?;
        }
        let mut value = json!({"name": stage, "labelSelector": {"matchLabels": {label: "true"}}});
        for (column, field) in [("before", "beforeStageTasks"), ("after", "afterStageTasks")] {
            if let Some(task) = cell(column) {
                value[field] = json!([self::task(task)]);
            }
        }
        stages.push(value);
    }
    let (kind, namespace) = (placement.scope.strategy(), placement.scope.namespace());
    scene.make(kind, namespace, json!({"metadata": {"name": real}, "spec": {"stages": stages}})).await?;
    scene.did(format!("{}/{real} created with {} stage(s)", kind.kind, stages.len()));
    Ok(())
}

/// Starts a run of a placement with a strategy, at the placement's latest resource snapshot.
#[given(expr = "an update run {string} of placement {string} starts with strategy {string}")]
#[when(expr = "an update run {string} of placement {string} starts with strategy {string}")]
async fn starts(world: &mut World, name: String, placement: String, strategy: String) -> Result<(), StepError> {
    let scene = world.scene();
    let index = scene.placement(&placement)?.revision.to_string();
    start(scene, &name, &placement, &strategy, &index).await
}

/// Starts a run at a resource snapshot index, whatever it is.
#[given(expr = "an update run {string} of placement {string} starts with strategy {string} at snapshot index {string}")]
#[when(expr = "an update run {string} of placement {string} starts with strategy {string} at snapshot index {string}")]
async fn starts_at(
    world: &mut World,
    name: String,
    placement: String,
    strategy: String,
    index: String,
) -> Result<(), StepError> {
    start(world.scene(), &name, &placement, &strategy, &index).await
}

/// Deletes the run.
#[when(expr = "update run {string} is deleted")]
async fn is_deleted(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let run = scene.run(&name)?;
    scene.delete(run.scope.run(), run.scope.namespace(), &run.name).await?;
    scene.did(format!("{}/{} deleted", run.scope.run().kind, run.name));
    Ok(())
}

/// Waits until the run has succeeded at its present generation. Fails at once when it ends otherwise.
#[given(expr = "update run {string} succeeds")]
#[then(expr = "update run {string} succeeds")]
async fn succeeds(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let run = scene.run(&name)?;
    let watched = Watched::one("hub", run.scope.run(), run.scope.namespace(), &run.name);
    let hub = scene.hub();
    let expectation = format!("{} succeeds", run.name);
    scene
        .wait(&hub, &watched, &expectation, limits::RUN, |objects| {
            let Some(value) = objects.get(&run.name) else { return absent(objects, &run.name) };
            let object = Object::new(value);
            let failed = ["Initialized", "Succeeded"].map(|type_| object.current_condition(type_));
            if let Some(c) = failed.into_iter().flatten().find(|c| c.status == "False") {
                return Verdict::Never(format!("{} False {}: {}", c.type_, c.reason, c.message));
            }
            match object.current_condition("Succeeded") {
                Some(c) if c.status == "True" => Verdict::Holds,
                _ => Verdict::Pending("it hasn't ended".into()),
            }
        })
        .await?;
    Ok(())
}

async fn start(scene: &mut Scene, name: &str, placement: &str, strategy: &str, index: &str) -> Result<(), StepError> {
    let p = scene.placement(placement)?;
    let strategy = scene.names.get(strategy)?;
    let real = scene.names.make(name);
    let (kind, namespace) = (p.scope.run(), p.scope.namespace());
    let hub = scene.hub();
    scene.follow(&hub, &Watched::one("hub", kind, namespace, &real));
    let mut spec = json!({
        "placementName": p.name, "stagedRolloutStrategyName": strategy, "resourceSnapshotIndex": index,
    });
    if let Some(state) = scene.fleet.run_state() {
        spec["state"] = Value::from(state);
    }
    scene.make(kind, namespace, json!({"metadata": {"name": real}, "spec": spec})).await?;
    scene.did(format!("{}/{real} started with strategy {strategy} at resource snapshot index {index}", kind.kind));
    let run = UpdateRun { name: real, placement: placement.to_owned(), scope: p.scope };
    scene.runs.insert(name.to_owned(), run);
    Ok(())
}

fn task(text: &str) -> Value {
    match text.split_once(' ') {
        Some((type_, wait)) => json!({"type": type_, "waitTime": wait}),
        None => json!({"type": text}),
    }
}
