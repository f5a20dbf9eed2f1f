//! Exercises that are running, as a command finds them.

use clusters::agents::is_agent;
use fleet::Fleet;
use jiff::Timestamp;

use super::exercise::{self, Exercise};
use super::score::{ExerciseOutcome, Score};
use super::session::TrainingSession;
use super::session_dir::SessionDir;
use crate::error::CommandError;
use crate::output::training::{self, SavedScore};

/// An exercise that is running, with its fleet.
pub struct RunningExercise {
    /// The session.
    pub session: TrainingSession,
    /// The exercise.
    pub exercise: Exercise,
    /// The fleet.
    pub fleet: Fleet,
}

/// Finds the session of a name, or the only one where there is no name.
///
/// # Errors
/// Returns an error if there is none, or if there are several and no name.
pub fn find_session(name: Option<&str>) -> Result<TrainingSession, CommandError> {
    let sessions = SessionDir::of_user()?;
    if let Some(name) = name {
        let found = sessions.open(name)?;
        return found.ok_or_else(|| {
            CommandError::usage(format!("no exercise `{name}` is running"), Some("`fleetdrill train start` starts one"))
        });
    }
    let mut all = sessions.all()?;
    match all.len() {
        0 => Err(CommandError::usage(
            "no exercise is running",
            Some("`fleetdrill train list` shows them, `train start` starts one"),
        )),
        1 => Ok(all.remove(0)),
        _ => {
            let names: Vec<String> = all.iter().map(|session| format!("--name {}", session.name)).collect();
            let hint = format!("say which: {}", names.join(", "));
            Err(CommandError::usage("several exercises are running", Some(&hint)))
        }
    }
}

/// Refuses a session that another process is starting.
///
/// # Errors
/// Returns an error if one is.
pub fn refuse_starting(session: &TrainingSession) -> Result<(), CommandError> {
    if !SessionDir::of_user()?.is_starting(session) {
        return Ok(());
    }
    Err(CommandError::usage(
        format!("exercise `{}` is just starting", session.name),
        Some("wait for its page, or press Ctrl-C where it is started"),
    ))
}

impl RunningExercise {
    /// Opens the exercise of a name, or the only one where there is no name.
    ///
    /// # Errors
    /// Returns an error if there is none, or if its fleet has died.
    pub async fn open(name: Option<&str>) -> Result<Self, CommandError> {
        let session = find_session(name)?;
        let exercise = exercise::find(&session.exercise, session.exercises.as_deref())?;
        refuse_starting(&session)?;
        if session.broken_at.is_none() {
            return Err(gone(&session, "its start was interrupted"));
        }
        if !session.is_alive() && Timestamp::now() >= session.ends_at {
            return Err(gone(&session, &format!("its time was up at {}", training::clock(session.ends_at))));
        }
        if !session.is_alive() {
            return Err(gone(&session, "its fleet has died"));
        }
        if session.is_resetting {
            return Err(gone(&session, "its reset was interrupted"));
        }
        let fleet = Fleet::open(&session.fleet()).await?;
        let processes = fleet.supervisor().processes().await?;
        // A trainee may have ended an agent; this doesn't break the exercise.
        let died = processes.iter().find(|process| process.exit.is_some() && !is_agent(&process.name));
        if let Some(process) = died {
            let how = process.exit.as_deref().unwrap_or_default();
            return Err(gone(&session, &format!("its fleet has died: {} ended ({how})", process.name)));
        }
        Ok(Self { session, exercise, fleet })
    }

    /// Opens an exercise, as [`RunningExercise::open`], for what is possible only until the repair has passed the check. A trainee who
    /// has asked for the solution may try it.
    ///
    /// # Errors
    /// Returns an error if there is none, if its fleet has died, or if it is over.
    pub async fn open_for_work(name: Option<&str>) -> Result<Self, CommandError> {
        let running = Self::open(name).await?;
        if running.session.over.is_some_and(|over| over != ExerciseOutcome::Solution) {
            let name = &running.session.name;
            let hint = format!("its fleet stays up until: fleetdrill train stop --name {name}");
            return Err(CommandError::usage(format!("exercise `{name}` is over"), Some(&hint)));
        }
        Ok(running)
    }

    /// Writes the session as it is now.
    ///
    /// # Errors
    /// Returns an error if its file can't be written.
    pub fn save(&self) -> Result<(), CommandError> {
        SessionDir::of_user()?.save(&self.session)
    }

    /// Ends the exercise, unless it has ended, and keeps its score; returns the score that was kept.
    ///
    /// # Errors
    /// Returns an error if session or score can't be written.
    pub fn score(&mut self, outcome: ExerciseOutcome) -> Result<Option<SavedScore>, CommandError> {
        if self.session.over.is_some() {
            return Ok(None);
        }
        self.session.over = Some(outcome);
        if outcome == ExerciseOutcome::Repaired {
            self.session.repaired_at = Some(Timestamp::now());
        }
        self.save()?;
        let score: Score = self.session.score(&self.exercise, outcome);
        Ok(Some((score.keep()?, score)))
    }
}

/// Reports a session that can't go on.
fn gone(session: &TrainingSession, why: &str) -> CommandError {
    let name = &session.name;
    CommandError::Environment {
        message: format!("exercise `{name}` can't be continued, and isn't scored: {why}"),
        hint: Some(format!("clean up, then start it again: fleetdrill train stop --name {name}")),
    }
}
