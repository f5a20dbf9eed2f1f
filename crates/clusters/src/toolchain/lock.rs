//! The lock that keeps two fleetdrills from installing the same version at once.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use super::error::ToolchainError;

/// How often a waiting fleetdrill looks again. A blocking lock would be quicker, but couldn't be cancelled.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// An exclusive lock on a file, held until it is dropped or the process ends. The file stays: removing it would
/// let a third process lock a new file while a second one waits for the old.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock; tells `on_wait` whom it waits for, again whenever that changes.
    pub async fn acquire(path: &Path, mut on_wait: impl FnMut(Option<u32>)) -> Result<Self, ToolchainError> {
        let failed = |error| ToolchainError::io("lock", path, error);
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(|error| ToolchainError::io("create", dir, error))?;
        }
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        let mut told = None;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) => {
                    let holder = read_pid(&mut file);
                    if told != Some(holder) {
                        on_wait(holder);
                        told = Some(holder);
                    }
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
            }
        }
        // The id is information for others only, so that a full disk doesn't keep anyone from working.
        let _ = write_pid(&mut file);
        Ok(Self { _file: file })
    }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn write_pid(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    writeln!(file, "{}", std::process::id())
}
