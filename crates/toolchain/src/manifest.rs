//! `manifest.json`: the files of an installed version, and their checksums.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{io, thread};

use serde::{Deserialize, Serialize};

use crate::cache_slot::{CacheSlot, TEMPORARY, VersionOrigin};
use crate::error::ToolchainError;

/// The contents of `manifest.json`. A file that isn't in the manifest isn't trusted, whatever the file contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VersionManifest {
    pub component: String,
    pub version: String,
    pub source: VersionOrigin,
    /// Checksums by path relative to the version's folder: `bin/etcd`, `crds/x.yaml`.
    pub files: BTreeMap<String, Checksum>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checksum {
    pub size: u64,
    pub blake3: String,
}

/// A file that doesn't match the manifest.
#[derive(Clone, Debug)]
pub(crate) struct DamagedFile {
    pub file: String,
    pub why: String,
}

impl DamagedFile {
    /// Returns the error about a file of this version.
    pub fn of(self, slot: &CacheSlot) -> ToolchainError {
        ToolchainError::Corrupt {
            component: slot.component.clone(),
            version: slot.version.clone(),
            file: slot.dir.join(&self.file),
            why: self.why,
        }
    }
}

impl VersionManifest {
    /// Name of the manifest's file.
    pub const FILE: &str = "manifest.json";

    pub fn empty(slot: &CacheSlot) -> Self {
        let files = BTreeMap::new();
        Self { component: slot.component.clone(), version: slot.version.clone(), source: slot.source, files }
    }

    /// Reads a folder's manifest; `None` if the folder has none.
    ///
    /// # Errors
    /// Returns the manifest's own damage.
    pub fn read(dir: &Path) -> Result<Option<Self>, DamagedFile> {
        match fs::read(dir.join(Self::FILE)) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| DamagedFile {
                file: Self::FILE.into(),
                why: format!("it isn't a manifest ({error})"),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DamagedFile { file: Self::FILE.into(), why: format!("it can't be read ({error})") }),
        }
    }

    /// Replaces a folder's manifest in one step: readers see either the old manifest or the new one.
    pub fn write(&self, dir: &Path) -> Result<(), ToolchainError> {
        let path = dir.join(Self::FILE);
        let failed = ToolchainError::failed_to("write", &path);
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(dir).map_err(&failed)?;
        // serde_json fails only on maps whose keys aren't strings.
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(error.into()))?;
        writeln!(file, "{text}").map_err(&failed)?;
        // A temporary file has mode 0600, but everyone may read the rest of the cache.
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644)).map_err(&failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// Returns the files directly in a folder such as `bin` or `crds`.
    pub fn files_in(&self, folder: &str) -> impl Iterator<Item = &str> {
        let files = self.files.keys().map(String::as_str);
        files.filter(move |file| file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    }

    /// Compares files with their checksums, on all cores. Blocks until all files are read.
    ///
    /// Files that aren't in the manifest are ignored.
    pub fn damages(&self, dir: &Path, files: &[String]) -> Vec<DamagedFile> {
        let next = AtomicUsize::new(0);
        let found = Mutex::new(Vec::new());
        let work = || {
            while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                let why = self.files.get(file).and_then(|checksum| checksum.mismatch(&dir.join(file)));
                if let Some(why) = why {
                    found.lock().unwrap_or_else(PoisonError::into_inner).push(DamagedFile { file: file.clone(), why });
                }
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from).min(files.len());
        thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Checksum {
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_mmap(path)?;
        Ok(Self { size: hasher.count(), blake3: hasher.finalize().to_hex().to_string() })
    }

    fn mismatch(&self, path: &Path) -> Option<String> {
        match self.compare(path) {
            Ok(None) => None,
            Ok(Some(why)) => Some(why),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some("it is missing".into()),
            Err(error) => Some(format!("it can't be read ({error})")),
        }
    }

    fn compare(&self, path: &Path) -> io::Result<Option<String>> {
        let metadata = File::open(path)?.metadata()?;
        if metadata.len() != self.size {
            return Ok(Some(format!("its size is {} bytes, not {}", metadata.len(), self.size)));
        }
        let is_program = path.parent().is_some_and(|dir| dir.ends_with("bin"));
        if is_program && metadata.permissions().mode() & 0o111 == 0 {
            return Ok(Some("it isn't executable".into()));
        }
        Ok((Self::of(path)? != *self).then(|| "its content has changed".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> (tempfile::TempDir, VersionManifest, Vec<String>) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let slot = CacheSlot::added(dir.path(), "kubernetes", "v1");
        let mut manifest = VersionManifest::empty(&slot);
        let names: Vec<String> = ["crds/a.yaml", "crds/b.yaml", "crds/c.yaml"].map(str::to_owned).into();
        fs::create_dir(dir.path().join("crds")).expect("created");
        for name in &names {
            let path = dir.path().join(name);
            fs::write(&path, name).expect("written");
            manifest.files.insert(name.clone(), Checksum::of(&path).expect("read"));
        }
        (dir, manifest, names)
    }

    #[test]
    fn reads_back_what_it_wrote() {
        let (dir, manifest, _) = example();
        assert!(VersionManifest::read(dir.path()).expect("no error").is_none());
        manifest.write(dir.path()).expect("written");
        assert_eq!(VersionManifest::read(dir.path()).expect("read"), Some(manifest));
        fs::write(dir.path().join(VersionManifest::FILE), "{\"component\":").expect("written");
        assert!(VersionManifest::read(dir.path()).is_err());
    }

    #[test]
    fn finds_each_kind_of_damage() {
        let (dir, manifest, names) = example();
        assert!(manifest.damages(dir.path(), &names).is_empty());
        fs::write(dir.path().join("crds/a.yaml"), "crds/A.yaml").expect("written");
        fs::write(dir.path().join("crds/b.yaml"), "").expect("written");
        fs::remove_file(dir.path().join("crds/c.yaml")).expect("removed");
        let mut damages = manifest.damages(dir.path(), &names);
        damages.sort_by(|a, b| a.file.cmp(&b.file));
        let why: Vec<&str> = damages.iter().map(|damage| damage.why.as_str()).collect();
        assert_eq!(why, ["its content has changed", "its size is 0 bytes, not 11", "it is missing"]);
    }

    #[test]
    fn a_program_must_be_executable() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("bin/x");
        fs::create_dir(dir.path().join("bin")).expect("created");
        fs::write(&path, "x").expect("written");
        assert_eq!(Checksum::of(&path).expect("read").mismatch(&path).as_deref(), Some("it isn't executable"));
    }
}
