//! Steps about networks: between a member's agent and the hub, and between Argo CD and what it reads and deploys to.

use cucumber::{given, when};

use fleet::network::NetworkLink;

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::needs::{ProviderAbility, needs};
use crate::phrases::{NetworkChange, NetworkLinkRef, ReachedByArgoCd};
use crate::repository::repository;
use crate::world::World;

/// Puts a proxy (Toxiproxy) between Argo CD and the API server of a member of the scenario's own, the git server of a repository that is
/// served over HTTP, or the redis of a fleet of the scenario's own, so that the network between the two can be broken. The repository gets a
/// new URL by it, so this step comes before the Applications of the repository. For redis, the components of Argo CD are restarted.
#[needs(ability: |_| Some(ProviderAbility::RunArgoCdHere))]
#[given(expr = "Argo CD reaches {what Argo CD reaches} over a network that can fail")]
async fn is_reached(world: &mut World, reached: ReachedByArgoCd) -> Result<(), StepError> {
    let context = world.context();
    match reached {
        ReachedByArgoCd::Member(member) => {
            let member = context.own_member(&member)?;
            context.fleet.put_destination_on_network(&member).await?;
            context.did(format!("Argo CD reaches {member} over a proxy"));
        }
        ReachedByArgoCd::Repository(name) => {
            let proxied = context.fleet.put_repository_on_network(repository(context, &name)?).await?;
            context.did(format!("repository {} served over a proxy: {}", proxied.name(), proxied.url()));
            context.ledger.repositories.insert(name, proxied);
        }
        ReachedByArgoCd::Redis => {
            context.check_own_fleet("the redis of Argo CD is")?;
            context.fleet.put_redis_on_network().await?;
            context.did("Argo CD reaches its redis over a proxy");
        }
    }
    Ok(())
}

/// Changes the network between the hub and the agent of a member that is on a network that can fail, or between Argo CD and what it
/// `reaches over a network that can fail`. A fault takes the place of an earlier one.
///
/// `loses everything`: connections stay open and new ones are accepted, but nothing arrives any more, as behind a firewall that drops;
/// `loses what the agent sends` and `loses what the hub sends`, or `loses what Argo CD sends` and `loses what the server sends`: in one
/// direction only. `takes 2000 ms longer each way, give or take 500
/// ms`: each packet. `passes 4 kB/s`: in each direction. `closes each connection after 100 kB`: when the hub has sent so much. `resets
/// connections`: each one as soon as the hub sends something. `refuses connections`: open ones are closed, too. `works again`: connections
/// that have lost something are closed.
#[needs(ability: |_| Some(ProviderAbility::BreakNetworks))]
#[given(expr = "the network between {network} {network change}")]
#[when(expr = "the network between {network} {network change}")]
async fn changes(world: &mut World, link: NetworkLinkRef, change: NetworkChange) -> Result<(), StepError> {
    let context = world.context();
    let link = link_of(context, link)?;
    if let Some(fault) = change.0 {
        context.fleet.break_network(&link, fault).await?;
        context.induced(format!("the network between {link} {fault}"));
    } else {
        context.fleet.repair_network(&link).await?;
        context.remedied(format!("the network between {link} works again"));
    }
    Ok(())
}

/// Returns a link with real names.
fn link_of(context: &ScenarioContext, link: NetworkLinkRef) -> Result<NetworkLink, StepError> {
    Ok(match link {
        NetworkLinkRef::MemberToHub(member) => NetworkLink::MemberToHub(context.own_member(&member)?),
        NetworkLinkRef::ArgoCd(ReachedByArgoCd::Member(member)) => {
            NetworkLink::ArgoCdToMember(context.own_member(&member)?)
        }
        NetworkLinkRef::ArgoCd(ReachedByArgoCd::Repository(name)) => {
            NetworkLink::ArgoCdToRepository(repository(context, &name)?.name())
        }
        NetworkLinkRef::ArgoCd(ReachedByArgoCd::Redis) => NetworkLink::ArgoCdToRedis,
    })
}
