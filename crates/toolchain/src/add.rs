//! Registration of programs that a user has built.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::assets::copy_yaml;
use crate::blocking::blocking;
use crate::cache_slot::{CacheSlot, TEMPORARY, is_safe_name, remove_leftovers};
use crate::check_start::{LIMIT, check_start};
use crate::ensure::{lock, refuse_unknown};
use crate::error::ToolchainError;
use crate::event::OnBuildEvent;
use crate::installed::InstalledComponent;
use crate::manifest::{Checksum, VersionManifest};
use crate::toolchain::Toolchain;

/// A version of a component to register, with the user's own programs.
#[derive(Debug, Clone, Default)]
pub struct VersionRegistration {
    /// Name of one of the defined components.
    pub component: String,
    /// Name of the version: letters, digits and `. _ + -`.
    pub version: String,
    /// The programs by name. Names that no pinned version of the component has are refused.
    pub programs: BTreeMap<String, PathBuf>,
    /// Folder with CRDs: each YAML file in it must be a CRD.
    pub crds: Option<PathBuf>,
    /// True to register the version even if a pinned version has the same name. The added version is then used instead.
    pub force: bool,
}

impl Toolchain {
    /// Copies a user's programs and CRDs into the cache, after checking that the programs start and the CRDs are CRDs.
    /// A version that was added earlier under the same name is replaced. If anything is wrong, nothing changes.
    ///
    /// # Errors
    /// Returns [`ToolchainError::IsPinned`], [`ToolchainError::BadSource`], [`ToolchainError::DoesNotStart`],
    /// [`ToolchainError::BadCrds`], or an error of a file operation.
    pub async fn add(
        &self,
        addition: &VersionRegistration,
        progress: OnBuildEvent<'_>,
    ) -> Result<InstalledComponent, ToolchainError> {
        let definition = self.definitions().component(&addition.component)?;
        if !is_safe_name(&addition.version) {
            return Err(ToolchainError::BadName { what: "version", name: addition.version.clone() });
        }
        if definition.versions.contains_key(&addition.version) && !addition.force {
            let (component, version) = (addition.component.clone(), addition.version.clone());
            return Err(ToolchainError::IsPinned { component, version });
        }
        let slot = CacheSlot::added(&self.root(), &addition.component, &addition.version);
        let known = self.program_names(&addition.component);
        let names: Vec<&str> = addition.programs.keys().map(String::as_str).collect();
        refuse_unknown(&slot, &names, known.iter().map(String::as_str))?;

        let _lock = lock(&slot, progress).await?;
        // Beside the version's folder, because that folder is replaced as a whole. `=` can't be part of a version.
        let parent = self.root().join(&addition.component);
        let prefix = format!("{TEMPORARY}{}=", addition.version);
        remove_leftovers(&parent, &prefix);
        let work = tempfile::Builder::new().prefix(&prefix).tempdir_in(&parent);
        let work = work.map_err(|error| ToolchainError::io("write", &slot.dir, error))?;
        let made = work.path().join("new");

        let (job, folder, new) = (addition.clone(), made.clone(), slot.clone());
        let copied = blocking(move || copy(&job, &folder, &new)).await;
        let manifest = copied.map_err(|error| error.needing(size_of(addition)))?;
        for (name, path) in &addition.programs {
            check_start(&made.join("bin").join(name), path, LIMIT).await?;
        }
        swap(&made, &slot.dir, &work.path().join("old"))?;
        Ok(InstalledComponent::new(&slot, &manifest, &names))
    }
}

fn copy(addition: &VersionRegistration, to: &Path, slot: &CacheSlot) -> Result<VersionManifest, ToolchainError> {
    let bin = to.join("bin");
    fs::create_dir_all(&bin).map_err(|error| ToolchainError::io("create", &bin, error))?;
    let mut manifest = VersionManifest::empty(slot);
    for (name, path) in &addition.programs {
        let copy = bin.join(name);
        // Open the program first, so that a missing program isn't reported as an error of the cache.
        check_source(path, fs::Metadata::is_file, "it is not a file")?;
        let failed = ToolchainError::failed_to("write", &copy);
        fs::copy(path, &copy).map_err(&failed)?;
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).map_err(&failed)?;
        manifest.files.insert(format!("bin/{name}"), Checksum::of(&copy).map_err(&failed)?);
    }
    if let Some(crds) = &addition.crds {
        check_source(crds, fs::Metadata::is_dir, "it is not a directory")?;
        let folder = to.join("crds");
        let names = copy_yaml(crds, &folder)?;
        if names.is_empty() {
            return Err(ToolchainError::BadCrds { path: crds.clone(), why: "there is no YAML file in it".into() });
        }
        for name in names {
            let copy = folder.join(&name);
            check_crds(&copy).map_err(|why| ToolchainError::BadCrds { path: crds.join(&name), why })?;
            let checksum = Checksum::of(&copy).map_err(|error| ToolchainError::io("read", &copy, error))?;
            manifest.files.insert(format!("crds/{name}"), checksum);
        }
    }
    manifest.write(to)?;
    Ok(manifest)
}

/// Checks that what the user wants to add can be read and is of the right kind, a file or a directory.
fn check_source(path: &Path, is_right: fn(&fs::Metadata) -> bool, otherwise: &str) -> Result<(), ToolchainError> {
    check_readable(path, is_right, otherwise).map_err(|why| ToolchainError::BadSource { path: path.to_owned(), why })
}

/// Checks that a path can be opened and is of the right kind; the error is the reason.
fn check_readable(path: &Path, is_right: fn(&fs::Metadata) -> bool, otherwise: &str) -> Result<(), String> {
    let metadata = path.metadata().map_err(|error| error.to_string())?;
    // Opening other kinds of files, such as a FIFO, may block.
    if !is_right(&metadata) {
        return Err(otherwise.to_owned());
    }
    fs::File::open(path).map(drop).map_err(|error| error.to_string())
}

/// Puts a folder in the place of another. A process that reads between the two renames finds nothing, waits for the
/// lock, and then finds the new folder.
pub(crate) fn swap(new: &Path, place: &Path, old: &Path) -> Result<(), ToolchainError> {
    let failed = ToolchainError::failed_to("write", place);
    if place.exists() {
        fs::rename(place, old).map_err(&failed)?;
    }
    fs::rename(new, place).map_err(&failed)
}

/// Kind of an object. Nothing else of a CRD is checked here; the API server checks the rest.
#[derive(Deserialize)]
struct YamlObjectKind {
    kind: String,
}

fn check_crds(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let documents: Vec<YamlObjectKind> =
        serde_saphyr::from_multiple(&text).map_err(|error| format!("it isn't a Kubernetes object: {error}"))?;
    match documents.iter().find(|document| document.kind != "CustomResourceDefinition") {
        Some(other) => Err(format!("it holds a {}", other.kind)),
        None if documents.is_empty() => Err("it is empty".into()),
        None => Ok(()),
    }
}

fn size_of(addition: &VersionRegistration) -> u64 {
    addition.programs.values().filter_map(|path| path.metadata().ok()).map(|metadata| metadata.len()).sum()
}
