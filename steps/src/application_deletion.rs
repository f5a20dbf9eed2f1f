//! Steps about Applications of Argo CD that are deleted, about what they delete, and about Applications that aren't healthy for long.

use std::time::Duration;

use cucumber::{given, then, when};
use diagnosis::Object;
use fleet::argocd;
use fleet::kinds;
use fleet::observe::Verdict;
use record::Action;
use serde_json::json;

use crate::application_waits::{stays, wait};
use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::limits;
use crate::needs::needs;
use crate::world::World;

/// Finalizer by which Argo CD deletes an Application's resources before the Application goes.
const CASCADE: &str = "resources-finalizer.argocd.argoproj.io";

/// Finalizer by which Argo CD deletes an Application's resources, and leaves the objects that they own to the garbage collector.
const BACKGROUND: &str = "resources-finalizer.argocd.argoproj.io/background";

/// Annotation of an Application by which a person confirms deletions.
const APPROVED: &str = "argocd.argoproj.io/deletion-approved";

/// Asks for the deletion of an Application and of its resources, as `argocd app delete --cascade` does: adds Argo CD's finalizer, and
/// deletes the Application. Doesn't wait for its end.
#[given(expr = "application {string} is deleted with its resources")]
#[when(expr = "application {string} is deleted with its resources")]
async fn is_deleted(world: &mut World, name: String) -> Result<(), StepError> {
    delete_with_resources(world.context(), &name, CASCADE, "--cascade").await
}

/// Asks for the deletion of an Application and of its resources, as `argocd app delete --propagation-policy background` does: adds Argo CD's
/// finalizer for it, and deletes the Application. Doesn't wait for its end.
#[when(expr = "application {string} is deleted with its resources in the background")]
async fn is_deleted_in_the_background(world: &mut World, name: String) -> Result<(), StepError> {
    delete_with_resources(world.context(), &name, BACKGROUND, "--propagation-policy background").await
}

async fn delete_with_resources(
    context: &mut ScenarioContext,
    name: &str,
    finalizer: &str,
    flags: &str,
) -> Result<(), StepError> {
    let application = context.application(name)?;
    let (real, namespace) = (application.name.as_str(), Some(argocd::NAMESPACE));
    fleet::objects::add_finalizer(&context.hub(), kinds::APPLICATION, namespace, real, finalizer).await?;
    context.delete(kinds::APPLICATION, namespace, real).await?;
    context.did(Action::new(format!("argocd app delete {real} {flags}")).on(application.path()));
    Ok(())
}

/// Waits until the Application is gone.
#[then(expr = "application {string} is gone")]
async fn is_gone(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let application = context.application(&name)?;
    let (hub, watched) = (context.hub(), application.watched());
    let expectation = format!("{} is gone", application.path());
    let gone = |objects: &_| Verdict::gone(objects, &application.name);
    context.wait(&hub, &watched, &expectation, limits::SYNCED, gone).await?;
    Ok(())
}

/// Confirms what an Application is about to delete, as `argocd app confirm-deletion` does: with the time, in an annotation of the
/// Application.
#[when(expr = "the deletions of application {string} are confirmed")]
async fn are_confirmed(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let application = context.application(&name)?;
    let now = jiff::Timestamp::now().to_string();
    let patch = json!({"metadata": {"annotations": {APPROVED: now}}});
    context.patch(kinds::APPLICATION, Some(argocd::NAMESPACE), &application.name, patch).await?;
    context.remedied(Action::new(format!("argocd app confirm-deletion {}", application.name)).on(application.path()));
    Ok(())
}

/// Lets the five minutes pass for which the diagnosis takes an Application that isn't healthy for one that is on its way. Waits until it
/// isn't, and moves the time of its `status.health` six minutes into the past; Argo CD keeps that time while the health stays the same.
/// With `--real-time` they are waited out.
#[needs(waits_out: Some(diagnosis::PATIENCE.unsigned_abs()))]
#[when(expr = "application {string} hasn't been healthy for five minutes")]
async fn unhealthy_for_long(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let application = context.application(&name)?;
    let expectation = format!("{} isn't healthy", application.path());
    wait(context, &name, &expectation, limits::SYNCED, unhealthy).await?;
    if context.real_time() {
        // The diagnosis compares times in whole seconds.
        let time = diagnosis::PATIENCE.unsigned_abs() + Duration::from_secs(5);
        return stays(context, &name, &expectation, time, unhealthy).await;
    }
    move_health_into_the_past(context, &application.name).await?;
    let sentence = format!("the health of {} counts as six minutes older", application.name);
    context.fast_forwarded(Action::new(sentence).on(application.path()));
    Ok(())
}

/// Holds while an Application reports a health other than Healthy.
fn unhealthy(object: Object<'_>) -> Verdict {
    let is_told = object.str("/status/health/lastTransitionTime").is_some();
    match object.str("/status/health/status") {
        Some(status) if status != "Healthy" && is_told => Verdict::Holds,
        status => Verdict::Pending(format!("it is {}", status.unwrap_or("absent"))),
    }
}

async fn move_health_into_the_past(context: &ScenarioContext, real: &str) -> Result<(), StepError> {
    let time = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(6);
    let patch = json!({"status": {"health": {"lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()}}});
    context.patch(kinds::APPLICATION, Some(argocd::NAMESPACE), real, patch).await
}
