//! List of the toolchain's versions, and removal of a version from the cache.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cache_slot::{CacheSlot, VersionOrigin, is_safe_name};
use crate::ensure::{lock, programs_in};
use crate::error::ToolchainError;
use crate::event::OnBuildEvent;
use crate::manifest::VersionManifest;
use crate::toolchain::Toolchain;

/// A version of a component that can be used: pinned, or added by the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedVersion {
    /// The component.
    pub component: String,
    /// The version.
    pub version: String,
    /// Origin of the version.
    pub source: VersionOrigin,
    /// True if the version is used when the user requests none.
    pub default: bool,
    /// Programs of the version, built or not.
    pub programs: Vec<String>,
    /// Programs that are in the cache. Their files aren't checked here.
    pub installed: Vec<String>,
    /// Size of the version's files in the cache, in bytes.
    pub size: u64,
    /// The version's folder in the cache, whether it exists or not.
    pub folder: PathBuf,
}

impl Toolchain {
    /// All versions of all components: first the pinned ones, in the cache or not, then the added ones.
    #[must_use]
    pub fn list(&self) -> Vec<ListedVersion> {
        let mut all = Vec::new();
        for (component, definition) in self.definitions().components() {
            for (version, pinned) in &definition.versions {
                let slot = CacheSlot::pinned(&self.root(), component, version, &pinned.hash());
                let programs = pinned.programs.iter().map(|program| program.name.clone()).collect();
                all.push(listed(&slot, *version == definition.default, programs));
            }
            for version in self.added_versions(component) {
                let slot = CacheSlot::added(&self.root(), component, &version);
                let mut added = listed(&slot, false, Vec::new());
                added.programs.clone_from(&added.installed);
                all.push(added);
            }
        }
        all
    }

    /// Removes a version from the cache and returns the number of bytes that were freed. A pinned version can be built
    /// again.
    ///
    /// # Errors
    /// Returns [`ToolchainError::UnknownVersion`] if the version is neither pinned nor added.
    pub async fn remove(
        &self,
        component: &str,
        version: &str,
        progress: OnBuildEvent<'_>,
    ) -> Result<u64, ToolchainError> {
        let (slot, _) = self.find(component, version)?;
        let _lock = lock(&slot, progress).await?;
        let mut freed = 0;
        // Also remove builds from other go.sum files, made by older or newer releases of fleetdrill.
        for folder in folders(&self.root().join(component)) {
            if folder.file_name().and_then(|name| CacheSlot::parse(name.to_str()?)).is_some_and(|(v, _)| v == version) {
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
            .filter_map(|folder| CacheSlot::parse(folder.file_name()?.to_str()?))
            .filter(|(_, source)| *source == VersionOrigin::Added)
            .map(|(version, _)| version.to_owned())
            .collect();
        versions.sort();
        versions
    }
}

fn listed(slot: &CacheSlot, default: bool, programs: Vec<String>) -> ListedVersion {
    let manifest = VersionManifest::read(&slot.dir).ok().flatten().unwrap_or_else(|| VersionManifest::empty(slot));
    ListedVersion {
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
