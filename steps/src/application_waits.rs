//! Waits for what an Application says.

use std::time::Duration;

use diagnosis::Object;
use fleet::observe::{Verdict, WatchedObjects};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::objects::Application;

/// Waits for something that the Application says since it was last asked for something.
pub(crate) async fn wait(
    context: &ScenarioContext,
    name: &str,
    expectation: &str,
    limit: Duration,
    mut check: impl FnMut(Object<'_>) -> Verdict,
) -> Result<(), StepError> {
    let application = context.application(name)?;
    let (hub, watched) = (context.hub(), application.watched());
    context.wait(&hub, &watched, expectation, limit, |objects| present(&application, objects, &mut check)).await?;
    Ok(())
}

/// Watches that the Application goes on saying something.
pub(crate) async fn stays(
    context: &ScenarioContext,
    name: &str,
    expectation: &str,
    time: Duration,
    mut check: impl FnMut(Object<'_>) -> Verdict,
) -> Result<(), StepError> {
    let application = context.application(name)?;
    let (hub, watched) = (context.hub(), application.watched());
    context.stays(&hub, &watched, expectation, time, |objects| present(&application, objects, &mut check)).await
}

/// Returns the verdict on a condition of the last operation that doesn't hold: `Never` if the operation has ended and no other will begin
/// by itself, otherwise `Pending`.
pub(crate) fn unless_final(object: Object<'_>, what: String) -> Verdict {
    let ended = object.at("/operation").is_none() && object.at("/status/operationState/finishedAt").is_some();
    let automated = object.at("/spec/syncPolicy/automated").is_some();
    if ended && !automated { Verdict::Never(format!("the sync has ended, and {what}")) } else { Verdict::Pending(what) }
}

/// The check of the Application, once there is one.
fn present(
    application: &Application,
    objects: &WatchedObjects,
    check: &mut impl FnMut(Object<'_>) -> Verdict,
) -> Verdict {
    let there = objects.get(&application.name);
    there.map_or_else(|| Verdict::Pending("there is no such Application".into()), |value| check(Object::new(value)))
}
