//! Steps about API servers that don't run as they should.

use cucumber::{given, when};

use crate::error::StepError;
use crate::needs::{ProviderAbility, StepCall, needs};
use crate::phrases::{ApiServerRef, ApiServerState};
use crate::world::World;

/// Part of its processor time, in percent, that a slow API server or etcd gets.
pub(crate) const SLOW: u8 = 10;

/// Changes how an API server runs. Everybody on the fleet or on the member would feel it: use a fleet, or a member, of its own.
///
/// `gets slow`: gives it a tenth of its processor time, as a CPU limit that is too low does: it is paused for nine tenths of each 100 ms.
/// `hangs`: its process stays and does nothing; connections stay open, and new ones are accepted. `is as fast as before` and `works on`: gives
/// it its processor time back, as the end of the scenario does. `stops`: kills it. `starts again`: starts it, and waits until it is ready.
#[needs(ability: |call| Some(ability(call)))]
#[given(expr = "{API server} {API server change}")]
#[when(expr = "{API server} {API server change}")]
async fn api_server(world: &mut World, server: ApiServerRef, change: ApiServerState) -> Result<(), StepError> {
    let context = world.context();
    let cluster = if let Some(member) = server.member {
        context.own_member(&member)?
    } else {
        context.check_own_fleet("the hub's API server is")?;
        context.hub().name
    };
    let what = format!("the API server of {cluster}");
    match change {
        ApiServerState::Slow => {
            context.throttled_api_server = Some(context.fleet.throttle_api_server(&cluster, SLOW).await?);
            context.induced(format!("{what} gets {SLOW} % of its processor time"));
        }
        ApiServerState::Hangs => {
            context.throttled_api_server = Some(context.fleet.throttle_api_server(&cluster, 0).await?);
            context.induced(format!("{what} paused: its process gets no processor time"));
        }
        ApiServerState::Fast => {
            context.throttled_api_server = None;
            context.remedied(format!("{what} has its processor time back"));
        }
        ApiServerState::Stops => {
            context.fleet.run_api_server(&cluster, false).await?;
            context.induced(format!("{what} stopped"));
        }
        ApiServerState::Starts => {
            context.fleet.run_api_server(&cluster, true).await?;
            context.remedied(format!("{what} started again"));
        }
    }
    Ok(())
}

/// Ability that a provider needs for a change of an API server.
fn ability(call: &StepCall<'_>) -> ProviderAbility {
    match call.parameters.last().and_then(|text| text.parse().ok()) {
        Some(ApiServerState::Stops | ApiServerState::Starts) => ProviderAbility::StopApiServers,
        _ => ProviderAbility::ThrottleApiServers,
    }
}
