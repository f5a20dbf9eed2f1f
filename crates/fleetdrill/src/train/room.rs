//! An exercise that goes on, from one command to the next.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use clusters::state_dir;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use steps::{Kept, SavedScene};

use super::exercise::Exercise;
use super::proof::TrialGround;
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
    /// When the check passed that ended it.
    #[serde(default)]
    pub repaired_at: Option<Timestamp>,
    /// How often it was set up again on its fleet.
    #[serde(default)]
    pub resets: usize,
    /// Whether a reset has begun and not ended.
    #[serde(default)]
    pub is_resetting: bool,
    /// The fleet of `train verify` that a printed solution is tried on; none for a trainee's exercise, which has a fleet of its own.
    #[serde(default)]
    pub verified_on: Option<String>,
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

/// What couldn't be done with a file.
fn failed(action: &str, path: &Path, why: impl std::fmt::Display) -> CommandError {
    CommandError::Environment { message: format!("{} can't be {action}: {why}", path.display()), hint: None }
}

fn unreadable(path: &Path, why: impl std::fmt::Display) -> CommandError {
    CommandError::Environment {
        message: format!("{} can't be read: {why}", path.display()),
        hint: Some("remove it: its exercise can't be continued".into()),
    }
}

/// The right to start an exercise under a name. One process has it at a time, until it drops it or dies: the lock on its file ends with
/// the process.
#[derive(Debug)]
pub struct StartClaim {
    path: PathBuf,
    /// Locked.
    file: File,
}

impl StartClaim {
    /// Takes the claim; none where another process has it.
    ///
    /// # Errors
    /// When the file can't be made or locked.
    pub fn take(name: &str) -> Result<Option<Self>, CommandError> {
        state_dir::make_private(&dir()?)?;
        Self::lock(claim_file(name)?)
    }

    fn lock(path: PathBuf) -> Result<Option<Self>, CommandError> {
        loop {
            let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
            let file = file.map_err(|error| failed("opened", &path, error))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(failed("locked", &path, error)),
            }
            let inode = |metadata: std::io::Result<std::fs::Metadata>| metadata.ok().map(|metadata| metadata.ino());
            // The holder before may have removed the file after this process had opened it.
            if inode(std::fs::metadata(&path)) == inode(file.metadata()) {
                return Ok(Some(Self { path, file }));
            }
        }
    }
}

impl Drop for StartClaim {
    fn drop(&mut self) {
        // Removed while it is locked: nobody else has it.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

fn claim_file(name: &str) -> Result<PathBuf, CommandError> {
    Ok(file(name)?.with_extension("starting"))
}

impl Room {
    /// The fleet's name.
    #[must_use]
    pub fn fleet(&self) -> String {
        self.verified_on.clone().unwrap_or_else(|| format!("{FLEET}{}", self.name))
    }

    /// Whether a process is starting the exercise.
    #[must_use]
    pub fn is_starting(&self) -> bool {
        let claim = claim_file(&self.name).ok().and_then(|path| File::open(path).ok());
        self.broken_at.is_none()
            && claim.is_some_and(|claim| matches!(claim.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// The one of that name, if there is one.
    ///
    /// # Errors
    /// When its file can't be read.
    pub fn open(name: &str) -> Result<Option<Self>, CommandError> {
        let path = file(name)?;
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| unreadable(&path, error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(&path, error)),
        }
    }

    /// All trainees' ones. What a `train verify` that was killed has left of its own is removed on the way.
    ///
    /// # Errors
    /// When the directory or a file can't be read.
    pub fn all() -> Result<Vec<Self>, CommandError> {
        let dir = dir()?;
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(&dir, error)),
        };
        let names = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".json").map(ToOwned::to_owned)
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        let mut rooms = Vec::new();
        for name in names {
            match Self::open(&name)? {
                Some(room) if room.verified_on.is_none() => rooms.push(room),
                Some(room) if !room.is_alive() => room.forget()?,
                _ => {}
            }
        }
        Ok(rooms)
    }

    /// Keeps it as it is now.
    ///
    /// # Errors
    /// When its file can't be written.
    pub fn save(&self) -> Result<(), CommandError> {
        let path = file(&self.name)?;
        let text = serde_json::to_string(self).map_err(|error| failed("written", &path, error))?;
        // Its file is there in full or not at all: a command may be killed.
        let new = path.with_extension("new");
        state_dir::make_private(&dir()?)?;
        state_dir::write_private(&new, &text)?;
        std::fs::rename(&new, &path).map_err(|error| failed("written", &path, error))
    }

    /// Forgets it.
    ///
    /// # Errors
    /// When its file can't be removed.
    pub fn forget(&self) -> Result<(), CommandError> {
        let path = file(&self.name)?;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed("removed", &path, error)),
            _ => Ok(()),
        }
    }

    /// Removes the claim that a start has left which was killed.
    ///
    /// # Errors
    /// When its file can't be locked.
    pub fn release_dead_claim(&self) -> Result<(), CommandError> {
        StartClaim::take(&self.name).map(drop)
    }

    /// One on the fleet of `train verify`.
    #[must_use]
    pub fn of_trial(suffix: &str, exercise: &Exercise, ground: &TrialGround<'_>, parts: Vec<Part>) -> Self {
        let now = Timestamp::now();
        Self {
            name: format!("{}-{suffix}", ground.fleet.name()),
            id: suffix.to_owned(),
            exercise: exercise.name.clone(),
            exercises: ground.exercises.map(Path::to_owned),
            trainee: String::new(),
            kubefleet: ground.fleet.version(),
            provider: ground.fleet.provider().to_owned(),
            started_at: now,
            broken_at: Some(now),
            ends_at: now,
            parts,
            hints: 0,
            answers: Vec::new(),
            checks: 0,
            over: None,
            repaired_at: None,
            resets: 0,
            is_resetting: false,
            verified_on: Some(ground.fleet.name().to_owned()),
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
        let repaired_at = self.repaired_at.unwrap_or_else(Timestamp::now);
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
            seconds_to_repair: (outcome == Outcome::Repaired).then(|| since(repaired_at)).flatten(),
            hints: self.hints,
            wrong_answers: self.answers.iter().filter(|answer| answer.names.is_empty()).count(),
            failed_checks: self.checks - usize::from(outcome == Outcome::Repaired),
            resets: self.resets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StartClaim;

    #[test]
    fn one_process_at_a_time_has_the_claim_to_start() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("red.starting");
        let claim = || StartClaim::lock(path.clone()).expect("it can be locked");
        let first = claim().expect("nobody has it");
        assert!(claim().is_none(), "two have it");
        drop(first);
        assert!(!path.exists(), "its file is left");
        // As a process leaves it that was killed.
        std::fs::write(&path, "").expect("written");
        assert!(claim().is_some(), "a dead process has it");
    }
}
