//! Steps about Argo CD's ApplicationSets.

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use diagnosis::Object;
use fleet::argocd;
use fleet::kinds;
use fleet::observe::{Verdict, WatchSelection, WatchedObjects};
use record::{Action, ObjectPath};
use serde_json::{Value, json};

use crate::application::fill;
use crate::context::ScenarioContext;
use crate::destination::namespace_on;
use crate::error::StepError;
use crate::limits;
use crate::objects::Application;
use crate::params::Members;
use crate::phrases::{FileChange, GeneratedApplications};
use crate::repository::{document, repository};
use crate::world::World;

/// JSON pointer to the annotation [`REFRESH`].
const REFRESH_POINTER: &str = "/metadata/annotations/argocd.argoproj.io~1application-set-refresh";

/// Annotation that has the controller run the generators at once. The controller removes it.
const REFRESH: &str = "argocd.argoproj.io/application-set-refresh";

/// Starts Argo CD's ApplicationSet controller, with progressive syncs, unless it runs. All scenarios on the fleet share it.
#[given(expr = "Argo CD has the ApplicationSet controller")]
async fn has_controller(world: &mut World) -> Result<(), StepError> {
    let context = world.context();
    context.fleet.start_applicationset_controller().await?;
    context.did("the ApplicationSet controller runs");
    Ok(())
}

/// Creates an ApplicationSet with the step's text as its spec (YAML). Fields that the text leaves out: templates are Go templates, in which a
/// missing key is an error; an application is called `NAME-{suffix}` by the element's `name`, and deploys the repository's directory of that
/// name into the namespace `{apps}` of the first member. In the text, `{url:web}` stands for a repository's URL.
#[given(expr = "an application set {string} of repository {string} for {members} with")]
#[when(expr = "an application set {string} of repository {string} for {members} with")]
async fn is_created(
    world: &mut World,
    name: String,
    of: String,
    members: Members,
    step: &Step,
) -> Result<(), StepError> {
    let context = world.context();
    let real = context.ledger.names.make(&name);
    let mut namespace = String::new();
    for member in &members.0 {
        namespace = namespace_on(context, &context.ledger.names.get(member)?).await?;
    }
    let member = members.0.first().map(|member| context.ledger.names.get(member)).transpose()?.unwrap_or_default();
    let mut spec = spec(context, step)?;
    let url = repository(context, &of)?.url();
    fill(&mut spec, defaults(context.ledger.names.suffix(), &member, &namespace, &url));
    let metadata = json!({"name": real, "namespace": argocd::NAMESPACE});
    context.make(kinds::APPLICATION_SET, Some(argocd::NAMESPACE), json!({"metadata": metadata, "spec": spec})).await?;
    context.ledger.application_sets.insert(name, real.clone());
    context.did(Action::new(format!("ApplicationSet/{real} created")).on(path(&real)));
    Ok(())
}

/// Asks for the deletion of an ApplicationSet, as `kubectl delete --wait=false` does, and doesn't wait for its end.
#[when(expr = "the deletion of application set {string} begins")]
async fn deletion_begins(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let real = real_name(context, &name)?;
    context.delete(kinds::APPLICATION_SET, Some(argocd::NAMESPACE), &real).await?;
    context.did(Action::new(format!("kubectl delete applicationset {real} --wait=false")).on(path(&real)));
    Ok(())
}

/// Merges the step's text (YAML, as a JSON merge patch) into the spec of an ApplicationSet: a change that goes wrong, or what repairs it.
#[when(expr = "the spec of application set {string} {becomes or is corrected to}")]
async fn spec_changes(world: &mut World, name: String, change: FileChange, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let real = real_name(context, &name)?;
    let spec = spec(context, step)?;
    context.patch(kinds::APPLICATION_SET, Some(argocd::NAMESPACE), &real, json!({"spec": spec})).await?;
    let action = Action::new(format!("spec of ApplicationSet/{real} changed: {spec}")).on(path(&real));
    context.changed(change, action);
    Ok(())
}

/// Asks the ApplicationSet controller to run the generators now, by an annotation, and waits until it has done so without an error. The
/// controller runs a git generator every 3 min by itself, and leaves the annotation after an error.
#[given(expr = "application set {string} is refreshed")]
#[when(expr = "application set {string} is refreshed")]
async fn is_refreshed(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let real = ask_for_refresh(context, &name).await?;
    let expectation = format!("the controller has run the generators of ApplicationSet/{real}");
    wait(context, &real, &expectation, |object| {
        let pending = Verdict::Pending("the annotation is still there".into());
        if object.at(REFRESH_POINTER).is_none() { Verdict::Holds } else { pending }
    })
    .await
}

/// Asks the ApplicationSet controller to run the generators now, by an annotation, and waits until `ErrorOccurred` is True with this in its
/// message.
#[when(expr = "application set {string} is refreshed in vain: {string}")]
async fn is_refreshed_in_vain(world: &mut World, name: String, message: String) -> Result<(), StepError> {
    let context = world.context();
    let message = context.ledger.names.fill(&message);
    let real = ask_for_refresh(context, &name).await?;
    wait(context, &real, &format!("ApplicationSet/{real} reports `{message}`"), |object| {
        let conditions = object.list("/status/conditions");
        let field = |condition: diagnosis::JsonRef<'_>, name: &str| {
            condition.get(name).and_then(diagnosis::JsonRef::as_str).unwrap_or_default().to_owned()
        };
        let is_error = conditions.iter().any(|condition| {
            field(condition, "type") == "ErrorOccurred"
                && field(condition, "status") == "True"
                && field(condition, "message").contains(&message)
        });
        if is_error { Verdict::Holds } else { Verdict::Pending("ErrorOccurred doesn't".into()) }
    })
    .await
}

/// Waits until the ApplicationSet owns these Applications and no others. Later steps speak of them as `application "east"`: their real names
/// are `NAME-{suffix}`.
#[given(expr = "application set {string} owns {generated applications}")]
#[then(expr = "application set {string} owns {generated applications}")]
async fn owns(world: &mut World, name: String, wanted: GeneratedApplications) -> Result<(), StepError> {
    let context = world.context();
    let real = real_name(context, &name)?;
    let mut names: Vec<String> = wanted.0.iter().map(|name| context.ledger.names.make(name)).collect();
    names.sort();
    let watched = WatchSelection::ending("hub", kinds::APPLICATION, Some(argocd::NAMESPACE), &context.ours());
    let listed = if names.is_empty() { "no Application".to_owned() } else { names.join(", ") };
    let expectation = format!("ApplicationSet/{real} owns {listed}");
    let mut owned = Vec::new();
    let hub = context.hub();
    context
        .wait(&hub, &watched, &expectation, limits::SYNCED, |objects| {
            owned = applications_of(objects, &real);
            let mut are: Vec<&str> = owned.iter().map(|object| Object::new(object).name()).collect();
            are.sort_unstable();
            if are == names { Verdict::Holds } else { Verdict::Pending(format!("it owns {}", are.join(", "))) }
        })
        .await?;
    for name in &wanted.0 {
        let real = context.ledger.names.get(name)?;
        let Some(object) = owned.iter().find(|object| Object::new(*object).name() == real) else { continue };
        let application = taken_up(context, &real, Object::new(object)).await;
        context.ledger.applications.insert(name.clone(), application);
    }
    Ok(())
}

/// Returns the Application of an ApplicationSet as one of the scenario.
async fn taken_up(context: &ScenarioContext, name: &str, object: Object<'_>) -> Application {
    let url = object.str("/spec/source/repoURL").unwrap_or_default();
    let of = context.ledger.repositories.iter().find(|(_, repository)| repository.url() == url);
    let destination = object.str("/spec/destination/name").unwrap_or_default();
    let is_member = context.fleet.members().await.contains_key(destination);
    Application {
        name: name.to_owned(),
        repository: of.map(|(name, _)| name.clone()).unwrap_or_default(),
        member: is_member.then(|| destination.to_owned()),
    }
}

/// Returns the Applications that an ApplicationSet owns.
fn applications_of(objects: &WatchedObjects, set: &str) -> Vec<Value> {
    let all = objects.values().map(AsRef::as_ref);
    all.filter(|object| is_owned_by(object, set)).cloned().collect()
}

/// True if an ApplicationSet owns an Application.
pub(crate) fn is_owned_by(application: &Value, set: &str) -> bool {
    let owners = application.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    owners.into_iter().flatten().any(|owner| owner["kind"] == kinds::APPLICATION_SET.kind && owner["name"] == set)
}

async fn ask_for_refresh(context: &ScenarioContext, name: &str) -> Result<String, StepError> {
    let real = real_name(context, name)?;
    // The controller notices the annotation only if it is new, and leaves it after an error.
    for value in [Value::Null, "true".into()] {
        let patch = json!({"metadata": {"annotations": {REFRESH: value}}});
        context.patch(kinds::APPLICATION_SET, Some(argocd::NAMESPACE), &real, patch).await?;
    }
    Ok(real)
}

async fn wait(
    context: &ScenarioContext,
    real: &str,
    expectation: &str,
    mut check: impl FnMut(Object<'_>) -> Verdict,
) -> Result<(), StepError> {
    let watched = WatchSelection::one("hub", kinds::APPLICATION_SET, Some(argocd::NAMESPACE), real);
    let hub = context.hub();
    context
        .wait(&hub, &watched, expectation, limits::REPORTED, |objects| {
            let there = objects.get(real);
            there.map_or_else(|| Verdict::Pending("there is no such ApplicationSet".into()), |v| check(Object::new(v)))
        })
        .await?;
    Ok(())
}

fn real_name(context: &ScenarioContext, name: &str) -> Result<String, StepError> {
    context.ledger.names.get(name)?;
    let found = context.ledger.application_sets.get(name).cloned();
    found.ok_or_else(|| StepError::Feature(format!("\"{name}\" is no application set")))
}

fn path(real: &str) -> ObjectPath {
    ObjectPath::new(kinds::APPLICATION_SET.kind, Some(argocd::NAMESPACE), real)
}

/// Reads the step's text as a spec.
fn spec(context: &ScenarioContext, step: &Step) -> Result<Value, StepError> {
    let text = document(context, step)?;
    serde_saphyr::from_str(&text).map_err(|e| StepError::Feature(format!("this spec is no YAML: {e}")))
}

fn defaults(suffix: &str, member: &str, namespace: &str, url: &str) -> Value {
    json!({
        "goTemplate": true,
        "goTemplateOptions": ["missingkey=error"],
        "template": {
            "metadata": {"name": format!("{{{{.name}}}}-{suffix}")},
            "spec": {
                "project": "default",
                "source": {"repoURL": url, "path": "{{.name}}", "targetRevision": "HEAD"},
                "destination": {"name": member, "namespace": namespace},
            },
        },
    })
}
