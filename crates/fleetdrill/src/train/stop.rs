//! Stop of an exercise, with its fleet.

use clusters::state_dir;
use clusters::supervisor::SupervisorClient;
use fleet::Fleet;
use report::stderr_line;

use super::exercise;
use super::running_exercise::refuse_starting;
use super::score::ExerciseOutcome;
use super::session::TrainingSession;
use super::session_dir::SessionDir;
use crate::error::CommandError;

/// Ends an exercise and its fleet; one that had no score yet is scored as stopped.
///
/// # Errors
/// Returns an error if the exercise is just starting, if its fleet can't be ended, or if its files can't be written.
pub async fn stop(session: &TrainingSession) -> Result<(), CommandError> {
    refuse_starting(session)?;
    if session.is_alive() {
        if session.over.is_none() && session.broken_at.is_some() {
            let exercise = exercise::find(&session.exercise, session.exercises.as_deref())?;
            session.score(&exercise, ExerciseOutcome::Stopped).keep()?;
        }
        let supervisor = SupervisorClient::connect(&state_dir::fleet(&session.fleet())?)?;
        match Fleet::open(&session.fleet()).await {
            Ok(fleet) if fleet.is_borrowed() => {
                stderr_line!("removing what the exercise has made");
                fleet.sweep(&session.id).await?;
            }
            _ => stderr_line!("ending the fleet"),
        }
        supervisor.end().await?;
    }
    state_dir::wait_until_gone(&session.fleet()).await;
    let sessions = SessionDir::of_user()?;
    sessions.forget(&session.name)?;
    // A start that was killed has left its claim.
    sessions.claim(&session.name).map(drop)
}
