//! Steps about requests that the hub's API server refuses because there are too many of them (429).

use cucumber::when;

use crate::error::StepError;
use crate::needs::{ProviderAbility, needs};
use crate::phrases::{AgentRef, RequestLimitChange};
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
    let (member, whose) = match &agent {
        AgentRef::Hub => (None, "the hub-agent".to_owned()),
        AgentRef::Member(member) => {
            let member = context.own_member(member)?;
            (Some(member.clone()), format!("the agent of {member}"))
        }
        AgentRef::Hollow(_) => {
            return Err(StepError::Feature(
                "this step is about one agent: hollow members have one user for all".into(),
            ));
        }
    };
    if limit.limited {
        context.fleet.limit_requests(member.as_deref()).await?;
        context.induced(format!("the hub's API server takes one request of {whose} at a time, and refuses others"));
    } else {
        context.fleet.free_requests().await?;
        context.remedied(format!("the hub's API server takes all requests of {whose}"));
    }
    Ok(())
}
