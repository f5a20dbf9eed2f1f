//! What Argo CD is asked for, until it has noticed.
//!
//! It can miss what it is asked for just as it writes the Application itself. `writeBackToInformer` (v3.2.11,
//! controller/appcontroller.go:1618) puts the answer to each of its own patches into its store, whatever version is there. When
//! the watch has brought a newer one between the patch and the answer, the store goes back to one in which nothing is asked
//! for. Both queues read the store: `needRefreshAppStatus` (1950) looks there for the annotation, and
//! `processAppOperationQueueItem` (1038) for an `operation`, before it reads the Application again. Nothing queues it again until
//! it changes, or its last comparison has expired after 120 s.
//!
//! A user who sees nothing happen asks for a comparison, once more. That is done here, and the scenario's report says so: `Argo
//! CD missed ...`. A controller that was merely slow can't be told from one that missed it; the line stands for both.

use std::time::Duration;

use diagnosis::{JsonRef, Object};
use fleet::FleetError;
use fleet::argocd;
use fleet::kinds::JOB;
use fleet::observe::Verdict;
use record::{Action, ControllerRace};
use serde_json::Value;

use crate::application_waits::wait;
use crate::context::ScenarioContext;
use crate::error::{StepError, in_time};
use crate::limits;

/// Waits until a sync that was asked for has begun.
pub(crate) async fn begins(context: &mut ScenarioContext, name: &str) -> Result<(), StepError> {
    let application = context.application(name)?;
    let expectation = format!("the sync of Application/{} begins", application.name);
    let begun = wait(context, name, &expectation, limits::NOTICED, |object| {
        if object.at("/status/operationState").is_some() {
            Verdict::Holds
        } else {
            Verdict::Pending("it hasn't begun".into())
        }
    });
    if in_time(begun.await)?.is_some() {
        return Ok(());
    }
    let sentence =
        format!("Argo CD missed the sync of Application/{}, or is slow: it is asked to compare", application.name);
    context.worked_around(ControllerRace::MissedSync, Action::new(sentence).on(application.path()));
    refresh(context, name, false).await
}

/// Asks for a comparison, and waits until it is done.
pub(crate) async fn refresh(context: &mut ScenarioContext, name: &str, hard: bool) -> Result<(), StepError> {
    let application = context.application(name)?;
    let hub = context.hub();
    context.follow(&hub, &application.watched());
    let how = if hard { "--hard-refresh" } else { "--refresh" };
    ask(context, name, hard).await?;
    context.did(Action::new(format!("argocd app get {how} {}", application.name)).on(application.path()));
    if in_time(compared(context, name, limits::NOTICED).await)?.is_some() {
        return Ok(());
    }
    let sentence =
        format!("Argo CD missed the refresh of Application/{}, or is slow: it is asked again", application.name);
    context.worked_around(ControllerRace::MissedRefresh, Action::new(sentence).on(application.path()));
    context.wrote(&argocd::unask(&hub, &application.name).await?);
    ask(context, name, hard).await?;
    compared(context, name, limits::SYNCED).await
}

/// Waits until the Application says something that Argo CD has to compare for. Where a sync has succeeded and the comparison doesn't
/// know it after [`limits::COMPARED`], asks for one.
pub(crate) async fn comes(
    context: &mut ScenarioContext,
    name: &str,
    expectation: &str,
    check: impl Fn(Object<'_>) -> Verdict,
) -> Result<(), StepError> {
    let mut behind = false;
    let soon = wait(context, name, expectation, limits::COMPARED, |object| {
        behind = is_behind(object);
        check(object)
    });
    if in_time(soon.await)?.is_some() {
        return Ok(());
    }
    if behind {
        let application = context.application(name)?;
        let missed = format!("Argo CD missed what the sync of Application/{} has changed", application.name);
        let action = Action::new(format!("{missed}: it is asked to compare")).on(application.path());
        context.worked_around(ControllerRace::MissedChange, action);
        refresh(context, name, false).await?;
    }
    wait(context, name, expectation, limits::SYNCED.saturating_sub(limits::COMPARED), check).await
}

/// Returns true if a sync has succeeded, and the comparison is older: it still has the state before the sync, e.g. a failure to compare.
fn is_behind(object: Object<'_>) -> bool {
    object.at("/operation").is_none()
        && object.str(PHASE) == Some("Succeeded")
        && object.str("/status/sync/status") != Some("Synced")
}

async fn ask(context: &mut ScenarioContext, name: &str, hard: bool) -> Result<(), StepError> {
    let application = context.application(name)?.name;
    context.wrote(&argocd::refresh(&context.hub(), &application, hard).await?);
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
pub(crate) async fn terminate(context: &mut ScenarioContext, name: &str) -> Result<(), StepError> {
    let application = context.application(name)?;
    let mut asked = argocd::terminate(&context.hub(), &application.name).await?;
    loop {
        let begun = asked.data.pointer(STARTED).cloned();
        context.wrote(&asked);
        let expectation = format!("no operation of Application/{} runs", application.name);
        let mut overwritten = false;
        let (hub, watched) = (context.hub(), application.watched());
        let ended = context.wait(&hub, &watched, &expectation, limits::SYNCED, |objects| {
            // An Application whose deletion the operation has held up goes with the operation.
            let Some(object) = objects.get(&application.name).map(Object::new) else { return Verdict::Holds };
            let runs = object.at("/operation").is_some();
            overwritten =
                runs && object.str(PHASE) == Some("Running") && object.at(STARTED) == begun.as_ref().map(JsonRef::from);
            if runs && !overwritten { Verdict::Pending("it still runs".into()) } else { Verdict::Holds }
        });
        ended.await?;
        if !overwritten {
            return Ok(());
        }
        let missed = format!("Argo CD missed that the operation of Application/{} is to end", application.name);
        let action = Action::new(format!("{missed}: it is asked again")).on(application.path());
        context.worked_around(ControllerRace::MissedTermination, action);
        asked = match argocd::terminate(&context.hub(), &application.name).await {
            // It has ended by itself.
            Err(FleetError::Idle(_)) => return Ok(()),
            asked => asked?,
        };
    }
}

/// Syncs again if the sync has failed by a hook whose Job hasn't failed. Returns true if it has synced again.
///
/// A sync deletes the hook's Job of the sync before and creates it again. Where the controller's store still has the old Job, which had
/// failed, the new operation fails by it at once (v3.2.11; docs/argocd.md).
pub(crate) async fn sync_judged_by_an_old_hook(
    context: &mut ScenarioContext,
    name: &str,
    application: &Value,
) -> Result<bool, StepError> {
    let synced = context.application(name)?;
    let object = Object::new(application);
    let Some(began) = object.str(STARTED) else { return Ok(false) };
    let hub = context.hub();
    let cluster = match &synced.member {
        Some(member) => context.fleet.member(member).await?.cluster,
        None => hub.clone(),
    };
    for (namespace, job) in failed_jobs(object) {
        let failed = FleetError::api(&cluster.name, format!("read Job/{job}"));
        let live = JOB.api(&cluster.client, Some(namespace)).get_opt(job).await.map_err(failed)?;
        let live = live.and_then(|job| serde_json::to_value(job).ok());
        if live.is_some_and(|job| has_not_failed(Object::new(&job), began)) {
            let sentence = format!(
                "Argo CD missed that Job/{job} was created again and took the failure of the one before for its own: Application/{} is synced again",
                synced.name
            );
            context.worked_around(ControllerRace::StaleHookJob, Action::new(sentence).on(synced.path()));
            context.wrote(&argocd::sync_again(&hub, &synced.name).await?);
            begins(context, name).await?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Namespace and name of the Jobs that failed as hooks of the last sync.
fn failed_jobs(application: Object<'_>) -> impl Iterator<Item = (&str, &str)> {
    let resources = application.list("/status/operationState/syncResult/resources").iter();
    resources.map(Object::new).filter_map(|resource| {
        let failed = resource.str("/kind") == Some("Job") && resource.str("/hookPhase") == Some("Failed");
        if failed { Some((resource.str("/namespace")?, resource.str("/name")?)) } else { None }
    })
}

/// Returns true if a Job was created since then and hasn't failed.
fn has_not_failed(job: Object<'_>, since: &str) -> bool {
    let made_since = since.parse().is_ok_and(|since| job.created_at().is_some_and(|created| created >= since));
    made_since && job.condition("Failed").is_none_or(|c| c.status != "True")
}

/// Pointers to the start time and the phase of an Application's operation.
const STARTED: &str = "/status/operationState/startedAt";
const PHASE: &str = "/status/operationState/phase";

/// Waits until Argo CD has compared the Application as it was asked to.
async fn compared(context: &ScenarioContext, name: &str, limit: Duration) -> Result<(), StepError> {
    let expectation = format!("Argo CD has compared Application/{} again", context.application(name)?.name);
    let annotation = format!("/metadata/annotations/{}", argocd::REFRESH.replace('/', "~1"));
    wait(context, name, &expectation, limit, |object| {
        if object.at(&annotation).is_none() { Verdict::Holds } else { Verdict::Pending("not yet".into()) }
    })
    .await
}

#[cfg(test)]
mod tests {
    use diagnosis::Object;
    use serde_json::{Value, json};

    use super::{failed_jobs, has_not_failed};

    #[test]
    fn only_jobs_that_failed_as_hooks_are_looked_at() {
        let resource =
            |kind: &str, phase: &str| json!({"kind": kind, "namespace": "shop", "name": "migrate", "hookPhase": phase});
        let resources = [resource("Job", "Running"), resource("Job", "Failed"), resource("Pod", "Failed")];
        let application = json!({"status": {"operationState": {"syncResult": {"resources": resources}}}});
        assert_eq!(failed_jobs(Object::new(&application)).collect::<Vec<_>>(), [("shop", "migrate")]);
    }

    #[test]
    fn a_job_is_judged_by_its_own_end() {
        let began = "2026-11-20T10:00:05Z";
        let is = |created: &str, conditions: Value| {
            let job = json!({"metadata": {"creationTimestamp": created}, "status": {"conditions": conditions}});
            has_not_failed(Object::new(&job), began)
        };
        assert!(is(began, json!([])));
        assert!(is(began, json!([{"type": "FailureTarget", "status": "True"}])));
        assert!(!is(began, json!([{"type": "Failed", "status": "True"}])), "its own failure");
        assert!(is(began, json!([{"type": "Complete", "status": "True"}])), "by the time that it is read");
        assert!(!is("2026-11-20T10:00:04Z", json!([])), "the Job of the sync before");
    }
}
