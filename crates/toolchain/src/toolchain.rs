//! Entry point of the toolchain.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etcetera::BaseStrategy;

use crate::cache_slot::{CacheSlot, is_safe_name};
use crate::definition::{ComponentDefinitions, PinnedVersion, nearest};
use crate::error::ToolchainError;

/// Environment variable with the cache folder, if that isn't in the user's usual place.
pub const CACHE_DIR_VARIABLE: &str = "FLEETDRILL_CACHE_DIR";

/// Components in the user's cache folder, and components that can be built into it.
///
/// Cheap to clone. Several processes, and several tasks of one process, may work on one cache at the same time.
#[derive(Debug, Clone)]
pub struct Toolchain {
    cache: PathBuf,
    definitions: Arc<ComponentDefinitions>,
    pub(crate) go: Option<PathBuf>,
}

impl Toolchain {
    /// Opens the toolchain in a cache folder: the given one, else the one in [`CACHE_DIR_VARIABLE`], else `fleetdrill`
    /// in the user's XDG cache folder. Nothing is created yet.
    ///
    /// # Errors
    /// Returns [`ToolchainError::NoCacheDir`] if there is no home directory.
    pub fn open(cache: Option<PathBuf>) -> Result<Self, ToolchainError> {
        let from_environment = env::var_os(CACHE_DIR_VARIABLE).filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let cache = match cache.or(from_environment) {
            Some(cache) => cache,
            None => {
                etcetera::choose_base_strategy().map_err(|_| ToolchainError::NoCacheDir)?.cache_dir().join("fleetdrill")
            }
        };
        // Absolute, because programs are started in folders of their own.
        let cache = std::path::absolute(&cache).map_err(|error| ToolchainError::io("read", &cache, error))?;
        Ok(Self { cache, definitions: Arc::new(ComponentDefinitions::embedded()?), go: None })
    }

    /// Replaces the definitions that were compiled in.
    #[must_use]
    pub fn with_definitions(mut self, definitions: ComponentDefinitions) -> Self {
        self.definitions = Arc::new(definitions);
        self
    }

    /// Replaces the `go` on the PATH by another command.
    #[must_use]
    pub fn with_go(mut self, command: PathBuf) -> Self {
        self.go = Some(command);
        self
    }

    /// The cache folder, in which fleetdrill keeps other files too.
    #[must_use]
    pub fn cache_dir(&self) -> &Path {
        &self.cache
    }

    /// Definitions of what can be built.
    #[must_use]
    pub fn definitions(&self) -> &ComponentDefinitions {
        &self.definitions
    }

    /// Returns the version of a component to use if the user requests none.
    ///
    /// # Errors
    /// Returns [`ToolchainError::UnknownComponent`] if there is no such component.
    pub fn default_version(&self, component: &str) -> Result<&str, ToolchainError> {
        Ok(&self.definitions.component(component)?.default)
    }

    /// Returns the version of another component that a version of a component works with: the default one, unless the definition names
    /// one.
    ///
    /// # Errors
    /// Returns [`ToolchainError::UnknownComponent`] if there is no such component.
    pub fn version_with(&self, (component, version): (&str, &str), other: &str) -> Result<&str, ToolchainError> {
        let pinned = self.definitions.component(component)?.versions.get(version);
        pinned.and_then(|pinned| pinned.with.get(other)).map_or_else(|| self.default_version(other), |named| Ok(named))
    }

    /// Checks that a version of a component exists: a pinned one, which can be built, or an added one.
    ///
    /// # Errors
    /// Returns [`ToolchainError::UnknownComponent`] or [`ToolchainError::UnknownVersion`].
    pub fn check(&self, component: &str, version: &str) -> Result<(), ToolchainError> {
        self.find(component, version).map(drop)
    }

    /// Folder that contains a folder for each component.
    pub(crate) fn root(&self) -> PathBuf {
        self.cache.join("toolchain")
    }

    /// Returns the place of a version and, unless the version was added, how to build it. An added version goes before
    /// a pinned one of the same name, because somebody explicitly asked for it.
    pub(crate) fn find(
        &self,
        component: &str,
        version: &str,
    ) -> Result<(CacheSlot, Option<&PinnedVersion>), ToolchainError> {
        let definition = self.definitions.component(component)?;
        let added = CacheSlot::added(&self.root(), component, version);
        if is_safe_name(version) && added.dir.exists() {
            return Ok((added, None));
        }
        match definition.versions.get(version) {
            Some(pinned) => Ok((CacheSlot::pinned(&self.root(), component, version, &pinned.hash()), Some(pinned))),
            None => Err(self.unknown_version(component, version)),
        }
    }

    pub(crate) fn unknown_version(&self, component: &str, version: &str) -> ToolchainError {
        let mut known: Vec<String> =
            self.definitions.components().get(component).map_or(Vec::new(), |c| c.versions.keys().cloned().collect());
        known.extend(self.added_versions(component));
        known.sort_by_key(|version| crate::definition::numbers(version));
        known.dedup();
        ToolchainError::UnknownVersion {
            component: component.into(),
            version: version.into(),
            nearest: nearest(version, known.iter().map(String::as_str)).map(str::to_owned),
            known,
            programs: self.program_names(component),
        }
    }

    /// Returns the names of all programs that any version of a component has.
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
