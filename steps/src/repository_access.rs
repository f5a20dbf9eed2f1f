//! Steps about how Argo CD reaches git repositories: over HTTP or HTTPS, with a password.

use cucumber::{given, when};
use fleet::argocd::{self, GIT_USER};
use fleet::kinds;
use record::{Action, ObjectPath};
use serde_json::{Value, json};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::phrases::{AccessChange, GitTransport};
use crate::repository::repository;
use crate::world::World;

/// Serves a repository on loopback, for whoever has its password, and gives Argo CD the password, in a repository Secret. From here on, the
/// repository's URL is that of the server. Argo CD doesn't trust the certificate of the server for HTTPS. It trusts all servers of a host or
/// none, so scenarios over HTTPS that run at the same time need different hosts.
#[given(expr = "repository {string} is served over {HTTP or HTTPS} and asks for a password")]
async fn is_served(world: &mut World, name: String, transport: GitTransport) -> Result<(), StepError> {
    let context = world.context();
    let served = repository(context, &name)?;
    let served = match &transport.secure_host {
        Some(host) => context.fleet.serve_repository_securely(served, host).await?,
        None => context.fleet.serve_repository(served).await?,
    };
    let url = served.url();
    context.ledger.repositories.insert(name.clone(), served);
    let mut secret = credentials(context, &name)?;
    secret["metadata"] = json!({
        "name": secret_name(context, &name)?,
        "labels": {"argocd.argoproj.io/secret-type": "repository"},
    });
    context.make(kinds::SECRET, Some(argocd::NAMESPACE), secret).await?;
    context.did(format!("{url} served, and Argo CD has its password"));
    Ok(())
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
/// mount from it.
#[given(expr = "Argo CD {gets the new password or trusts the certificate} of repository {string}")]
#[when(expr = "Argo CD {gets the new password or trusts the certificate} of repository {string}")]
async fn access_changes(world: &mut World, change: AccessChange, name: String) -> Result<(), StepError> {
    let context = world.context();
    if change.trusts { trust_certificate(context, &name).await } else { give_password(context, &name).await }
}

async fn give_password(context: &mut ScenarioContext, name: &str) -> Result<(), StepError> {
    let (secret, patch) = (secret_name(context, name)?, credentials(context, name)?);
    context.patch(kinds::SECRET, Some(argocd::NAMESPACE), &secret, patch).await?;
    context.remedied(format!("Secret/{secret} has the new password"));
    Ok(())
}

async fn trust_certificate(context: &mut ScenarioContext, name: &str) -> Result<(), StepError> {
    let host = repository(context, name)?.host();
    let host = host.ok_or_else(|| StepError::Feature(format!("repository \"{name}\" isn't served over HTTPS")))?;
    context.ledger.trusted_hosts.insert(host.clone());
    context.fleet.trust_host(&host, true).await?;
    let object = ObjectPath::new(kinds::CONFIG_MAP.kind, Some(argocd::NAMESPACE), argocd::TRUSTED_HOSTS);
    let sentence = format!("ConfigMap/{} has the authority of {host}'s certificate", argocd::TRUSTED_HOSTS);
    context.remedied(Action::new(sentence).on(object));
    Ok(())
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
