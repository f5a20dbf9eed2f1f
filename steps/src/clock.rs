//! Steps about clocks of agents and of API servers that are wrong.

use clusters::supervisor::ProcessFault;
use cucumber::{given, when};
use fleet::FleetError;

use crate::context::{FaultyProcess, ScenarioContext};
use crate::error::StepError;
use crate::needs::{ProviderAbility, needs};
use crate::phrases::{AgentRef, ApiServerRef, ClockShift};
use crate::single_agent::SingleAgent;
use crate::world::World;

/// Shifts the clock of an agent's process, with provider local also over its restarts, as on a machine without a time service; `right again`, as the end of the
/// scenario does, gives it the machine's clock. The agents of hollow members have no clock of their own. Only with a member of the scenario's
/// own; for the hub-agent, with a fleet of its own.
#[needs(ability: |_| Some(ProviderAbility::ShiftClocks))]
#[given(expr = "the clock of {agent} is {ahead, behind or right}")]
#[when(expr = "the clock of {agent} is {ahead, behind or right}")]
async fn agent_clock(world: &mut World, agent: AgentRef, shift: ClockShift) -> Result<(), StepError> {
    let context = world.context();
    let agent = SingleAgent::of(context, &agent)?;
    let fleet = context.fleet.clone();
    let begin = fleet.shift_agent_clock(agent.member.as_deref(), shift.seconds);
    shift_clock(context, FaultyProcess::Clock(agent.member.clone()), &agent.to_string(), shift, begin).await
}

/// Shifts the clock of an API server, with provider local also over its restarts, as on a machine without a time service; `right again`, as the end of the scenario
/// does, gives it the machine's clock. Only of a member of the scenario's own; of the hub, with a fleet of its own.
#[needs(ability: |_| Some(ProviderAbility::ShiftClocks))]
#[given(expr = "the clock of {API server} is {ahead, behind or right}")]
#[when(expr = "the clock of {API server} is {ahead, behind or right}")]
async fn api_server_clock(world: &mut World, server: ApiServerRef, shift: ClockShift) -> Result<(), StepError> {
    let context = world.context();
    let cluster = context.own_cluster(server.member.as_deref(), "the hub's API server is").await?.name;
    let fleet = context.fleet.clone();
    let begin = fleet.shift_api_server_clock(&cluster, shift.seconds);
    let what = format!("the API server of {cluster}");
    shift_clock(context, FaultyProcess::ApiServerClock(cluster.clone()), &what, shift, begin).await
}

/// Begins the shift of a clock, or ends it where the clock is to be right again: `begin` isn't run then.
async fn shift_clock(
    context: &mut ScenarioContext,
    process: FaultyProcess,
    what: &str,
    shift: ClockShift,
    begin: impl Future<Output = Result<ProcessFault, FleetError>>,
) -> Result<(), StepError> {
    if shift.seconds == 0 {
        context.end_process_fault(&process).await?;
        context.remedied(format!("the clock of {what} is right again"));
        return Ok(());
    }
    let fault = begin.await?;
    context.process_faults.insert(process, fault);
    let direction = if shift.seconds > 0 { "ahead" } else { "behind" };
    context.induced(format!("the clock of {what} is {} s {direction}", shift.seconds.unsigned_abs()));
    Ok(())
}
