//! Score of an exercise: a line for the trainee, and JSON for a team's scoreboard.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use report::run::write_atomically;
use serde::{Deserialize, Serialize};

use super::directories;
use super::exercise::SkillLevel;
use super::session_event::SessionEvent;
use super::start_claim::failed;
use crate::error::CommandError;

/// Outcome of an exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ExerciseOutcome {
    /// The repair passed the check.
    Repaired,
    /// The trainee asked for the solution.
    Solution,
    /// The exercise was stopped.
    Stopped,
}

/// Score of one exercise of one trainee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Unique id of the started exercise.
    pub id: String,
    /// Name of the exercise.
    pub exercise: String,
    /// Level of the exercise.
    pub level: SkillLevel,
    /// Name of the trainee.
    pub trainee: String,
    /// Version of KubeFleet.
    pub kubefleet: String,
    /// Provider of the clusters.
    pub provider: String,
    /// Time when the exercise was started.
    pub started_at: Timestamp,
    /// Outcome of the exercise.
    pub outcome: ExerciseOutcome,
    /// Seconds from the page to the answer that named the last cause; `None` if not all causes were named.
    pub seconds_to_diagnosis: Option<f64>,
    /// Seconds from the page to the check that passed; `None` if no check passed.
    pub seconds_to_repair: Option<f64>,
    /// Number of hints that were given.
    pub hints: usize,
    /// Number of answers that named no cause.
    pub wrong_answers: usize,
    /// Number of checks that didn't pass.
    pub failed_checks: usize,
    /// Number of resets.
    #[serde(default)]
    pub resets: usize,
    /// What the trainee saw and did, in order of time, until the exercise was scored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<SessionEvent>,
}

impl Score {
    /// Writes the score to a file and returns its path.
    ///
    /// # Errors
    /// Returns an error if the file can't be written.
    pub fn keep(&self) -> Result<PathBuf, CommandError> {
        self.keep_in(&directories::scores()?)
    }

    fn keep_in(&self, dir: &Path) -> Result<PathBuf, CommandError> {
        clusters::state_dir::make_private(dir)?;
        let path = dir.join(format!("{}-{}.json", self.exercise, self.id));
        let text = serde_json::to_string_pretty(self).map_err(|error| failed("written", &path, error))?;
        write_atomically(&path, format!("{text}\n").as_bytes())?;
        Ok(path)
    }

    /// Reads the scores of files and of directories with files, or all local scores if there is no path, ordered by
    /// their start. A file may contain one score or a list.
    ///
    /// # Errors
    /// Returns an error if a file can't be read.
    pub fn read(paths: &[PathBuf]) -> Result<Vec<Self>, CommandError> {
        let own = directories::scores()?;
        let paths = match paths {
            [] if own.exists() => vec![own],
            given => given.to_vec(),
        };
        let mut scores = Vec::new();
        for path in paths {
            if path.is_dir() {
                for entry in std::fs::read_dir(&path).map_err(|error| unreadable(&path, error))?.flatten() {
                    if entry.path().extension().is_some_and(|extension| extension == "json") {
                        scores.extend(one(&entry.path())?);
                    }
                }
            } else {
                scores.extend(one(&path)?);
            }
        }
        scores.sort_by(|a, b| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)));
        scores.dedup();
        Ok(scores)
    }
}

fn one(path: &Path) -> Result<Vec<Score>, CommandError> {
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, error))?;
    let scores = serde_json::from_str::<Vec<Score>>(&text).or_else(|_| Ok(vec![serde_json::from_str(&text)?]));
    scores.map_err(|error: serde_json::Error| unreadable(path, error))
}

fn unreadable(path: &Path, why: impl std::fmt::Display) -> CommandError {
    CommandError::Usage {
        message: format!("{} holds no scores: {why}", path.display()),
        hint: Some("`fleetdrill train report -o json` prints scores that this command reads".into()),
    }
}
