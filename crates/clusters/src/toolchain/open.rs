//! The toolchain as callers hold it.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etcetera::BaseStrategy;

use super::definition::{Definitions, Pinned, nearest};
use super::error::ToolchainError;
use super::slot::{Slot, is_safe_name};

/// The environment variable that says where the cache is, when it isn't in the user's usual place.
pub const CACHE_DIR_VARIABLE: &str = "FLEETDRILL_CACHE_DIR";

/// The components in the user's cache folder, and those that can be built into it.
///
/// Cheap to clone. Several processes, and several tasks of one process, may work on one cache at the same time.
#[derive(Debug, Clone)]
pub struct Toolchain {
    cache: PathBuf,
    definitions: Arc<Definitions>,
    pub(crate) go: Option<PathBuf>,
}

impl Toolchain {
    /// Opens the toolchain in a cache folder: the given one, else the one in [`CACHE_DIR_VARIABLE`], else
    /// `fleetdrill` in the user's XDG cache folder. Nothing is created yet.
    ///
    /// # Errors
    /// [`ToolchainError::NoCacheDir`] when there is no home directory.
    pub fn open(cache: Option<PathBuf>) -> Result<Self, ToolchainError> {
        let from_environment = || env::var_os(CACHE_DIR_VARIABLE).filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let usual = || Ok(etcetera::choose_base_strategy()?.cache_dir().join("fleetdrill"));
        let cache = cache.or_else(from_environment).map_or_else(usual, Ok);
        let cache = cache.map_err(|_: etcetera::HomeDirError| ToolchainError::NoCacheDir)?;
        // Absolute, because programs are started in folders of their own.
        let cache = std::path::absolute(&cache).map_err(|error| ToolchainError::io("read", &cache, error))?;
        Ok(Self { cache, definitions: Arc::new(Definitions::embedded()?), go: None })
    }

    /// Uses other definitions than those that were compiled in.
    #[must_use]
    pub fn with_definitions(mut self, definitions: Definitions) -> Self {
        self.definitions = Arc::new(definitions);
        self
    }

    /// Uses another command than the `go` on the PATH.
    #[must_use]
    pub fn with_go(mut self, command: PathBuf) -> Self {
        self.go = Some(command);
        self
    }

    /// The cache folder, shared with whatever else fleetdrill keeps there.
    #[must_use]
    pub fn cache_dir(&self) -> &Path {
        &self.cache
    }

    /// What can be built.
    #[must_use]
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// The version of a component to use when nobody asked for another.
    ///
    /// # Errors
    /// [`ToolchainError::UnknownComponent`].
    pub fn default_version(&self, component: &str) -> Result<&str, ToolchainError> {
        Ok(&self.definitions.component(component)?.default)
    }

    /// Whether a version of a component can be had: one that can be built, or one that was added.
    ///
    /// # Errors
    /// [`ToolchainError::UnknownComponent`], [`ToolchainError::UnknownVersion`].
    pub fn check(&self, component: &str, version: &str) -> Result<(), ToolchainError> {
        self.find(component, version).map(drop)
    }

    /// The folder with a folder for each component.
    pub(crate) fn root(&self) -> PathBuf {
        self.cache.join("toolchain")
    }

    /// Where a version lies, and how to build it unless it was added. An added one goes before a pinned one of the
    /// same name: that was somebody's explicit wish.
    pub(crate) fn find(&self, component: &str, version: &str) -> Result<(Slot, Option<&Pinned>), ToolchainError> {
        let definition = self.definitions.component(component)?;
        let added = Slot::added(&self.root(), component, version);
        if is_safe_name(version) && added.dir.exists() {
            return Ok((added, None));
        }
        match definition.versions.get(version) {
            Some(pinned) => Ok((Slot::pinned(&self.root(), component, version, &pinned.hash()), Some(pinned))),
            None => Err(self.unknown_version(component, version)),
        }
    }

    pub(crate) fn unknown_version(&self, component: &str, version: &str) -> ToolchainError {
        let mut known: Vec<String> =
            self.definitions.components().get(component).map_or(Vec::new(), |c| c.versions.keys().cloned().collect());
        known.extend(self.added_versions(component));
        known.sort_by_key(|version| super::definition::numbers(version));
        known.dedup();
        ToolchainError::UnknownVersion {
            component: component.into(),
            version: version.into(),
            nearest: nearest(version, known.iter().map(String::as_str)).map(str::to_owned),
            known,
            programs: self.program_names(component),
        }
    }

    /// The names of all programs that any version of a component has.
    pub(crate) fn program_names(&self, component: &str) -> Vec<String> {
        let versions = self.definitions.components().get(component).into_iter().flat_map(|c| c.versions.values());
        let mut names = Vec::new();
        for program in versions.flat_map(|pinned| &pinned.programs) {
            if !names.contains(&program.name) {
                names.push(program.name.clone());
            }
        }
        names
    }
}
