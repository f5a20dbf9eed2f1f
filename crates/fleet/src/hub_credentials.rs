//! Credentials between members and the hub while both run: tokens that are replaced, and CAs of the hub's certificate.

use std::time::Duration;

use clusters::agents::member_agent_name;
use clusters::cluster::Cluster;
use clusters::local::AGENTS_HUB;
use clusters::state_dir::write_private;
use jiff::Timestamp;

use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::member::{SYSTEM, account_token, identity, token_file};

impl Fleet {
    /// Replaces the token of a member's agent for the hub by another, which expires after a time if one is given. The agent isn't restarted.
    ///
    /// # Errors
    /// Returns an error if the hub gives no token, or the provider can't sign one.
    pub async fn renew_token(&self, member: &str, expires_in: Option<Duration>) -> Result<(), FleetError> {
        self.member(member).await?;
        let hub = self.hub();
        let mut token = account_token(hub, SYSTEM, &identity(member)).await?;
        if let Some(time) = expires_in {
            // No time that a scenario names is beyond the calendar.
            let at = Timestamp::now().checked_add(time).unwrap_or(Timestamp::MAX);
            token = self.0.provider.expiring_token(&hub.name, &token, at).await?;
        }
        let file = token_file(self.supervisor().dir(), member);
        write_private(&file, &token)?;
        Ok(self.0.provider.hand_over_token(&member_agent_name(member), &file).await?)
    }

    /// Makes a CA for the certificate by which the hub answers agents that call it by its name, and returns the CA's certificate.
    ///
    /// # Errors
    /// Returns an error if the provider can't.
    pub async fn make_hub_ca(&self, number: usize) -> Result<String, FleetError> {
        Ok(self.0.provider.make_hub_ca(number).await?)
    }

    /// Has the hub answer agents that call it by its name with a certificate of a CA that [`Fleet::make_hub_ca`] made.
    ///
    /// # Errors
    /// Returns an error if the provider can't.
    pub async fn use_hub_ca(&self, number: usize) -> Result<(), FleetError> {
        Ok(self.0.provider.use_hub_ca(number).await?)
    }

    /// Restarts a member's agent, or the hub-agent without a member, so that it calls the hub by its name, and trusts these CAs. The hub-agent has
    /// to work before this function returns.
    ///
    /// # Errors
    /// Returns an error if the agent can't be restarted.
    pub async fn trust_hub_cas(&self, member: Option<&str>, cas: &[&str]) -> Result<(), FleetError> {
        let port = self.hub().server.rsplit(':').next().unwrap_or_default().trim_end_matches('/').to_owned();
        let (url, cas) = (format!("https://{AGENTS_HUB}:{port}"), cas.concat());
        let Some(member) = member else {
            let hub = Cluster { server: url, ca: cas, ..self.hub().clone() };
            return self.restart_hub_agent_as(&self.hub_agent(&hub)).await;
        };
        self.change_agent_access(member, |access| {
            access.hub_url = Some(url);
            access.hub_cas = Some(cas);
        })
        .await
    }
}
