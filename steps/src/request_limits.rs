//! Steps about requests that the hub's API server refuses because there are too many of them (429).

use cucumber::{given, when};

use crate::error::StepError;
use crate::needs::{ProviderAbility, needs};
use crate::phrases::{AgentRef, RequestLimitChange};
use crate::single_agent::SingleAgent;
use crate::world::World;

/// Changes how many requests of an agent the hub's API server takes (API Priority and Fairness), by a `FlowSchema` for the agent's user and a
/// `PriorityLevelConfiguration`.
///
/// `takes one request at a time of`: the priority level has no share and rejects what is more (429), as when somebody has limited a user to
/// nothing. The API server is restarted before that. `takes all requests of`: deletes the `FlowSchema`. Every scenario on the fleet would feel it:
/// use a fleet of its own.
#[needs(ability: |_| Some(ProviderAbility::SetPriorities))]
#[when(expr = "the hub's API server {takes requests of} {agent}")]
async fn limit_requests(world: &mut World, limit: RequestLimitChange, agent: AgentRef) -> Result<(), StepError> {
    let context = world.context();
    context.check_own_fleet("the hub's API server is")?;
    let limited = SingleAgent::of(context, &agent)?;
    if limit.limited {
        context.fleet.limit_requests(limited.member.as_deref()).await?;
        context.induced(format!("the hub's API server takes one request of {limited} at a time, and refuses others"));
    } else {
        context.fleet.free_requests().await?;
        context.remedied(format!("the hub's API server takes all requests of {limited}"));
    }
    Ok(())
}

/// Has another user send requests to the hub's API server that count among those of an agent, at a priority level that takes one request at a
/// time: each of them lasts 30 s, so that nearly all of the agent's are refused (429). The API server is restarted before that. `takes all requests
/// of` ends it for the agent; the flood goes on until the end of the scenario. Every scenario on the fleet would feel it: use a fleet of its own.
#[needs(ability: |_| Some(ProviderAbility::SetPriorities))]
#[given(expr = "another user floods the priority level of {agent} at the hub's API server")]
#[when(expr = "another user floods the priority level of {agent} at the hub's API server")]
async fn flood_requests(world: &mut World, agent: AgentRef) -> Result<(), StepError> {
    let context = world.context();
    context.check_own_fleet("the hub's API server is")?;
    let limited = SingleAgent::of(context, &agent)?;
    context.request_flood = Some(context.fleet.flood_requests(limited.member.as_deref()).await?);
    context.induced(format!("another user floods the priority level of {limited} at the hub's API server"));
    Ok(())
}
