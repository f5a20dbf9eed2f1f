//! Steps about Argo CD's Applications.

use cucumber::gherkin::Step;
use cucumber::{given, then};
use diagnosis::{JsonRef, Object};
use fleet::argocd;
use fleet::kinds;
use fleet::observe::Verdict;
use record::Action;
use serde_json::{Value, json};

use crate::application_waits::{unless_final, wait};
use crate::argocd_retries::comes;
use crate::context::ScenarioContext;
use crate::data_table::DataTable;
use crate::destination::namespace_on;
use crate::error::StepError;
use crate::limits;
use crate::needs::TableShape;
use crate::objects::Application;
use crate::phrases::{DestinationRef, WithSpec};
use crate::repository::repository;
use crate::world::World;

/// Makes an Application of everything in the repository, synced by hand, with this in its spec (JSON merge patch). For a member: into a
/// namespace there that is this scenario's own and that `{apps}` stands for. For the hub, which is Argo CD's own cluster: its manifests
/// name their namespaces, with `{suffix}` in them. Waits until Argo CD has compared the Application.
#[given(expr = "an application {string} of repository {string} for {destination}{with spec?}")]
async fn of_repository(
    world: &mut World,
    name: String,
    repository: String,
    destination: DestinationRef,
    spec: WithSpec,
) -> Result<(), StepError> {
    let context = world.context();
    let spec = spec.0.map_or_else(|| Ok(json!({})), |spec| context.json(&spec))?;
    if let Some(member) = destination.member {
        return create(context, &name, &repository, &member, spec).await;
    }
    let hub = json!({"name": IN_CLUSTER, "namespace": "default"});
    create_for(context, &name, &repository, None, hub, spec).await
}

/// Waits until the Application says that it is Synced, at its repository's latest commit, and Healthy, with no condition,
/// and that its last operation has succeeded.
#[given(expr = "application {string} is Synced and Healthy")]
#[then(expr = "application {string} is Synced and Healthy")]
async fn is_well(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let latest = latest(context, &name).await?;
    let expectation = format!("Application/{} is Synced and Healthy", context.application(&name)?.name);
    comes(context, &name, &expectation, |object| well(object, &latest)).await
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
    for (pointer, value) in wanted {
        let is = object.str(pointer).unwrap_or("absent");
        if is != value {
            return Verdict::Pending(format!("{pointer} is {is}, not {value}"));
        }
    }
    Verdict::Holds
}

/// Name of Argo CD's own cluster among its destinations.
const IN_CLUSTER: &str = "in-cluster";

/// Table of fields.
pub(crate) const FIELDS: TableShape = TableShape { rows: "fields", columns: &["field", "value"], optional: false };

/// The fields of the last operation.
const OF_OPERATION: [&str; 5] = ["phase", "message", "retries", "retry limit", "revision"];

/// Runs the step `{object} reports` for an Application.
pub(crate) async fn reports(context: &ScenarioContext, name: &str, step: &Step) -> Result<(), StepError> {
    let mut fields = Vec::new();
    for row in DataTable::of(step, &FIELDS)?.rows() {
        fields.push((row.needed("field")?.to_owned(), context.ledger.names.fill(row.needed("value")?)));
    }
    // A repository that is gone has none.
    let of_commit = fields.iter().any(|(field, _)| field == "revision");
    let latest = if of_commit { latest(context, name).await? } else { String::new() };
    let said: Vec<String> = fields.iter().map(|(field, value)| format!("{field} {value}")).collect();
    wait(context, name, &said.join("; "), limits::SYNCED, |object| {
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

/// The latest commit of the Application's repository.
pub(crate) async fn latest(context: &ScenarioContext, name: &str) -> Result<String, StepError> {
    let application = context.application(name)?;
    Ok(repository(context, &application.repository)?.head().await?)
}

async fn create(
    context: &mut ScenarioContext,
    name: &str,
    of: &str,
    member: &str,
    spec: Value,
) -> Result<(), StepError> {
    let member = context.ledger.names.get(member)?;
    let namespace = namespace_on(context, &member).await?;
    let destination = json!({"name": member, "namespace": namespace});
    create_for(context, name, of, Some(member), destination, spec).await
}

/// Makes an Application; what its spec says counts before the destination.
async fn create_for(
    context: &mut ScenarioContext,
    name: &str,
    of: &str,
    member: Option<String>,
    destination: Value,
    mut spec: Value,
) -> Result<(), StepError> {
    let url = repository(context, of)?.url();
    let real = context.ledger.names.make(name);
    for (key, value) in [
        ("project", json!("default")),
        ("destination", destination),
        ("source", json!({"repoURL": url, "path": ".", "targetRevision": "HEAD"})),
    ] {
        fill(&mut spec[key], value);
    }
    let cluster = spec["destination"]["name"].as_str().unwrap_or_default().to_owned();
    let namespace = spec["destination"]["namespace"].as_str().unwrap_or_default().to_owned();
    let object = json!({"metadata": {"name": real}, "spec": spec});
    context.make(kinds::APPLICATION, Some(argocd::NAMESPACE), object).await?;
    let application = Application { name: real.clone(), repository: of.to_owned(), member };
    let sentence = format!("Application/{real} of {url} for namespace {namespace} of {cluster}");
    context.did(Action::new(sentence).on(application.path()));
    context.ledger.applications.insert(name.to_owned(), application);
    let expectation = format!("Argo CD has compared Application/{real}");
    wait(context, name, &expectation, limits::SYNCED, |object| match object.str("/status/sync/status") {
        Some(_) => Verdict::Holds,
        None => Verdict::Pending("not yet".into()),
    })
    .await
}

/// Adds what isn't there; what is there stays.
pub(crate) fn fill(there: &mut Value, more: Value) {
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
    match field {
        "sync" => object.str("/status/sync/status").map(ToOwned::to_owned),
        "health" => object.str("/status/health/status").map(ToOwned::to_owned),
        "phase" => object.str("/status/operationState/phase").map(ToOwned::to_owned),
        "message" => object.str("/status/operationState/message").map(ToOwned::to_owned),
        "retries" => object.at("/status/operationState/retryCount").map(JsonRef::to_text),
        "retry limit" => object.at("/status/operationState/operation/retry/limit").map(JsonRef::to_text),
        "revision" => object
            .str("/status/operationState/operation/sync/revision")
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
