//! Steps about what controllers log.

use cucumber::{given, then};

use crate::error::StepError;
use crate::limits;
use crate::needs::{ProviderAbility, StepCall, needs};
use crate::pauses::read_until_as_expected;
use crate::phrases::{LogLineFilter, LogOwner};
use crate::world::World;

/// The process has logged this text; in a line with another text too, or the other text in none of the lines that have the first. All of
/// KubeFleet's controllers on the hub run in the hub-agent, and all on a member in its member-agent. `{name}` stands for the real name of what the scenario calls so, which tells
/// its lines from other scenarios' lines.
#[needs(ability: LogOwner::ability)]
#[then(expr = "{process} has logged {string}{in a line with?}")]
async fn has_logged(world: &mut World, process: LogOwner, text: String, with: LogLineFilter) -> Result<(), StepError> {
    let context = world.context();
    let text = context.words(&text);
    let member = match &process {
        LogOwner::MemberAgent(member) => context.ledger.names.get(member)?,
        LogOwner::HubAgent | LogOwner::ArgoCd(_) => String::new(),
    };
    // A log is read and not watched, and the log of a container is behind its process.
    read_until_as_expected(limits::LOGGED, async || {
        let (name, log) = match &process {
            LogOwner::HubAgent => ("the hub-agent", quoted(&context.fleet.hub_agent_log().await?)),
            LogOwner::MemberAgent(_) => ("the member agent", quoted(&context.fleet.member_agent_log(&member).await?)),
            LogOwner::ArgoCd(component) => {
                let read = context.fleet.argocd_log(*component).await;
                (component.process(), quoted(&read.map_err(|e| StepError::Differs(e.to_string()))?))
            }
        };
        match &with {
            LogLineFilter::Any => logged(name, &log, &[&text]),
            LogLineFilter::Also(with) => logged(name, &log, &[&text, &context.words(with)]),
            LogLineFilter::Never(with) => {
                logged(name, &log, &[&text])?;
                let with = context.words(with);
                if log.lines().any(|line| line.contains(&text) && line.contains(&with)) {
                    return Err(StepError::Differs(format!("a line of {name}'s log has `{text}` and `{with}`")));
                }
                Ok(())
            }
        }
    })
    .await
}

/// Lets the member's agent log at this level (`--v`) from here on: at 0, its default, it logs errors only, from 2 on what it does with each
/// object. The member must be one of the scenario's own.
#[needs(ability: |_| Some(ProviderAbility::ReadAgentLogs))]
#[given(expr = "the agent of member {string} logs at level {int}")]
async fn logs_at_level(world: &mut World, member: String, level: u8) -> Result<(), StepError> {
    let context = world.context();
    let member = context.ledger.names.get(&member)?;
    context.fleet.set_member_agent_log_level(&member, level).await?;
    context.did(format!("the member-agent of {member} logs at level {level}"));
    Ok(())
}

impl LogOwner {
    /// Not every provider can read the log of an agent.
    fn ability(call: &StepCall<'_>) -> Option<ProviderAbility> {
        matches!(call.parameter(), Some(Self::HubAgent | Self::MemberAgent(_)))
            .then_some(ProviderAbility::ReadAgentLogs)
    }
}

/// Returns an error unless one line of a log has all these texts.
fn logged(whose: &str, log: &str, wanted: &[&str]) -> Result<(), StepError> {
    if log.lines().any(|line| wanted.iter().all(|text| line.contains(text))) {
        return Ok(());
    }
    let wanted = wanted.join("` and `");
    Err(StepError::Differs(format!("no line of {whose}'s log has `{wanted}`")))
}

/// Removes all backslashes: a log quotes messages, and quotations inside them a second time.
fn quoted(log: &str) -> String {
    log.replace('\\', "")
}
