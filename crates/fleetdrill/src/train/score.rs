//! What is left of an exercise: a line for the trainee, and JSON for a team's scoreboard.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::exercise::Level;
use super::room;
use crate::error::CommandError;
use crate::reporter::write_atomically;

/// How an exercise ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// The repair holds.
    Repaired,
    /// The trainee asked for the solution.
    Solution,
    /// It was stopped.
    Stopped,
}

/// One exercise of one trainee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Unique among all of them.
    pub id: String,
    /// The exercise.
    pub exercise: String,
    /// Its level.
    pub level: Level,
    /// Who did it.
    pub trainee: String,
    /// KubeFleet's version.
    pub kubefleet: String,
    /// Where the clusters came from.
    pub provider: String,
    /// When its start began.
    pub started_at: Timestamp,
    /// How it ended.
    pub outcome: Outcome,
    /// From the page to the last of the causes that was named; none where they weren't all.
    pub seconds_to_diagnosis: Option<f64>,
    /// From the page to the check that passed; none where none did.
    pub seconds_to_repair: Option<f64>,
    /// How many hints were taken.
    pub hints: usize,
    /// Answers that named no cause.
    pub wrong_answers: usize,
    /// Checks that didn't pass.
    pub failed_checks: usize,
    /// How often the exercise was set up again.
    #[serde(default)]
    pub resets: usize,
}

impl Score {
    /// Keeps it, and says where.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn keep(&self) -> Result<PathBuf, CommandError> {
        let dir = room::scores()?;
        clusters::state_dir::make_private(&dir)?;
        let path = dir.join(format!("{}-{}.json", self.exercise, self.id));
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        write_atomically(&path, format!("{text}\n").as_bytes())?;
        Ok(path)
    }

    /// Those of files and of directories with files, or all that are kept here, in the order in which they were begun. A file
    /// may hold one score or a list of them.
    ///
    /// # Errors
    /// When one can't be read.
    pub fn read(paths: &[PathBuf]) -> Result<Vec<Self>, CommandError> {
        let own = room::scores()?;
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
