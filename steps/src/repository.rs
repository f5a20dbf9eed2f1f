//! Steps about git repositories.

use cucumber::gherkin::Step;
use cucumber::{given, when};
use fleet::argocd::Repository;

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::phrases::{FileChange, RepositoryMove};
use crate::world::World;

/// Makes a git repository on disk whose first commit has this file, with the step's text as its contents. In it, `{name}`
/// stands for the real name of what the scenario calls so, `{suffix}` for what all its names end in, `{own address}` for a
/// clusterIP that no other scenario has, `{repository:shop}` for the directory of another repository, and `{url:shop}` for its URL.
#[given(expr = "a repository {string} with {string}")]
async fn with(world: &mut World, name: String, file: String, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let text = document(context, step)?;
    let real = context.ledger.names.make(&name);
    let repository = context.fleet.repository(&real).await?;
    context.ledger.repositories.insert(name.clone(), repository);
    commit(context, &name, &file, Some(&text)).await.map(|what| context.did(what))
}

/// Commits one more file, with the step's text as its contents.
#[given(expr = "repository {string} also has {string}")]
#[when(expr = "repository {string} also has {string}")]
async fn also_has(world: &mut World, name: String, file: String, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let text = document(context, step)?;
    commit(context, &name, &file, Some(&text)).await.map(|what| context.did(what))
}

/// Commits a file with the step's text as its new contents: a change that goes wrong, or what repairs it.
#[when(expr = "{string} of repository {string} {becomes or is corrected to}")]
async fn file_changes(
    world: &mut World,
    file: String,
    name: String,
    change: FileChange,
    step: &Step,
) -> Result<(), StepError> {
    let context = world.context();
    let text = document(context, step)?;
    let what = commit(context, &name, &file, Some(&text)).await?;
    context.changed(change, what);
    Ok(())
}

/// Commits that a file is gone.
#[when(expr = "{string} is removed from repository {string}")]
async fn is_removed(world: &mut World, file: String, name: String) -> Result<(), StepError> {
    let context = world.context();
    commit(context, &name, &file, None).await.map(|what| context.did(what))
}

/// Commits the opposite of the last commit, as `git revert` does.
#[when(expr = "the last commit of repository {string} is reverted")]
async fn is_reverted(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let commit = repository(context, &name)?.revert().await?;
    context.remedied(format!("the last commit of {} reverted by {}", context.ledger.names.get(&name)?, short(&commit)));
    Ok(())
}

/// Moves the repository away, so that its URL leads nowhere, or back.
#[when(expr = "repository {string} {vanishes or is back}")]
async fn is_moved(world: &mut World, name: String, change: RepositoryMove) -> Result<(), StepError> {
    let context = world.context();
    repository(context, &name)?.vanish(change.vanishes).await?;
    let real = context.ledger.names.get(&name)?;
    if change.vanishes {
        context.induced(format!("repository {real} moved away"));
    } else {
        context.remedied(format!("repository {real} moved back"));
    }
    Ok(())
}

/// Commits a file or its removal, and returns a description of the commit.
async fn commit(context: &ScenarioContext, name: &str, file: &str, text: Option<&str>) -> Result<String, StepError> {
    let commit = repository(context, name)?.commit(&[(file, text)]).await?;
    let what = if text.is_some() { "" } else { " without" };
    Ok(format!("commit {} of {}{what}: {file}", short(&commit), context.ledger.names.get(name)?))
}

/// Returns a repository that was made before.
pub(crate) fn repository<'a>(context: &'a ScenarioContext, name: &str) -> Result<&'a Repository, StepError> {
    context.ledger.names.get(name)?;
    context
        .ledger
        .repositories
        .get(name)
        .ok_or_else(|| StepError::Feature(format!("there is no repository \"{name}\" in this scenario")))
}

/// Returns the step's text, with real names and with the directories of repositories.
pub(crate) fn document(context: &ScenarioContext, step: &Step) -> Result<String, StepError> {
    let text = step.docstring.as_deref();
    let text = text.ok_or_else(|| StepError::Feature("this step needs a text between lines of \"\"\"".into()))?;
    Ok(context.ledger.fill(text.trim_start_matches('\n')))
}

/// Shortens a commit's hash for people.
fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}
