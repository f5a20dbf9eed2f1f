//! Result of [`Toolchain::ensure`](super::Toolchain::ensure): a component that is ready for use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cache_slot::{CacheSlot, VersionOrigin};
use crate::manifest::VersionManifest;

/// A component whose files were there and undamaged when [`Toolchain::ensure`](super::Toolchain::ensure) returned it.
#[derive(Debug, Clone)]
pub struct InstalledComponent {
    component: String,
    version: String,
    source: VersionOrigin,
    programs: BTreeMap<String, PathBuf>,
    assets: BTreeMap<String, Vec<PathBuf>>,
}

impl InstalledComponent {
    pub(crate) fn new(slot: &CacheSlot, manifest: &VersionManifest, programs: &[&str]) -> Self {
        let mut assets: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for file in manifest.files.keys() {
            if let Some((folder, _)) = file.split_once('/').filter(|(folder, _)| *folder != "bin") {
                assets.entry(folder.to_owned()).or_default().push(slot.dir.join(file));
            }
        }
        Self {
            component: slot.component.clone(),
            version: slot.version.clone(),
            source: slot.source,
            programs: programs.iter().map(|&name| (name.to_owned(), slot.dir.join("bin").join(name))).collect(),
            assets,
        }
    }

    /// The component's name.
    #[must_use]
    pub fn component(&self) -> &str {
        &self.component
    }

    /// The component's version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Origin of the version.
    #[must_use]
    pub fn source(&self) -> VersionOrigin {
        self.source
    }

    /// The path of a program; nothing for a program that [`Toolchain::ensure`](crate::Toolchain::ensure) wasn't asked for.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<&Path> {
        self.programs.get(name).map(PathBuf::as_path)
    }

    /// The YAML files with the component's CRDs, sorted by name; empty if the component has no CRDs.
    #[must_use]
    pub fn crds(&self) -> &[PathBuf] {
        self.asset("crds")
    }

    /// The files of one of the folders that were copied out of the component's modules, sorted by name.
    #[must_use]
    pub fn asset(&self, name: &str) -> &[PathBuf] {
        self.assets.get(name).map_or(&[], Vec::as_slice)
    }
}
