//! Where a component's version lies in the cache: `<cache>/toolchain/<component>/<version>-<suffix>/`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The suffix of added versions' folders, where pinned ones have their hash.
const ADDED: &str = "added";

/// Files and folders that are being made have this prefix until they are whole.
pub(crate) const TEMPORARY: &str = ".tmp-";

/// Where an installed version comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Built from the Go modules that are pinned in the repository.
    Pinned,
    /// Registered by the user with `fleetdrill toolchain add`.
    Added,
}

/// One version of one component in the cache, there or not.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub component: String,
    pub version: String,
    pub source: Source,
    pub dir: PathBuf,
}

impl Slot {
    pub fn pinned(root: &Path, component: &str, version: &str, hash: &str) -> Self {
        Self::new(root, component, version, Source::Pinned, hash)
    }

    pub fn added(root: &Path, component: &str, version: &str) -> Self {
        Self::new(root, component, version, Source::Added, ADDED)
    }

    fn new(root: &Path, component: &str, version: &str, source: Source, suffix: &str) -> Self {
        let dir = root.join(component).join(format!("{version}-{suffix}"));
        Self { component: component.into(), version: version.into(), source, dir }
    }

    /// The lock of this component and version. It lies beside the folder, which may be replaced as a whole.
    pub fn lock_file(&self) -> PathBuf {
        self.dir.with_file_name(format!(".{}.lock", self.version))
    }

    /// The version and source that a folder's name stands for; nothing if it isn't one of ours.
    pub fn parse(folder: &str) -> Option<(&str, Source)> {
        let (version, suffix) = folder.rsplit_once('-')?;
        let is_hash = suffix.len() == 12 && suffix.bytes().all(|b| b.is_ascii_hexdigit());
        let source = if suffix == ADDED {
            Source::Added
        } else if is_hash {
            Source::Pinned
        } else {
            return None;
        };
        is_safe_name(version).then_some((version, source))
    }
}

/// Whether a name can be a file name of ours: no separators, no leading dot, nothing that a shell would take apart.
pub(crate) fn is_safe_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= 100
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
}

/// Removes what interrupted work has left in a folder; the caller holds the version's lock.
///
/// Errors are not reported: whatever can't be removed is in nobody's way.
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
        let slot = Slot::pinned(Path::new("/c"), "kubefleet", "v0.2.0-rc.1", "0123456789ab");
        assert_eq!(slot.dir, Path::new("/c/kubefleet/v0.2.0-rc.1-0123456789ab"));
        assert_eq!(Slot::parse("v0.2.0-rc.1-0123456789ab"), Some(("v0.2.0-rc.1", Source::Pinned)));
        assert_eq!(Slot::parse("mine-added"), Some(("mine", Source::Added)));
        for other in [".v1.lock", ".tmp-abc", "v1", "v1-xyz", ".tmp-v1-added"] {
            assert_eq!(Slot::parse(other), None, "{other}");
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
