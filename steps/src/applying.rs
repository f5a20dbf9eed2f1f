//! Steps about how a placement's objects get on with what is on a member already.

use cucumber::{given, when};
use fleet::FleetError;
use fleet::kinds;
use kube::api::{Patch, PatchParams};
use record::{Action, ObjectPath};
use serde_json::{Value, json};

use crate::context::{ScenarioContext, create};
use crate::error::StepError;
use crate::needs::needs;
use crate::objects::{Placement, PlacementScope};
use crate::params::{Members, NewPlacement};
use crate::phrases::AndAppliesWith;
use crate::placement_objects::{SETTINGS, choose, place_namespace};
use crate::selected_members::pick_all;
use crate::world::World;

/// Makes a namespace and a ConfigMap on the member, of the names that the placement's will have, with another content.
#[needs(names_ahead: true)]
#[given(expr = "{string} has a ConfigMap already where placement {string} will put one")]
async fn is_there_already(world: &mut World, member: String, placement: String) -> Result<(), StepError> {
    let context = world.context();
    let namespace = content(&context.ledger.names.make(&placement));
    let cluster = context.fleet.member(&context.ledger.names.get(&member)?).await?.cluster;
    let objects = [
        (kinds::NAMESPACE, None, json!({"metadata": {"name": namespace}})),
        (
            kinds::CONFIG_MAP,
            Some(namespace.as_str()),
            json!({"metadata": {"name": SETTINGS}, "data": {"revision": "the member's own"}}),
        ),
    ];
    for (kind, namespace, value) in objects {
        create(&cluster, kind, namespace, value).await?;
    }
    let path = ObjectPath::new(kinds::CONFIG_MAP.kind, Some(&namespace), SETTINGS);
    context.induced(Action::new(format!("{path} created on {} by somebody", cluster.name)).on(path));
    Ok(())
}

/// Makes something on the member an owner of the ConfigMap there that has the name of the placement's, as an operator does with what
/// it makes: a ConfigMap `owner`, which is added to the ownerReferences.
#[given(expr = "something on {string} owns the ConfigMap of placement {string}")]
#[when(expr = "something on {string} owns the ConfigMap of placement {string}")]
async fn is_owned(world: &mut World, member: String, placement: String) -> Result<(), StepError> {
    let context = world.context();
    let namespace = content(&context.ledger.names.get(&placement)?);
    let cluster = context.fleet.member(&context.ledger.names.get(&member)?).await?.cluster;
    create(&cluster, kinds::CONFIG_MAP, Some(&namespace), json!({"metadata": {"name": OWNER}})).await?;
    let api = kinds::CONFIG_MAP.api(&cluster.client, Some(&namespace));
    let failed = || FleetError::api(&cluster.name, format!("give ConfigMap/{namespace}/{SETTINGS} an owner"));
    let owner = api.get(OWNER).await.map_err(failed())?;
    let reference = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": OWNER, "uid": owner.metadata.uid});
    let settings = api.get(SETTINGS).await.map_err(failed())?;
    let mut owners: Vec<Value> =
        settings.metadata.owner_references.into_iter().flatten().map(|owner| json!(owner)).collect();
    owners.push(reference);
    let patch = Patch::Merge(json!({"metadata": {"ownerReferences": owners}}));
    api.patch(SETTINGS, &PatchParams::default(), &patch).await.map_err(failed())?;
    let path = ObjectPath::new(kinds::CONFIG_MAP.kind, Some(&namespace), SETTINGS);
    context.induced(Action::new(format!("{path} on {} got ConfigMap/{OWNER} as an owner", cluster.name)).on(path));
    Ok(())
}

/// Name of a ConfigMap that owns another.
const OWNER: &str = "owner";

/// Changes the placement's ConfigMap on a member, past the hub.
#[when(expr = "somebody changes the ConfigMap of placement {string} on {string}")]
async fn is_changed(world: &mut World, placement: String, member: String) -> Result<(), StepError> {
    let context = world.context();
    let p = context.placement(&placement)?;
    let cluster = context.fleet.member(&context.ledger.names.get(&member)?).await?.cluster;
    let patch = Patch::Merge(json!({"data": {"revision": "changed on the member"}}));
    let api = kinds::CONFIG_MAP.api(&cluster.client, Some(&p.content));
    let patched = api.patch(SETTINGS, &PatchParams::default(), &patch).await;
    patched.map_err(FleetError::api(&cluster.name, format!("change ConfigMap/{}/{SETTINGS}", p.content)))?;
    let path = ObjectPath::new(kinds::CONFIG_MAP.kind, Some(&p.content), SETTINGS);
    context.induced(Action::new(format!("{path} changed on {}", cluster.name)).on(path));
    Ok(())
}

/// A second placement of what another places: of its namespace with all that is in it, or, in one namespace, of its
/// ConfigMap.
#[needs(placement_scope: |call| call.parameter())]
#[when(expr = "{placement} {string} selects what placement {string} places, for {members}{and applies with?}")]
async fn selects_the_same(
    world: &mut World,
    new: NewPlacement,
    name: String,
    other: String,
    members: Members,
    applies: AndAppliesWith,
) -> Result<(), StepError> {
    let context = world.context();
    let mut strategy = json!({"type": "RollingUpdate"});
    if let Some(applies) = applies.0 {
        strategy["applyStrategy"] = context.json(&applies)?;
    }
    let content = context.placement(&other)?.content;
    let real = context.ledger.names.make(&name);
    let (scope, selector) = if new.namespaced {
        (
            PlacementScope::Namespace(content.clone()),
            json!({"group": "", "version": "v1", "kind": "ConfigMap", "name": SETTINGS}),
        )
    } else {
        (PlacementScope::Cluster, json!({"group": "", "version": "v1", "kind": "Namespace", "name": content}))
    };
    let spec = json!({"resourceSelectors": [selector], "strategy": strategy});
    make(context, &name, &real, scope, content, spec, &members.0).await
}

/// Creates a ResourcePlacement whose namespace nothing puts on the members.
pub(crate) async fn make_without_namespace(
    context: &mut ScenarioContext,
    name: &str,
    members: &[String],
) -> Result<(), StepError> {
    let real = context.ledger.names.make(name);
    let content = content(&real);
    context.make(kinds::NAMESPACE, None, json!({"metadata": {"name": content}})).await?;
    let settings = json!({"metadata": {"name": SETTINGS}, "data": {"revision": "0"}});
    context.make(kinds::CONFIG_MAP, Some(&content), settings).await?;
    let selector = json!({"group": "", "version": "v1", "kind": "ConfigMap", "name": SETTINGS});
    let spec = json!({"resourceSelectors": [selector], "strategy": {"type": "RollingUpdate"}});
    make(context, name, &real, PlacementScope::Namespace(content.clone()), content, spec, members).await
}

/// Places the namespace of a ResourcePlacement, without its contents, on the members that the ResourcePlacement selects.
#[when(expr = "the namespace of placement {string} is placed too")]
async fn namespace_placed(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let p = context.placement(&name)?;
    place_namespace(context, &p.name, &p.content, &p.choice).await?;
    context.remedied(format!("a ClusterResourcePlacement places namespace {}", p.content));
    Ok(())
}

/// Creates a placement with this spec, and a policy that selects these members.
async fn make(
    context: &mut ScenarioContext,
    name: &str,
    real: &str,
    scope: PlacementScope,
    content: String,
    mut spec: Value,
    members: &[String],
) -> Result<(), StepError> {
    let choice = choose(context, real, members)?;
    spec["policy"] = pick_all(&choice);
    let (kind, namespace) = (scope.placement(), scope.namespace().map(ToOwned::to_owned));
    context.make(kind, namespace.as_deref(), json!({"metadata": {"name": real}, "spec": spec})).await?;
    let sentence = format!("{}/{real} selects what is in namespace {content}", kind.kind);
    context.induced(Action::new(sentence).on(ObjectPath::new(kind.kind, namespace.as_deref(), real)));
    let placement = Placement {
        choice,
        name: real.to_owned(),
        scope,
        content,
        revision: 0,
        snapshots: 1,
        snapshots_by_runs: false,
        enveloped: false,
    };
    context.ledger.placements.insert(name.to_owned(), placement);
    Ok(())
}

/// The namespace whose contents a placement places.
fn content(real: &str) -> String {
    format!("{real}-app")
}
