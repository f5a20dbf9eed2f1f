//! The directory in which fleets live while they are up: one directory each, gone when the fleet is.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use etcetera::BaseStrategy;

use crate::error::ClusterError;

/// The directory that holds all fleets of this user: `FLEETDRILL_STATE_DIR`, else `fleetdrill` in the XDG state
/// directory. It is made when it isn't there.
///
/// # Errors
/// When it can't be made.
pub fn root() -> Result<PathBuf, ClusterError> {
    let root = match std::env::var_os("FLEETDRILL_STATE_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => match etcetera::base_strategy::choose_base_strategy() {
            Ok(dirs) => dirs.state_dir().unwrap_or_else(|| dirs.data_dir()).join("fleetdrill"),
            Err(_) => std::env::temp_dir().join("fleetdrill"),
        },
    };
    // Absolute, because processes are started in directories of their own.
    let root = std::path::absolute(&root).map_err(ClusterError::io("find", &root))?;
    make_private(&root)?;
    Ok(root)
}

/// The directory of the fleet `name`, which need not exist.
///
/// # Errors
/// When the name can't be a fleet's.
pub fn fleet(name: &str) -> Result<PathBuf, ClusterError> {
    check_name(name)?;
    Ok(root()?.join(name))
}

/// The names of the fleets that are up. What fleets left behind whose keeper died is removed on the way; what isn't a
/// fleet's is left alone, since anybody may have pointed `FLEETDRILL_STATE_DIR` at a directory with other things in it.
///
/// # Errors
/// When the directory can't be read.
pub fn fleets() -> Result<Vec<String>, ClusterError> {
    let root = root()?;
    let mut names = Vec::new();
    for entry in fs::read_dir(&root).map_err(ClusterError::io("read", &root))?.flatten() {
        let dir = entry.path();
        match holder(&dir) {
            // The lock is held until the directory is gone, so that no keeper comes to life in it.
            Holder::Dead(_lock) => remove(&dir).map_err(ClusterError::io("remove", &dir))?,
            Holder::Keeper | Holder::Starting => {
                let name = dir.file_name().and_then(|n| n.to_str()).filter(|n| check_name(n).is_ok());
                names.extend(name.map(ToOwned::to_owned));
            }
            Holder::NoFleet => {}
        }
    }
    names.sort();
    Ok(names)
}

/// Whether a keeper holds the fleet in `dir`, or is about to.
#[must_use]
pub fn is_alive(dir: &Path) -> bool {
    matches!(holder(dir), Holder::Keeper | Holder::Starting)
}

/// Who holds a fleet's directory.
enum Holder {
    /// Its keeper, which keeps a lock for as long as it lives.
    Keeper,
    /// Nobody yet: the directory was made a moment ago.
    Starting,
    /// Nobody any more. The lock is ours now.
    Dead(File),
    /// It isn't a fleet's directory.
    NoFleet,
}

fn holder(dir: &Path) -> Holder {
    let Ok(lock) = OpenOptions::new().read(true).write(true).open(dir.join(LOCK)) else { return Holder::NoFleet };
    // A lock file stays empty until the keeper has it. It isn't tried before that, or the keeper might be refused.
    let fresh = lock.metadata().is_ok_and(|lock| {
        let age = lock.modified().ok().and_then(|made| made.elapsed().ok()).unwrap_or_default();
        lock.len() == 0 && age < START_LIMIT
    });
    if fresh {
        return Holder::Starting;
    }
    let dying = Instant::now() + DYING;
    loop {
        match lock.try_lock() {
            Ok(()) => return Holder::Dead(lock),
            Err(TryLockError::WouldBlock) if is_dying(dir) && Instant::now() < dying => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => return Holder::Keeper,
            // It can't be told here (no locks on this file system, say), and removing a living fleet would be worse.
            Err(TryLockError::Error(_)) => return Holder::Starting,
        }
    }
}

/// Whether the keeper whose id is in the lock file was killed and hasn't let go of its files yet: a process loses its memory,
/// and with it its command line, before the kernel closes them.
fn is_dying(dir: &Path) -> bool {
    let keeper = fs::read_to_string(dir.join(LOCK)).unwrap_or_default();
    !keeper.is_empty() && fs::read(format!("/proc/{}/cmdline", keeper.trim())).is_ok_and(|line| line.is_empty())
}

/// How long a keeper that was killed may take to die.
const DYING: Duration = Duration::from_secs(5);

/// How long a keeper may take from the making of its directory until it has its lock.
const START_LIMIT: Duration = Duration::from_secs(10);

/// Waits until nothing is left of the fleet `name` and of those beside it ([`beside`]): keepers end them when their owner has
/// let go.
pub async fn wait_until_gone(name: &str) {
    for name in beside(name) {
        one_is_gone(&name).await;
    }
    one_is_gone(name).await;
}

/// The fleets that were started beside the fleet `name`, whose names begin with its name and a hyphen.
#[must_use]
pub fn beside(name: &str) -> Vec<String> {
    let mut fleets = fleets().unwrap_or_default();
    fleets.retain(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')));
    fleets
}

async fn one_is_gone(name: &str) {
    let Ok(dir) = fleet(name) else { return };
    let end = End::of(&dir);
    for _ in 0..1400 {
        if end.is_reached() {
            return;
        }
        if dir.exists() && !is_alive(&dir) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Its keeper was killed, too: this removes what is left.
    let _ = fleets();
}

/// Tells when a fleet has ended: its directory is gone, and its keeper's process, which outlives the directory by a moment.
pub(crate) struct End {
    dir: PathBuf,
    lock: Option<File>,
}

impl End {
    /// Of a fleet that may be up.
    pub(crate) fn of(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), lock: File::open(dir.join(LOCK)).ok() }
    }

    /// A keeper's lock is released when its process ends.
    pub(crate) fn is_reached(&self) -> bool {
        !self.dir.exists() && self.lock.as_ref().is_none_or(|lock| lock.try_lock_shared().is_ok())
    }
}

/// The lock file's name in a fleet's directory.
pub(crate) const LOCK: &str = "keeper.lock";

/// Makes a new fleet's directory, with its lock file in it from the first moment on.
pub(crate) fn create(dir: &Path) -> Result<(), ClusterError> {
    let root = dir.parent().unwrap_or(dir);
    make_private(root)?;
    let new = tempfile::Builder::new().prefix(".new-").permissions(fs::Permissions::from_mode(0o700)).tempdir_in(root);
    let new = new.map_err(ClusterError::io("make", dir))?;
    let lock = new.path().join(LOCK);
    OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(&lock)
        .map_err(ClusterError::io("write", &lock))?;
    match fs::rename(new.path(), dir) {
        Ok(()) => {
            let _ = new.keep();
            Ok(())
        }
        Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {
            Err(ClusterError::FleetExists(dir.file_name().unwrap_or_default().to_string_lossy().into_owned()))
        }
        Err(error) => Err(ClusterError::io("make", dir)(error)),
    }
}

/// Removes a fleet's directory. What was killed a moment ago may still make a file in it; then it is tried again.
pub(crate) fn remove(dir: &Path) -> std::io::Result<()> {
    let mut tries = 0;
    loop {
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(_) if tries < 50 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            result => return result,
        }
    }
}

/// Makes a directory, and what leads to it, that only its owner may enter.
pub fn make_private(dir: &Path) -> Result<(), ClusterError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(ClusterError::io("make", dir))
}

/// Writes a file that only its owner may read.
///
/// # Errors
/// When it can't be written.
pub fn write_private(path: &Path, text: &str) -> Result<(), ClusterError> {
    let file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path);
    file.and_then(|mut f| f.write_all(text.as_bytes())).map_err(ClusterError::io("write", path))
}

/// Checks a fleet's or cluster's name: it becomes part of paths, of host names and of label values.
///
/// # Errors
/// When it isn't made of lower-case letters, digits and dashes, starts with no letter or has more than 40 characters.
pub fn check_name(name: &str) -> Result<(), ClusterError> {
    let good = name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if good { Ok(()) } else { Err(ClusterError::BadName(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn names_are_safe_in_paths_and_labels() {
        for good in ["default", "a", "run-1f3k", &"a".repeat(40)] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "1a", "A", "a/b", "..", "a_b", "a-", "ü", &"a".repeat(41)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
