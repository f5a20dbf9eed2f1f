//! A training session: one exercise that is running, as it is kept from one command to the next.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clusters::state_dir;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use steps::{SavedScenario, SurvivalBaseline};

use super::exercise::Exercise;
use super::score::{ExerciseOutcome, SCHEMA, Score};
use super::session_event::{SessionAction, SessionEvent};

/// Beginning of the names of trainees' fleets, before the session's own name.
const FLEET: &str = "train-";

/// Returns the name of the fleet of a trainee's session.
#[must_use]
pub fn fleet_name(session: &str) -> String {
    format!("{FLEET}{session}")
}

/// An exercise that is running, from one command to the next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrainingSession {
    /// Name under which the exercise was started.
    pub name: String,
    /// Unique id of the started exercise.
    pub id: String,
    /// The exercise.
    pub exercise: String,
    /// Directory of the exercise's file; `None` for a built-in exercise.
    pub exercises: Option<PathBuf>,
    /// Name of the trainee.
    pub trainee: String,
    /// Version of KubeFleet.
    pub kubefleet: String,
    /// Provider of the clusters.
    pub provider: String,
    /// Time when the start of the exercise began.
    pub started_at: Timestamp,
    /// Time when the fault was there and the page was printed; `None` before that.
    pub broken_at: Option<Timestamp>,
    /// Time when the exercise ends by itself.
    pub ends_at: Timestamp,
    /// Saved state of each fault, in the exercise's order.
    pub parts: Vec<SessionFault>,
    /// Number of hints that were given.
    pub hints: usize,
    /// Answers about the cause.
    pub answers: Vec<TraineeAnswer>,
    /// Number of checks.
    pub checks: usize,
    /// Outcome of an exercise that has ended; its fleet may still be up.
    pub over: Option<ExerciseOutcome>,
    /// Time of the check that passed.
    #[serde(default)]
    pub repaired_at: Option<Timestamp>,
    /// Number of resets.
    #[serde(default)]
    pub resets: usize,
    /// True while a reset is in progress.
    #[serde(default)]
    pub is_resetting: bool,
    /// What the trainee saw and did, in order of time.
    #[serde(default)]
    pub events: Vec<SessionEvent>,
    /// Name of the fleet of `train verify` that a printed solution is tried on; `None` for a trainee's exercise, which
    /// has a fleet of its own.
    #[serde(default)]
    pub verified_on: Option<String>,
}

/// Fault of a training session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionFault {
    /// Objects that the fault's scenario has created.
    pub scene: SavedScenario,
    /// State that has to survive a repair, taken before the fault.
    pub before: SurvivalBaseline,
    /// State that has to survive a repair, taken after the fault.
    pub after: SurvivalBaseline,
}

/// Answer of a trainee to what the cause is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraineeAnswer {
    /// Time of the answer.
    pub at: Timestamp,
    /// Text of the answer.
    pub text: String,
    /// Indexes of the faults that the answer names; empty if the answer is wrong.
    pub names: Vec<usize>,
}

/// Facts of a session at its start.
pub struct SessionStart<'a> {
    /// Name of the session.
    pub name: String,
    /// Id, unique among all sessions.
    pub id: String,
    /// The exercise.
    pub exercise: &'a Exercise,
    /// Directory that the exercise is from; none for a built-in one.
    pub exercises: Option<PathBuf>,
    /// Person who does the exercise.
    pub trainee: String,
    /// Version of KubeFleet.
    pub kubefleet: String,
    /// Name of the provider of the clusters.
    pub provider: String,
    /// Time after which the session ends itself.
    pub limit: SignedDuration,
    /// Fleet of `train verify` that the session is a trial on; none for a trainee's session.
    pub verified_on: Option<String>,
}

impl TrainingSession {
    /// Returns a session that starts now, in which nothing is broken yet.
    #[must_use]
    pub fn new(start: SessionStart<'_>) -> Self {
        let now = Timestamp::now();
        Self {
            name: start.name,
            id: start.id,
            exercise: start.exercise.name.clone(),
            exercises: start.exercises,
            trainee: start.trainee,
            kubefleet: start.kubefleet,
            provider: start.provider,
            started_at: now,
            broken_at: None,
            ends_at: now + start.limit,
            parts: Vec::new(),
            hints: 0,
            answers: Vec::new(),
            checks: 0,
            over: None,
            repaired_at: None,
            resets: 0,
            is_resetting: false,
            events: Vec::new(),
            verified_on: start.verified_on,
        }
    }

    /// Takes the faults that are there from now on.
    pub fn break_with(&mut self, faults: Vec<SessionFault>) {
        self.parts = faults;
        self.broken_at = Some(Timestamp::now());
    }

    /// Adds an event that happens now.
    pub fn note(&mut self, action: SessionAction) {
        self.events.push(SessionEvent { at: Timestamp::now(), action });
    }

    /// Returns the name of the exercise's fleet.
    #[must_use]
    pub fn fleet(&self) -> String {
        self.verified_on.clone().unwrap_or_else(|| fleet_name(&self.name))
    }

    /// True if the exercise's fleet is up.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        state_dir::fleet(&self.fleet()).is_ok_and(|dir| state_dir::is_alive(&dir))
    }

    /// Returns the indexes of the faults that have been named.
    #[must_use]
    pub fn named(&self) -> Vec<usize> {
        let mut named: Vec<usize> = self.answers.iter().flat_map(|answer| answer.names.clone()).collect();
        named.sort_unstable();
        named.dedup();
        named
    }

    /// Returns the time of the answer by which all causes had been named.
    fn diagnosed_at(&self, faults: usize) -> Option<Timestamp> {
        let mut named = BTreeSet::new();
        self.answers.iter().find_map(|answer| {
            named.extend(answer.names.iter().copied());
            (named.len() == faults).then_some(answer.at)
        })
    }

    /// Returns the score of the exercise with this outcome.
    #[must_use]
    pub fn score(&self, exercise: &Exercise, outcome: ExerciseOutcome) -> Score {
        let repaired_at = self.repaired_at.unwrap_or_else(Timestamp::now);
        Score {
            schema: SCHEMA,
            id: self.id.clone(),
            exercise: self.exercise.clone(),
            level: exercise.level,
            trainee: self.trainee.clone(),
            kubefleet: self.kubefleet.clone(),
            provider: self.provider.clone(),
            started_at: self.started_at,
            outcome,
            seconds_to_diagnosis: self.diagnosed_at(self.parts.len()).and_then(|at| self.seconds_until(at)),
            seconds_to_repair: self.seconds_until(repaired_at).filter(|_| outcome == ExerciseOutcome::Repaired),
            hints: self.hints,
            wrong_answers: self.answers.iter().filter(|answer| answer.names.is_empty()).count(),
            failed_checks: self.checks - usize::from(outcome == ExerciseOutcome::Repaired),
            resets: self.resets,
            events: self.events.clone(),
        }
    }

    /// Seconds from the page to a moment, with one digit behind the point; none where there was no page yet.
    fn seconds_until(&self, at: Timestamp) -> Option<f64> {
        let seconds = at.duration_since(self.broken_at?).as_secs_f64();
        Some((seconds * 10.0).round() / 10.0)
    }
}
