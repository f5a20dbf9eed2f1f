//! Steps about approval requests.

use cucumber::{given, then, when};
use diagnosis::Object;
use fleet::faults::{ApprovalAnswer, answer};
use fleet::observe::Verdict;
use record::{Action, ObjectPath};
use serde_json::json;

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::limits;
use crate::needs::needs;
use crate::object_lookup::ObjectLookup;
use crate::params::ObjectRef;
use crate::phrases::{EarlyRequest, RequestAnswer};
use crate::wording;
use crate::world::World;

/// Answers the request with the condition Approved, as a person does. Waits for the request first.
#[given(expr = "{object} is {answer}")]
#[when(expr = "{object} is {answer}")]
async fn is_answered(world: &mut World, object: ObjectRef, answer: RequestAnswer) -> Result<(), StepError> {
    let context = world.context();
    let request = requested(context, &object).await?;
    let generation = request.generation;
    match answer {
        RequestAnswer::Approved => {
            request.answer(context, ApprovalAnswer::Approved(generation)).await?;
            let path = request.path;
            let sentence = format!("{path} approved with observedGeneration {generation}, its generation");
            context.remedied(Action::new(sentence).on(path));
        }
        RequestAnswer::ApprovedStale => {
            request.answer(context, ApprovalAnswer::Approved(0)).await?;
            let path = request.path;
            let sentence = format!("{path} approved with observedGeneration 0 while its generation is {generation}");
            context.induced(Action::new(sentence).on(path));
        }
        RequestAnswer::Refused => {
            request.answer(context, ApprovalAnswer::Refused(generation)).await?;
            let path = request.path;
            context.induced(Action::new(format!("{path}: Approved False")).on(path));
        }
    }
    Ok(())
}

/// Waits until the request is there and nobody has answered it.
#[given(expr = "{object} is there, without an answer")]
#[then(expr = "{object} is there, without an answer")]
async fn is_there(world: &mut World, object: ObjectRef) -> Result<(), StepError> {
    let context = world.context();
    let found = context.find(&object)?;
    let hub = context.hub();
    context
        .wait(&hub, &found.watched, "the request is there", limits::REPORTED, |objects| match found.pick(objects) {
            Some(o) if Object::new(o).condition("Approved").is_none() => Verdict::Holds,
            Some(_) => Verdict::Pending("it has an answer".into()),
            None => Verdict::Pending("no such approval request".into()),
        })
        .await?;
    Ok(())
}

/// Creates a request with the name that the run will give its own one, as somebody may beforehand: `for another run`, or for this run and
/// stage `and approved`.
#[needs(names_ahead: true)]
#[given(
    expr = "the approval request that update run {string} of placement {string} will make {word} stage {string} is there already, {for another run or approved}"
)]
async fn is_there_early(
    world: &mut World,
    run: String,
    placement: String,
    when: String,
    stage: String,
    early: EarlyRequest,
) -> Result<(), StepError> {
    let context = world.context();
    let target = context.ledger.names.make(if early.approved { &run } else { "other" });
    let request = EarlyApprovalRequest { run, placement, when, stage };
    let (kind, namespace, name) = request.make(context, &target).await?;
    let path = ObjectPath::new(kind.kind, namespace.as_deref(), &name);
    let made = format!("{}/{name} created for stage {} of {target}", kind.kind, request.stage);
    if early.approved {
        // A new object's generation is 1.
        answer(&context.hub(), kind, namespace.as_deref(), &name, ApprovalAnswer::Approved(1)).await?;
        context.did(Action::new(format!("{made}, and approved")).on(path));
    } else {
        context.induced(Action::new(made).on(path));
    }
    Ok(())
}

/// A request that is there before its run.
struct EarlyApprovalRequest {
    run: String,
    placement: String,
    /// `before` or `after`.
    when: String,
    stage: String,
}

impl EarlyApprovalRequest {
    /// Makes it under the name that the controller will use for `run`, for a stage of the run `target`.
    async fn make(
        &self,
        context: &mut ScenarioContext,
        target: &str,
    ) -> Result<(fleet::kinds::ResourceKind, Option<String>, String), StepError> {
        let scope = context.placement(&self.placement)?.scope;
        let (kind, namespace) = (scope.approval_request(), scope.namespace().map(ToOwned::to_owned));
        let run = context.ledger.names.make(&self.run);
        let name = wording::request(&context.fleet.capabilities(), &run, &self.when, &self.stage);
        let spec = json!({"parentStageRollout": target, "targetStage": self.stage});
        context.make(kind, namespace.as_deref(), json!({"metadata": {"name": name}, "spec": spec})).await?;
        Ok((kind, namespace, name))
    }
}

/// A request, or another object, as it was when a step looked for it.
pub(crate) struct FoundObject {
    pub found: ObjectLookup,
    pub name: String,
    pub path: ObjectPath,
    pub uid: String,
    generation: i64,
}

impl FoundObject {
    async fn answer(&self, context: &ScenarioContext, what: ApprovalAnswer) -> Result<(), StepError> {
        let namespace = self.found.watched.namespace.as_deref();
        Ok(answer(&context.hub(), self.found.kind, namespace, &self.name, what).await?)
    }
}

pub(crate) async fn requested(context: &ScenarioContext, object: &ObjectRef) -> Result<FoundObject, StepError> {
    let found = context.find(object)?;
    let cluster = context.cluster_of(&found).await?;
    let expectation = format!("the {} is there", found.kind.kind);
    let held = context
        .wait(&cluster, &found.watched, &expectation, limits::RUN, |objects| match found.pick(objects) {
            Some(_) => Verdict::Holds,
            None => Verdict::Pending("there is none".into()),
        })
        .await?;
    let Some(request) = found.pick(&held.objects).map(Object::new) else {
        return Err(StepError::Differs("it went while it was looked at".into()));
    };
    let (name, path) = (request.name().to_owned(), request.path());
    let (uid, generation) = (uid(request), request.generation());
    Ok(FoundObject { found, name, path, uid, generation })
}

fn uid(object: Object<'_>) -> String {
    object.str("/metadata/uid").unwrap_or_default().to_owned()
}
