//! Evictions of placements from members, and disruption budgets.

use cucumber::{given, when};
use diagnosis::Object;
use fleet::kinds;
use fleet::observe::{Verdict, WatchSelection};
use record::{Action, ObjectPath};
use serde_json::json;

use crate::error::StepError;
use crate::limits;
use crate::needs::needs;
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

/// Creates a ClusterResourcePlacementEviction of a cluster-scoped placement from a member, and doesn't wait for an answer. The placement may
/// be one that a later step makes, or none: a name that nothing has in this scenario. So may the member. Other steps speak of it as
/// `eviction "move"`.
#[needs(names_ahead: true)]
#[given(expr = "an eviction {string} of placement {string} from {string} is created")]
#[when(expr = "an eviction {string} of placement {string} from {string} is created")]
async fn is_created(world: &mut World, eviction: String, placement: String, member: String) -> Result<(), StepError> {
    let context = world.context();
    let names = &mut context.ledger.names;
    let placement = names.get(&placement).unwrap_or_else(|_| names.make(&placement));
    let member = names.get(&member).unwrap_or(member);
    let name = names.make(&eviction);
    let spec = json!({"placementName": placement, "clusterName": member});
    context.make(kinds::EVICTION, None, json!({"metadata": {"name": name}, "spec": spec})).await?;
    let path = ObjectPath::new(kinds::EVICTION.kind, None, &name);
    context.did(Action::new(format!("{path} of {placement} from {member} created")).on(path));
    Ok(())
}

/// Creates the disruption budget of a cluster-scoped placement, with this spec as JSON. Other steps speak of it as
/// `the disruption budget of placement "web"`.
#[given(expr = "the disruption budget of placement {string} is {string}")]
#[when(expr = "the disruption budget of placement {string} is {string}")]
async fn has_budget(world: &mut World, placement: String, spec: String) -> Result<(), StepError> {
    let context = world.context();
    let name = context.placement(&placement)?.name;
    let budget = json!({"metadata": {"name": name}, "spec": context.json(&spec)?});
    context.make(kinds::DISRUPTION_BUDGET, None, budget).await?;
    let path = ObjectPath::new(kinds::DISRUPTION_BUDGET.kind, None, &name);
    context.did(Action::new(format!("{path} created with {spec}")).on(path));
    Ok(())
}
