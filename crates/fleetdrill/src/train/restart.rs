//! Restart of an agent by a trainee.

use clusters::agents::HUB_AGENT;
use clusters::cluster::HUB;
use fleet::{Fleet, faults};
use report::stderr_line;

use crate::error::CommandError;

/// Restarts the hub-agent, or the agent of a member.
///
/// # Errors
/// Returns an error if there is no such member, or if the agent can't be restarted.
pub async fn restart(fleet: &Fleet, agent: &str) -> Result<(), CommandError> {
    if agent == HUB_AGENT || agent == HUB {
        fleet.restart_hub_agent().await?;
        stderr_line!("the hub-agent is restarted");
        return Ok(());
    }
    let member = fleet.member(agent).await?;
    faults::stop_member_agent(fleet, &member.cluster.name).await?;
    faults::start_member_agent(fleet, &member.cluster.name).await?;
    stderr_line!("the agent of {agent} is restarted");
    Ok(())
}
