//! Steps about how a placement's objects get on with what is on a member already.

use cucumber::{given, when};
use fleet::FleetError;
use fleet::kinds;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::error::StepError;
use crate::objects::{Placement, Scope};
use crate::params::{Members, NewPlacement};
use crate::placement::{SETTINGS, choose, create_with, patch_spec, pick_all, place_namespace};
use crate::scene::{Scene, create};
use crate::world::World;

/// A placement (strategy RollingUpdate) with an apply strategy, as JSON.
#[given(expr = "{placement} {string} selects {members} and applies with {string}")]
#[when(expr = "{placement} {string} selects {members} and applies with {string}")]
async fn selects_with(
    world: &mut World,
    new: NewPlacement,
    name: String,
    members: Members,
    strategy: String,
) -> Result<(), StepError> {
    let scene = world.scene();
    let strategy = json!({"type": "RollingUpdate", "applyStrategy": scene.json(&strategy)?});
    create_with(scene, new, &name, &members.0, strategy, pick_all).await
}

/// Gives the placement another apply strategy, as JSON.
#[given(expr = "placement {string} applies with {string}")]
#[when(expr = "placement {string} applies with {string}")]
async fn applies_with(world: &mut World, name: String, strategy: String) -> Result<(), StepError> {
    let scene = world.scene();
    let p = patch_spec(scene, &name, json!({"strategy": {"applyStrategy": scene.json(&strategy)?}})).await?;
    scene.remedied(format!("{p} applies with {strategy}"));
    Ok(())
}

/// Makes a namespace and a ConfigMap on the member, of the names that the placement's will have, with another content.
#[given(expr = "{string} has a ConfigMap already where placement {string} will put one")]
async fn is_there_already(world: &mut World, member: String, placement: String) -> Result<(), StepError> {
    let scene = world.scene();
    let namespace = content(&scene.names.make(&placement));
    let cluster = scene.fleet.member(&scene.names.get(&member)?).await?.cluster;
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
    scene.induced(format!("ConfigMap/{namespace}/{SETTINGS} created on {} by somebody", cluster.name));
    Ok(())
}

/// Changes the placement's ConfigMap on a member, past the hub.
#[when(expr = "somebody changes the ConfigMap of placement {string} on {string}")]
async fn is_changed(world: &mut World, placement: String, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let p = scene.placement(&placement)?;
    let cluster = scene.fleet.member(&scene.names.get(&member)?).await?.cluster;
    let patch = Patch::Merge(json!({"data": {"revision": "changed on the member"}}));
    let api = kinds::CONFIG_MAP.api(&cluster.client, Some(&p.content));
    let patched = api.patch(SETTINGS, &PatchParams::default(), &patch).await;
    patched.map_err(FleetError::api(&cluster.name, format!("change ConfigMap/{}/{SETTINGS}", p.content)))?;
    scene.induced(format!("ConfigMap/{}/{SETTINGS} changed on {}", p.content, cluster.name));
    Ok(())
}

/// A second placement of what another places: of its namespace with all that is in it, or, in one namespace, of its
/// ConfigMap.
#[when(expr = "{placement} {string} selects what placement {string} places, for {members}")]
async fn selects_the_same(
    world: &mut World,
    new: NewPlacement,
    name: String,
    other: String,
    members: Members,
) -> Result<(), StepError> {
    let scene = world.scene();
    let content = scene.placement(&other)?.content;
    let real = scene.names.make(&name);
    let (scope, selector) = if new.namespaced {
        (Scope::Namespace(content.clone()), json!({"version": "v1", "kind": "ConfigMap", "name": SETTINGS}))
    } else {
        (Scope::Cluster, json!({"version": "v1", "kind": "Namespace", "name": content}))
    };
    make(scene, &name, &real, scope, content, selector, &members).await
}

/// A ResourcePlacement whose namespace nothing puts on the members.
#[given(expr = "a namespaced placement {string} selects {members}, where its namespace isn't")]
async fn without_namespace(world: &mut World, name: String, members: Members) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.make(&name);
    let content = content(&real);
    scene.make(kinds::NAMESPACE, None, json!({"metadata": {"name": content}})).await?;
    let settings = json!({"metadata": {"name": SETTINGS}, "data": {"revision": "0"}});
    scene.make(kinds::CONFIG_MAP, Some(&content), settings).await?;
    let selector = json!({"version": "v1", "kind": "ConfigMap", "name": SETTINGS});
    make(scene, &name, &real, Scope::Namespace(content.clone()), content, selector, &members).await
}

/// Places the namespace of a ResourcePlacement, without its contents, on the members that the ResourcePlacement selects.
#[when(expr = "the namespace of placement {string} is placed too")]
async fn namespace_placed(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let p = scene.placement(&name)?;
    place_namespace(scene, &p.name, &p.content, &p.choice).await?;
    scene.remedied(format!("a ClusterResourcePlacement places namespace {}", p.content));
    Ok(())
}

async fn make(
    scene: &mut Scene,
    name: &str,
    real: &str,
    scope: Scope,
    content: String,
    mut selector: Value,
    members: &Members,
) -> Result<(), StepError> {
    selector["group"] = "".into();
    let choice = choose(scene, real, &members.0)?;
    let spec =
        json!({"resourceSelectors": [selector], "policy": pick_all(&choice), "strategy": {"type": "RollingUpdate"}});
    let (kind, namespace) = (scope.placement(), scope.namespace().map(ToOwned::to_owned));
    scene.make(kind, namespace.as_deref(), json!({"metadata": {"name": real}, "spec": spec})).await?;
    scene.induced(format!("{}/{real} selects what is in namespace {content}", kind.kind));
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
    scene.placements.insert(name.to_owned(), placement);
    Ok(())
}

/// The namespace whose contents a placement places.
fn content(real: &str) -> String {
    format!("{real}-app")
}
