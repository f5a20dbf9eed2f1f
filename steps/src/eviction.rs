//! Evictions of placements from members.

use cucumber::when;
use diagnosis::Object;
use fleet::kinds;
use fleet::observe::{Verdict, WatchSelection};
use record::{Action, ObjectPath};
use serde_json::json;

use crate::error::StepError;
use crate::limits;
use crate::world::World;

/// Evicts a cluster-scoped placement from a member by a ClusterResourcePlacementEviction, as before maintenance of the member. Waits until
/// the hub-agent has executed the eviction. The scheduler may choose the member again at once.
#[when(expr = "placement {string} is evicted from {string}")]
async fn is_evicted(world: &mut World, placement: String, member: String) -> Result<(), StepError> {
    let context = world.context();
    let p = context.placement(&placement)?;
    let member = context.ledger.names.get(&member)?;
    let name = format!("{}-{member}", p.name);
    let spec = json!({"placementName": p.name, "clusterName": member});
    context.make(kinds::EVICTION, None, json!({"metadata": {"name": name}, "spec": spec})).await?;
    let path = ObjectPath::new(kinds::EVICTION.kind, None, &name);
    context.did(Action::new(format!("{} evicted from {member}", p.name)).on(path));
    let watched = WatchSelection::one("hub", kinds::EVICTION, None, &name);
    let expectation = format!("{name} is executed");
    context
        .wait(&context.hub(), &watched, &expectation, limits::REPORTED, |objects| {
            let executed = objects.get(&name).and_then(|value| Object::new(value).condition("Executed"));
            match executed {
                Some(executed) if executed.status == "True" => Verdict::Holds,
                Some(executed) => Verdict::Pending(executed.message),
                None => Verdict::Pending("it has no condition Executed".into()),
            }
        })
        .await?;
    Ok(())
}
