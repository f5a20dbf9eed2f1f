//! Steps about the credentials by which members and the hub know each other: tokens that expire, and CAs that are replaced.

use cucumber::{given, when};

use crate::context::{HubCas, ScenarioContext};
use crate::error::StepError;
use crate::needs::{ProviderAbility, needs};
use crate::phrases::{AgentRef, CertificateAudience, CertificateChange, TokenChange};
use crate::single_agent::SingleAgent;
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

/// Changes the certificate by which the hub answers agents that call it by its name, and not, like everybody else, by its address. `all agents`
/// are those of the members and the hub-agent.
///
/// `is of a CA of its own`: starts the API server with such a certificate, and these agents so that they call the hub by its name and trust that CA
/// alone. `is of the next CA`: replaces the certificate by one of another CA. The API server takes it within a minute; open connections stay. Every
/// scenario on the fleet would feel it: use a fleet of its own.
#[needs(ability: |_| Some(ProviderAbility::ChangeHubCertificate))]
#[given(expr = "the hub's certificate for {members or all agents} {certificate change}")]
#[when(expr = "the hub's certificate for {members or all agents} {certificate change}")]
async fn certificate(
    world: &mut World,
    audience: CertificateAudience,
    change: CertificateChange,
) -> Result<(), StepError> {
    let context = world.context();
    context.check_own_fleet("the hub is")?;
    let whom = if audience.with_hub_agent { "all agents" } else { "members" };
    if change.next {
        if context.hub_cas.as_ref().is_some_and(|cas| cas.audience != audience) {
            return Err(StepError::Feature(format!("the hub has no certificate for {whom}, but for other agents")));
        }
        next_ca(context).await?;
        context.fleet.use_hub_ca(1).await?;
        context.induced(format!("the hub's certificate for {whom} is of the next CA"));
        return Ok(());
    }
    if context.hub_cas.is_some() {
        return Err(StepError::Feature("the hub's certificate for agents is of a CA of its own already".into()));
    }
    let ca = context.fleet.make_hub_ca(0).await?;
    context.fleet.use_hub_ca(0).await?;
    for member in context.fleet.members().await.into_keys() {
        context.fleet.trust_hub_cas(Some(&member), &[&ca]).await?;
    }
    if audience.with_hub_agent {
        context.fleet.trust_hub_cas(None, &[&ca]).await?;
    }
    context.hub_cas = Some(HubCas { audience, first: ca, next: None });
    context.did(format!("the hub answers {whom} with a certificate of a CA of its own"));
    Ok(())
}

/// Restarts an agent so that it trusts, besides the CA of the hub's certificate, the CA that takes its place.
#[needs(ability: |_| Some(ProviderAbility::ChangeHubCertificate))]
#[given(expr = "{agent} trusts the next CA, too")]
#[when(expr = "{agent} trusts the next CA, too")]
async fn trusts_both(world: &mut World, agent: AgentRef) -> Result<(), StepError> {
    let context = world.context();
    let agent = SingleAgent::of(context, &agent)?;
    let cas = next_ca(context).await?;
    context.fleet.trust_hub_cas(agent.member.as_deref(), &cas.each_ref().map(String::as_str)).await?;
    context.remedied(format!("{agent} trusts the hub's CA and the next one"));
    Ok(())
}

/// Returns the certificates of the hub's CA and of the one that takes its place, which is made unless it is there.
async fn next_ca(context: &mut ScenarioContext) -> Result<[String; 2], StepError> {
    let Some(cas) = &mut context.hub_cas else {
        return Err(StepError::Feature("the hub's certificate for agents isn't of a CA of its own".into()));
    };
    let next = match &cas.next {
        Some(next) => next.clone(),
        None => cas.next.insert(context.fleet.make_hub_ca(1).await?).clone(),
    };
    Ok([cas.first.clone(), next])
}
