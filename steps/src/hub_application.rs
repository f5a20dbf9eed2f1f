//! Steps about Applications that Argo CD applies to the hub, from where KubeFleet carries on.

use cucumber::{given, then};
use diagnosis::Object;
use fleet::kinds;
use fleet::observe::Watched;
use serde_json::json;

use crate::application::create_for;
use crate::error::StepError;
use crate::limits;
use crate::objects::{Placement, Scope};
use crate::placement::{absent, choose};
use crate::world::World;

/// Where Argo CD is itself, as it calls that.
const IN_CLUSTER: &str = "in-cluster";

/// Makes an Application of everything in the repository, synced by hand, for the hub, which is Argo CD's own cluster. Its
/// manifests name their namespaces, with `{suffix}` in them. Waits until Argo CD has compared it.
#[given(expr = "an application {string} of repository {string} for the hub")]
async fn for_the_hub(world: &mut World, name: String, repository: String) -> Result<(), StepError> {
    let destination = json!({"name": IN_CLUSTER, "namespace": "default"});
    create_for(world.scene(), &name, &repository, None, destination, json!({})).await
}

/// Waits until a ClusterResourcePlacement `{name}` is on the hub, which an Application has put there. It selects one
/// namespace. From here on other steps may speak of it.
#[then(expr = "placement {string} is on the hub")]
async fn is_on_the_hub(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.make(&name);
    let watched = Watched::one("hub", kinds::CLUSTER_RESOURCE_PLACEMENT, None, &real);
    let expectation = format!("ClusterResourcePlacement/{real} is on the hub");
    let mut content = String::new();
    let hub = scene.hub();
    scene
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            let Some(value) = objects.get(&real) else { return absent(objects, &real) };
            let selected = Object::new(value).str("/spec/resourceSelectors/0/name").unwrap_or_default();
            selected.clone_into(&mut content);
            fleet::observe::Verdict::Holds
        })
        .await?;
    // Its policy is the repository's.
    let choice = choose(scene, &real, &[])?;
    let placement = Placement {
        name: real,
        choice,
        scope: Scope::Cluster,
        content,
        revision: 0,
        snapshots: 1,
        enveloped: false,
        snapshots_by_runs: false,
    };
    scene.placements.insert(name, placement);
    Ok(())
}
