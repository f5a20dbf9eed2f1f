//! Which versions there are, and getting rid of them.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::ensure::{lock, programs_in};
use super::error::ToolchainError;
use super::event::Progress;
use super::manifest::Manifest;
use super::open::Toolchain;
use super::slot::{Slot, Source, is_safe_name};

/// A version of a component that can be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The component.
    pub component: String,
    /// The version.
    pub version: String,
    /// Where it comes from.
    pub source: Source,
    /// Whether it is the one to use when nobody asked for another.
    pub default: bool,
    /// The programs that it has, built or not.
    pub programs: Vec<String>,
    /// Those that are in the cache. They aren't checked here.
    pub installed: Vec<String>,
    /// The size of what is in the cache, in bytes.
    pub size: u64,
    /// The version's folder in the cache, whether it exists or not.
    pub folder: PathBuf,
}

impl Toolchain {
    /// All versions of all components: first those that can be built, in the cache or not, then those added.
    #[must_use]
    pub fn list(&self) -> Vec<Listed> {
        let mut all = Vec::new();
        for (component, definition) in self.definitions().components() {
            for (version, pinned) in &definition.versions {
                let slot = Slot::pinned(&self.root(), component, version, &pinned.hash());
                let programs = pinned.programs.iter().map(|program| program.name.clone()).collect();
                all.push(listed(&slot, *version == definition.default, programs));
            }
            for version in self.added_versions(component) {
                let slot = Slot::added(&self.root(), component, &version);
                let mut added = listed(&slot, false, Vec::new());
                added.programs.clone_from(&added.installed);
                all.push(added);
            }
        }
        all
    }

    /// Removes a version from the cache, and says how many bytes that freed. A pinned one can be built again.
    ///
    /// # Errors
    /// [`ToolchainError::UnknownVersion`] when it is neither pinned nor there.
    pub async fn remove(&self, component: &str, version: &str, progress: Progress<'_>) -> Result<u64, ToolchainError> {
        let (slot, _) = self.find(component, version)?;
        let _lock = lock(&slot, progress).await?;
        let mut freed = 0;
        // Also what was built from other go.sums, by older or newer fleetdrills.
        for folder in folders(&self.root().join(component)) {
            if folder.file_name().and_then(|name| Slot::parse(name.to_str()?)).is_some_and(|(v, _)| v == version) {
                freed += size_on_disk(&folder);
                fs::remove_dir_all(&folder).map_err(|error| ToolchainError::io("remove", &folder, error))?;
            }
        }
        Ok(freed)
    }

    /// The versions of a component that were added.
    pub(crate) fn added_versions(&self, component: &str) -> Vec<String> {
        if !is_safe_name(component) {
            return Vec::new();
        }
        let mut versions: Vec<String> = folders(&self.root().join(component))
            .iter()
            .filter_map(|folder| Slot::parse(folder.file_name()?.to_str()?))
            .filter(|(_, source)| *source == Source::Added)
            .map(|(version, _)| version.to_owned())
            .collect();
        versions.sort();
        versions
    }
}

fn listed(slot: &Slot, default: bool, programs: Vec<String>) -> Listed {
    let manifest = Manifest::read(&slot.dir).ok().flatten().unwrap_or_else(|| Manifest::empty(slot));
    Listed {
        component: slot.component.clone(),
        version: slot.version.clone(),
        source: slot.source,
        default,
        programs,
        installed: programs_in(&manifest).map(str::to_owned).collect(),
        size: manifest.files.values().map(|checksum| checksum.size).sum(),
        folder: slot.dir.clone(),
    }
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

fn size_on_disk(path: &Path) -> u64 {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .map(
            |entry| {
                if entry.path().is_dir() {
                    size_on_disk(&entry.path())
                } else {
                    entry.metadata().map_or(0, |m| m.len())
                }
            },
        )
        .sum()
}
