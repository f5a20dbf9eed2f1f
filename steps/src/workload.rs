//! Steps about a placement's workload: a Deployment among its resources, and what becomes of it on members.

use std::time::Duration;

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use diagnosis::Object;
use fleet::FleetError;
use fleet::kinds;
use fleet::observe::{Objects, Verdict, Watched};
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::data_table::{DataTable, Row};
use crate::envelope::ENVELOPE;
use crate::error::StepError;
use crate::limits;
use crate::placement::{DEPLOYMENT, absent, changed};
use crate::scene::Scene;
use crate::world::World;

/// The columns of a table of failed placements.
pub(crate) const COLUMNS: [&str; 7] = ["on", "object", "envelope", "condition", "status", "reason", "message"];

/// The key in the envelope under which the Deployment stands.
const WRAPPED: &str = "app.yaml";

/// The Pods' only container.
const CONTAINER: &str = "app";

/// Adds a Deployment with this image to the placement's resources, before anything rolls them out.
#[given(expr = "the resources of placement {string} include a Deployment with image {string}")]
async fn include(world: &mut World, name: String, image: String) -> Result<(), StepError> {
    let scene = world.scene();
    let content = scene.placement(&name)?.content;
    scene.make(kinds::DEPLOYMENT, Some(&content), deployment(&image)).await?;
    scene.did(format!("Deployment/{content}/{DEPLOYMENT} with image {image} is part of it"));
    changed(scene, &name).await
}

/// Adds a Deployment with this image to the placement's resources, wrapped in a ResourceEnvelope in the namespace that is
/// placed, before anything rolls them out. Should KubeFleet make two Works of it, the second is deleted.
#[given(expr = "the resources of placement {string} include a Deployment with image {string} in a ResourceEnvelope")]
async fn include_enveloped(world: &mut World, name: String, image: String) -> Result<(), StepError> {
    let scene = world.scene();
    let mut placement = scene.placement(&name)?;
    let content = placement.content.clone();
    placement.enveloped = true;
    scene.placements.insert(name.clone(), placement);
    let mut wrapped = deployment(&image);
    wrapped["apiVersion"] = kinds::DEPLOYMENT.api_version().into();
    wrapped["kind"] = kinds::DEPLOYMENT.kind.into();
    wrapped["metadata"]["namespace"] = content.clone().into();
    let envelope = json!({"metadata": {"name": ENVELOPE}, "data": {WRAPPED: wrapped}});
    scene.keep_one_work(&name);
    scene.make(kinds::ENVELOPE, Some(&content), envelope).await?;
    scene.did(format!(
        "ResourceEnvelope/{content}/{ENVELOPE} wraps Deployment/{content}/{DEPLOYMENT} with image {image}"
    ));
    changed(scene, &name).await
}

/// Gives the Deployment in the placement's resources, in its envelope or not, another image: a corrected manifest.
#[when(expr = "the Deployment in the resources of placement {string} gets image {string}")]
async fn gets_image(world: &mut World, name: String, image: String) -> Result<(), StepError> {
    let spec = json!({"template": {"spec": {"containers": [{"name": CONTAINER, "image": image}]}}});
    correct(world.scene(), &name, spec, &format!("got image {image}")).await
}

/// Scales the Deployment in the placement's resources to zero, as a release does that takes a broken workload back: with
/// no pods wanted it is available.
#[when(expr = "the Deployment in the resources of placement {string} is scaled to zero")]
async fn scaled_to_zero(world: &mut World, name: String) -> Result<(), StepError> {
    correct(world.scene(), &name, json!({"replicas": 0}), "was scaled to zero").await
}

/// The placement lists these objects of a member as failed. Columns: `on`, the member; `object`, kind and name;
/// `envelope`, kind and name of the envelope that it came in, empty for none; `condition`, `status`, and where wanted
/// `reason` and `message` (a part of it).
#[then(expr = "placement {string} lists as failed")]
async fn lists_as_failed(world: &mut World, name: String, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    let placement = scene.placement(&name)?;
    let rows = rows(scene, step)?;
    let watched = placement.watched();
    let objects: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
    let expectation = format!("{} lists as failed: {}", placement.name, objects.join(", "));
    let hub = scene.hub();
    scene
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
    let scene = world.scene();
    let content = scene.placement(&name)?.content;
    let member = scene.fleet.member(&scene.names.get(&member)?).await?.cluster;
    let watched = Watched::one(&member.name, kinds::DEPLOYMENT, Some(&content), DEPLOYMENT);
    let expectation = format!("Deployment/{content}/{DEPLOYMENT} on {} has no available replica", member.name);
    scene
        .wait(&member, &watched, &expectation, limits::REPORTED, |objects| {
            let Some(value) = objects.get(DEPLOYMENT) else { return absent(objects, DEPLOYMENT) };
            let object = Object::new(value);
            let number = |pointer: &str| object.at(pointer).and_then(Value::as_i64).unwrap_or_default();
            let seen = number("/status/observedGeneration") == object.generation();
            match (seen, number("/status/unavailableReplicas"), number("/status/availableReplicas")) {
                (true, 1.., 0) => Verdict::Holds,
                (_, missing, there) => Verdict::Pending(format!("{there} available, {missing} missing, seen: {seen}")),
            }
        })
        .await?;
    Ok(())
}

/// The Deployment's Pod on the member waits with this reason.
#[then(expr = "the Pod of placement {string} on {string} waits with {string}")]
async fn pod_waits(world: &mut World, name: String, member: String, reason: String) -> Result<(), StepError> {
    pod(world.scene(), &name, &member, &format!("waits with {reason}"), |pod| waiting(pod) == reason).await
}

/// The Deployment's Pod on the member runs.
#[given(expr = "the Pod of placement {string} on {string} runs")]
#[then(expr = "the Pod of placement {string} on {string} runs")]
async fn pod_runs(world: &mut World, name: String, member: String) -> Result<(), StepError> {
    let runs = |pod: Object<'_>| pod.conditions().iter().any(|c| c.type_ == "Ready" && c.status == "True");
    pod(world.scene(), &name, &member, "runs", runs).await
}

/// Gives the Deployment's Pod on the member another image, as `kubectl set image pod` does: a fix on the member, of which
/// the hub knows nothing.
#[when(expr = "the Pod of placement {string} on {string} gets image {string}")]
async fn pod_gets_image(world: &mut World, name: String, member: String, image: String) -> Result<(), StepError> {
    let scene = world.scene();
    let content = scene.placement(&name)?.content;
    let member = scene.fleet.member(&scene.names.get(&member)?).await?.cluster;
    let held = scene
        .wait(&member, &pods(&member.name, &content), "there is a Pod", limits::REPORTED, |objects| {
            if objects.is_empty() { Verdict::Pending("there is none".into()) } else { Verdict::Holds }
        })
        .await?;
    let patch = Patch::Strategic(json!({"spec": {"containers": [{"name": CONTAINER, "image": image}]}}));
    for pod in held.objects.keys() {
        let patched = kinds::POD.api(&member.client, Some(&content)).patch(pod, &PatchParams::default(), &patch).await;
        patched.map_err(FleetError::api(&member.name, format!("change Pod/{pod}")))?;
        scene.remedied(format!("Pod/{content}/{pod} on {} got image {image}", member.name));
    }
    Ok(())
}

fn deployment(image: &str) -> Value {
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
async fn correct(scene: &mut Scene, name: &str, spec: Value, what: &str) -> Result<(), StepError> {
    let placement = scene.placement(name)?;
    let (kind, object, patch) = if placement.enveloped {
        (kinds::ENVELOPE, ENVELOPE, json!({"data": {WRAPPED: {"spec": spec}}}))
    } else {
        (kinds::DEPLOYMENT, DEPLOYMENT, json!({"spec": spec}))
    };
    scene.patch(kind, Some(&placement.content), object, patch).await?;
    let wrapped = if placement.enveloped { "the Deployment in it " } else { "" };
    scene.remedied(format!("{}/{}/{object}: {wrapped}{what} on the hub", kind.kind, placement.content));
    changed(scene, name).await
}

/// The table's rows with real names, each cell under its column of [`COLUMNS`].
fn rows(scene: &Scene, step: &Step) -> Result<Vec<[String; COLUMNS.len()]>, StepError> {
    let named = |row: Row<'_>| -> Result<_, StepError> {
        let cell = |column| row.cell(column).map(|text| scene.words(text)).unwrap_or_default();
        let mut cells = COLUMNS.map(cell);
        cells[0] = scene.names.get(&cells[0])?;
        Ok(cells)
    };
    DataTable::of(step, "failed objects", &COLUMNS)?.rows().map(named).collect()
}

fn failed<'a>(placement: Object<'a>, member: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    let member = member.to_owned();
    let on = placement.list("/status/placementStatuses").iter();
    let on = on.filter(move |s| s.get("clusterName").and_then(Value::as_str) == Some(&member));
    on.filter_map(|s| s.get("failedPlacements")?.as_array()).flatten()
}

/// Whether one of the failed is what a row says.
fn is(failed: &Value, [_, object, envelope, condition, status, reason, message]: &[String; COLUMNS.len()]) -> bool {
    let text = |pointer: &str| failed.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let named = |kind: &str, name: &str| format!("{} {}", text(kind), text(name)).trim().to_owned();
    named("/kind", "/name") == *object
        && named("/envelope/type", "/envelope/name") == *envelope
        && text("/condition/type") == condition
        && text("/condition/status") == status
        && (reason.is_empty() || text("/condition/reason") == reason)
        && text("/condition/message").contains(message)
}

fn pods(member: &str, content: &str) -> Watched {
    Watched::labelled(member, kinds::POD, Some(content), &format!("app={DEPLOYMENT}"))
}

/// The reason for which a Pod's container waits; empty when it doesn't.
fn waiting(pod: Object<'_>) -> &str {
    let containers = pod.list("/status/containerStatuses").iter();
    let mut reasons = containers.filter_map(|c| c.pointer("/state/waiting/reason")?.as_str());
    reasons.next().unwrap_or_default()
}

/// Waits until the placement has one Pod on the member, and it is so.
async fn pod(
    scene: &Scene,
    name: &str,
    member: &str,
    what: &str,
    is: impl Fn(Object<'_>) -> bool,
) -> Result<(), StepError> {
    let content = scene.placement(name)?.content;
    let member = scene.fleet.member(&scene.names.get(member)?).await?.cluster;
    let expectation = format!("the Pod in {content} on {} {what}", member.name);
    let check = |objects: &Objects| {
        let mut pods = objects.values().map(|pod| Object::new(pod));
        match (pods.next(), pods.next()) {
            (Some(pod), None) if is(pod) => Verdict::Holds,
            (Some(pod), None) => Verdict::Pending(match waiting(pod) {
                "" => format!("{} doesn't wait", pod.name()),
                reason => format!("{} waits with {reason}", pod.name()),
            }),
            (None, _) => Verdict::Pending("there is none".into()),
            (Some(_), Some(_)) => Verdict::Pending(format!("there are {} Pods", objects.len())),
        }
    };
    scene.wait(&member, &pods(&member.name, &content), &expectation, limits::REPORTED, check).await?;
    Ok(())
}

/// Lets the five minutes pass for which the diagnosis takes resources for being on their way. Moves the time since which the
/// placement isn't available on the member six minutes into the past: only that time in the placement's status is changed.
/// With `--real-time` they are waited out.
#[when(expr = "placement {string} hasn't been available on {string} for five minutes")]
async fn unavailable_for_long(world: &mut World, name: String, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let (p, member) = (scene.placement(&name)?, scene.names.get(&member)?);
    let (hub, watched) = (scene.hub(), p.watched());
    let expectation = format!("{name} isn't available on {member}");
    let unavailable = |objects: &Objects| match objects.get(&p.name).and_then(|o| unavailable_since(o, &member)) {
        Some(_) => Verdict::Holds,
        None => Verdict::Pending("it doesn't say so".into()),
    };
    let held = scene.wait(&hub, &watched, &expectation, limits::AVAILABLE, unavailable).await?;
    let since = held.objects.get(&p.name).and_then(|o| unavailable_since(o, &member));
    if scene.real_time() {
        let passed = since.map_or(Duration::ZERO, |since| jiff::Timestamp::now().duration_since(since).unsigned_abs());
        // The diagnosis speaks once it is beyond its patience, by times in whole seconds.
        let left = (diagnosis::PATIENCE.unsigned_abs() + Duration::from_secs(5)).saturating_sub(passed);
        return scene.wait_out(&hub, &watched, &expectation, left, unavailable).await;
    }
    fleet::faults::was_unavailable_earlier(&hub, p.scope.placement(), p.scope.namespace(), &p.name, &member).await?;
    scene.recorder.add(crate::record::What::FastForwarded {
        action: format!("{} counts as unavailable on {member} since six minutes earlier", p.name),
    });
    Ok(())
}

/// Since when a placement isn't available on a member.
fn unavailable_since(placement: &Value, member: &str) -> Option<jiff::Timestamp> {
    let clusters = placement.pointer("/status/placementStatuses").and_then(Value::as_array).into_iter().flatten();
    let on = clusters.into_iter().find(|c| c.get("clusterName").and_then(Value::as_str) == Some(member));
    let available = diagnosis::conditions(on).into_iter().find(|c| c.type_ == "Available" && c.status == "False");
    available?.last_transition_time
}
