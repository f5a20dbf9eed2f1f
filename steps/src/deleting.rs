//! Steps about objects that are deleted.

use cucumber::{then, when};
use diagnosis::Object;
use fleet::kinds;
use fleet::objects;
use fleet::observe::{Verdict, WatchSelection, WatchedObjects};
use record::{Action, ObjectPath};

use crate::approval::requested;
use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::limits;
use crate::object_lookup::ObjectLookup;
use crate::params::ObjectRef;
use crate::placement_objects::delete_placement;
use crate::update_run::is_gone;
use crate::world::World;

/// Deletes the object, or the objects, and waits until they are gone; a controller may have created others of their names by then. A member
/// is only asked to leave: its MemberCluster is deleted, and the step doesn't wait for its end. Nor does it wait for an object that
/// somebody's finalizer holds.
#[when(expr = "{object} is/are deleted")]
async fn is_deleted(world: &mut World, object: ObjectRef) -> Result<(), StepError> {
    let context = world.context();
    match &object {
        ObjectRef::Placement(name) => {
            let p = context.placement(name)?;
            context.did(Action::new(format!("{} deleted", p.kind_and_name())).on(p.path()));
            delete_placement(context, &p).await
        }
        ObjectRef::UpdateRun(name) => {
            let run = context.run(name)?;
            context.delete(run.scope.run(), run.scope.namespace(), &run.name).await?;
            context.did(Action::new(format!("{} deleted", run.kind_and_name())).on(run.path()));
            is_gone(context, &run.watched(), &run.name).await
        }
        ObjectRef::Member(member) => {
            let real = context.ledger.names.get(member)?;
            context.follow(&context.hub(), &WatchSelection::one("hub", kinds::MEMBER_CLUSTER, None, &real));
            context.delete(kinds::MEMBER_CLUSTER, None, &real).await?;
            let path = ObjectPath::new(kinds::MEMBER_CLUSTER.kind, None, &real);
            context.did(Action::new(format!("{path} deleted")).on(path));
            Ok(())
        }
        ObjectRef::PolicySnapshots(_) => delete_all(context, &context.find(&object)?).await,
        ObjectRef::RefusingPolicy(placement) => {
            let name = context.placement(placement)?.name;
            for kind in [kinds::ADMISSION_POLICY_BINDING, kinds::ADMISSION_POLICY] {
                context.delete(kind, None, &name).await?;
            }
            let path = ObjectPath::new(kinds::ADMISSION_POLICY.kind, None, &name);
            context.remedied(Action::new(format!("{path} deleted")).on(path));
            Ok(())
        }
        ObjectRef::Eviction(_) | ObjectRef::DisruptionBudget(_) | ObjectRef::SecondWork { .. } => {
            let path = delete_one(context, &object).await?;
            context.remedied(Action::new(format!("{path} deleted")).on(path));
            Ok(())
        }
        _ => {
            let path = delete_one(context, &object).await?;
            context.induced(Action::new(format!("{path} deleted")).on(path));
            Ok(())
        }
    }
}

/// Waits until an object of a member, given by its path, is gone: a controller deletes it.
#[then(expr = "object {string} of {string} is gone")]
async fn has_gone(world: &mut World, path: String, member: String) -> Result<(), StepError> {
    let context = world.context();
    let object = ObjectRef::Named { path, member: Some(member) };
    let found = context.find(&object)?;
    let cluster = context.cluster_of(&found).await?;
    let expectation = format!("the {} is gone", found.kind.kind);
    context
        .wait(&cluster, &found.watched, &expectation, limits::REPORTED, |objects| match found.pick(objects) {
            Some(_) => Verdict::Pending("it is still there".into()),
            None => Verdict::Holds,
        })
        .await?;
    Ok(())
}

/// Waits until an object is there, deletes it and waits until it is gone. Returns its path.
async fn delete_one(context: &ScenarioContext, object: &ObjectRef) -> Result<ObjectPath, StepError> {
    let old = requested(context, object).await?;
    let cluster = context.cluster_of(&old.found).await?;
    objects::delete(&cluster, old.found.kind, old.found.watched.namespace.as_deref(), &old.name).await?;
    if context.holds(&cluster.name, old.found.kind, &old.path) {
        return Ok(old.path);
    }
    let expectation = format!("{} is gone", old.path);
    context
        .wait(&cluster, &old.found.watched, &expectation, limits::REPORTED, |objects| match old.found.pick(objects) {
            Some(now) if Object::new(now).str("/metadata/uid") == Some(&old.uid) => {
                Verdict::Pending("it is still there".into())
            }
            _ => Verdict::Holds,
        })
        .await?;
    Ok(old.path)
}

/// Waits until there is one object at least, deletes all and waits until there is none.
async fn delete_all(context: &ScenarioContext, found: &ObjectLookup) -> Result<(), StepError> {
    let (hub, kind) = (context.hub(), found.kind);
    let expectation = format!("there is a {}", kind.kind);
    let held = context.wait(&hub, &found.watched, &expectation, limits::REPORTED, is_some).await?;
    for name in held.objects.keys() {
        let namespace = found.watched.namespace.as_deref();
        context.delete(kind, namespace, name).await?;
        let path = ObjectPath::new(kind.kind, namespace, name);
        context.induced(Action::new(format!("{}/{name} deleted", kind.kind)).on(path));
    }
    let expectation = format!("there is no {}", kind.kind);
    context
        .wait(&hub, &found.watched, &expectation, limits::REPORTED, |objects| {
            if objects.is_empty() { Verdict::Holds } else { Verdict::Pending("one is still there".into()) }
        })
        .await?;
    Ok(())
}

fn is_some(objects: &WatchedObjects) -> Verdict {
    if objects.is_empty() { Verdict::Pending("there is none".into()) } else { Verdict::Holds }
}
