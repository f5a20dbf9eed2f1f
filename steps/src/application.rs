//! Steps about Argo CD's Applications.

use std::time::Duration;

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use diagnosis::Object;
use fleet::argocd;
use fleet::kinds;
use fleet::observe::{Objects, Verdict};
use serde_json::{Value, json};

use crate::data_table::DataTable;
use crate::destination::namespace_on;
use crate::error::StepError;
use crate::limits;
use crate::noticing::comes;
use crate::objects::Application;
use crate::repository::repository;
use crate::scene::Scene;
use crate::world::World;

/// Makes an Application of everything in the repository, synced by hand, into a namespace of the member that is this
/// scenario's own and that `{apps}` stands for. Waits until Argo CD has compared it.
#[given(expr = "an application {string} of repository {string} for {string}")]
async fn of_repository(world: &mut World, name: String, repository: String, member: String) -> Result<(), StepError> {
    create(world.scene(), &name, &repository, &member, json!({})).await
}

/// As without it, with this in its spec (JSON merge patch).
#[given(expr = "an application {string} of repository {string} for {string} with {string}")]
async fn of_repository_with(
    world: &mut World,
    name: String,
    repository: String,
    member: String,
    spec: String,
) -> Result<(), StepError> {
    let scene = world.scene();
    let spec = scene.json(&spec)?;
    create(scene, &name, &repository, &member, spec).await
}

/// Changes the Application's spec (JSON merge patch).
#[when(expr = "application {string} gets {string}")]
async fn gets(world: &mut World, name: String, spec: String) -> Result<(), StepError> {
    let scene = world.scene();
    let application = scene.application(&name)?;
    let patch = json!({"spec": scene.json(&spec)?});
    scene.patch(kinds::APPLICATION, Some(argocd::NAMESPACE), &application.name, patch).await?;
    scene.remedied(format!("Application/{} got {spec}", application.name));
    Ok(())
}

/// Waits until the Application says that it is Synced, at its repository's latest commit, and Healthy, with no condition,
/// and that its last operation has succeeded.
#[given(expr = "application {string} is Synced and Healthy")]
#[then(expr = "application {string} is Synced and Healthy")]
async fn is_well(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let latest = latest(scene, &name).await?;
    let expectation = format!("Application/{} is Synced and Healthy", scene.application(&name)?.name);
    comes(scene, &name, &expectation, |object| well(object, &latest)).await
}

/// Synced, at this commit, and Healthy, by a sync that succeeded.
fn well(object: Object<'_>, latest: &str) -> Verdict {
    if let Some((type_, message)) = argocd::conditions(&object).first() {
        return Verdict::Pending(format!("it has the condition {type_}: {message}"));
    }
    let wanted = [
        ("/status/sync/status", "Synced"),
        ("/status/health/status", "Healthy"),
        ("/status/operationState/phase", "Succeeded"),
        ("/status/sync/revision", latest),
    ];
    let is = |pointer: &str| object.str(pointer).unwrap_or("absent").to_owned();
    match wanted.iter().find(|(pointer, value)| is(pointer) != *value) {
        Some((pointer, value)) => Verdict::Pending(format!("{pointer} is {}, not {value}", is(pointer))),
        None => Verdict::Holds,
    }
}

/// The columns of a table of fields.
pub(crate) const FIELD_COLUMNS: [&str; 2] = ["field", "value"];

/// The fields of the last operation.
const OF_OPERATION: [&str; 5] = ["phase", "message", "retries", "retry limit", "revision"];

/// What `{object} reports` means for an Application.
pub(crate) async fn reports(scene: &Scene, name: &str, step: &Step) -> Result<(), StepError> {
    let mut fields = Vec::new();
    for row in DataTable::of(step, "fields", &FIELD_COLUMNS)?.rows() {
        fields.push((row.needed("field")?.to_owned(), scene.names.fill(row.needed("value")?)));
    }
    // A repository that is gone has none.
    let of_commit = fields.iter().any(|(field, _)| field == "revision");
    let latest = if of_commit { latest(scene, name).await? } else { String::new() };
    let said: Vec<String> = fields.iter().map(|(field, value)| format!("{field} {value}")).collect();
    wait(scene, name, &said.join("; "), limits::SYNCED, |object| {
        for (field, wanted) in &fields {
            let is = field_of(object, field, &latest);
            if !field_fits(field, is.as_deref(), wanted) {
                let what = format!("{field} is `{}`, not `{wanted}`", is.unwrap_or("absent".into()));
                let of_operation = OF_OPERATION.contains(&field.as_str());
                return if of_operation { unless_final(object, what) } else { Verdict::Pending(what) };
            }
        }
        Verdict::Holds
    })
    .await
}

/// Waits for something that the Application says since it was last asked for something.
pub(crate) async fn wait(
    scene: &Scene,
    name: &str,
    expectation: &str,
    limit: Duration,
    mut check: impl FnMut(Object<'_>) -> Verdict,
) -> Result<(), StepError> {
    let application = scene.application(name)?;
    let (hub, watched) = (scene.hub(), application.watched());
    scene.wait(&hub, &watched, expectation, limit, |objects| present(&application, objects, &mut check)).await?;
    Ok(())
}

/// Watches that the Application goes on saying something.
pub(crate) async fn stays(
    scene: &Scene,
    name: &str,
    expectation: &str,
    time: Duration,
    mut check: impl FnMut(Object<'_>) -> Verdict,
) -> Result<(), StepError> {
    let application = scene.application(name)?;
    let (hub, watched) = (scene.hub(), application.watched());
    scene.stays(&hub, &watched, expectation, time, |objects| present(&application, objects, &mut check)).await
}

/// What isn't so of the last operation may become so, unless that has ended and no other will begin by itself.
pub(crate) fn unless_final(object: Object<'_>, what: String) -> Verdict {
    let ended = object.at("/operation").is_none() && object.at("/status/operationState/finishedAt").is_some();
    let automated = object.at("/spec/syncPolicy/automated").is_some();
    if ended && !automated { Verdict::Never(format!("the sync has ended, and {what}")) } else { Verdict::Pending(what) }
}

/// The check of the Application, once there is one.
fn present(application: &Application, objects: &Objects, check: &mut impl FnMut(Object<'_>) -> Verdict) -> Verdict {
    let there = objects.get(&application.name);
    there.map_or_else(|| Verdict::Pending("there is no such Application".into()), |value| check(Object::new(value)))
}

/// The latest commit of the Application's repository.
pub(crate) async fn latest(scene: &Scene, name: &str) -> Result<String, StepError> {
    let application = scene.application(name)?;
    Ok(repository(scene, &application.repository)?.head().await?)
}

async fn create(scene: &mut Scene, name: &str, of: &str, member: &str, spec: Value) -> Result<(), StepError> {
    let member = scene.names.get(member)?;
    let namespace = namespace_on(scene, &member).await?;
    let destination = json!({"name": member, "namespace": namespace});
    create_for(scene, name, of, Some(member), destination, spec).await
}

/// Makes an Application; what its spec says counts before the destination.
pub(crate) async fn create_for(
    scene: &mut Scene,
    name: &str,
    of: &str,
    member: Option<String>,
    destination: Value,
    mut spec: Value,
) -> Result<(), StepError> {
    let url = repository(scene, of)?.url();
    let real = scene.names.make(name);
    for (key, value) in [
        ("project", json!("default")),
        ("destination", destination),
        ("source", json!({"repoURL": url, "path": ".", "targetRevision": "HEAD"})),
    ] {
        fill(&mut spec[key], value);
    }
    let part = |key: &str| spec["destination"][key].as_str().unwrap_or_default().to_owned();
    let (cluster, namespace) = (part("name"), part("namespace"));
    let object = json!({"metadata": {"name": real}, "spec": spec});
    scene.make(kinds::APPLICATION, Some(argocd::NAMESPACE), object).await?;
    scene.did(format!("Application/{real} of {url} for namespace {namespace} of {cluster}"));
    let application = Application { name: real.clone(), repository: of.to_owned(), member };
    scene.applications.insert(name.to_owned(), application);
    let expectation = format!("Argo CD has compared Application/{real}");
    wait(scene, name, &expectation, limits::SYNCED, |object| match object.str("/status/sync/status") {
        Some(_) => Verdict::Holds,
        None => Verdict::Pending("not yet".into()),
    })
    .await
}

/// Adds what isn't there; what is there stays.
fn fill(there: &mut Value, more: Value) {
    match (there, more) {
        (Value::Object(there), Value::Object(more)) => {
            for (key, value) in more {
                fill(there.entry(key).or_insert(Value::Null), value);
            }
        }
        (there @ Value::Null, more) => *there = more,
        _ => {}
    }
}

fn field_of(object: Object<'_>, field: &str, latest: &str) -> Option<String> {
    let text = |pointer: &str| object.str(pointer).map(ToOwned::to_owned);
    match field {
        "sync" => text("/status/sync/status"),
        "health" => text("/status/health/status"),
        "phase" => text("/status/operationState/phase"),
        "message" => text("/status/operationState/message"),
        "retries" => object.at("/status/operationState/retryCount").map(ToString::to_string),
        "retry limit" => object.at("/status/operationState/operation/retry/limit").map(ToString::to_string),
        "revision" => text("/status/operationState/operation/sync/revision")
            .map(|revision| if revision == latest { "latest" } else { "an earlier one" }.to_owned()),
        condition => {
            let mut all = argocd::conditions(&object).into_iter();
            all.find(|(type_, _)| *type_ == condition).map(|(_, message)| message.to_owned())
        }
    }
}

/// Messages are told in part, everything else in full.
fn field_fits(field: &str, is: Option<&str>, wanted: &str) -> bool {
    match is {
        None => wanted == "absent",
        Some(is) if ["sync", "health", "phase", "retries", "retry limit", "revision"].contains(&field) => is == wanted,
        Some(is) => wanted != "absent" && is.contains(wanted),
    }
}

#[cfg(test)]
mod tests {
    use diagnosis::Object;
    use serde_json::json;

    use super::{field_fits, field_of, fill};

    #[test]
    fn a_spec_s_own_fields_stay() {
        let mut spec = json!({"source": {"path": "overlay"}});
        fill(&mut spec["source"], json!({"path": ".", "repoURL": "file:///r"}));
        assert_eq!(spec["source"], json!({"path": "overlay", "repoURL": "file:///r"}));
    }

    #[test]
    fn fields_are_those_of_the_last_operation_and_the_conditions() {
        let application = json!({"status": {
            "sync": {"status": "Unknown"},
            "operationState": {
                "phase": "Error", "message": "ComparisonError: no", "operation": {"sync": {"revision": "abc"}},
            },
            "conditions": [{"type": "ComparisonError", "message": "failed to load target state"}],
        }});
        let object = Object::new(&application);
        let is = |field: &str| field_of(object, field, "abc");
        assert_eq!(is("revision").as_deref(), Some("latest"));
        assert!(field_fits("ComparisonError", is("ComparisonError").as_deref(), "target state"));
        assert!(field_fits("SyncError", is("SyncError").as_deref(), "absent"));
        assert!(!field_fits("phase", is("phase").as_deref(), "Err"), "a phase is told in full");
    }
}
