//! Set-up of an exercise on its fleet: everything is well for a moment, then the faults come.

use std::time::Duration;

use fleet::Fleet;
use steps::World;

use super::broken_scenario::BrokenScenario;
use super::exercise::Exercise;
use super::fault_names::name_suffix;
use super::session::{SessionFault, TrainingSession};
use crate::command_progress::CommandProgress;
use crate::error::CommandError;

/// Runs the scenarios of an exercise up to their faults. Between set-up and faults, `pause` goes by.
///
/// # Errors
/// Returns an error if the fleet's version can't get into the faults, or if a step fails.
pub async fn set_up(
    session: &TrainingSession,
    exercise: &Exercise,
    fleet: &Fleet,
    pause: Duration,
    progress: &CommandProgress,
) -> Result<Vec<SessionFault>, CommandError> {
    let scripts = exercise.scripts(&fleet.capabilities(), &fleet.version())?;
    let vocabulary = World::vocabulary();
    progress.say("the fleet gets something to do");
    let mut scenarios = Vec::new();
    for (n, script) in scripts.iter().enumerate() {
        let suffix = name_suffix(&session.id[..2], n, session.resets);
        scenarios.push(BrokenScenario::set_up(fleet, &session.id, suffix, script, &vocabulary).await?);
    }
    progress.say("all is well, for a moment");
    tokio::time::sleep(pause).await;
    progress.say("something happens (this may take a minute or two)");
    let mut faults = Vec::new();
    for (scenario, script) in scenarios.iter_mut().zip(&scripts) {
        faults.push(scenario.induce(script, &vocabulary).await?);
    }
    Ok(faults)
}
