//! Score of an exercise: a line for the trainee, and JSON for a team's scoreboard.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use report::document::DocumentHeader;
use report::run::write_atomically;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::directories;
use super::exercise::SkillLevel;
use super::session_event::SessionEvent;
use super::start_claim::failed;
use crate::error::CommandError;

/// Number of the schema of scores. It grows when a field goes away or changes its meaning; new fields leave it as it is.
pub const SCHEMA: u32 = 1;

/// Outcome of an exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize, strum::Display)]
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
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Score {
    /// Number of the schema; none in scores of fleetdrill 0.1.0.
    #[serde(default = "first")]
    pub schema: u32,
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

/// Number of the schema of scores that have none.
fn first() -> u32 {
    1
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
    /// Returns an error if a file can't be read, or has a schema that this fleetdrill doesn't know.
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
    let headers: Vec<DocumentHeader> = list_or_one(&text).map_err(|error| unreadable(path, error))?;
    for header in headers {
        header.check(SCHEMA).map_err(|error| CommandError::Usage {
            message: format!("{} can't be read: {error}", path.display()),
            hint: error.hint(),
        })?;
    }
    list_or_one(&text).map_err(|error| unreadable(path, error))
}

fn list_or_one<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, serde_json::Error> {
    serde_json::from_str::<Vec<T>>(text).or_else(|_| Ok(vec![serde_json::from_str(text)?]))
}

fn unreadable(path: &Path, why: impl std::fmt::Display) -> CommandError {
    CommandError::Usage {
        message: format!("{} holds no scores: {why}", path.display()),
        hint: Some("`fleetdrill train report -o json` prints scores that this command reads".into()),
    }
}

#[cfg(test)]
mod tests {
    use schemas::DocumentSchema;

    use super::super::session_event::SessionAction;
    use super::*;

    fn score() -> Score {
        Score {
            schema: SCHEMA,
            id: "abcd".into(),
            exercise: "empty-shop".into(),
            level: SkillLevel::Beginner,
            trainee: "ann".into(),
            kubefleet: "v0.1.2".into(),
            provider: "local".into(),
            started_at: Timestamp::UNIX_EPOCH,
            outcome: ExerciseOutcome::Repaired,
            seconds_to_diagnosis: None,
            seconds_to_repair: Some(723.0),
            hints: 1,
            wrong_answers: 0,
            failed_checks: 2,
            resets: 0,
            events: vec![
                SessionEvent { at: Timestamp::UNIX_EPOCH, action: SessionAction::Reset },
                SessionEvent {
                    at: Timestamp::UNIX_EPOCH,
                    action: SessionAction::Checked { missing: vec!["web was changed".into()] },
                },
            ],
        }
    }

    #[test]
    fn schema_is_published() {
        let published = DocumentSchema { document: "training-score", number: SCHEMA };
        published.publish::<Score>("Score of an exercise (an element of `fleetdrill train report --output json`)");
        published.check_that_changes_are_noticed(&serde_json::to_value(score()).unwrap());
    }

    #[test]
    fn scores_of_all_known_schemas_are_read_and_later_ones_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("scores.json");
        let read = |text: String| {
            std::fs::write(&path, text).unwrap();
            Score::read(std::slice::from_ref(&path))
        };
        let mut first = serde_json::to_value(score()).unwrap();
        assert_eq!(read(format!("[{first}]")).unwrap(), [score()]);
        first.as_object_mut().unwrap().shift_remove("schema");
        assert_eq!(read(first.to_string()).unwrap(), [score()]);
        for later in [r#"{"schema": 2}"#, r#"[{"schema": 1}, {"schema": 2, "level": 7}]"#] {
            let error = read(later.to_owned()).unwrap_err();
            let message = error.to_string().replace(&path.display().to_string(), "FILE");
            assert_eq!(message, "FILE can't be read: it has schema 2, and this fleetdrill reads schemas up to 1");
            assert!(error.hint().is_some_and(|hint| hint.contains("that wrote it, or a newer one")));
        }
    }
}
