//! What callers get for a component that is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::manifest::Manifest;
use super::slot::{Slot, Source};

/// A component whose files were there and whole when it was handed out.
#[derive(Debug, Clone)]
pub struct Installed {
    component: String,
    version: String,
    source: Source,
    programs: BTreeMap<String, PathBuf>,
    assets: BTreeMap<String, Vec<PathBuf>>,
}

impl Installed {
    pub(crate) fn new(slot: &Slot, manifest: &Manifest, programs: &[&str]) -> Self {
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

    /// Where it comes from.
    #[must_use]
    pub fn source(&self) -> Source {
        self.source
    }

    /// The path of a program; nothing for a program that [`Toolchain::ensure`](super::Toolchain::ensure) wasn't asked for.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<&Path> {
        self.programs.get(name).map(PathBuf::as_path)
    }

    /// The YAML files with the component's CRDs, sorted by name; none if it has no CRDs.
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
