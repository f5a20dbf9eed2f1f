//! Steps about how Argo CD reaches git repositories: over HTTP or HTTPS with a password, over SSH with a key.

use cucumber::{given, when};
use fleet::argocd::{self, GIT_USER};
use fleet::kinds;
use record::{Action, ObjectPath};
use serde_json::{Value, json};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::needs::{ProviderAbility, StepCall, needs};
use crate::phrases::{AccessChange, GitTransport};
use crate::repository::repository;
use crate::world::World;

/// Serves a repository on loopback, for whoever has its password or the key, and gives Argo CD it in a repository Secret. From here on, the
/// repository's URL is that of the server. Argo CD trusts neither the certificate of the server for HTTPS nor the host key of the server
/// for SSH. It trusts all servers of a host or none, so scenarios over HTTPS, or over SSH, that run at the same time need different hosts.
#[needs(ability: GitTransport::ability)]
#[given(expr = "repository {string} is served over {HTTP, HTTPS or SSH}")]
async fn is_served(world: &mut World, name: String, transport: GitTransport) -> Result<(), StepError> {
    let context = world.context();
    let served = repository(context, &name)?;
    let served = match &transport {
        GitTransport::Http => context.fleet.serve_repository(served).await?,
        GitTransport::Https(host) => context.fleet.serve_repository_securely(served, host).await?,
        GitTransport::Ssh(host) => context.fleet.serve_repository_over_ssh(served, host).await?,
    };
    let url = served.url();
    context.ledger.repositories.insert(name.clone(), served);
    let (mut secret, what) = match transport {
        GitTransport::Ssh(_) => (key_credentials(&url, &context.fleet.ssh_client_key()?), "key"),
        GitTransport::Http | GitTransport::Https(_) => (credentials(context, &name)?, "password"),
    };
    secret["metadata"] = json!({
        "name": secret_name(context, &name)?,
        "labels": {"argocd.argoproj.io/secret-type": "repository"},
    });
    context.make(kinds::SECRET, Some(argocd::NAMESPACE), secret).await?;
    context.did(format!("{url} served, and Argo CD has its {what}"));
    Ok(())
}

impl GitTransport {
    /// Not every build of fleetdrill has a server for SSH. The servers for HTTPS and SSH are on loopback, where an Argo CD in Pods can't reach
    /// them.
    fn ability(call: &StepCall<'_>) -> Option<ProviderAbility> {
        match call.parameters.last().and_then(|text| text.parse().ok())? {
            Self::Http => None,
            Self::Https(_) => Some(ProviderAbility::RunArgoCdHere),
            Self::Ssh(_) => Some(ProviderAbility::ServeSsh),
        }
    }
}

/// Changes the password of a repository that is served. Argo CD keeps the old one.
#[when(expr = "the password of repository {string} changes")]
#[expect(clippy::needless_pass_by_value, reason = "cucumber passes parameters by value")]
fn password_changes(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let repository = repository(context, &name)?;
    repository.change_password()?;
    context.induced(format!("the password of {} changed", repository.url()));
    Ok(())
}

/// `gets the new password`: puts the present password of a repository into Argo CD's Secret. `trusts the certificate`: up to the end of the
/// scenario, puts the authority of the server's certificate into ConfigMap argocd-tls-certs-cm, and at once into the file that a kubelet would
/// mount from it. `trusts the host key`: the same with the server's SSH host key and ConfigMap argocd-ssh-known-hosts-cm.
#[given(expr = "Argo CD {gets the new password or trusts the certificate or the host key} of repository {string}")]
#[when(expr = "Argo CD {gets the new password or trusts the certificate or the host key} of repository {string}")]
async fn access_changes(world: &mut World, change: AccessChange, name: String) -> Result<(), StepError> {
    let context = world.context();
    match change {
        AccessChange::Password => give_password(context, &name).await,
        AccessChange::Certificate => trust_certificate(context, &name).await,
        AccessChange::HostKey => trust_host_key(context, &name).await,
    }
}

async fn give_password(context: &mut ScenarioContext, name: &str) -> Result<(), StepError> {
    let (secret, patch) = (secret_name(context, name)?, credentials(context, name)?);
    context.patch(kinds::SECRET, Some(argocd::NAMESPACE), &secret, patch).await?;
    context.remedied(format!("Secret/{secret} has the new password"));
    Ok(())
}

async fn trust_certificate(context: &mut ScenarioContext, name: &str) -> Result<(), StepError> {
    let host = host_of(context, name, "HTTPS")?;
    context.ledger.trusted_hosts.insert(host.clone());
    context.fleet.trust_host(&host, true).await?;
    trusted(context, argocd::TRUSTED_HOSTS, &format!("the authority of {host}'s certificate"));
    Ok(())
}

async fn trust_host_key(context: &mut ScenarioContext, name: &str) -> Result<(), StepError> {
    let host = host_of(context, name, "SSH")?;
    context.ledger.trusted_host_keys.insert(host.clone());
    context.fleet.trust_host_key(&host, true).await?;
    trusted(context, argocd::KNOWN_HOSTS, &format!("the host key of {host}"));
    Ok(())
}

/// Records that a ConfigMap of Argo CD has by what it trusts a server.
fn trusted(context: &mut ScenarioContext, config_map: &str, what: &str) {
    let object = ObjectPath::new(kinds::CONFIG_MAP.kind, Some(argocd::NAMESPACE), config_map);
    context.remedied(Action::new(format!("ConfigMap/{config_map} has {what}")).on(object));
}

/// Host in the URL of a repository that is served over a protocol.
fn host_of(context: &ScenarioContext, name: &str, protocol: &str) -> Result<String, StepError> {
    let host = repository(context, name)?.host();
    host.ok_or_else(|| StepError::Feature(format!("repository \"{name}\" isn't served over {protocol}")))
}

/// Name of the Secret with which Argo CD reads a repository.
fn secret_name(context: &ScenarioContext, name: &str) -> Result<String, StepError> {
    Ok(format!("repository-{}", context.ledger.names.get(name)?))
}

/// Fields of the Secret with which Argo CD reads a repository.
fn credentials(context: &ScenarioContext, name: &str) -> Result<Value, StepError> {
    let repository = repository(context, name)?;
    let (url, password) = (repository.url(), repository.password()?);
    Ok(json!({"stringData": {"type": "git", "url": url, "username": GIT_USER, "password": password}}))
}

/// Fields of the Secret with which Argo CD reads a repository over SSH.
fn key_credentials(url: &str, key: &str) -> Value {
    json!({"stringData": {"type": "git", "url": url, "sshPrivateKey": key}})
}
