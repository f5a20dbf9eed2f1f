//! Claims to start an exercise, so that two starts of one name don't meet.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::error::CommandError;

/// Exclusive right to start an exercise under a name. One process holds it until it drops it or dies: the lock on the
/// file ends with the process.
#[derive(Debug)]
pub struct StartClaim {
    path: PathBuf,
    /// Locked file.
    file: File,
}

impl StartClaim {
    /// Takes the claim of a file; none where another process has it.
    ///
    /// # Errors
    /// Returns an error if the file can't be made or locked.
    pub(super) fn lock(path: PathBuf) -> Result<Option<Self>, CommandError> {
        loop {
            let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
            let file = file.map_err(|error| failed("opened", &path, error))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(failed("locked", &path, error)),
            }
            // The previous holder may have removed the file after this process had opened it.
            if std::fs::metadata(&path).is_ok_and(|there| file.metadata().is_ok_and(|own| own.ino() == there.ino())) {
                return Ok(Some(Self { path, file }));
            }
        }
    }
}

impl Drop for StartClaim {
    fn drop(&mut self) {
        // The file is removed while it is locked, so that no other process holds it.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

/// True if another process holds the claim of an open file.
pub(super) fn is_held(file: &File) -> bool {
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Reports what couldn't be done with a file.
pub(super) fn failed(action: &str, path: &Path, why: impl std::fmt::Display) -> CommandError {
    CommandError::Environment { message: format!("{} can't be {action}: {why}", path.display()), hint: None }
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
        // A killed process leaves the file, but not the lock.
        std::fs::write(&path, "").expect("written");
        assert!(claim().is_some(), "a dead process has it");
    }
}
