//! Reading what a diagnosis needs from a bundle.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use diagnosis::{ClusterSnapshot, Snapshot};
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::BundleError;
use super::file;
use super::manifest::{ClusterEntry, KIND, Manifest, SCHEMA, lacking};

/// How much an archive may unpack to, in bytes. What is larger was made to fill the memory.
const LIMIT: u64 = 4 << 30;

/// What a bundle says to the diagnosis.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// The table of contents.
    pub manifest: Manifest,
    /// The objects.
    pub snapshot: Snapshot,
    path: PathBuf,
}

/// The fields of every version of `bundle.json`.
#[derive(Deserialize)]
struct Header {
    bundle: String,
    schema: u32,
    #[serde(default)]
    fleetdrill: String,
}

impl Saved {
    /// Reads a directory or a `.tar.gz` file. This blocks.
    ///
    /// # Errors
    /// When it is no bundle, a newer fleetdrill wrote it, or something of it is missing.
    pub fn read(path: &Path) -> Result<Self, BundleError> {
        let files = Files::open(path)?;
        let text = files.get(file::MANIFEST)?.ok_or_else(|| not_a_bundle(path, "it has no bundle.json"))?;
        let header: Header = parsed(path, file::MANIFEST, &text)?;
        if header.bundle != KIND {
            return Err(not_a_bundle(path, "its bundle.json is another program's"));
        }
        if header.schema > SCHEMA {
            let Header { schema, fleetdrill, .. } = header;
            return Err(BundleError::Newer { path: path.to_owned(), schema, fleetdrill });
        }
        let manifest: Manifest = parsed(path, file::MANIFEST, &text)?;
        let clusters = manifest.clusters.iter().map(|entry| cluster(path, &files, entry));
        let clusters = clusters.collect::<Result<_, _>>()?;
        let snapshot = Snapshot { taken_at: manifest.taken_at, clusters };
        Ok(Self { manifest, snapshot, path: path.to_owned() })
    }

    /// Whether everything is there that a diagnosis can't do without. From what isn't there it would draw wrong
    /// conclusions.
    ///
    /// # Errors
    /// When the hub, or a list of it, couldn't be read.
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

fn cluster(path: &Path, files: &Files, entry: &ClusterEntry) -> Result<ClusterSnapshot, BundleError> {
    // A bundle comes from elsewhere; it must not make us read outside of it.
    let mut parts = Path::new(&entry.directory).components();
    if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
        return Err(not_a_bundle(path, &format!("`{}` is no cluster's directory", entry.directory)));
    }
    let file = file::of_cluster(&entry.directory, file::OBJECTS);
    let text = files.get(&file)?.ok_or_else(|| truncated(path, format!("{file} is missing")))?;
    let objects: Vec<_> = parsed(path, &file, &text)?;
    if objects.len() != entry.objects {
        return Err(truncated(path, format!("{file} has {} objects instead of {}", objects.len(), entry.objects)));
    }
    // Bundles of an older fleetdrill have none, and whoever passes one on may take them out.
    let file = file::of_cluster(&entry.directory, file::LOGS);
    let logs = files.get(&file)?.map(|text| parsed(path, &file, &text)).transpose()?.unwrap_or_default();
    let ClusterEntry { name, role, server, unreachable, .. } = entry.clone();
    Ok(ClusterSnapshot { name, role, server, objects, logs, unreachable })
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

fn truncated(path: &Path, why: String) -> BundleError {
    BundleError::Truncated { path: path.to_owned(), why }
}

/// A bundle's files, by their paths in it.
enum Files {
    Directory(PathBuf),
    /// Those that a diagnosis needs; the root's name is left out.
    Archive(BTreeMap<String, Vec<u8>>),
}

impl Files {
    fn open(path: &Path) -> Result<Self, BundleError> {
        let unread = |source| BundleError::Read { path: path.to_owned(), source };
        if fs::metadata(path).map_err(unread)?.is_dir() {
            return Ok(Self::Directory(path.to_owned()));
        }
        if path.file_name().is_some_and(|name| name == file::MANIFEST) {
            return Ok(Self::Directory(path.with_file_name("")));
        }
        let mut file = BufReader::new(File::open(path).map_err(unread)?);
        let mut magic = Vec::new();
        file.by_ref().take(2).read_to_end(&mut magic).map_err(unread)?;
        match magic[..] {
            [0x1f, 0x8b] => Self::unpacked(io::Cursor::new(magic).chain(file)).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => truncated(path, "the archive ends too early".into()),
                ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                    truncated(path, format!("the archive is damaged: {error}"))
                }
                ErrorKind::Other => not_a_bundle(path, &error.to_string()),
                _ => unread(error),
            }),
            [] => Err(truncated(path, "it is empty".into())),
            _ => Err(not_a_bundle(path, "it is neither a directory nor a .tar.gz file")),
        }
    }

    fn unpacked(file: impl Read) -> io::Result<Self> {
        let mut archive = tar::Archive::new(GzDecoder::new(file).take(LIMIT));
        let mut files = BTreeMap::new();
        for entry in archive.entries()? {
            let mut entry = entry?;
            let name = entry.path()?.to_string_lossy().trim_start_matches("./").to_owned();
            if [file::MANIFEST, file::OBJECTS, file::LOGS].iter().any(|needed| name.ends_with(needed)) {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes)?;
                files.insert(name, bytes);
            }
        }
        // A directory that somebody packed by hand has another root, or none.
        let is_manifest = |name: &&String| *name == file::MANIFEST || name.ends_with(&format!("/{}", file::MANIFEST));
        let manifest = files.keys().filter(is_manifest).min_by_key(|name| name.len()).cloned();
        let root = manifest.unwrap_or_default();
        let root = root.strip_suffix(file::MANIFEST).unwrap_or_default();
        let files = files.into_iter().filter_map(|(name, bytes)| Some((name.strip_prefix(root)?.to_owned(), bytes)));
        Ok(Self::Archive(files.collect()))
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, BundleError> {
        match self {
            Self::Directory(dir) => match fs::read(dir.join(name)) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(source) => Err(BundleError::Read { path: dir.join(name), source }),
            },
            Self::Archive(files) => Ok(files.get(name).cloned()),
        }
    }
}
