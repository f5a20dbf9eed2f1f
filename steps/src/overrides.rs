//! Overrides: how a placement's resources differ between members.

use cucumber::{given, when};
use fleet::capability::Capability;
use fleet::kinds::{self, ResourceKind};
use fleet::observe::{Verdict, WatchSelection};
use record::{Action, ObjectPath};
use serde_json::{Value, json};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::limits;
use crate::placement_objects::SETTINGS;
use crate::world::World;

/// A ResourceOverride for the placement's ConfigMap with one rule, given as JSON: `clusterSelector` and
/// `jsonPatchOverrides`. Waits for its snapshot: runs and placements look at nothing else.
#[given(expr = "an override {string} of placement {string} has the rule {string}")]
#[when(expr = "an override {string} of placement {string} has the rule {string}")]
async fn is_made(world: &mut World, name: String, placement: String, rule: String) -> Result<(), StepError> {
    let context = world.context();
    let rule = context.json(&rule)?;
    let p = context.placement(&placement)?;
    let real = context.ledger.names.make(&name);
    let scope = if p.scope.namespace().is_some() { "Namespaced" } else { "Cluster" };
    let spec = json!({
        "placement": {"name": p.name, "scope": scope},
        "resourceSelectors": [{"group": "", "version": "v1", "kind": "ConfigMap", "name": SETTINGS}],
        "policy": {"overrideRules": [rule]},
    });
    context
        .make(served(context, kinds::OVERRIDE), Some(&p.content), json!({"metadata": {"name": real}, "spec": spec}))
        .await?;
    let path = ObjectPath::new(kinds::OVERRIDE.kind, Some(&p.content), &real);
    context.induced(Action::new(format!("{path} has the rule {rule}")).on(path));
    snapshot_exists(context, &p.content, &real, &rule).await
}

/// Gives an override another rule, as JSON.
#[when(expr = "the rule of override {string} of placement {string} is corrected to {string}")]
async fn is_corrected(world: &mut World, name: String, placement: String, rule: String) -> Result<(), StepError> {
    let context = world.context();
    let rule = context.json(&rule)?;
    let (p, real) = (context.placement(&placement)?, context.ledger.names.get(&name)?);
    let spec = json!({"policy": {"overrideRules": [rule]}});
    context.patch(served(context, kinds::OVERRIDE), Some(&p.content), &real, json!({"spec": spec})).await?;
    let path = ObjectPath::new(kinds::OVERRIDE.kind, Some(&p.content), &real);
    context.remedied(Action::new(format!("{path} has the rule {rule}")).on(path));
    snapshot_exists(context, &p.content, &real, &rule).await
}

/// The kind in the version that is served.
fn served(context: &ScenarioContext, kind: ResourceKind) -> ResourceKind {
    let beta = context.fleet.capabilities().can(Capability::BetaOverrides);
    if beta { kind } else { ResourceKind { version: "v1alpha1", ..kind } }
}

/// Waits until the override has a snapshot with this rule.
async fn snapshot_exists(
    context: &ScenarioContext,
    namespace: &str,
    name: &str,
    rule: &Value,
) -> Result<(), StepError> {
    let watched = WatchSelection::all("hub", served(context, kinds::OVERRIDE_SNAPSHOT), Some(namespace));
    let expectation = format!("ResourceOverride/{namespace}/{name} has a snapshot with its rule");
    let prefix = format!("{name}-");
    let hub = context.hub();
    context
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            let mut own = objects.iter().filter(|(object, _)| object.starts_with(&prefix));
            if own.any(|(_, o)| has_rule(o, rule)) {
                Verdict::Holds
            } else {
                Verdict::Pending("no such snapshot".into())
            }
        })
        .await?;
    Ok(())
}

/// True if a snapshot of an override has this rule; the API server adds the rule's defaults.
fn has_rule(snapshot: &Value, rule: &Value) -> bool {
    let taken = snapshot.pointer("/spec/overrideSpec/policy/overrideRules/0");
    rule.as_object()
        .is_some_and(|fields| fields.iter().all(|(key, value)| taken.and_then(|t| t.get(key)) == Some(value)))
}
