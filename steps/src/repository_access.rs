//! Steps about how Argo CD reaches git repositories: over HTTP, with a password.

use cucumber::{given, when};
use fleet::argocd::{self, GIT_USER};
use fleet::kinds;
use serde_json::{Value, json};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::repository::repository;
use crate::world::World;

/// Serves a repository over HTTP on loopback, for whoever has its password, and gives Argo CD the password, in a repository Secret. From
/// here on, the repository's URL is that of the server.
#[given(expr = "repository {string} is served over HTTP and asks for a password")]
async fn is_served(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let served = context.fleet.serve_repository(repository(context, &name)?).await?;
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

/// Changes the password of a repository that is served over HTTP. Argo CD keeps the old one.
#[when(expr = "the password of repository {string} changes")]
#[expect(clippy::needless_pass_by_value, reason = "cucumber passes parameters by value")]
fn password_changes(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let repository = repository(context, &name)?;
    repository.change_password()?;
    context.induced(format!("the password of {} changed", repository.url()));
    Ok(())
}

/// Puts the present password of a repository into Argo CD's Secret.
#[when(expr = "Argo CD gets the new password of repository {string}")]
async fn password_is_given(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let (secret, patch) = (secret_name(context, &name)?, credentials(context, &name)?);
    context.patch(kinds::SECRET, Some(argocd::NAMESPACE), &secret, patch).await?;
    context.remedied(format!("Secret/{secret} has the new password"));
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
