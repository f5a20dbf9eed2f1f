//! Steps about placements with specs and resources of the feature's own.

use cucumber::gherkin::Step;
use cucumber::{given, when};
use fleet::kinds;
use record::Action;
use serde_json::{Value, json};

use crate::context::ScenarioContext;
use crate::destination::{apply, manifests};
use crate::error::StepError;
use crate::limits;
use crate::needs::needs;
use crate::objects::Placement;
use crate::params::{Members, NewPlacement};
use crate::pauses::settle;
use crate::placement_objects::{create_with, patch_spec, snapshot_with};
use crate::repository::document;
use crate::selected_members::pick_all;
use crate::world::World;

/// Creates a placement with a namespace of its own to place, as `selects` does, and with the step's text merged into its spec (YAML, as a
/// JSON merge patch). By default it selects these members by a label that they get for it (policy PickAll, strategy RollingUpdate); the
/// namespace of a namespaced placement is put on them too. Other steps say what comes of it.
#[needs(placement_scope: |call| call.parameter())]
#[given(expr = "{placement} {string} for {members} is created with")]
#[when(expr = "{placement} {string} for {members} is created with")]
async fn is_created_with(
    world: &mut World,
    new: NewPlacement,
    name: String,
    members: Members,
    step: &Step,
) -> Result<(), StepError> {
    let context = world.context();
    // The text may speak of the placement itself.
    context.ledger.names.make(&name);
    let text = document(context, step)?;
    let spec: Value =
        serde_saphyr::from_str(&text).map_err(|e| StepError::Feature(format!("this spec is no YAML: {e}")))?;
    create_with(context, new, &name, &members.0, json!({"type": "RollingUpdate"}), pick_all, &spec).await
}

/// Applies objects, the step's text (YAML; several: with `---` between them), to the hub as resources of the placement; in the namespace
/// that it places where they name none. Its selectors get those that it wouldn't select otherwise. Should KubeFleet make two Works of an
/// envelope, the second is deleted. Waits, where one comes by itself, for a
/// resource snapshot that has them all.
#[needs(settles: limits::CACHED)]
#[given(expr = "the resources of placement {string} also include")]
#[when(expr = "the resources of placement {string} also include")]
async fn also_include(world: &mut World, name: String, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let placement = context.placement(&name)?;
    let hub = context.hub();
    let mut selectors = Vec::new();
    let mut included = Vec::new();
    for manifest in manifests(&document(context, step)?)? {
        let (action, target) = apply(context, &hub, Some(&placement.content), manifest).await?;
        context.did(action);
        if [kinds::ENVELOPE.kind, kinds::CLUSTER_ENVELOPE.kind].contains(&target.resource.kind.as_str()) {
            context.keep_one_work(&name);
        }
        if placement.scope.namespace().is_some() || target.namespace.is_none() {
            let resource = &target.resource;
            selectors.push(json!({
                "group": resource.group, "version": resource.version, "kind": resource.kind, "name": target.name,
            }));
        }
        included.push((target.resource.kind, target.name));
    }
    if !selectors.is_empty() {
        select_too(context, &name, &placement, selectors).await?;
    }
    count_snapshot_with(context, &name, &included).await
}

/// Adds selectors to those that a placement has.
async fn select_too(
    context: &ScenarioContext,
    name: &str,
    placement: &Placement,
    more: Vec<Value>,
) -> Result<(), StepError> {
    let kind = placement.scope.placement();
    let failed = fleet::FleetError::api("hub", format!("read {}", placement.path()));
    let object = kind.api(&context.hub().client, placement.scope.namespace()).get(&placement.name).await;
    let object = object.map_err(failed)?;
    let mut selectors =
        object.data.pointer("/spec/resourceSelectors").and_then(Value::as_array).cloned().unwrap_or_default();
    // The API server may have set a selector's default fields.
    let same = |a: &Value, b: &Value| ["group", "kind", "name"].iter().all(|field| a[field] == b[field]);
    for selector in more {
        if !selectors.iter().any(|selected| same(selected, &selector)) {
            selectors.push(selector);
        }
    }
    patch_spec(context, name, json!({"resourceSelectors": selectors})).await?;
    context.did(Action::new(format!("{} selects them too", placement.kind_and_name())).on(placement.path()));
    Ok(())
}

/// Waits for a resource snapshot of the placement that contains these objects (kind and name), where one comes by itself, and counts it.
async fn count_snapshot_with(
    context: &mut ScenarioContext,
    name: &str,
    included: &[(String, String)],
) -> Result<(), StepError> {
    let mut p = context.placement(name)?;
    if p.snapshots_by_runs {
        return Ok(());
    }
    let index = snapshot_with(context, &p, included).await?;
    p.snapshots = index.map_or(p.snapshots, |index| index + 1);
    context.ledger.placements.insert(name.to_owned(), p);
    // The hub-agent writes nothing by which its informer cache could be seen to have the snapshot.
    settle(limits::CACHED).await;
    Ok(())
}
