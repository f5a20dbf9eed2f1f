//! Steps about the network between a member's agent and the hub.

use cucumber::{given, when};

use crate::error::StepError;
use crate::needs::{ProviderAbility, needs};
use crate::phrases::NetworkChange;
use crate::world::World;

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
        context.fleet.break_network(&member, fault).await?;
        context.induced(format!("the network between {member} and the hub {fault}"));
    } else {
        context.fleet.repair_network(&member).await?;
        context.remedied(format!("the network between {member} and the hub works again"));
    }
    Ok(())
}
