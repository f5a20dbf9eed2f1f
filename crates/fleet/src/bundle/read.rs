//! Reads bundles: what a diagnosis needs of them, or also what is in them for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read};
use std::panic::resume_unwind;
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};

use archive_limit::HeaderLimit;
use diagnosis::{ClusterSnapshot, ObjectList, ReadObjectsError, Snapshot, SnapshotRole, UnreadKind, UnreadReason};
use flate2::read::{GzDecoder, MultiGzDecoder};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::BundleError;
use super::file;
use super::limit::{Budget, CappedReader, SizeBudget, SizeLimit};
use super::manifest::{BundleClusterEntry, BundleManifest, KIND, MissingBundlePart, SCHEMA};
use super::objects::{self, SplitError};
use super::objects_parser::ObjectsParser;
use crate::kinds;

/// Pieces of objects that are read before they are parsed.
const PIECES_AHEAD: usize = 4;

/// Ending of a compressed file's name.
const COMPRESSED: &str = ".gz";

/// Files of a bundle that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BundleScope {
    /// Objects, and logs that the diagnosis quotes.
    Diagnosis,
    /// Events and logs of processes as well.
    Everything,
}

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
        Self::open(path, &mut Budget::new(path, limit), BundleScope::Diagnosis).map(|(bundle, _)| bundle)
    }

    /// Reads what a diagnosis needs, and returns the other files of the scope as well.
    pub(super) fn open(
        path: &Path,
        budget: &mut Budget,
        scope: BundleScope,
    ) -> Result<(Self, BundleStorage), BundleError> {
        let mut files = BundleStorage::open(path, budget, scope)?;
        let text = files.take(file::MANIFEST, budget)?.ok_or_else(|| not_a_bundle(path, "it has no bundle.json"))?;
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
        Ok((Self { manifest, snapshot, path: path.to_owned() }, files))
    }

    /// Checks that something of the hub is there, without which there is no diagnosis. The lists that are missing are in the
    /// snapshot, and a diagnosis leaves out the findings that rest on them.
    ///
    /// # Errors
    /// Returns an error if the bundle has no hub, or if the hub couldn't be read when the bundle was taken.
    pub fn check(&self) -> Result<(), BundleError> {
        let hub = self.snapshot.hub().ok_or_else(|| not_a_bundle(&self.path, "it has no hub"))?;
        match &hub.unreachable {
            Some(why) => Err(BundleError::WithoutHub { path: self.path.clone(), why: why.clone() }),
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
    if !is_one_part(&entry.directory) {
        return Err(not_a_bundle(path, &format!("`{}` is no cluster's directory", entry.directory)));
    }
    let file = file::of_cluster(&entry.directory, file::OBJECTS);
    let objects = files.take_objects(path, &file, budget)?;
    let objects = objects.ok_or_else(|| truncated(path, format!("{file} is missing")))?;
    budget.count_objects(objects.len())?;
    if objects.len() != entry.objects {
        return Err(truncated(path, format!("{file} has {} objects instead of {}", objects.len(), entry.objects)));
    }
    // Bundles of an older fleetdrill have no logs.json, and a person who passes a bundle on may delete the file.
    let file = file::of_cluster(&entry.directory, file::LOGS);
    let logs = files.take(&file, budget)?.map(|text| parsed(path, &file, &text)).transpose()?.unwrap_or_default();
    let BundleClusterEntry { name, role, server, time, unreachable, mut unread, absent, .. } = entry.clone();
    if unread.is_empty() {
        unread = missing.iter().filter_map(|missing| unread_of_old(missing, &name)).collect();
    }
    Ok(ClusterSnapshot { server, time, logs, unreachable, unread, absent, ..ClusterSnapshot::new(name, role, objects) })
}

/// True if a name is one part of a path. A bundle comes from elsewhere; its paths must not lead outside of it.
pub(super) fn is_one_part(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
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

pub(super) fn not_a_bundle(path: &Path, why: &str) -> BundleError {
    BundleError::NotABundle { path: path.to_owned(), why: why.to_owned() }
}

fn unread(path: &Path, source: io::Error) -> BundleError {
    BundleError::Read { path: path.to_owned(), source }
}

pub(super) fn truncated(path: &Path, why: String) -> BundleError {
    BundleError::Truncated { path: path.to_owned(), why }
}

/// Files of a bundle, by their paths in the bundle.
pub(super) enum BundleStorage {
    Directory(PathBuf),
    /// Files of the scope, with paths below the archive's root directory.
    Archive(ArchiveFiles),
}

/// Files that were read from an archive. Their paths have no ending of a compressed file.
#[derive(Default)]
pub(super) struct ArchiveFiles {
    texts: BTreeMap<String, Vec<u8>>,
    /// Files of objects. One that can't be read may belong to another bundle in the same archive.
    objects: BTreeMap<String, Result<ObjectList, BundleError>>,
}

/// Part of an archive, as it is unpacked.
enum ArchivePart {
    /// Complete file.
    Text(String, Vec<u8>),
    /// Complete objects of a file.
    Objects(Vec<u8>),
    /// End of a file of objects.
    ObjectsEnd(String, Result<(), SplitError>),
}

impl BundleStorage {
    fn open(path: &Path, budget: &mut Budget, scope: BundleScope) -> Result<Self, BundleError> {
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
            [0x1f, 0x8b] => Self::unpacked(path, io::Cursor::new(magic).chain(file), budget, scope),
            [] => Err(truncated(path, "it is empty".into())),
            _ => Err(not_a_bundle(path, "it is neither a directory nor a .tar.gz file")),
        }
    }

    /// Unpacks an archive on another thread while this one parses the objects.
    fn unpacked(
        path: &Path,
        file: impl Read + Send,
        budget: &mut Budget,
        scope: BundleScope,
    ) -> Result<Self, BundleError> {
        let archive = CappedReader::new(GzDecoder::new(file), budget.of_archive());
        let mut sizes = budget.sizes();
        let (sender, parts) = sync_channel(PIECES_AHEAD);
        let (mut files, unpacked) = std::thread::scope(|threads| {
            let sizes = &mut sizes;
            // The parts end when the thread drops the sender.
            let unpacking = threads.spawn(move || unpack(archive, sizes, scope, |part| sender.send(part).is_ok()));
            let files = ArchiveFiles::read(path, parts, budget);
            (files, unpacking.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        budget.set_sizes(sizes);
        unpacked.map_err(|error| match error.kind() {
            ErrorKind::FileTooLarge => budget.exceeded(),
            ErrorKind::UnexpectedEof => truncated(path, "the archive ends too early".into()),
            ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                truncated(path, format!("the archive is damaged: {error}"))
            }
            ErrorKind::Other => not_a_bundle(path, &error.to_string()),
            _ => unread(path, error),
        })?;
        files.strip_root();
        Ok(Self::Archive(files))
    }

    /// Takes a file out of the bundle. `name` has no ending of a compressed file.
    pub(super) fn take(&mut self, name: &str, budget: &mut Budget) -> Result<Option<Vec<u8>>, BundleError> {
        match self {
            Self::Directory(dir) => {
                let mut bytes = Vec::new();
                if let Some(mut file) = open_within(dir, name, budget)? {
                    file.read_to_end(&mut bytes).map_err(|e| unread(&dir.join(name), e))?;
                    return Ok(Some(bytes));
                }
                let Some(file) = open_compressed(dir, name)? else { return Ok(None) };
                let mut sizes = budget.sizes();
                let mut content = sizes.cap(MultiGzDecoder::new(file));
                let read = content.read_to_end(&mut bytes);
                sizes.take_read(&content);
                budget.set_sizes(sizes);
                match read {
                    Ok(_) => Ok(Some(bytes)),
                    Err(error) => Err(content_error(dir, &format!("{name}{COMPRESSED}"), error, budget)),
                }
            }
            Self::Archive(files) => Ok(files.texts.remove(name)),
        }
    }

    /// Takes a file of objects out of the bundle. A directory's file is read on another thread while this one parses the objects.
    pub(super) fn take_objects(
        &mut self,
        path: &Path,
        name: &str,
        budget: &mut Budget,
    ) -> Result<Option<ObjectList>, BundleError> {
        match self {
            Self::Directory(dir) => {
                if let Some(file) = open_within(dir, name, budget)? {
                    return objects_of(path, name, file, budget).map(Some);
                }
                let Some(file) = open_compressed(dir, name)? else { return Ok(None) };
                let mut sizes = budget.sizes();
                let mut content = sizes.cap(MultiGzDecoder::new(file));
                let objects = objects_of(path, &format!("{name}{COMPRESSED}"), &mut content, budget);
                sizes.take_read(&content);
                budget.set_sizes(sizes);
                objects.map(Some)
            }
            Self::Archive(files) => files.objects.remove(name).transpose(),
        }
    }
}

/// Reads the objects of a file while other threads parse them.
fn objects_of(path: &Path, name: &str, file: impl Read, budget: &mut Budget) -> Result<ObjectList, BundleError> {
    let mut parser = ObjectsParser::new(budget);
    let split = objects::split(file, |piece| {
        parser.add(piece);
        true
    });
    parsed_objects(path, name, split, parser, budget)
}

/// Opens a file of a bundle that is a directory; `None` if there is no such file. The reader ends where the file ended when it was opened.
fn open_within(dir: &Path, name: &str, budget: &mut Budget) -> Result<Option<io::Take<File>>, BundleError> {
    let path = dir.join(name);
    let Some(file) = open_file_of(dir, &path)? else { return Ok(None) };
    let size = file.metadata().map_err(|e| unread(&path, e))?.len();
    let mut sizes = budget.sizes();
    let taken = sizes.take(size);
    budget.set_sizes(sizes);
    taken.map_err(|_| budget.exceeded())?;
    Ok(Some(file.take(size)))
}

/// Opens a compressed file of a bundle that is a directory; `None` if there is no such file.
fn open_compressed(dir: &Path, name: &str) -> Result<Option<BufReader<File>>, BundleError> {
    Ok(open_file_of(dir, &dir.join(format!("{name}{COMPRESSED}")))?.map(BufReader::new))
}

/// Opens a file of a bundle that is a directory; `None` if there is no such file. A bundle comes from elsewhere: its links must not lead
/// outside of it, and what isn't a file, such as a pipe, might never end.
fn open_file_of(dir: &Path, path: &Path) -> Result<Option<File>, BundleError> {
    let found = fs::canonicalize(path).and_then(|target| Ok((fs::metadata(&target)?.is_file(), target)));
    let (is_file, target) = match found {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unread(path, error)),
    };
    // `dir` is empty for a bundle.json in the working directory.
    let dir = fs::canonicalize(dir.join(".")).map_err(|e| unread(dir, e))?;
    if !is_file {
        return Err(not_a_bundle(path, "it is no file"));
    }
    if !target.starts_with(&dir) {
        return Err(not_a_bundle(path, "it is a link that leads outside of the bundle"));
    }
    File::open(target).map(Some).map_err(|e| unread(path, e))
}

/// Format of a file in an archive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileFormat {
    Objects,
    Text,
}

/// Returns the format of an archive's file; `None` if the file isn't read. `name` has no ending of a compressed file.
fn format_of(name: &str, scope: BundleScope) -> Option<FileFormat> {
    let is_log = || Path::new(name).extension().is_some_and(|ending| ending == "log");
    if name.ends_with(file::OBJECTS) || scope == BundleScope::Everything && name.ends_with(file::EVENTS) {
        Some(FileFormat::Objects)
    } else if [file::MANIFEST, file::LOGS].iter().any(|needed| name.ends_with(needed))
        || scope == BundleScope::Everything && is_log()
    {
        Some(FileFormat::Text)
    } else {
        None
    }
}

/// Unpacks the files of the scope, until `send` returns false.
fn unpack(
    file: impl Read,
    sizes: &mut SizeBudget,
    scope: BundleScope,
    send: impl Fn(ArchivePart) -> bool,
) -> io::Result<()> {
    let headers = HeaderLimit::default();
    let mut archive = tar::Archive::new(headers.reader(file));
    let mut entries = archive.entries()?;
    while let Some(entry) = headers.while_reading_headers(|| entries.next()) {
        let mut entry = entry?;
        let name = entry.path()?.to_string_lossy().trim_start_matches("./").to_owned();
        let (name, is_compressed) = match name.strip_suffix(COMPRESSED) {
            Some(name) => (name.to_owned(), true),
            None => (name, false),
        };
        if let Some(format) = format_of(&name, scope) {
            sizes.take_entry(&name)?;
            let part = if is_compressed {
                let mut content = sizes.cap(MultiGzDecoder::new(&mut entry));
                let part = unpacked_part(name, format, &mut content, &send);
                sizes.take_read(&content);
                part?
            } else {
                // Check the size that the entry's header claims before reading the content.
                sizes.take(entry.size())?;
                unpacked_part(name, format, &mut entry, &send)?
            };
            if !send(part) {
                break;
            }
        }
        // Nothing but headers is left to read before the next entry.
        io::copy(&mut entry, &mut io::sink())?;
    }
    Ok(())
}

/// Reads a file of an archive. Sends the objects in it, and returns the part that follows them.
fn unpacked_part(
    name: String,
    format: FileFormat,
    mut content: impl Read,
    send: impl Fn(ArchivePart) -> bool,
) -> io::Result<ArchivePart> {
    if format == FileFormat::Text {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        return Ok(ArchivePart::Text(name, bytes));
    }
    match objects::split(content, |piece| send(ArchivePart::Objects(piece))) {
        Err(SplitError::Read(error)) => Err(error),
        split => Ok(ArchivePart::ObjectsEnd(name, split)),
    }
}

impl ArchiveFiles {
    /// Reads the parts of an archive as they come.
    fn read(path: &Path, parts: Receiver<ArchivePart>, budget: &mut Budget) -> Self {
        let mut files = Self::default();
        let mut parser = None;
        for part in parts {
            match part {
                ArchivePart::Text(name, bytes) => drop(files.texts.insert(name, bytes)),
                ArchivePart::Objects(piece) => {
                    parser.get_or_insert_with(|| ObjectsParser::new(budget)).add(piece);
                }
                ArchivePart::ObjectsEnd(name, end) => {
                    let parser = parser.take().unwrap_or_else(|| ObjectsParser::new(budget));
                    let objects = parsed_objects(path, &name, end, parser, budget);
                    files.objects.insert(name, objects);
                }
            }
        }
        files
    }

    /// Removes the root directory from the paths. A directory that somebody has packed by hand has another root directory, or none.
    fn strip_root(&mut self) {
        let below = format!("/{}", file::MANIFEST);
        let manifests = self.texts.keys().filter(|name| *name == file::MANIFEST || name.ends_with(&below));
        let root = manifests.min_by_key(|name| name.len()).cloned().unwrap_or_default();
        let root = root.strip_suffix(file::MANIFEST).unwrap_or_default();
        self.texts = below_root(std::mem::take(&mut self.texts), root);
        self.objects = below_root(std::mem::take(&mut self.objects), root);
    }
}

fn below_root<T>(files: BTreeMap<String, T>, root: &str) -> BTreeMap<String, T> {
    files.into_iter().filter_map(|(name, file)| Some((name.strip_prefix(root)?.to_owned(), file))).collect()
}

/// Returns the parsed objects of a file that was split until `end`.
fn parsed_objects(
    path: &Path,
    file: &str,
    end: Result<(), SplitError>,
    parser: ObjectsParser,
    budget: &Budget,
) -> Result<ObjectList, BundleError> {
    let objects = parser.finish().map_err(|error| match error {
        ReadObjectsError::TooManyValues => budget.too_many_values(),
        ReadObjectsError::NotJson { .. } => not_a_bundle(path, &format!("{file}: {error}")),
    })?;
    match end {
        Ok(()) => Ok(objects),
        Err(SplitError::Read(error)) => Err(content_error(path, file, error, budget)),
        Err(SplitError::EndsTooEarly) => Err(truncated(path, format!("{file} ends too early"))),
        Err(SplitError::NoList) => Err(not_a_bundle(path, &format!("{file} is no list of objects"))),
    }
}

/// Builds the error for a file of the bundle whose content can't be read.
fn content_error(path: &Path, file: &str, error: io::Error, budget: &Budget) -> BundleError {
    match error.kind() {
        ErrorKind::FileTooLarge => budget.exceeded(),
        ErrorKind::UnexpectedEof => truncated(path, format!("{file} ends too early")),
        ErrorKind::InvalidInput | ErrorKind::InvalidData => truncated(path, format!("{file} is damaged: {error}")),
        _ => unread(&path.join(file), error),
    }
}
