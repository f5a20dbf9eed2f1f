//! The directory in which fleets live while they are up: one directory each, gone when the fleet is.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

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

/// The names of the fleets that are up. What fleets left behind whose keeper died is removed on the way.
///
/// # Errors
/// When the directory can't be read.
pub fn fleets() -> Result<Vec<String>, ClusterError> {
    let root = root()?;
    let mut names = Vec::new();
    for entry in fs::read_dir(&root).map_err(ClusterError::io("read", &root))?.flatten() {
        let dir = entry.path();
        if !dir.is_dir() {
            continue;
        }
        if is_alive(&dir) {
            names.extend(dir.file_name().and_then(|n| n.to_str()).map(ToOwned::to_owned));
        } else {
            fs::remove_dir_all(&dir).map_err(ClusterError::io("remove", &dir))?;
        }
    }
    names.sort();
    Ok(names)
}

/// Whether a keeper holds the fleet in `dir`: it keeps a lock for as long as it lives.
#[must_use]
pub fn is_alive(dir: &Path) -> bool {
    match File::open(dir.join(LOCK)) {
        // A lock that can be taken is nobody's.
        Ok(lock) => matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)),
        // A fleet that is just being made has a directory first and a lock a moment later.
        Err(_) => fs::metadata(dir)
            .and_then(|m| m.modified())
            .is_ok_and(|made| made.elapsed().is_ok_and(|age| age.as_secs() < 10)),
    }
}

/// Waits until nothing is left of the fleet `name`, for at most ten seconds: its keeper ends it when its owner has let
/// go.
pub async fn wait_until_gone(name: &str) {
    let Ok(dir) = fleet(name) else { return };
    for _ in 0..200 {
        if !dir.exists() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

/// The lock file's name in a fleet's directory.
pub(crate) const LOCK: &str = "keeper.lock";

/// Makes a directory, and what leads to it, that only its owner may enter.
pub(crate) fn make_private(dir: &Path) -> Result<(), ClusterError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(ClusterError::io("make", dir))
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
