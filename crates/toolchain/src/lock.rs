//! Lock that keeps two fleetdrill processes from installing the same version at the same time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use crate::error::ToolchainError;

/// Interval between attempts to take the lock. A blocking lock would be quicker, but couldn't be cancelled.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Exclusive lock on a file, held until this value is dropped or the process ends. The file stays: if it were removed,
/// a third process could lock a new file while a second one waits for the old file.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock. Calls `on_wait` with the holder's process id, again whenever the id changes.
    pub async fn acquire(path: &Path, mut on_wait: impl FnMut(Option<u32>)) -> Result<Self, ToolchainError> {
        let failed = ToolchainError::failed_to("lock", path);
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(|error| ToolchainError::io("create", dir, error))?;
        }
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(&failed)?;
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
        // The id is only information for other processes: a full disk must not prevent the work.
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
