//! Writes a bundle, either completely or not at all.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use diagnosis::{ClusterSnapshot, Object, PodLog, UnreadKind};
use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use tempfile::{NamedTempFile, TempDir};

use super::collect::Bundle;
use super::error::BundleError;
use super::manifest::{BundleClusterEntry, BundleLogEntry, BundleManifest, KIND, PLAIN_SCHEMA};
use super::{file, is_archive, path_part, without_archive_ending};
use crate::redact::Redactor;

/// A file of a bundle: its path in the bundle, and its content.
type BundleFile = (String, Vec<u8>);

impl Bundle {
    /// Default name of a bundle: fleet and time, in UTC.
    #[must_use]
    pub fn default_name(&self) -> PathBuf {
        default_name(&self.fleet, self.snapshot.taken_at)
    }

    /// Writes the bundle as a directory, or as one compressed file if the name ends with `.tar.gz` or `.tgz`. Only the
    /// owner may read the bundle. The name appears when the bundle is complete; nothing is overwritten.
    ///
    /// Writing takes some tenths of a second and blocks the thread.
    ///
    /// # Errors
    /// Returns an error if the name exists already, or the bundle can't be written; nothing is left behind then.
    pub fn write(&self, path: &Path) -> Result<(), BundleError> {
        if path.symlink_metadata().is_ok() {
            return Err(BundleError::Exists(path.to_owned()));
        }
        let contents = self.contents();
        let parent = parent_of(path);
        let written = if is_archive(path) {
            write_archive(path, parent, &contents, self.snapshot.taken_at.as_second())
        } else {
            write_directory(path, parent, &contents)
        };
        written.map_err(BundleError::write(path))
    }

    /// Files of the bundle, `bundle.json` first.
    fn contents(&self) -> Vec<BundleFile> {
        let redactor = Redactor::default();
        let mut taken = BTreeSet::new();
        let (mut clusters, mut logs, mut contents) = (Vec::new(), Vec::new(), Vec::new());
        for cluster in &self.snapshot.clusters {
            let directory = unique(&path_part(&cluster.name), &mut taken);
            let objects = objects(cluster, &redactor);
            let events = self.events.get(&cluster.name);
            clusters.push(BundleClusterEntry {
                name: cluster.name.clone(),
                role: cluster.role,
                time: cluster.time,
                server: cluster.server.as_deref().map(|server| redactor.text(server).into_owned()),
                objects: objects.len(),
                events: events.map_or(0, Vec::len),
                unreachable: cluster.unreachable.as_deref().map(|why| redactor.text(why).into_owned()),
                unread: cluster.unread.iter().map(|kind| unread_without_secrets(kind, &redactor)).collect(),
                absent: cluster.absent.clone(),
                directory: directory.clone(),
            });
            contents.push((file::of_cluster(&directory, file::OBJECTS), json(&objects)));
            if !cluster.logs.is_empty() {
                let logs: Vec<PodLog> = cluster.logs.iter().map(|log| without_secrets(log, &redactor)).collect();
                contents.push((file::of_cluster(&directory, file::LOGS), json(&logs)));
            }
            if let Some(events) = events {
                let events: Vec<Value> = events.iter().map(|event| redacted(event.clone(), &redactor)).collect();
                contents.push((file::of_cluster(&directory, file::EVENTS), json(&events)));
            }
        }
        for log in &self.logs {
            let name = format!("{}.log", unique(&path_part(&log.process), &mut taken));
            logs.push(BundleLogEntry { process: log.process.clone(), file: name.clone(), cut: log.cut });
            contents.push((file::log(&name), redactor.log(&log.text).into_owned().into_bytes()));
        }
        let mut missing = self.missing.clone();
        for missing in &mut missing {
            missing.why = redactor.text(&missing.why).into_owned();
        }
        let manifest = BundleManifest {
            bundle: KIND.into(),
            schema: PLAIN_SCHEMA,
            fleetdrill: env!("CARGO_PKG_VERSION").into(),
            fleet: self.fleet.clone(),
            kubefleet: self.kubefleet.clone(),
            about: self.about.clone(),
            taken_at: self.snapshot.taken_at,
            clusters,
            logs,
            missing,
        };
        contents.insert(0, (file::MANIFEST.to_owned(), json(&manifest)));
        contents
    }
}

/// Default name of a bundle of a fleet.
pub(super) fn default_name(fleet: &str, taken_at: Timestamp) -> PathBuf {
    let at = taken_at.strftime("%Y%m%dT%H%M%SZ");
    PathBuf::from(format!("fleetdrill-bundle-{}-{at}", path_part(fleet)))
}

/// Objects of a cluster, except those of the kinds Secret and ConfigMap, with all secrets in them removed.
fn objects(cluster: &ClusterSnapshot, redactor: &Redactor) -> Vec<Value> {
    cluster
        .objects
        .iter()
        .filter(|o| !is_secret(*o))
        .map(|object| redacted(object.value().to_value(), redactor))
        .collect()
}

pub(super) fn is_secret(object: Object<'_>) -> bool {
    object.group().is_empty() && matches!(object.kind(), "Secret" | "ConfigMap")
}

fn unread_without_secrets(kind: &UnreadKind, redactor: &Redactor) -> UnreadKind {
    UnreadKind { message: redactor.text(&kind.message).into_owned(), ..kind.clone() }
}

fn without_secrets(log: &PodLog, redactor: &Redactor) -> PodLog {
    PodLog { text: redactor.log(&log.text).into_owned(), ..log.clone() }
}

fn redacted(mut value: Value, redactor: &Redactor) -> Value {
    redactor.object(&mut value);
    value
}

/// Formats JSON for people, with a newline at the end. Nothing that is written here has a key that JSON doesn't allow.
pub(super) fn json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

pub(super) fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut n = 1;
    // Some file systems don't distinguish upper from lower case.
    while !taken.insert(candidate.to_ascii_lowercase()) {
        n += 1;
        candidate = format!("{name}-{n}");
    }
    candidate
}

fn write_directory(path: &Path, parent: &Path, contents: &[BundleFile]) -> io::Result<()> {
    let new = temporary_directory(parent)?;
    for (name, bytes) in contents {
        let file = new.path().join(name);
        let dir = file.parent().unwrap_or(new.path());
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?.write_all(bytes)?;
    }
    name_directory(new, path)
}

/// Gives a temporary directory its name.
fn name_directory(new: TempDir, path: &Path) -> io::Result<()> {
    // Creating the directory claims the name, and fails if the name exists. Renaming onto it fills it.
    DirBuilder::new().mode(0o700).create(path)?;
    match fs::rename(new.path(), path) {
        Ok(()) => {
            let _ = new.keep();
            Ok(())
        }
        Err(error) => {
            // Deletes the directory only if it is still empty.
            let _ = fs::remove_dir(path);
            Err(error)
        }
    }
}

/// Makes a bundle of a temporary directory that lies beside the bundle's path: a directory of that name, or an archive.
pub(super) fn finish_directory(directory: TempDir, path: &Path, time: i64) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    if !is_archive(path) {
        return name_directory(directory, path);
    }
    let mut archive = ArchiveWriter::new(path, parent_of(path), time)?;
    for name in files_of(directory.path())? {
        archive.add(&name, File::open(directory.path().join(&name))?)?;
    }
    archive.finish(path)
}

/// Paths of all files of a bundle, `bundle.json` first.
fn files_of(root: &Path) -> io::Result<Vec<String>> {
    let (mut files, mut directories) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(root.join(&directory))? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                directories.push(path);
            } else {
                files.push(path.to_string_lossy().into_owned());
            }
        }
    }
    files.sort_by(|a, b| (a != file::MANIFEST, a).cmp(&(b != file::MANIFEST, b)));
    Ok(files)
}

fn write_archive(path: &Path, parent: &Path, contents: &[BundleFile], time: i64) -> io::Result<()> {
    let mut archive = ArchiveWriter::new(path, parent, time)?;
    for (name, bytes) in contents {
        archive.append(name, bytes.len() as u64, bytes.as_slice())?;
    }
    archive.finish(path)
}

/// An archive that has no name yet.
struct ArchiveWriter {
    archive: tar::Builder<GzEncoder<io::BufWriter<NamedTempFile>>>,
    root: String,
    time: u64,
}

impl ArchiveWriter {
    fn new(path: &Path, parent: &Path, time: i64) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let root = path_part(without_archive_ending(&name).unwrap_or(&name));
        let new = temporary().tempfile_in(parent)?;
        let archive = tar::Builder::new(GzEncoder::new(io::BufWriter::new(new), Compression::fast()));
        Ok(Self { archive, root, time: u64::try_from(time).unwrap_or_default() })
    }

    fn add(&mut self, name: &str, file: File) -> io::Result<()> {
        self.append(name, file.metadata()?.len(), file)
    }

    fn append(&mut self, name: &str, size: u64, content: impl io::Read) -> io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o600);
        header.set_mtime(self.time);
        header.set_size(size);
        self.archive.append_data(&mut header, format!("{}/{name}", self.root), content)
    }

    fn finish(self, path: &Path) -> io::Result<()> {
        let new = self.archive.into_inner()?.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        new.persist_noclobber(path).map(drop).map_err(|error| error.error)
    }
}

/// Directory in which a bundle of this path lies.
pub(super) fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a temporary directory that only the owner may read.
pub(super) fn temporary_directory(parent: &Path) -> io::Result<TempDir> {
    temporary().permissions(fs::Permissions::from_mode(0o700)).tempdir_in(parent)
}

/// Names temporary files. They lie in the directory of the bundle, so that they can be renamed.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".fleetdrill-bundle-");
    builder
}
