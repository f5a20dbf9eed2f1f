//! Steps about git repositories.

use cucumber::gherkin::Step;
use cucumber::{given, when};
use fleet::argocd::Repository;

use crate::error::StepError;
use crate::scene::Scene;
use crate::world::World;

/// Makes a git repository on disk whose first commit has this file, with the step's text as its contents. In it, `{name}`
/// stands for the real name of what the scenario calls so, and `{suffix}` for what all its names end in.
#[given(expr = "a repository {string} with {string}")]
async fn with(world: &mut World, name: String, file: String, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    let text = document(scene, step)?;
    let real = scene.names.make(&name);
    let repository = scene.fleet.repository(&real).await?;
    scene.repositories.insert(name.clone(), repository);
    commit(scene, &name, &file, Some(&text)).await.map(|what| scene.did(what))
}

/// Commits one more file, with the step's text as its contents.
#[given(expr = "repository {string} also has {string}")]
#[when(expr = "repository {string} also has {string}")]
async fn also_has(world: &mut World, name: String, file: String, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    let text = document(scene, step)?;
    commit(scene, &name, &file, Some(&text)).await.map(|what| scene.did(what))
}

/// Commits a file with the step's text as its new contents: a change that goes wrong.
#[when(expr = "{string} of repository {string} becomes")]
async fn becomes(world: &mut World, file: String, name: String, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    let text = document(scene, step)?;
    commit(scene, &name, &file, Some(&text)).await.map(|what| scene.induced(what))
}

/// Commits a file with the step's text as its new contents: what repairs it.
#[when(expr = "{string} of repository {string} is corrected to")]
async fn is_corrected(world: &mut World, file: String, name: String, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    let text = document(scene, step)?;
    commit(scene, &name, &file, Some(&text)).await.map(|what| scene.remedied(what))
}

/// Commits that a file is gone.
#[when(expr = "{string} is removed from repository {string}")]
async fn is_removed(world: &mut World, file: String, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    commit(scene, &name, &file, None).await.map(|what| scene.did(what))
}

/// Commits the opposite of the last commit, as `git revert` does.
#[when(expr = "the last commit of repository {string} is reverted")]
async fn is_reverted(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let commit = repository(scene, &name)?.revert().await?;
    scene.remedied(format!("the last commit of {} reverted by {}", scene.names.get(&name)?, short(&commit)));
    Ok(())
}

/// Moves the repository away: its URL leads nowhere.
#[when(expr = "repository {string} vanishes")]
async fn vanishes(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    repository(scene, &name)?.vanish(true).await?;
    scene.induced(format!("repository {} moved away", scene.names.get(&name)?));
    Ok(())
}

/// Moves the repository back to where its URL leads.
#[when(expr = "repository {string} is back")]
async fn is_back(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    repository(scene, &name)?.vanish(false).await?;
    scene.remedied(format!("repository {} moved back", scene.names.get(&name)?));
    Ok(())
}

/// Commits a file, or that it is gone, and says so.
async fn commit(scene: &Scene, name: &str, file: &str, text: Option<&str>) -> Result<String, StepError> {
    let commit = repository(scene, name)?.commit(&[(file, text)]).await?;
    let what = if text.is_some() { "" } else { " without" };
    Ok(format!("commit {} of {}{what}: {file}", short(&commit), scene.names.get(name)?))
}

/// A repository that was made before.
pub(crate) fn repository<'a>(scene: &'a Scene, name: &str) -> Result<&'a Repository, StepError> {
    scene.names.get(name)?;
    scene
        .repositories
        .get(name)
        .ok_or_else(|| StepError::Feature(format!("there is no repository \"{name}\" in this scenario")))
}

/// The step's text, with real names.
pub(crate) fn document(scene: &Scene, step: &Step) -> Result<String, StepError> {
    let text = step.docstring.as_deref();
    let text = text.ok_or_else(|| StepError::Feature("this step needs a text between lines of \"\"\"".into()))?;
    Ok(scene.names.fill(text.trim_start_matches('\n')))
}

/// A commit as people write it.
fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}
