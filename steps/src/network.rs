//! Steps about the network between a member's agent and the hub.

use cucumber::{given, when};
use fleet::kinds;
use fleet::network::NetworkRoute;
use record::{Action, ObjectPath};
use serde_json::json;

use crate::error::StepError;
use crate::needs::{ProviderAbility, needs};
use crate::phrases::NetworkChange;
use crate::world::World;

/// Joins a member that no other scenario uses, as `a member {string} of its own` does. Its agent reaches the hub through a proxy
/// (Toxiproxy), so that the network between the two can be broken.
#[needs(ability: |_| Some(ProviderAbility::BreakNetworks))]
#[given(expr = "a member {string} of its own, on a network that can fail")]
async fn on_a_network(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let real = context.ledger.names.make(&name);
    context.own(real.clone());
    context.fleet.add_member_over_network(&real, &json!({})).await?;
    let path = ObjectPath::new(kinds::MEMBER_CLUSTER.kind, None, &real);
    context.did(Action::new(format!("member {real} joined, with a cluster of its own, over a proxy")).on(path));
    Ok(())
}

/// Changes the network between the hub and the agent of a member that is on a network that can fail. A fault takes the place of an earlier
/// one.
///
/// `loses everything`: connections stay open and new ones are accepted, but nothing arrives any more, as behind a firewall that drops;
/// `loses what the agent sends` and `loses what the hub sends`: in one direction only. `takes 2000 ms longer each way, give or take 500
/// ms`: each packet. `passes 4 kB/s`: in each direction. `closes each connection after 100 kB`: when the hub has sent so much. `resets
/// connections`: each one as soon as the hub sends something. `refuses connections`: open ones are closed, too. `works again`: connections
/// that have lost something are closed.
#[needs(ability: |_| Some(ProviderAbility::BreakNetworks))]
#[given(expr = "the network between member {string} and the hub {network change}")]
#[when(expr = "the network between member {string} and the hub {network change}")]
async fn changes(world: &mut World, member: String, change: NetworkChange) -> Result<(), StepError> {
    let context = world.context();
    let member = context.own_member(&member)?;
    if let Some(fault) = change.0 {
        context.fleet.break_network(&member, NetworkRoute::AgentToHub, fault).await?;
        context.induced(format!("the network between {member} and the hub {fault}"));
    } else {
        context.fleet.repair_network(&member, NetworkRoute::AgentToHub).await?;
        context.remedied(format!("the network between {member} and the hub works again"));
    }
    Ok(())
}
