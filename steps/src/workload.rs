//! Steps about a placement's workload: a Deployment among its resources, and what becomes of it on members.

use std::time::Duration;

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use diagnosis::{JsonRef, Object};
use fleet::FleetError;
use fleet::kinds;
use fleet::observe::{Verdict, WatchSelection, WatchedObjects};
use kube::api::{Patch, PatchParams};
use record::{Action, ObjectPath};
use serde_json::{Value, json};

use crate::context::ScenarioContext;
use crate::data_table::DataTable;
use crate::error::StepError;
use crate::limits;
use crate::needs::{Capability, TableShape, needs};
use crate::objects::ENVELOPE;
use crate::phrases::{DeploymentChange, InEnvelope, PodState, TakesSeconds};
use crate::placement_objects::{DEPLOYMENT, absent, changed};
use crate::world::World;

/// Columns of a table of failed objects.
const COLUMNS: [&str; 7] = ["on", "object", "envelope", "condition", "status", "reason", "message"];

const FAILED_OBJECTS: TableShape = TableShape { rows: "failed objects", columns: &COLUMNS, optional: false };

/// Key of the Deployment in the envelope's data.
const WRAPPED: &str = "app.yaml";

/// Name of the Pods' only container.
const CONTAINER: &str = "app";

/// Adds a Deployment with this image to the placement's resources, before anything rolls them out; or wrapped in a ResourceEnvelope in the
/// namespace that is placed. Should KubeFleet make two Works of the envelope, the second is deleted.
///
/// ` that takes 20 seconds`: the Deployment's Pods have to be ready for that long (`minReadySeconds`) before it counts as available. With
/// members that have pods only.
#[needs(settles: limits::CACHED, capability: |call| call.parameter().filter(|wrapped: &InEnvelope| wrapped.0).map(|_| Capability::Envelopes))]
#[given(
    expr = "the resources of placement {string} include a Deployment with image {string}{that takes?}{in a ResourceEnvelope?}"
)]
async fn include(
    world: &mut World,
    name: String,
    image: String,
    takes: TakesSeconds,
    wrapped: InEnvelope,
) -> Result<(), StepError> {
    let context = world.context();
    let mut deployment = deployment(&image);
    if let Some(seconds) = takes.0 {
        deployment["spec"]["minReadySeconds"] = seconds.into();
    }
    if wrapped.0 {
        include_enveloped(context, &name, &image, deployment).await
    } else {
        include_plain(context, &name, &image, deployment).await
    }
}

async fn include_plain(
    context: &mut ScenarioContext,
    name: &str,
    image: &str,
    deployment: Value,
) -> Result<(), StepError> {
    let content = context.placement(name)?.content;
    context.make(kinds::DEPLOYMENT, Some(&content), deployment).await?;
    let path = deployment_path(&content);
    context.did(Action::new(format!("{path} with image {image} is part of it")).on(path));
    changed(context, name).await
}

async fn include_enveloped(
    context: &mut ScenarioContext,
    name: &str,
    image: &str,
    mut wrapped: Value,
) -> Result<(), StepError> {
    let mut placement = context.placement(name)?;
    let content = placement.content.clone();
    placement.enveloped = true;
    context.ledger.placements.insert(name.to_owned(), placement);
    wrapped["apiVersion"] = kinds::DEPLOYMENT.api_version().into();
    wrapped["kind"] = kinds::DEPLOYMENT.kind.into();
    wrapped["metadata"]["namespace"] = content.clone().into();
    let envelope = json!({"metadata": {"name": ENVELOPE}, "data": {WRAPPED: wrapped}});
    context.keep_one_work(name);
    context.make(kinds::ENVELOPE, Some(&content), envelope).await?;
    let envelope = ObjectPath::new(kinds::ENVELOPE.kind, Some(&content), ENVELOPE);
    let wrapped = deployment_path(&content);
    let sentence = format!("{envelope} wraps {wrapped} with image {image}");
    context.did(Action::new(sentence).on(envelope).on(wrapped));
    changed(context, name).await
}

/// Changes the Deployment in the placement's resources, in its envelope or not: `gets image` as a corrected manifest does; `is scaled to
/// zero` as a release does that takes a broken workload back: a Deployment that wants no pods is available.
#[needs(settles: limits::CACHED)]
#[when(expr = "the Deployment in the resources of placement {string} {Deployment change}")]
async fn deployment_changes(world: &mut World, name: String, change: DeploymentChange) -> Result<(), StepError> {
    let context = world.context();
    match change {
        DeploymentChange::Image(image) => {
            let spec = json!({"template": {"spec": {"containers": [{"name": CONTAINER, "image": image}]}}});
            correct(context, &name, spec, &format!("got image {image}")).await
        }
        DeploymentChange::ScaledToZero => correct(context, &name, json!({"replicas": 0}), "was scaled to zero").await,
    }
}

/// The placement lists these objects of a member as failed. Columns: `on`, the member; `object`, kind and name;
/// `envelope`, kind and name of the envelope that it came in, empty for none; `condition`, `status`, and where wanted
/// `reason` and `message` (a part of it).
#[needs(table: |_| Some(FAILED_OBJECTS))]
#[then(expr = "placement {string} lists as failed")]
async fn lists_as_failed(world: &mut World, name: String, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let placement = context.placement(&name)?;
    let rows = rows(context, step)?;
    let watched = placement.watched();
    let objects: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
    let expectation = format!("{} lists as failed: {}", placement.name, objects.join(", "));
    let hub = context.hub();
    context
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            let Some(value) = objects.get(&placement.name) else { return absent(objects, &placement.name) };
            match rows.iter().find(|row| !failed(Object::new(value), &row[0]).any(|f| is(f, row))) {
                Some(row) => Verdict::Pending(format!("there is no {} among the failed of {}", row[1], row[0])),
                None => Verdict::Holds,
            }
        })
        .await?;
    Ok(())
}

/// The Deployment is on the member, its controller has seen it, and none of its replicas is available.
#[then(expr = "the Deployment of placement {string} on {string} has no available replica")]
async fn no_available_replica(world: &mut World, name: String, member: String) -> Result<(), StepError> {
    let context = world.context();
    let content = context.placement(&name)?.content;
    let member = context.fleet.member(&context.ledger.names.get(&member)?).await?.cluster;
    let watched = WatchSelection::one(&member.name, kinds::DEPLOYMENT, Some(&content), DEPLOYMENT);
    let expectation = format!("Deployment/{content}/{DEPLOYMENT} on {} has no available replica", member.name);
    context
        .wait(&member, &watched, &expectation, limits::REPORTED, |objects| {
            let Some(value) = objects.get(DEPLOYMENT) else { return absent(objects, DEPLOYMENT) };
            let object = Object::new(value);
            let seen = number(object, "/status/observedGeneration") == object.generation();
            match (seen, number(object, "/status/unavailableReplicas"), number(object, "/status/availableReplicas")) {
                (true, 1.., 0) => Verdict::Holds,
                (_, missing, there) => Verdict::Pending(format!("{there} available, {missing} missing, seen: {seen}")),
            }
        })
        .await?;
    Ok(())
}

fn number(object: Object<'_>, pointer: &str) -> i64 {
    object.at(pointer).and_then(JsonRef::as_i64).unwrap_or_default()
}

/// The Deployment's Pod on the member runs, or waits with this reason.
#[given(expr = "the Pod of placement {string} on {string} {Pod state}")]
#[then(expr = "the Pod of placement {string} on {string} {Pod state}")]
async fn pod_is(world: &mut World, name: String, member: String, state: PodState) -> Result<(), StepError> {
    let context = world.context();
    match state {
        PodState::Runs => pod(context, &name, &member, "runs", is_ready).await,
        PodState::Waits(reason) => {
            pod(context, &name, &member, &format!("waits with {reason}"), |pod| waiting(pod) == reason).await
        }
    }
}

fn is_ready(pod: Object<'_>) -> bool {
    pod.conditions().iter().any(|c| c.type_ == "Ready" && c.status == "True")
}

/// Gives the Deployment's Pod on the member another image, as `kubectl set image pod` does: a fix on the member, of which
/// the hub knows nothing.
#[when(expr = "the Pod of placement {string} on {string} gets image {string}")]
async fn pod_gets_image(world: &mut World, name: String, member: String, image: String) -> Result<(), StepError> {
    let context = world.context();
    let content = context.placement(&name)?.content;
    let member = context.fleet.member(&context.ledger.names.get(&member)?).await?.cluster;
    let held = context
        .wait(&member, &pods(&member.name, &content), "there is a Pod", limits::REPORTED, |objects| {
            if objects.is_empty() { Verdict::Pending("there is none".into()) } else { Verdict::Holds }
        })
        .await?;
    let patch = Patch::Strategic(json!({"spec": {"containers": [{"name": CONTAINER, "image": image}]}}));
    for pod in held.objects.keys() {
        let patched = kinds::POD.api(&member.client, Some(&content)).patch(pod, &PatchParams::default(), &patch).await;
        patched.map_err(FleetError::api(&member.name, format!("change Pod/{pod}")))?;
        let path = ObjectPath::new(kinds::POD.kind, Some(&content), pod);
        context.remedied(Action::new(format!("{path} on {} got image {image}", member.name)).on(path));
    }
    Ok(())
}

fn deployment_path(namespace: &str) -> ObjectPath {
    ObjectPath::new(kinds::DEPLOYMENT.kind, Some(namespace), DEPLOYMENT)
}

/// A Deployment with one container of this image.
pub(crate) fn deployment(image: &str) -> Value {
    let labels = json!({"app": DEPLOYMENT});
    json!({
        "metadata": {"name": DEPLOYMENT},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": CONTAINER, "image": image}]},
            },
        },
    })
}

/// Changes the spec of the Deployment in the placement's resources on the hub.
async fn correct(context: &mut ScenarioContext, name: &str, spec: Value, what: &str) -> Result<(), StepError> {
    let placement = context.placement(name)?;
    let (kind, object, patch) = if placement.enveloped {
        (kinds::ENVELOPE, ENVELOPE, json!({"data": {WRAPPED: {"spec": spec}}}))
    } else {
        (kinds::DEPLOYMENT, DEPLOYMENT, json!({"spec": spec}))
    };
    context.patch(kind, Some(&placement.content), object, patch).await?;
    let wrapped = if placement.enveloped { "the Deployment in it " } else { "" };
    let path = ObjectPath::new(kind.kind, Some(&placement.content), object);
    context.remedied(Action::new(format!("{path}: {wrapped}{what} on the hub")).on(path));
    changed(context, name).await
}

/// Returns the table's rows with real names, each cell under its column of [`COLUMNS`].
fn rows(context: &ScenarioContext, step: &Step) -> Result<Vec<[String; COLUMNS.len()]>, StepError> {
    let mut rows = Vec::new();
    for row in DataTable::of(step, &FAILED_OBJECTS)?.rows() {
        let mut cells = COLUMNS.map(|column| row.cell(column).map(|text| context.words(text)).unwrap_or_default());
        cells[0] = context.ledger.names.get(&cells[0])?;
        rows.push(cells);
    }
    Ok(rows)
}

fn failed<'a>(placement: Object<'a>, member: &str) -> impl Iterator<Item = JsonRef<'a>> + use<'a> {
    let member = member.to_owned();
    let on = placement.list("/status/placementStatuses").iter();
    let on = on.filter(move |s| s.get("clusterName").and_then(JsonRef::as_str) == Some(&member));
    on.filter_map(|s| s.get("failedPlacements")?.as_array()).flatten()
}

/// Returns true if an entry of the failed placements matches a row.
fn is(
    failed: JsonRef<'_>,
    [_, object, envelope, condition, status, reason, message]: &[String; COLUMNS.len()],
) -> bool {
    kind_and_name(failed, "/kind", "/name") == *object
        && kind_and_name(failed, "/envelope/type", "/envelope/name") == *envelope
        && text(failed, "/condition/type") == condition
        && text(failed, "/condition/status") == status
        && (reason.is_empty() || text(failed, "/condition/reason") == reason)
        && text(failed, "/condition/message").contains(message)
}

fn text<'a>(failed: JsonRef<'a>, pointer: &str) -> &'a str {
    failed.pointer(pointer).and_then(JsonRef::as_str).unwrap_or_default()
}

fn kind_and_name(failed: JsonRef<'_>, kind: &str, name: &str) -> String {
    format!("{} {}", text(failed, kind), text(failed, name)).trim().to_owned()
}

fn pods(member: &str, content: &str) -> WatchSelection {
    WatchSelection::labelled(member, kinds::POD, Some(content), &format!("app={DEPLOYMENT}"))
}

/// Returns the reason for which a Pod's container waits; empty if no container waits.
fn waiting(pod: Object<'_>) -> &str {
    let containers = pod.list("/status/containerStatuses").iter();
    let mut reasons = containers.filter_map(|c| c.pointer("/state/waiting/reason")?.as_str());
    reasons.next().unwrap_or_default()
}

/// Waits until the placement has exactly one Pod on the member, and `is` holds for the Pod.
async fn pod(
    context: &ScenarioContext,
    name: &str,
    member: &str,
    what: &str,
    is: impl Fn(Object<'_>) -> bool,
) -> Result<(), StepError> {
    let content = context.placement(name)?.content;
    let member = context.fleet.member(&context.ledger.names.get(member)?).await?.cluster;
    let expectation = format!("the Pod in {content} on {} {what}", member.name);
    context
        .wait(&member, &pods(&member.name, &content), &expectation, limits::REPORTED, |objects| {
            let mut pods = objects.values().map(Object::new);
            match (pods.next(), pods.next()) {
                (Some(pod), None) if is(pod) => Verdict::Holds,
                (Some(pod), None) => Verdict::Pending(match waiting(pod) {
                    "" => format!("{} doesn't wait", pod.name()),
                    reason => format!("{} waits with {reason}", pod.name()),
                }),
                (None, _) => Verdict::Pending("there is none".into()),
                (Some(_), Some(_)) => Verdict::Pending(format!("there are {} Pods", objects.len())),
            }
        })
        .await?;
    Ok(())
}

/// Lets the five minutes pass for which the diagnosis takes resources for being on their way. Moves the time since which the
/// placement isn't available on the member six minutes into the past: only that time in the placement's status is changed.
/// With `--real-time` they are waited out.
#[needs(waits_out: Some(diagnosis::PATIENCE.unsigned_abs()))]
#[when(expr = "placement {string} hasn't been available on {string} for five minutes")]
async fn unavailable_for_long(world: &mut World, name: String, member: String) -> Result<(), StepError> {
    let context = world.context();
    let (p, member) = (context.placement(&name)?, context.ledger.names.get(&member)?);
    let (hub, watched) = (context.hub(), p.watched());
    let expectation = format!("{name} isn't available on {member}");
    let held = context
        .wait(&hub, &watched, &expectation, limits::AVAILABLE, |objects| unavailable(objects, &p.name, &member))
        .await?;
    let since = held.objects.get(&p.name).and_then(|o| unavailable_since(o, &member));
    if context.real_time() {
        let passed = since.map_or(Duration::ZERO, |since| jiff::Timestamp::now().duration_since(since).unsigned_abs());
        // The diagnosis reports the placement only after its patience is over, and compares times in whole seconds.
        let left = (diagnosis::PATIENCE.unsigned_abs() + Duration::from_secs(5)).saturating_sub(passed);
        return context
            .wait_out(&hub, &watched, &expectation, left, |objects| unavailable(objects, &p.name, &member))
            .await;
    }
    fleet::faults::was_unavailable_earlier(&hub, p.scope.placement(), p.scope.namespace(), &p.name, &member).await?;
    let sentence = format!("{} counts as unavailable on {member} since six minutes earlier", p.name);
    context.fast_forwarded(Action::new(sentence).on(p.path()));
    Ok(())
}

/// Holds while a placement says that it isn't available on a member.
fn unavailable(objects: &WatchedObjects, placement: &str, member: &str) -> Verdict {
    match objects.get(placement).and_then(|o| unavailable_since(o, member)) {
        Some(_) => Verdict::Holds,
        None => Verdict::Pending("it doesn't say so".into()),
    }
}

/// Returns the time since which a placement isn't available on a member.
fn unavailable_since(placement: &Value, member: &str) -> Option<jiff::Timestamp> {
    let clusters = placement.pointer("/status/placementStatuses").and_then(Value::as_array).into_iter().flatten();
    let on = clusters.into_iter().find(|c| c.get("clusterName").and_then(Value::as_str) == Some(member));
    let available = diagnosis::conditions(on).into_iter().find(|c| c.type_ == "Available" && c.status == "False");
    available?.last_transition_time
}
