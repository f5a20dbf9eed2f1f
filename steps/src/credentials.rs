//! Steps about the credentials by which members and the hub know each other: tokens that expire, and CAs that are replaced.

use cucumber::{given, when};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::needs::{ProviderAbility, needs};
use crate::phrases::{CertificateChange, TokenChange};
use crate::world::World;

/// Gives the agent of a member of the scenario's own another token for the hub, in the file in which it looks for its token about once a
/// minute, and after a refusal. Nothing is restarted.
///
/// `expires in 90 seconds`: one that the hub's API server refuses from then on. It has to be more than a minute, or the agent has its old one
/// until then. `is renewed`: one that lasts.
#[needs(ability: |_| Some(ProviderAbility::SignTokens))]
#[given(expr = "the token of member {string} for the hub {token change}")]
#[when(expr = "the token of member {string} for the hub {token change}")]
async fn token(world: &mut World, member: String, change: TokenChange) -> Result<(), StepError> {
    let context = world.context();
    let member = context.own_member(&member)?;
    context.fleet.renew_token(&member, change.expires_in).await?;
    match change.expires_in {
        Some(time) => {
            context.induced(format!("token of {member} replaced by one that expires in {} s", time.as_secs()));
        }
        None => context.remedied(format!("token of {member} replaced by one that lasts")),
    }
    Ok(())
}

/// Changes the certificate by which the hub answers members that call it by its name, and not, like everybody else, by its address.
///
/// `is of a CA of its own`: starts the API server with such a certificate, and the agents of all members so that they call the hub by its name
/// and trust that CA alone. `is of the next CA`: replaces the certificate by one of another CA. The API server takes it within a minute; open
/// connections stay. Every scenario on the fleet would feel it: use a fleet of its own.
#[needs(ability: |_| Some(ProviderAbility::ChangeHubCertificate))]
#[given(expr = "the hub's certificate for members {certificate change}")]
#[when(expr = "the hub's certificate for members {certificate change}")]
async fn certificate(world: &mut World, change: CertificateChange) -> Result<(), StepError> {
    let context = world.context();
    context.check_own_fleet("the hub is")?;
    if change.next {
        let number = next_ca(context).await?;
        context.fleet.use_hub_ca(number).await?;
        context.induced("the hub's certificate for members is of the next CA");
        return Ok(());
    }
    if !context.hub_cas.is_empty() {
        return Err(StepError::Feature("the hub's certificate for members is of a CA of its own already".into()));
    }
    let ca = context.fleet.make_hub_ca(0).await?;
    context.fleet.use_hub_ca(0).await?;
    for member in context.fleet.members().await.into_keys() {
        context.fleet.trust_hub_cas(&member, &[&ca]).await?;
    }
    context.hub_cas.push(ca);
    context.did("the hub answers members with a certificate of a CA of its own");
    Ok(())
}

/// Restarts the agent of a member so that it trusts, besides the CA of the hub's certificate for members, the CA that takes its place.
#[needs(ability: |_| Some(ProviderAbility::ChangeHubCertificate))]
#[given(expr = "the agent of member {string} trusts the next CA, too")]
#[when(expr = "the agent of member {string} trusts the next CA, too")]
async fn trusts_both(world: &mut World, member: String) -> Result<(), StepError> {
    let context = world.context();
    let member = context.own_member(&member)?;
    next_ca(context).await?;
    let cas: Vec<&str> = context.hub_cas.iter().map(String::as_str).collect();
    context.fleet.trust_hub_cas(&member, &cas).await?;
    context.remedied(format!("the agent of {member} trusts the hub's CA and the next one"));
    Ok(())
}

/// Returns the number of the CA that takes the place of the first one, and makes it unless there is one.
async fn next_ca(context: &mut ScenarioContext) -> Result<usize, StepError> {
    match context.hub_cas.len() {
        0 => return Err(StepError::Feature("the hub's certificate for members isn't of a CA of its own".into())),
        1 => context.hub_cas.push(context.fleet.make_hub_ca(1).await?),
        _ => {}
    }
    Ok(1)
}
