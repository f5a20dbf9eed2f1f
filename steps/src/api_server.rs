//! Steps about API servers that don't run as they should.

use std::time::Duration;

use cucumber::{given, then, when};
use fleet::FleetError;
use tokio::time::timeout;

use crate::context::FaultyProcess;
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
/// it its processor time back, as the end of the scenario does. `stops`: kills it, and the cluster's controller manager. `starts again`: starts
/// both, and waits until the API server is ready.
#[needs(ability: |call| Some(ability(call)))]
#[given(expr = "{API server} {API server change}")]
#[when(expr = "{API server} {API server change}")]
async fn api_server(world: &mut World, server: ApiServerRef, change: ApiServerState) -> Result<(), StepError> {
    let context = world.context();
    let cluster = context.own_cluster(server.member.as_deref(), "the hub's API server is").await?.name;
    let what = format!("the API server of {cluster}");
    let part = FaultyProcess::ApiServer(cluster.clone());
    match change {
        ApiServerState::Slow => {
            context.process_faults.insert(part, context.fleet.throttle_api_server(&cluster, SLOW).await?);
            context.induced(format!("{what} gets {SLOW} % of its processor time"));
        }
        ApiServerState::Hangs => {
            context.process_faults.insert(part, context.fleet.hang_api_server(&cluster).await?);
            context.induced(format!("{what} paused: its process gets no processor time"));
        }
        ApiServerState::Fast => {
            context.end_process_fault(&part).await?;
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

/// A diagnosis of the fleet, while the hub's API server doesn't answer, ends within this time, with an error that names what wasn't read.
#[then(expr = "within {int} seconds the diagnosis ends, because the hub doesn't answer")]
async fn diagnosis_ends(world: &mut World, seconds: u64) -> Result<(), StepError> {
    let context = world.context();
    let read = timeout(Duration::from_secs(seconds), context.fleet.needed_snapshot()).await;
    match read {
        Ok(Err(FleetError::Unlisted { resources, .. })) => {
            context
                .did(format!("the diagnosis ended: {} kinds of objects of the hub couldn't be read", resources.len()));
            Ok(())
        }
        Ok(Err(error)) => Err(error.into()),
        Ok(Ok(_)) => Err(StepError::Differs("the hub has answered".into())),
        Err(_) => Err(StepError::Differs(format!("the diagnosis hasn't ended after {seconds} s"))),
    }
}

/// Ability that a provider needs for a change of an API server.
fn ability(call: &StepCall<'_>) -> ProviderAbility {
    match call.parameters.last().and_then(|text| text.parse().ok()) {
        Some(ApiServerState::Stops | ApiServerState::Starts) => ProviderAbility::StopApiServers,
        Some(ApiServerState::Slow) => ProviderAbility::ThrottleApiServers,
        // What ends is what another step has begun.
        _ => ProviderAbility::HangApiServers,
    }
}
