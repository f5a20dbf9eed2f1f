//! Steps about Applications that Argo CD applies to the hub, from where KubeFleet carries on.

use cucumber::then;
use diagnosis::Object;
use fleet::kinds;
use fleet::observe::WatchSelection;

use crate::error::StepError;
use crate::limits;
use crate::needs::needs;
use crate::objects::{Placement, PlacementScope};
use crate::params::NewPlacement;
use crate::placement_objects::{absent, choose};
use crate::world::World;

/// Waits until a ClusterResourcePlacement `{name}` is on the hub, which an Application has put there. It selects one
/// namespace. From here on other steps may speak of it.
#[needs(placement_scope: |_| Some(NewPlacement { namespaced: false }))]
#[then(expr = "placement {string} is on the hub")]
async fn is_on_the_hub(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let real = context.ledger.names.make(&name);
    let watched = WatchSelection::one("hub", kinds::CLUSTER_RESOURCE_PLACEMENT, None, &real);
    let expectation = format!("ClusterResourcePlacement/{real} is on the hub");
    let mut content = String::new();
    let hub = context.hub();
    context
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            let Some(value) = objects.get(&real) else { return absent(objects, &real) };
            let selected = Object::new(value).str("/spec/resourceSelectors/0/name").unwrap_or_default();
            selected.clone_into(&mut content);
            fleet::observe::Verdict::Holds
        })
        .await?;
    // Its policy is the repository's.
    let choice = choose(context, &real, &[])?;
    let placement = Placement {
        name: real,
        choice,
        scope: PlacementScope::Cluster,
        content,
        revision: 0,
        snapshots: 1,
        enveloped: false,
        snapshots_by_runs: false,
    };
    context.ledger.placements.insert(name, placement);
    Ok(())
}
