//! Steps about what controllers log.

use cucumber::then;

use crate::error::StepError;
use crate::world::World;

/// The hub-agent, in which all of KubeFleet's controllers on the hub run, has logged this text; `{name}` stands for the real
/// name of what the scenario calls so, which tells its lines from other scenarios'.
#[then(expr = "the hub-agent has logged {string}")]
async fn has_logged(world: &mut World, text: String) -> Result<(), StepError> {
    let scene = world.scene();
    let wanted = scene.names.fill(&text);
    let path = scene.fleet.keeper().log(&fleet::agents::hub_agent_name());
    let read = tokio::fs::read(&path).await;
    let log = read.map_err(|e| StepError::Differs(format!("failed to read {}: {e}", path.display())))?;
    // The log quotes messages, and what is quoted in them once more.
    let log = String::from_utf8_lossy(&log).replace('\\', "");
    if log.contains(&wanted) {
        return Ok(());
    }
    Err(StepError::Differs(format!("no line of {} has `{wanted}`", path.display())))
}
