//! Reset of an exercise: it is set up again on its fleet.

use std::time::Duration;

use fleet::Fleet;
use steps::Recorder;
use steps::ScenarioContext;

use super::running_exercise::RunningExercise;
use super::session_event::SessionAction;
use super::set_up::set_up;
use super::step_runner::{failed_step, silent};
use crate::command_progress::CommandProgress;
use crate::error::CommandError;

/// Sets an exercise up again on its fleet. Its clock, hints, answers and checks stay.
///
/// # Errors
/// Returns an error if the fleet doesn't answer, or if a step fails.
pub async fn reset(running: &mut RunningExercise) -> Result<(), CommandError> {
    let progress = CommandProgress::stderr();
    running.session.resets += 1;
    running.session.note(SessionAction::Reset);
    running.session.is_resetting = true;
    running.save()?;
    for fault in &running.session.parts {
        steps::start_stopped_agents(&running.fleet, &fault.before).await.map_err(failed_step)?;
    }
    running.fleet = Fleet::open(&running.session.fleet()).await?;
    progress.say("taking away what the exercise has made");
    for fault in &running.session.parts {
        let scene = fault.scene.clone();
        let away =
            ScenarioContext::take_away(running.fleet.clone(), scene, &fault.before, Recorder::default(), silent());
        away.await.map_err(failed_step)?;
    }
    let RunningExercise { session, exercise, fleet } = &*running;
    let faults = set_up(session, exercise, fleet, Duration::ZERO, &progress).await?;
    running.session.parts = faults;
    running.session.is_resetting = false;
    running.save()?;
    progress.finish();
    Ok(())
}
