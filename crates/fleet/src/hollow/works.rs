//! Works of hollow members.
//!
//! An agent adds its finalizer to a new Work, records the manifests that it is going to apply, applies them, and reports on
//! each. Of a Work that is being deleted it removes the finalizer. A hollow member has nothing to apply manifests to, so
//! that only the requests to the hub are left.

use std::sync::Arc;
use std::time::Duration;

use diagnosis::kubefleet::WORK_CLEANUP_FINALIZER;
use kube::api::Patch;
use kube::runtime::controller::Action;
use kube::{Api, Error, Resource as _, ResourceExt as _};
use serde_json::json;

use super::agents::{Agents, WorkProgress, as_member_agent, is_gone};
use super::behaviour::MemberBehaviour;
use super::conditions::{find, now};
use super::names::member_of;
use super::work_objects::{Manifest, Work, WorkStatus};

/// Time after which the agent of a member that hasn't joined looks at a Work again (v0.1.2).
const NOT_JOINED: Duration = Duration::from_secs(5);

/// Brings a Work one step on.
pub(super) async fn reconcile(work: Arc<Work>, agents: Arc<Agents>) -> Result<Action, Error> {
    let namespace = work.namespace().unwrap_or_default();
    let Some(member) = member_of(&namespace) else { return Ok(Action::await_change()) };
    let behaviour = agents.behaviour(member);
    // A change of the behaviours starts all reconciles again.
    if !behaviour.works {
        return Ok(Action::await_change());
    }
    if !agents.has_joined(member) {
        return Ok(Action::requeue(NOT_JOINED));
    }
    let api: Api<Work> = Api::namespaced(agents.client.clone(), &namespace);
    let done = if work.meta().deletion_timestamp.is_some() {
        agents.forget(&uid(&work));
        release(&api, &work).await.map(|()| Action::await_change())
    } else {
        apply(&api, &work, &behaviour, &agents).await
    };
    match done {
        Err(error) if is_gone(&error) => Ok(Action::await_change()),
        done => done,
    }
}

/// Removes the agent's finalizer from a Work.
pub(super) async fn release(api: &Api<Work>, work: &Work) -> Result<(), Error> {
    if !has_finalizer(work) {
        return Ok(());
    }
    let left: Vec<&String> = work.finalizers().iter().filter(|f| *f != WORK_CLEANUP_FINALIZER).collect();
    match set_finalizers(api, work, &left).await {
        Err(error) if is_gone(&error) => Ok(()),
        done => done.map(drop),
    }
}

async fn apply(api: &Api<Work>, work: &Work, behaviour: &MemberBehaviour, agents: &Agents) -> Result<Action, Error> {
    if !has_finalizer(work) {
        let own = WORK_CLEANUP_FINALIZER.to_owned();
        let finalizers: Vec<&String> = work.finalizers().iter().chain([&own]).collect();
        // The write is seen by the watch, which starts the next step.
        return set_finalizers(api, work, &finalizers).await.map(|_| Action::await_change());
    }
    if work.spec.apply_strategy.reports_differences() {
        report(api, work, &work.status_without_differences(now())).await?;
        return Ok(Action::await_change());
    }
    let (uid, generation) = (uid(work), work.generation());
    let progress = agents.progress(&uid, generation);
    let was_applied =
        find(&work.status.conditions, "Applied").is_some_and(|c| c.observed_generation == Some(generation));
    if !was_applied {
        let left = behaviour.apply.saturating_sub(progress.seen.elapsed());
        if !work.is_written_ahead() {
            report(api, work, &work.status_ahead(now())).await?;
            return Ok(if left.is_zero() { Action::await_change() } else { Action::requeue(left) });
        }
        if !left.is_zero() {
            return Ok(Action::requeue(left));
        }
    }
    let left = until_available(work, behaviour, progress);
    let is_available = |images: &[String]| left.is_zero() && !images.iter().any(|image| behaviour.fails(image));
    let status = work.status_applied(now(), |manifest| is_available(&manifest.images));
    report(api, work, &status).await?;
    agents.applied(&uid, generation);
    let waits = !left.is_zero() && work.manifests().iter().any(Manifest::is_workload);
    Ok(if waits { Action::requeue(left) } else { Action::await_change() })
}

/// Returns the time until the workloads of a Work are available; zero if they are.
fn until_available(work: &Work, behaviour: &MemberBehaviour, progress: WorkProgress) -> Duration {
    let generation = Some(work.generation());
    let is_reported = |type_| {
        find(&work.status.conditions, type_).filter(|c| c.observed_generation == generation).map(|c| c.status == "True")
    };
    match (progress.applied, is_reported("Applied")) {
        (Some(applied), _) => behaviour.available.saturating_sub(applied.elapsed()),
        // Another process has reported on this generation before this one was started.
        (None, Some(_)) => Duration::ZERO,
        (None, None) => behaviour.available,
    }
}

/// Writes a status, unless the Work has it already.
async fn report(api: &Api<Work>, work: &Work, status: &WorkStatus) -> Result<(), Error> {
    if work.status == *status {
        return Ok(());
    }
    let patch = Patch::Merge(json!({"status": status}));
    api.patch_status(&work.name_any(), &as_member_agent(), &patch).await.map(drop)
}

fn has_finalizer(work: &Work) -> bool {
    work.finalizers().iter().any(|finalizer| finalizer == WORK_CLEANUP_FINALIZER)
}

/// Sets the finalizers of a Work that hasn't changed meanwhile.
async fn set_finalizers(api: &Api<Work>, work: &Work, finalizers: &[&String]) -> Result<Work, Error> {
    let version = work.resource_version();
    let patch = Patch::Merge(json!({"metadata": {"finalizers": finalizers, "resourceVersion": version}}));
    api.patch(&work.name_any(), &as_member_agent(), &patch).await
}

fn uid(work: &Work) -> String {
    work.uid().unwrap_or_default()
}
