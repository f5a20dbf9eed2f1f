//! Reads from a bundle what a diagnosis needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use diagnosis::{ClusterSnapshot, ObjectList, Snapshot, SnapshotRole, UnreadKind, UnreadReason};
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::BundleError;
use super::file;
use super::limit::{Budget, CappedReader, SizeLimit};
use super::manifest::{BundleClusterEntry, BundleManifest, KIND, MissingBundlePart, SCHEMA, lacking};

use crate::kinds;

/// The part of a bundle that a diagnosis reads.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedBundle {
    /// The table of contents.
    pub manifest: BundleManifest,
    /// Objects and logs, as a snapshot.
    pub snapshot: Snapshot,
    path: PathBuf,
}

/// Fields that every version of `bundle.json` has.
#[derive(Deserialize)]
struct Header {
    bundle: String,
    schema: u32,
    #[serde(default)]
    fleetdrill: String,
}

impl LoadedBundle {
    /// Reads a directory or a `.tar.gz` file. Blocks the thread.
    ///
    /// # Errors
    /// Returns an error if the file is no bundle, a newer fleetdrill wrote the bundle, a part of it is missing, or it
    /// is larger than the limit.
    pub fn read(path: &Path, limit: SizeLimit) -> Result<Self, BundleError> {
        let budget = &mut Budget::new(path, limit);
        let mut files = BundleStorage::open(path, budget)?;
        let text = files.take(file::MANIFEST, budget)?.ok_or_else(|| not_a_bundle(path, "it has no bundle.json"))?;
        budget.count_values(&text)?;
        let header: Header = parsed(path, file::MANIFEST, &text)?;
        if header.bundle != KIND {
            return Err(not_a_bundle(path, "its bundle.json is another program's"));
        }
        if header.schema > SCHEMA {
            let Header { schema, fleetdrill, .. } = header;
            return Err(BundleError::Newer { path: path.to_owned(), schema, fleetdrill });
        }
        let manifest: BundleManifest = parsed(path, file::MANIFEST, &text)?;
        apart(path, &manifest.clusters)?;
        let mut clusters = Vec::new();
        for entry in &manifest.clusters {
            clusters.push(cluster(path, &mut files, entry, &manifest.missing, budget)?);
        }
        let snapshot = Snapshot { taken_at: manifest.taken_at, clusters };
        Ok(Self { manifest, snapshot, path: path.to_owned() })
    }

    /// Checks that everything is there that a diagnosis needs. Without it the diagnosis would draw wrong conclusions.
    ///
    /// # Errors
    /// Returns an error if the hub, or a needed list of the hub's objects, couldn't be read when the bundle was taken.
    pub fn check(&self) -> Result<(), BundleError> {
        if self.snapshot.hub().is_none() {
            return Err(not_a_bundle(&self.path, "it has no hub"));
        }
        match lacking(&self.snapshot, &self.manifest.missing) {
            Some((what, why)) => Err(BundleError::Incomplete { path: self.path.clone(), what, why: why.to_owned() }),
            None => Ok(()),
        }
    }
}

/// Checks that there is at most one hub, and that no two clusters have the same name or directory.
fn apart(path: &Path, clusters: &[BundleClusterEntry]) -> Result<(), BundleError> {
    let hubs = clusters.iter().filter(|cluster| cluster.role == SnapshotRole::Hub).count();
    if hubs > 1 {
        return Err(not_a_bundle(path, &format!("it has {hubs} hubs")));
    }
    let (mut names, mut directories) = (BTreeSet::new(), BTreeSet::new());
    for BundleClusterEntry { name, directory, .. } in clusters {
        if !names.insert(name) {
            return Err(not_a_bundle(path, &format!("it has two clusters of the name `{name}`")));
        }
        if !directories.insert(directory) {
            return Err(not_a_bundle(path, &format!("two of its clusters have the directory `{directory}`")));
        }
    }
    Ok(())
}

fn cluster(
    path: &Path,
    files: &mut BundleStorage,
    entry: &BundleClusterEntry,
    missing: &[MissingBundlePart],
    budget: &mut Budget,
) -> Result<ClusterSnapshot, BundleError> {
    // A bundle comes from elsewhere; its paths must not lead outside of it.
    let mut parts = Path::new(&entry.directory).components();
    if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
        return Err(not_a_bundle(path, &format!("`{}` is no cluster's directory", entry.directory)));
    }
    let file = file::of_cluster(&entry.directory, file::OBJECTS);
    let text = files.take(&file, budget)?.ok_or_else(|| truncated(path, format!("{file} is missing")))?;
    budget.count_values(&text)?;
    let objects: ObjectList = parsed(path, &file, &text)?;
    budget.count_objects(objects.len())?;
    if objects.len() != entry.objects {
        return Err(truncated(path, format!("{file} has {} objects instead of {}", objects.len(), entry.objects)));
    }
    // Bundles of an older fleetdrill have no logs.json, and a person who passes a bundle on may delete the file.
    let file = file::of_cluster(&entry.directory, file::LOGS);
    let logs = files.take(&file, budget)?.map(|text| parsed(path, &file, &text)).transpose()?.unwrap_or_default();
    let BundleClusterEntry { name, role, server, time, unreachable, mut unread, .. } = entry.clone();
    if unread.is_empty() {
        unread = missing.iter().filter_map(|missing| unread_of_old(missing, &name)).collect();
    }
    Ok(ClusterSnapshot { name, role, server, time, objects, logs, unreachable, unread })
}

/// Converts a list that fleetdrill 0.1.0 named as missing in the bundle instead of in the cluster. That version stored
/// the reason only as text.
fn unread_of_old(missing: &MissingBundlePart, cluster: &str) -> Option<UnreadKind> {
    if missing.cluster.as_deref() != Some(cluster) {
        return None;
    }
    let known = diagnosis::HUB_KINDS.iter().filter_map(|kind| kinds::find(kind.group, kind.kind));
    let kind = known.into_iter().find(|kind| kind.plural == missing.what)?;
    Some(UnreadKind {
        group: kind.group.to_owned(),
        resource: kind.plural.to_owned(),
        reason: UnreadReason::Failed,
        message: missing.why.clone(),
    })
}

fn parsed<T: DeserializeOwned>(path: &Path, file: &str, text: &[u8]) -> Result<T, BundleError> {
    serde_json::from_slice(text).map_err(|error| {
        if error.is_eof() {
            truncated(path, format!("{file} ends too early"))
        } else {
            not_a_bundle(path, &format!("{file}: {error}"))
        }
    })
}

fn not_a_bundle(path: &Path, why: &str) -> BundleError {
    BundleError::NotABundle { path: path.to_owned(), why: why.to_owned() }
}

fn unread(path: &Path, source: io::Error) -> BundleError {
    BundleError::Read { path: path.to_owned(), source }
}

fn truncated(path: &Path, why: String) -> BundleError {
    BundleError::Truncated { path: path.to_owned(), why }
}

/// Files of a bundle, by their paths in the bundle.
enum BundleStorage {
    Directory(PathBuf),
    /// Files that a diagnosis needs, with paths below the archive's root directory.
    Archive(BTreeMap<String, Vec<u8>>),
}

impl BundleStorage {
    fn open(path: &Path, budget: &mut Budget) -> Result<Self, BundleError> {
        if fs::metadata(path).map_err(|e| unread(path, e))?.is_dir() {
            return Ok(Self::Directory(path.to_owned()));
        }
        if path.file_name().is_some_and(|name| name == file::MANIFEST) {
            return Ok(Self::Directory(path.with_file_name("")));
        }
        let mut file = BufReader::new(File::open(path).map_err(|e| unread(path, e))?);
        let mut magic = Vec::new();
        file.by_ref().take(2).read_to_end(&mut magic).map_err(|e| unread(path, e))?;
        match magic[..] {
            [0x1f, 0x8b] => {
                Self::unpacked(io::Cursor::new(magic).chain(file), budget).map_err(|error| match error.kind() {
                    ErrorKind::FileTooLarge => budget.exceeded(),
                    ErrorKind::UnexpectedEof => truncated(path, "the archive ends too early".into()),
                    ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                        truncated(path, format!("the archive is damaged: {error}"))
                    }
                    ErrorKind::Other => not_a_bundle(path, &error.to_string()),
                    _ => unread(path, error),
                })
            }
            [] => Err(truncated(path, "it is empty".into())),
            _ => Err(not_a_bundle(path, "it is neither a directory nor a .tar.gz file")),
        }
    }

    fn unpacked(file: impl Read, budget: &mut Budget) -> io::Result<Self> {
        let mut archive = tar::Archive::new(CappedReader::new(GzDecoder::new(file), budget.of_archive()));
        let mut files = BTreeMap::new();
        for entry in archive.entries()? {
            let mut entry = entry?;
            let name = entry.path()?.to_string_lossy().trim_start_matches("./").to_owned();
            if [file::MANIFEST, file::OBJECTS, file::LOGS].iter().any(|needed| name.ends_with(needed)) {
                // Check the size that the entry's header claims before reading the content.
                budget.take(entry.size())?;
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes)?;
                files.insert(name, bytes);
            }
        }
        // A directory that somebody has packed by hand has another root directory, or none.
        let below = format!("/{}", file::MANIFEST);
        let manifests = files.keys().filter(|name| *name == file::MANIFEST || name.ends_with(&below));
        let root = manifests.min_by_key(|name| name.len()).cloned().unwrap_or_default();
        let root = root.strip_suffix(file::MANIFEST).unwrap_or_default();
        let files = files.into_iter().filter_map(|(name, bytes)| Some((name.strip_prefix(root)?.to_owned(), bytes)));
        Ok(Self::Archive(files.collect()))
    }

    /// Takes a file out of the bundle.
    fn take(&mut self, name: &str, budget: &mut Budget) -> Result<Option<Vec<u8>>, BundleError> {
        match self {
            Self::Directory(dir) => {
                let path = dir.join(name);
                let file = match File::open(&path) {
                    Ok(file) => file,
                    Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                    Err(error) => return Err(unread(&path, error)),
                };
                let size = file.metadata().map_err(|e| unread(&path, e))?.len();
                budget.take(size).map_err(|_| budget.exceeded())?;
                let mut bytes = Vec::new();
                // The file may have grown since.
                file.take(size).read_to_end(&mut bytes).map_err(|e| unread(&path, e))?;
                Ok(Some(bytes))
            }
            Self::Archive(files) => Ok(files.remove(name)),
        }
    }
}
