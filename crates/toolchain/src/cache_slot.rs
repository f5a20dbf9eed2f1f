//! Place of a component's version in the cache: `<cache>/toolchain/<component>/<version>-<suffix>/`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Suffix of an added version's folder. A pinned version has its hash as the suffix.
const ADDED: &str = "added";

/// Prefix of files and folders that aren't complete yet.
pub(crate) const TEMPORARY: &str = ".tmp-";

/// Origin of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VersionOrigin {
    /// Built from the Go modules that are pinned in the repository.
    Pinned,
    /// Registered by the user with `fleetdrill toolchain add`.
    Added,
}

/// Place of a component's version in the cache, whether the version is there or not.
#[derive(Debug, Clone)]
pub(crate) struct CacheSlot {
    pub component: String,
    pub version: String,
    pub source: VersionOrigin,
    pub dir: PathBuf,
}

impl CacheSlot {
    pub fn pinned(root: &Path, component: &str, version: &str, hash: &str) -> Self {
        Self::new(root, component, version, VersionOrigin::Pinned, hash)
    }

    pub fn added(root: &Path, component: &str, version: &str) -> Self {
        Self::new(root, component, version, VersionOrigin::Added, ADDED)
    }

    fn new(root: &Path, component: &str, version: &str, source: VersionOrigin, suffix: &str) -> Self {
        let dir = root.join(component).join(format!("{version}-{suffix}"));
        Self { component: component.into(), version: version.into(), source, dir }
    }

    /// Path of the lock for this component and version. The lock lies beside the version's folder, because that folder
    /// may be replaced as a whole.
    pub fn lock_file(&self) -> PathBuf {
        self.dir.with_file_name(format!(".{}.lock", self.version))
    }

    /// Name of the version's folder.
    pub fn folder(&self) -> String {
        self.dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the version and source in a folder's name; `None` if the folder isn't one of the toolchain's.
    pub fn parse(folder: &str) -> Option<(&str, VersionOrigin)> {
        let (version, suffix) = folder.rsplit_once('-')?;
        let is_hash = suffix.len() == 12 && suffix.bytes().all(|b| b.is_ascii_hexdigit());
        let source = if suffix == ADDED {
            VersionOrigin::Added
        } else if is_hash {
            VersionOrigin::Pinned
        } else {
            return None;
        };
        is_safe_name(version).then_some((version, source))
    }
}

/// Returns true if a name is safe as a file name: no separators, no leading dot, no special characters of a shell.
pub(crate) fn is_safe_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= 100
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
}

/// Removes the remains of interrupted work from a folder; the caller holds the version's lock.
///
/// Errors are not reported, because remains that can't be removed do no harm.
pub(crate) fn remove_leftovers(dir: &Path, prefix: &str) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            let path = entry.path();
            let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_read_back() {
        let slot = CacheSlot::pinned(Path::new("/c"), "kubefleet", "v0.2.0-rc.1", "0123456789ab");
        assert_eq!(slot.dir, Path::new("/c/kubefleet/v0.2.0-rc.1-0123456789ab"));
        assert_eq!(CacheSlot::parse("v0.2.0-rc.1-0123456789ab"), Some(("v0.2.0-rc.1", VersionOrigin::Pinned)));
        assert_eq!(CacheSlot::parse("mine-added"), Some(("mine", VersionOrigin::Added)));
        for other in [".v1.lock", ".tmp-abc", "v1", "v1-xyz", ".tmp-v1-added"] {
            assert_eq!(CacheSlot::parse(other), None, "{other}");
        }
    }

    #[test]
    fn names_stay_in_their_folder() {
        assert!(is_safe_name("v1.36.3+k3s1"));
        for bad in ["", ".", "..", "../x", "a/b", "-x", "a b", "a;b"] {
            assert!(!is_safe_name(bad), "{bad}");
        }
    }
}
