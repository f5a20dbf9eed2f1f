//! An exercise that goes on, from one command to the next.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clusters::state_dir;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use steps::{Kept, SavedScene};

use super::exercise::Exercise;
use super::score::{Outcome, Score};
use crate::error::CommandError;

/// Where exercises that go on are kept, in the state directory. No fleet's directory has a name like this.
const ROOMS: &str = "Training";

/// Where the scores of those that have ended are kept, in it.
const SCORES: &str = "scores";

/// What fleets of exercises are called, before the exercise's own name.
const FLEET: &str = "train-";

/// An exercise that goes on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Room {
    /// What it was started as.
    pub name: String,
    /// Unique among all of them.
    pub id: String,
    /// The exercise.
    pub exercise: String,
    /// Where the exercise is from; none for a built-in one.
    pub exercises: Option<PathBuf>,
    /// Who does it.
    pub trainee: String,
    /// KubeFleet's version.
    pub kubefleet: String,
    /// Where the clusters come from.
    pub provider: String,
    /// When its start began.
    pub started_at: Timestamp,
    /// When the fault was there and the page was printed; none while it starts.
    pub broken_at: Option<Timestamp>,
    /// When it ends itself.
    pub ends_at: Timestamp,
    /// One for each fault.
    pub parts: Vec<Part>,
    /// How many hints were given.
    pub hints: usize,
    /// The answers to what the cause is.
    pub answers: Vec<Answer>,
    /// How many checks were made.
    pub checks: usize,
    /// How it ended, once it has; its fleet may still be up for a look.
    pub over: Option<Outcome>,
}

/// One fault of an exercise that goes on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// What its scenario has made.
    pub scene: SavedScene,
    /// What there was before the fault.
    pub before: Kept,
    /// What there was after it.
    pub after: Kept,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// When.
    pub at: Timestamp,
    /// In the trainee's words.
    pub text: String,
    /// Which faults it names, by their places; none where it is wrong.
    pub names: Vec<usize>,
}

fn dir() -> Result<PathBuf, CommandError> {
    Ok(state_dir::root()?.join(ROOMS))
}

fn file(name: &str) -> Result<PathBuf, CommandError> {
    state_dir::check_name(name)?;
    Ok(dir()?.join(format!("{name}.json")))
}

/// The directory of the scores; there is none before the first.
///
/// # Errors
/// When the state directory can't be had.
pub fn scores() -> Result<PathBuf, CommandError> {
    Ok(dir()?.join(SCORES))
}

fn malformed(path: &Path, why: impl std::fmt::Display) -> CommandError {
    CommandError::Environment {
        message: format!("{} can't be read: {why}", path.display()),
        hint: Some("remove it: its exercise can't be gone on with".into()),
    }
}

impl Room {
    /// The fleet's name.
    #[must_use]
    pub fn fleet(&self) -> String {
        format!("{FLEET}{}", self.name)
    }

    /// The one of that name, if there is one.
    ///
    /// # Errors
    /// When its file can't be read.
    pub fn open(name: &str) -> Result<Option<Self>, CommandError> {
        let path = file(name)?;
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| malformed(&path, error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(malformed(&path, error)),
        }
    }

    /// All of them.
    ///
    /// # Errors
    /// When the directory or a file can't be read.
    pub fn all() -> Result<Vec<Self>, CommandError> {
        let dir = dir()?;
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(malformed(&dir, error)),
        };
        let names = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".json").map(ToOwned::to_owned)
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        Ok(names.iter().map(|name| Self::open(name)).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Keeps it as it is now.
    ///
    /// # Errors
    /// When its file can't be written.
    pub fn save(&self) -> Result<(), CommandError> {
        let path = file(&self.name)?;
        let text = serde_json::to_string(self).map_err(|error| malformed(&path, error))?;
        // Its file is there in full or not at all: a command may be killed.
        let new = path.with_extension("new");
        state_dir::make_private(&dir()?)?;
        state_dir::write_private(&new, &text)?;
        std::fs::rename(&new, &path).map_err(|error| malformed(&path, error))
    }

    /// Forgets it.
    ///
    /// # Errors
    /// When its file can't be removed.
    pub fn forget(&self) -> Result<(), CommandError> {
        let path = file(&self.name)?;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(malformed(&path, error)),
            _ => Ok(()),
        }
    }

    /// Whether its fleet is up.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        state_dir::fleet(&self.fleet()).is_ok_and(|dir| state_dir::is_alive(&dir))
    }

    /// Which faults have been named.
    #[must_use]
    pub fn named(&self) -> Vec<usize> {
        let mut named: Vec<usize> = self.answers.iter().flat_map(|answer| answer.names.clone()).collect();
        named.sort_unstable();
        named.dedup();
        named
    }

    /// When all causes had been named.
    fn diagnosed_at(&self, faults: usize) -> Option<Timestamp> {
        let mut named = BTreeSet::new();
        self.answers.iter().find_map(|answer| {
            named.extend(answer.names.iter().copied());
            (named.len() == faults).then_some(answer.at)
        })
    }

    /// What is left of it at its end.
    #[must_use]
    pub fn score(&self, exercise: &Exercise, outcome: Outcome) -> Score {
        let now = Timestamp::now();
        let since =
            |at: Timestamp| self.broken_at.map(|from| (at.duration_since(from).as_secs_f64() * 10.0).round() / 10.0);
        Score {
            id: self.id.clone(),
            exercise: self.exercise.clone(),
            level: exercise.level,
            trainee: self.trainee.clone(),
            kubefleet: self.kubefleet.clone(),
            provider: self.provider.clone(),
            started_at: self.started_at,
            outcome,
            seconds_to_diagnosis: self.diagnosed_at(self.parts.len()).and_then(since),
            seconds_to_repair: (outcome == Outcome::Repaired).then(|| since(now)).flatten(),
            hints: self.hints,
            wrong_answers: self.answers.iter().filter(|answer| answer.names.is_empty()).count(),
            failed_checks: self.checks - usize::from(outcome == Outcome::Repaired),
        }
    }
}
