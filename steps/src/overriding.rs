//! Overrides: how a placement's resources differ between members.

use cucumber::{given, when};
use fleet::capability::Capability;
use fleet::kinds::{self, Kind};
use fleet::observe::{Verdict, Watched};
use serde_json::{Value, json};

use crate::error::StepError;
use crate::limits;
use crate::placement::SETTINGS;
use crate::scene::Scene;
use crate::world::World;

/// A ResourceOverride for the placement's ConfigMap with one rule, given as JSON: `clusterSelector` and
/// `jsonPatchOverrides`. Waits for its snapshot: runs and placements look at nothing else.
#[given(expr = "an override {string} of placement {string} with the rule {string}")]
#[when(expr = "an override {string} of placement {string} with the rule {string} is made")]
async fn is_made(world: &mut World, name: String, placement: String, rule: String) -> Result<(), StepError> {
    let scene = world.scene();
    let rule = scene.json(&rule)?;
    let p = scene.placement(&placement)?;
    let real = scene.names.make(&name);
    let scope = if p.scope.namespace().is_some() { "Namespaced" } else { "Cluster" };
    let spec = json!({
        "placement": {"name": p.name, "scope": scope},
        "resourceSelectors": [{"group": "", "version": "v1", "kind": "ConfigMap", "name": SETTINGS}],
        "policy": {"overrideRules": [rule]},
    });
    scene
        .make(served(scene, kinds::OVERRIDE), Some(&p.content), json!({"metadata": {"name": real}, "spec": spec}))
        .await?;
    scene.induced(format!("ResourceOverride/{}/{real} has the rule {rule}", p.content));
    snapshot_exists(scene, &p.content, &real, &rule).await
}

/// Gives an override another rule, as JSON.
#[when(expr = "the rule of override {string} of placement {string} is corrected to {string}")]
async fn is_corrected(world: &mut World, name: String, placement: String, rule: String) -> Result<(), StepError> {
    let scene = world.scene();
    let rule = scene.json(&rule)?;
    let (p, real) = (scene.placement(&placement)?, scene.names.get(&name)?);
    let spec = json!({"policy": {"overrideRules": [rule]}});
    scene.patch(served(scene, kinds::OVERRIDE), Some(&p.content), &real, json!({"spec": spec})).await?;
    scene.remedied(format!("ResourceOverride/{}/{real} has the rule {rule}", p.content));
    snapshot_exists(scene, &p.content, &real, &rule).await
}

/// The kind in the version that is served.
fn served(scene: &Scene, kind: Kind) -> Kind {
    let beta = scene.fleet.capabilities().can(Capability::BetaOverrides);
    if beta { kind } else { Kind { version: "v1alpha1", ..kind } }
}

/// Waits until the override has a snapshot with this rule.
async fn snapshot_exists(scene: &Scene, namespace: &str, name: &str, rule: &Value) -> Result<(), StepError> {
    let watched = Watched::all("hub", served(scene, kinds::OVERRIDE_SNAPSHOT), Some(namespace));
    let expectation = format!("ResourceOverride/{namespace}/{name} has a snapshot with its rule");
    let has = |snapshot: &Value| {
        let taken = snapshot.pointer("/spec/overrideSpec/policy/overrideRules/0");
        // The API server adds what is the default.
        rule.as_object()
            .is_some_and(|fields| fields.iter().all(|(key, value)| taken.and_then(|t| t.get(key)) == Some(value)))
    };
    let prefix = format!("{name}-");
    let hub = scene.hub();
    scene
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            let mut own = objects.iter().filter(|(object, _)| object.starts_with(&prefix));
            if own.any(|(_, o)| has(o)) { Verdict::Holds } else { Verdict::Pending("no such snapshot".into()) }
        })
        .await?;
    Ok(())
}
