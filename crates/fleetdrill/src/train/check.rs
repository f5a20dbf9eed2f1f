//! Check of a repair, and the score that it makes.

use std::sync::{Mutex, PoisonError};

use clusters::agents::is_agent;
use steps::World;

use super::exercise::{self, Exercise};
use super::repair_check::RepairCheck;
use super::running_exercise::RunningExercise;
use super::score::{ExerciseOutcome, Score};
use super::session::TrainingSession;
use super::session_event::SessionAction;
use super::step_runner;
use crate::command_progress::CommandProgress;
use crate::error::CommandError;
use crate::output::training::SavedScore;

/// Result of a check.
pub struct CheckResult {
    /// Lines about what is missing; none where the repair holds.
    pub missing: Vec<String>,
    /// Score that was kept, where this check ended the exercise.
    pub kept: Option<SavedScore>,
    /// Exercise to go on with, where the repair holds and one is left.
    pub next: Option<Exercise>,
}

/// Progress of a check, of which a terminal's line shows each text, and other files a line for each new text.
struct CheckProgress {
    line: CommandProgress,
    last: Mutex<String>,
}

impl CheckProgress {
    fn tell(&self, text: &str) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != text {
            self.line.say(text);
            text.clone_into(&mut last);
        }
    }
}

/// Judges the repair of an exercise. The first check that passes ends the exercise.
///
/// # Errors
/// Returns an error if the fleet dies or doesn't answer; such a check doesn't count.
pub async fn check(running: &mut RunningExercise) -> Result<CheckResult, CommandError> {
    let RunningExercise { session, exercise, fleet } = running;
    let number = session.checks + 1;
    let progress = CheckProgress { line: CommandProgress::stderr(), last: Mutex::default() };
    let tell: &(dyn Fn(&str) + Sync) = &|text| progress.tell(text);
    let vocabulary = World::vocabulary();
    let named = session.named().len() == exercise.faults.len();
    let judge = RepairCheck { fleet, exercise, number, named, vocabulary: &vocabulary, tell };
    let mut died = fleet.first_exit();
    let missing = tokio::select! {
        missing = step_runner::quietly(judge.judge(&mut session.parts)) => missing?,
        Ok(exit) = died.wait_for(|exit| exit.as_ref().is_some_and(|exit| !is_agent(&exit.name))) => {
            let what = exit.as_ref().map(|exit| format!("{} ended ({})", exit.name, exit.status)).unwrap_or_default();
            return Err(CommandError::Environment {
                message: format!("the fleet has died, and the check doesn't count: {what}"),
                hint: Some(format!("fleetdrill train stop --name {}", session.name)),
            });
        }
    };
    progress.line.finish();
    session.checks = number;
    session.note(SessionAction::Checked { missing: missing.clone() });
    if !missing.is_empty() {
        running.save()?;
        return Ok(CheckResult { missing, kept: None, next: None });
    }
    let kept = running.score(ExerciseOutcome::Repaired)?;
    // A trainee who has asked for the solution has a score already.
    if kept.is_none() {
        running.save()?;
    }
    Ok(CheckResult { missing, kept, next: next(&running.session, &running.exercise) })
}

/// Returns the next exercise in the list, of those that the fleet's provider can do and whose repair hasn't passed a check here.
fn next(session: &TrainingSession, exercise: &Exercise) -> Option<Exercise> {
    // The next exercise is only a suggestion, so that unreadable scores don't matter.
    let scores = Score::read(&[]).unwrap_or_default();
    let mut left = exercise::all(session.exercises.as_deref()).unwrap_or_default();
    left.retain(|other| {
        let is_done = scores.iter().any(|s| s.exercise == other.name && s.outcome == ExerciseOutcome::Repaired);
        other.name != exercise.name && !is_done && (session.provider != "existing" || !other.needs().argocd)
    });
    let later = left.iter().position(|other| (other.level, &other.name) > (exercise.level, &exercise.name));
    if left.is_empty() { None } else { Some(left.swap_remove(later.unwrap_or_default())) }
}
