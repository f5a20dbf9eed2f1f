//! Definitions of what can be built: components, their pinned versions, and the programs and assets of each version.
//!
//! The data is `toolchain/components.yaml`, with a `go.mod` and a `go.sum` for each version beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use include_dir::{Dir, include_dir};
use serde::Deserialize;

use crate::error::ToolchainError;

// Compiled in, so that an installed fleetdrill needs no checkout.
static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../toolchain");

/// All components that can be built.
#[derive(Debug, Clone)]
pub struct ComponentDefinitions {
    components: BTreeMap<String, Component>,
}

/// A component, such as `kubernetes` or `kubefleet`, and its pinned versions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// Version to use if the user requests none.
    pub default: String,
    /// Pinned versions by name.
    pub versions: BTreeMap<String, PinnedVersion>,
}

/// A pinned version of a component, with everything that is needed to build it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedVersion {
    /// Programs, in the order in which they are built.
    pub programs: Vec<Program>,
    /// Folders to copy out of a module.
    #[serde(default)]
    pub assets: Vec<Asset>,
    /// Versions of other components that this version works with, by component. The default version where there is none.
    #[serde(default)]
    pub with: BTreeMap<String, String>,
    /// Disk space that a build from nothing takes, Go's caches included, in MiB.
    pub disk_mib: u64,
    #[serde(skip)]
    pub(crate) go_mod: String,
    #[serde(skip)]
    pub(crate) go_sum: String,
}

/// A program of a component.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// File name of the program.
    pub name: String,
    /// Go package from which the program is built.
    pub package: String,
    /// Value for `go build -ldflags`.
    #[serde(default)]
    pub ldflags: String,
}

/// A folder that is copied out of a Go module.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asset {
    /// The name of the copy, such as `crds`.
    pub name: String,
    /// The module's path.
    pub module: String,
    /// The folder inside the module.
    pub folder: String,
}

impl ComponentDefinitions {
    /// The definitions that were compiled in.
    ///
    /// # Errors
    /// Returns [`ToolchainError::Definition`] if the definitions are wrong, which the tests of this module rule out.
    pub fn embedded() -> Result<Self, ToolchainError> {
        Self::read(|path| EMBEDDED.get_file(path).and_then(|file| file.contents_utf8()).map(str::to_owned))
    }

    /// The definitions in a folder that looks like the repository's `toolchain/`.
    ///
    /// # Errors
    /// Returns [`ToolchainError::Definition`] if a file is missing or doesn't parse.
    pub fn from_folder(folder: &Path) -> Result<Self, ToolchainError> {
        Self::read(|path| std::fs::read_to_string(folder.join(path)).ok())
    }

    fn read(file: impl Fn(&str) -> Option<String>) -> Result<Self, ToolchainError> {
        let mut components: BTreeMap<String, Component> =
            serde_saphyr::from_str(&text_of(&file, "components.yaml")?)
                .map_err(|error| bad_definition("components.yaml", error.to_string()))?;
        for (name, component) in &mut components {
            if !component.versions.contains_key(&component.default) {
                return Err(bad_definition("components.yaml", format!("{name} has no version {}", component.default)));
            }
            for (version, pinned) in &mut component.versions {
                pinned.go_mod = text_of(&file, &format!("{name}/{version}/go.mod"))?;
                pinned.go_sum = text_of(&file, &format!("{name}/{version}/go.sum"))?;
            }
        }
        let definitions = Self { components };
        for pinned in definitions.components.values().flat_map(|component| component.versions.values()) {
            for (name, version) in &pinned.with {
                if !definitions.component(name)?.versions.contains_key(version) {
                    return Err(bad_definition("components.yaml", format!("{name} has no version {version}")));
                }
            }
        }
        Ok(definitions)
    }

    /// The components by name.
    #[must_use]
    pub fn components(&self) -> &BTreeMap<String, Component> {
        &self.components
    }

    /// The component of this name.
    ///
    /// # Errors
    /// Returns [`ToolchainError::UnknownComponent`], which lists the known components.
    pub fn component(&self, name: &str) -> Result<&Component, ToolchainError> {
        self.components.get(name).ok_or_else(|| ToolchainError::UnknownComponent {
            component: name.into(),
            known: self.components.keys().cloned().collect(),
        })
    }
}

impl PinnedVersion {
    /// The program of this name.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<&Program> {
        self.programs.iter().find(|program| program.name == name)
    }

    /// The oldest Go that can build this version, such as `1.26.0`: the `go` line of the version's `go.mod`.
    pub(crate) fn needed_go(&self) -> &str {
        self.go_mod.lines().find_map(|line| line.strip_prefix("go ")).map_or("1.21", str::trim)
    }

    /// Returns twelve hex digits that change whenever the result of a build changes.
    ///
    /// The machine's architecture is part of the hash, because home directories are sometimes shared between machines.
    pub(crate) fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        // A set: a program that is defined later with the same flags must not make the programs built so far obsolete.
        let flags: BTreeSet<&str> = self.programs.iter().map(|program| program.ldflags.as_str()).collect();
        let assets = self.assets.iter().flat_map(|asset| [&*asset.name, &*asset.module, &*asset.folder]);
        let machine = [std::env::consts::OS, std::env::consts::ARCH];
        for part in machine.into_iter().chain([&*self.go_mod, &*self.go_sum]).chain(flags).chain(assets) {
            hasher.update(part.as_bytes()).update(&[0]);
        }
        hasher.finalize().to_hex()[..12].to_owned()
    }
}

/// Returns the version in `known` that the user most likely meant: the same leading numbers, then the smallest
/// distance.
pub(crate) fn nearest<'a>(version: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = numbers(version);
    known.into_iter().min_by_key(|candidate| {
        let candidate = numbers(candidate);
        let length = wanted.len().max(candidate.len());
        (0..length)
            .map(|index| {
                let wanted = wanted.get(index).copied().unwrap_or(0);
                wanted.abs_diff(candidate.get(index).copied().unwrap_or(0))
            })
            .collect::<Vec<_>>()
    })
}

/// Returns the text of a file of the definitions.
fn text_of(file: &impl Fn(&str) -> Option<String>, path: &str) -> Result<String, ToolchainError> {
    file(path).ok_or_else(|| bad_definition(path, "it can't be read".into()))
}

fn bad_definition(file: &str, why: String) -> ToolchainError {
    ToolchainError::Definition { file: file.into(), why }
}

/// Returns the numbers in a version: `v1.26.0-rc.1` gives 1, 26, 0, 1.
pub(crate) fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_definitions_match_the_folders() {
        let definitions = ComponentDefinitions::embedded().expect("the embedded definitions parse");
        let defined: BTreeSet<String> = definitions
            .components()
            .iter()
            .flat_map(|(name, component)| component.versions.keys().map(move |version| format!("{name}/{version}")))
            .collect();
        let folders: BTreeSet<String> =
            EMBEDDED.dirs().flat_map(Dir::dirs).map(|version| version.path().display().to_string()).collect();
        assert_eq!(defined, folders, "components.yaml and the folders beside it name the same versions");
    }

    #[test]
    fn every_program_is_a_tool_of_its_module() {
        for component in ComponentDefinitions::embedded().expect("parses").components().values() {
            for pinned in component.versions.values() {
                assert!(pinned.programs.iter().all(|program| pinned.go_mod.contains(&program.package)));
                assert!(pinned.assets.iter().all(|asset| pinned.go_mod.contains(&asset.module)));
                assert!(numbers(pinned.needed_go()) >= vec![1, 21]);
            }
        }
    }

    #[test]
    fn kubernetes_is_stamped() {
        let definitions = ComponentDefinitions::embedded().expect("parses");
        let pinned = &definitions.component("kubernetes").expect("is there").versions["v1.36.3"];
        let flags = &pinned.program("kube-apiserver").expect("is there").ldflags;
        assert_eq!(
            flags,
            "-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36 -X k8s.io/component-base/version.gitTreeState=clean -X k8s.io/component-base/version.gitCommit=0000000000000000000000000000000000000000 -X k8s.io/component-base/version.buildDate=2026-01-01T00:00:00Z"
        );
    }

    #[test]
    fn the_hash_follows_what_is_built() {
        let definitions = ComponentDefinitions::embedded().expect("parses");
        let pinned = &definitions.component("kubefleet").expect("is there").versions["v0.1.2"];
        let mut other = pinned.clone();
        assert_eq!(pinned.hash(), other.hash());
        other.go_sum.push('x');
        assert_ne!(pinned.hash(), other.hash());
        let mut other = pinned.clone();
        other.programs[0].ldflags.clear();
        assert_ne!(pinned.hash(), other.hash());
    }

    #[test]
    fn the_nearest_version_shares_the_leading_numbers() {
        let known = ["v0.1.2", "v0.14.0", "v1.36.3"];
        for (wanted, expected) in
            [("v0.2.0", "v0.1.2"), ("0.14", "v0.14.0"), ("v1.37.0", "v1.36.3"), ("v0.13.9", "v0.14.0")]
        {
            assert_eq!(nearest(wanted, known), Some(expected), "nearest to {wanted}");
        }
        assert_eq!(nearest("v1", []), None);
    }
}
