//! AR-SF-006: what an operation waits for, and what its Pods wait for.

use jiff::SignedDuration;
use serde_json::json;

use super::application::{Application, Outcome};
use super::names::{objects, sentence};
use crate::rules::draft::{Draft, Topic};
use crate::rules::fleet::Placement;
use crate::rules::pods::{self, Look};
use crate::rules::scope::Scope;
use crate::{Object, PATIENCE};

/// For how long an operation may run before its waiting counts as a failure: as long as resources may be on their way. Argo
/// CD has no limit of its own (v3.2). A Pod that says why it can't start isn't waited for.
const PATIENT: SignedDuration = PATIENCE;

/// The wave of an object, in its annotations.
const WAVE: &str = "argocd.argoproj.io/sync-wave";

/// A resource that has become unhealthy for good.
pub(super) fn failed(application: Application<'_>, outcomes: &[Outcome<'_>]) -> Draft {
    draft(application, outcomes, &look(application, outcomes), false)
}

/// An operation that still runs, when it has done so for long or will never end.
pub(super) fn waiting(application: Application<'_>) -> Option<Draft> {
    let (hooks, resources): (Vec<_>, Vec<_>) =
        application.outcomes().filter(|o| o.is_running()).partition(|o| o.is_hook());
    let is_hook = resources.is_empty();
    let outcomes = if is_hook { hooks } else { resources };
    let first = *outcomes.first()?;
    if health(application, first).is_some_and(|(_, status, _)| status == "Healthy") {
        return None;
    }
    let look = look(application, &outcomes);
    let never = look.waiting.is_some();
    if !is_late(application) && !never {
        return None;
    }
    let draft = draft(application, &outcomes, &look, is_hook);
    // A hook may take its time: a migration of an hour is none that has failed.
    Some(if is_hook && !never { draft.noticed() } else { draft })
}

/// Whether an operation has run for longer than resources take.
pub(super) fn is_late(application: Application<'_>) -> bool {
    application.started_at().is_some_and(|since| application.fleet.now().duration_since(since) > PATIENT)
}

fn look(application: Application<'_>, outcomes: &[Outcome<'_>]) -> Look {
    let destination = application.destination();
    let mut all = Look::default();
    for outcome in outcomes {
        let Some(cluster) = destination.cluster else { continue };
        let (group, kind, name) = (outcome.text("group"), outcome.text("kind"), outcome.text("name"));
        let Some(object) = cluster.object(group, kind, outcome.namespace(), name) else { continue };
        let look = pods::of_workload(cluster, object);
        all.evidence.extend(look.evidence);
        all.image = all.image.or(look.image);
        all.waiting = all.waiting.or(look.waiting);
    }
    all
}

fn draft(application: Application<'_>, outcomes: &[Outcome<'_>], look: &Look, is_hook: bool) -> Draft {
    let destination = application.destination();
    let mut evidence = vec![application.quote_operation()];
    for outcome in outcomes {
        evidence.push(application.quote_outcome(*outcome));
        evidence.extend(health(application, *outcome).map(|(path, status, message)| {
            let value = if message.is_empty() { status.to_owned() } else { format!("{status}: {message}") };
            application.quote().text(application.object, &path, value, None)
        }));
    }
    evidence.extend(look.evidence.iter().cloned());
    let first = outcomes[0];
    let live = destination.object(first.text("group"), first.text("kind"), first.namespace(), first.text("name"));
    let wave = live.and_then(|o| o.value().pointer("/metadata/annotations")?.get(WAVE)?.as_str());
    let image = look.image.clone().unwrap_or_default();
    let names = json!({
        "objects": objects(outcomes),
        "refs": outcomes.iter().map(|o| o.reference()).collect::<Vec<_>>(),
        "ref": first.reference(),
        "kind": first.text("kind"),
        "is_hook": is_hook,
        "hook": first.text("hookType"),
        "wave": wave.unwrap_or_default(),
        "running": application.state("phase") == "Running",
        "minutes": minutes(application),
        "message": sentence(first.message()),
        "pod": look.waiting.clone().unwrap_or_default(),
        "image": image.name,
        "pod_look": image.look,
    });
    let draft = application.draft("AR-SF-006", &names, evidence);
    placement_topics(application, outcomes).into_iter().fold(draft, Draft::follows)
}

fn minutes(application: Application<'_>) -> i64 {
    application.started_at().map(|s| application.fleet.now().duration_since(s).as_mins()).unwrap_or_default()
}

/// Where an application says how a resource is, the status, and the message.
fn health<'a>(application: Application<'a>, outcome: Outcome<'_>) -> Option<(String, &'a str, &'a str)> {
    let resources = application.object.list("/status/resources");
    let text = |resource: &'a serde_json::Value, pointer: &str| {
        resource.pointer(pointer).and_then(serde_json::Value::as_str).unwrap_or_default()
    };
    let same = |resource: &&'a serde_json::Value| {
        ["group", "kind", "namespace", "name"].into_iter().all(|f| text(resource, &format!("/{f}")) == outcome.text(f))
    };
    let resource = resources.iter().find(same)?;
    let status = Some(text(resource, "/health/status")).filter(|s| !s.is_empty())?;
    Some((format!("status.resources[{}].health", outcome.object()), status, text(resource, "/health/message")))
}

/// A placement that is waited for may have failed on a member.
fn placement_topics(application: Application<'_>, outcomes: &[Outcome<'_>]) -> Vec<Topic> {
    let on_hub = application.destination().cluster.is_some_and(|c| c.name == application.fleet.hub.name);
    let placement = |object: Object<'_>| {
        let outcome = |o: &Outcome<'_>| {
            (o.text("kind"), o.namespace(), o.text("name")) == (object.kind(), object.namespace(), object.name())
        };
        outcomes.iter().any(outcome)
    };
    let all = Scope::BOTH.into_iter().flat_map(|scope| {
        let objects = application.fleet.hub.of_kind(crate::rules::fleet::PLACEMENT, scope.placement());
        objects.map(move |object| Placement { scope, object })
    });
    all.filter(|p| on_hub && placement(p.object)).flat_map(topics).collect()
}

/// What a placement's findings are about.
pub(super) fn topics(placement: Placement<'_>) -> Vec<Topic> {
    let on = placement.clusters().map(|c| placement.on(c.member));
    on.chain([placement.topic()]).collect()
}
