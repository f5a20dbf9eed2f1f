//! The directory of training sessions: one file for each session that is running, and the scores of those that have ended.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clusters::state_dir;

use super::directories;
use super::session::TrainingSession;
use super::start_claim::{self, StartClaim, failed};
use crate::error::CommandError;

/// Directory of training sessions.
#[derive(Clone, Debug)]
pub struct SessionDir(PathBuf);

impl SessionDir {
    /// Returns the user's directory, which needn't exist.
    ///
    /// # Errors
    /// Returns an error if there is no state directory.
    pub fn of_user() -> Result<Self, CommandError> {
        Ok(Self(directories::sessions()?))
    }

    /// Reads the session of a name, if there is one.
    ///
    /// # Errors
    /// Returns an error if its file can't be read.
    pub fn open(&self, name: &str) -> Result<Option<TrainingSession>, CommandError> {
        let path = self.file(name)?;
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| unreadable(&path, error)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(&path, error)),
        }
    }

    /// Reads all trainees' sessions, in the order of their names. Files that a killed `train verify` has left are removed on the way.
    ///
    /// # Errors
    /// Returns an error if the directory or a file can't be read.
    pub fn all(&self) -> Result<Vec<TrainingSession>, CommandError> {
        let entries = match std::fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(&self.0, error)),
        };
        let names = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".json").map(ToOwned::to_owned)
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        let mut sessions = Vec::new();
        for name in names {
            match self.open(&name)? {
                Some(session) if session.verified_on.is_none() => sessions.push(session),
                Some(session) if !session.is_alive() => self.forget(&name)?,
                _ => {}
            }
        }
        Ok(sessions)
    }

    /// Writes a session as it is now.
    ///
    /// # Errors
    /// Returns an error if its file can't be written.
    pub fn save(&self, session: &TrainingSession) -> Result<(), CommandError> {
        let path = self.file(&session.name)?;
        let text = serde_json::to_string(session).map_err(|error| failed("written", &path, error))?;
        state_dir::make_private(&self.0)?;
        Ok(state_dir::replace_private(&path, &text)?)
    }

    /// Removes the file of a session; no error where there is none.
    ///
    /// # Errors
    /// Returns an error if it can't be removed.
    pub fn forget(&self, name: &str) -> Result<(), CommandError> {
        let path = self.file(name)?;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("removed", &path, error)),
            _ => Ok(()),
        }
    }

    /// Takes the claim to start an exercise under a name; none where another process has it.
    ///
    /// # Errors
    /// Returns an error if the claim's file can't be made or locked.
    pub fn claim(&self, name: &str) -> Result<Option<StartClaim>, CommandError> {
        state_dir::make_private(&self.0)?;
        StartClaim::lock(self.claim_file(name)?)
    }

    /// True if a process is starting the session.
    #[must_use]
    pub fn is_starting(&self, session: &TrainingSession) -> bool {
        let claim = self.claim_file(&session.name).ok().and_then(|path| File::open(path).ok());
        session.broken_at.is_none() && claim.is_some_and(|claim| start_claim::is_held(&claim))
    }

    fn file(&self, name: &str) -> Result<PathBuf, CommandError> {
        state_dir::check_name(name)?;
        Ok(self.0.join(format!("{name}.json")))
    }

    fn claim_file(&self, name: &str) -> Result<PathBuf, CommandError> {
        Ok(self.file(name)?.with_extension("starting"))
    }
}

fn unreadable(path: &Path, why: impl std::fmt::Display) -> CommandError {
    CommandError::Environment {
        message: format!("{} can't be read: {why}", path.display()),
        hint: Some("remove it: its exercise can't be continued".into()),
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::SessionDir;
    use crate::train::exercise;
    use crate::train::session::{SessionStart, TrainingSession};

    fn session(name: &str) -> TrainingSession {
        let exercise = exercise::find("friday-release", None).expect("an exercise");
        TrainingSession::new(SessionStart {
            name: name.into(),
            id: "abcd".into(),
            exercise: &exercise,
            exercises: None,
            trainee: "ann".into(),
            kubefleet: "v0.1.2".into(),
            provider: "local".into(),
            limit: SignedDuration::from_hours(1),
            verified_on: None,
        })
    }

    #[test]
    fn a_session_is_found_again_until_it_is_forgotten() {
        let dir = tempfile::tempdir().expect("a directory");
        let sessions = SessionDir(dir.path().join("Training"));
        assert!(sessions.all().expect("none yet").is_empty());
        assert!(sessions.open("red").expect("none yet").is_none());
        for name in ["red", "blue"] {
            sessions.save(&session(name)).expect("saved");
        }
        let names: Vec<String> = sessions.all().expect("both").into_iter().map(|session| session.name).collect();
        assert_eq!(names, ["blue", "red"]);
        sessions.forget("red").expect("forgotten");
        assert!(sessions.open("red").expect("gone").is_none());
        sessions.forget("red").expect("forgotten already");
    }

    #[test]
    fn an_error_says_what_could_not_be_done_with_the_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let sessions = SessionDir(dir.path().to_owned());
        // A directory can be neither replaced by a file, nor read or removed as one.
        std::fs::create_dir_all(dir.path().join("red.json/within")).expect("made");
        let file = dir.path().join("red.json").display().to_string();
        let unwritten = sessions.save(&session("red")).expect_err("it can't be written");
        assert_eq!(unwritten.to_string(), format!("failed to write {file}"));
        let unremoved = sessions.forget("red").expect_err("it can't be removed");
        assert!(unremoved.to_string().starts_with(&format!("{file} can't be removed: ")), "{unremoved}");
        for error in [unwritten, unremoved] {
            assert!(error.hint().is_none_or(|hint| !hint.starts_with("remove it")), "its exercise can be continued");
        }
        let unread = sessions.open("red").expect_err("it can't be read");
        assert!(unread.to_string().starts_with(&format!("{file} can't be read: ")), "{unread}");
        assert!(unread.hint().is_some_and(|hint| hint.starts_with("remove it")));
    }
}
