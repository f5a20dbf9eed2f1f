//! Steps about what controllers log.

use cucumber::then;

use crate::error::StepError;
use crate::params::ComponentParam;
use crate::scene::Scene;
use crate::world::World;

/// The hub-agent, in which all of KubeFleet's controllers on the hub run, has logged this text; `{name}` stands for the real
/// name of what the scenario calls so, which tells its lines from other scenarios'.
#[then(expr = "the hub-agent has logged {string}")]
async fn has_logged(world: &mut World, text: String) -> Result<(), StepError> {
    let scene = world.scene();
    let wanted = scene.words(&text);
    logged("the hub-agent", &quoted(&scene.fleet.hub_agent_log().await?), &[&wanted])
}

/// A component of Argo CD has logged a line with both texts; `{name}` stands for the real name of what the scenario calls so.
#[then(expr = "the {component} of Argo CD has logged {string} in a line with {string}")]
async fn in_a_line(world: &mut World, component: ComponentParam, text: String, with: String) -> Result<(), StepError> {
    let scene = world.scene();
    let process = component.0.process();
    logged(process, &log(scene, process).await?, &[&scene.names.fill(&text), &scene.names.fill(&with)])
}

/// A component of Argo CD has logged the first text, and the second stands in none of the lines that have it.
#[then(expr = "the {component} of Argo CD has logged {string} in no line with {string}")]
async fn in_no_line(world: &mut World, component: ComponentParam, text: String, with: String) -> Result<(), StepError> {
    let scene = world.scene();
    let (process, text, with) = (component.0.process(), scene.names.fill(&text), scene.names.fill(&with));
    let log = log(scene, process).await?;
    logged(process, &log, &[&text])?;
    if log.lines().any(|line| line.contains(&text) && line.contains(&with)) {
        return Err(StepError::Differs(format!("a line of {process}'s log has `{text}` and `{with}`")));
    }
    Ok(())
}

/// Sees to it that a line of a log has all these texts.
fn logged(whose: &str, log: &str, wanted: &[&str]) -> Result<(), StepError> {
    if log.lines().any(|line| wanted.iter().all(|text| line.contains(text))) {
        return Ok(());
    }
    let wanted = wanted.join("` and `");
    Err(StepError::Differs(format!("no line of {whose}'s log has `{wanted}`")))
}

/// The log of a component of Argo CD.
async fn log(scene: &Scene, process: &str) -> Result<String, StepError> {
    let path = scene.fleet.keeper().log(process);
    let read = tokio::fs::read(&path).await;
    let log = read.map_err(|e| StepError::Differs(format!("failed to read {}: {e}", path.display())))?;
    Ok(quoted(&String::from_utf8_lossy(&log)))
}

/// A log quotes messages, and what is quoted in them once more: without any of the marks.
fn quoted(log: &str) -> String {
    log.replace('\\', "")
}
