//! Steps about finalizers that hold deletions, and that belong to nobody who would remove them.

use clusters::cluster::Cluster;
use cucumber::{given, when};
use fleet::kinds::{self, ResourceKind};
use fleet::objects;
use record::{Action, ObjectPath};
use serde_json::json;

use crate::binding;
use crate::context::ScenarioContext;
use crate::destination::{NAMESPACE, known};
use crate::error::StepError;
use crate::phrases::{FinalizerChange, HeldObject};
use crate::placement_objects::SETTINGS;
use crate::world::World;

/// Finalizer that no controller removes.
pub(crate) const FINALIZER: &str = "example.com/protect";

/// Name of the ConfigMap that holds a member's namespace on the hub.
const HOLDER: &str = "held";

/// `somebody's finalizer holds`: sets the finalizer `example.com/protect`, which no controller removes, on an object; for a member's namespace on
/// the hub, on a ConfigMap `held` that the step makes in it. Once somebody deletes the object, it stays. `somebody's finalizer releases`:
/// removes the finalizer. `somebody takes all finalizers off`: also those by which KubeFleet's controllers clean up, as scripts for objects
/// that don't go away do.
#[given(expr = "{finalizer change} {held object}")]
#[when(expr = "{finalizer change} {held object}")]
async fn changes(world: &mut World, change: FinalizerChange, held: HeldObject) -> Result<(), StepError> {
    let context = world.context();
    let (cluster, kind, path) = place(context, &held).await?;
    let (namespace, name) = (path.namespace.as_deref(), path.name.as_str());
    match change {
        FinalizerChange::Holds => {}
        FinalizerChange::Releases => {
            objects::remove_finalizer(&cluster, kind, namespace, name, FINALIZER).await?;
            let sentence = format!("finalizer {FINALIZER} taken off {path} on {}", cluster.name);
            context.remedied(Action::new(sentence).on(path));
            return Ok(());
        }
        FinalizerChange::TakesAllOff => {
            objects::remove_all_finalizers(&cluster, kind, namespace, name).await?;
            let sentence = format!("all finalizers taken off {path} on {}", cluster.name);
            context.induced(Action::new(sentence).on(path));
            return Ok(());
        }
    }
    if let HeldObject::MemberNamespace(_) = held {
        context.make_on(&cluster, kind, namespace, json!({"metadata": {"name": name}})).await?;
    }
    context.hold(&cluster, kind, namespace, name);
    objects::add_finalizer(&cluster, kind, namespace, name, FINALIZER).await?;
    let sentence = format!("{path} on {} got the finalizer {FINALIZER}", cluster.name);
    context.induced(Action::new(sentence).on(path));
    Ok(())
}

/// Returns the object that gets the finalizer, with its cluster and kind.
async fn place(context: &ScenarioContext, held: &HeldObject) -> Result<(Cluster, ResourceKind, ObjectPath), StepError> {
    let path = |kind: ResourceKind, namespace: Option<&str>, name: &str| ObjectPath::new(kind.kind, namespace, name);
    Ok(match held {
        HeldObject::Placed { placement, member } => {
            let content = context.placement(placement)?.content;
            let cluster = context.fleet.member(&context.ledger.names.get(member)?).await?.cluster;
            (cluster, kinds::CONFIG_MAP, path(kinds::CONFIG_MAP, Some(&content), SETTINGS))
        }
        HeldObject::Binding { placement, member } => {
            let p = context.placement(placement)?;
            let name = binding::named(context, &p, &context.ledger.names.get(member)?).await?;
            (context.hub(), p.scope.binding(), path(p.scope.binding(), p.scope.namespace(), &name))
        }
        HeldObject::MemberNamespace(member) => {
            let namespace = fleet::member_namespace(&context.ledger.names.get(member)?);
            (context.hub(), kinds::CONFIG_MAP, path(kinds::CONFIG_MAP, Some(&namespace), HOLDER))
        }
        HeldObject::Placement(name) => {
            let p = context.placement(name)?;
            (context.hub(), p.scope.placement(), p.path())
        }
        HeldObject::Deployed { object, member } => {
            let (cluster, kind, name) = known(context, member, object).await?;
            let namespace = context.ledger.names.get(NAMESPACE)?;
            (cluster, kind, path(kind, Some(&namespace).filter(|_| kind.namespaced).map(String::as_str), &name))
        }
        HeldObject::Application(name) => (context.hub(), kinds::APPLICATION, context.application(name)?.path()),
    })
}
