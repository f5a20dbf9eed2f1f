//! What Argo CD is asked for, until it has noticed.
//!
//! It can miss what it is asked for just as it writes the Application itself. `writeBackToInformer` (v3.2.11,
//! controller/appcontroller.go:1618) puts the answer to each of its own patches into its store, whatever version is there. When
//! the watch has brought a newer one between the patch and the answer, the store goes back to one in which nothing is asked
//! for. Both queues read the store: `needRefreshAppStatus` (1950) looks there for the annotation, and
//! `processAppOperationQueueItem` (1038) for an `operation`, before it reads the Application anew. Nothing queues it again until
//! it changes, or its last comparison has expired after 120 s.
//!
//! A user who sees nothing happen asks for a comparison, once more. That is done here, and the scenario's report says so: `Argo
//! CD missed ...`. A controller that was merely slow can't be told from one that missed it; the line stands for both.

use std::time::Duration;

use fleet::FleetError;
use fleet::argocd;
use fleet::observe::Verdict;

use crate::application::wait;
use crate::error::StepError;
use crate::limits;
use crate::scene::Scene;

/// Waits until a sync that was asked for has begun.
pub(crate) async fn begins(scene: &mut Scene, name: &str) -> Result<(), StepError> {
    let application = scene.application(name)?.name;
    let expectation = format!("the sync of Application/{application} begins");
    let begun = wait(scene, name, &expectation, limits::NOTICED, |object| {
        if object.at("/status/operationState").is_some() {
            Verdict::Holds
        } else {
            Verdict::Pending("it hasn't begun".into())
        }
    });
    if came(begun.await)? {
        return Ok(());
    }
    scene.did(format!("Argo CD missed the sync of Application/{application}"));
    refresh(scene, name, false).await
}

/// Asks for a comparison, and waits until it is done.
pub(crate) async fn refresh(scene: &mut Scene, name: &str, hard: bool) -> Result<(), StepError> {
    let application = scene.application(name)?;
    let hub = scene.hub();
    scene.follow(&hub, &application.watched());
    let how = if hard { "--hard-refresh" } else { "--refresh" };
    ask(scene, name, hard).await?;
    scene.did(format!("argocd app get {how} {}", application.name));
    if came(compared(scene, name, limits::NOTICED).await)? {
        return Ok(());
    }
    scene.did(format!("Argo CD missed the refresh of Application/{}: it is asked again", application.name));
    scene.wrote(&argocd::unask(&hub, &application.name).await?);
    ask(scene, name, hard).await?;
    compared(scene, name, limits::SYNCED).await
}

async fn ask(scene: &mut Scene, name: &str, hard: bool) -> Result<(), StepError> {
    let application = scene.application(name)?.name;
    scene.wrote(&argocd::refresh(&scene.hub(), &application, hard).await?);
    Ok(())
}

/// Asks for the end of the operation that runs, and waits until none does.
///
/// An attempt that is being applied at that moment takes the request away: `setOperationState` (v3.2.11,
/// controller/appcontroller.go:1530) writes the phase that the attempt ended with, whatever the phase is by then. Then the operation
/// runs again, and a user asks once more.
///
/// # Errors
/// [`FleetError::Idle`] when no operation runs to begin with.
pub(crate) async fn terminate(scene: &mut Scene, name: &str) -> Result<(), StepError> {
    let application = scene.application(name)?.name;
    let mut asked = argocd::terminate(&scene.hub(), &application).await?;
    loop {
        let begun = asked.data.pointer(STARTED).cloned();
        scene.wrote(&asked);
        let expectation = format!("no operation of Application/{application} runs");
        let mut overwritten = false;
        wait(scene, name, &expectation, limits::SYNCED, |object| {
            let runs = object.at("/operation").is_some();
            overwritten = runs && object.str(PHASE) == Some("Running") && object.at(STARTED) == begun.as_ref();
            if runs && !overwritten { Verdict::Pending("it still runs".into()) } else { Verdict::Holds }
        })
        .await?;
        if !overwritten {
            return Ok(());
        }
        scene.did(format!(
            "Argo CD missed that the operation of Application/{application} is to end: it is asked again"
        ));
        asked = match argocd::terminate(&scene.hub(), &application).await {
            // It has ended by itself.
            Err(FleetError::Idle(_)) => return Ok(()),
            asked => asked?,
        };
    }
}

/// Where an Application says when its operation began, and how that goes.
const STARTED: &str = "/status/operationState/startedAt";
const PHASE: &str = "/status/operationState/phase";

/// Waits until Argo CD has compared the Application as it was asked to.
async fn compared(scene: &Scene, name: &str, limit: Duration) -> Result<(), StepError> {
    let expectation = format!("Argo CD has compared Application/{} again", scene.application(name)?.name);
    let annotation = format!("/metadata/annotations/{}", argocd::REFRESH.replace('/', "~1"));
    wait(scene, name, &expectation, limit, |object| {
        if object.at(&annotation).is_none() { Verdict::Holds } else { Verdict::Pending("not yet".into()) }
    })
    .await
}

/// Whether what was waited for came in time.
pub(crate) fn came(waited: Result<(), StepError>) -> Result<bool, StepError> {
    match waited {
        Ok(()) => Ok(true),
        Err(StepError::Fleet(FleetError::TimedOut { .. })) => Ok(false),
        Err(error) => Err(error),
    }
}
