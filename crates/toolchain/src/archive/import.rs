//! Puts the versions of an archive into the cache.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use archive_limit::HeaderLimit;
use flate2::read::GzDecoder;
use ring::digest::{Context, SHA256};
use tar::{Archive, Entry, EntryType};
use tempfile::TempDir;

use super::download::{DownloadProgress, download, without_secrets};
use super::{ArchiveIndex, ArchivedVersion, INDEX, LIMIT, SCHEMA};
use crate::add::swap;
use crate::blocking::blocking;
use crate::cache_slot::{CacheSlot, TEMPORARY, VersionOrigin, is_safe_name, remove_leftovers};
use crate::disk::human_size;
use crate::ensure::lock;
use crate::error::ToolchainError;
use crate::event::{BuildEvent, OnBuildEvent};
use crate::lock::Lock;
use crate::manifest::VersionManifest;
use crate::toolchain::Toolchain;

/// Path that stands for stdin.
const STDIN: &str = "-";

/// Time between two reports of a download.
const REPORT_INTERVAL: Duration = Duration::from_millis(200);

/// Maximum size of the index and of all manifests together, in bytes. A manifest of fleetdrill's own versions has a few thousand.
const LISTS: u64 = 4 << 20;

/// Result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedVersions {
    /// Versions that are in the cache now.
    pub imported: Vec<ArchivedVersion>,
    /// Versions that were left out, because this release of fleetdrill builds them from other modules or doesn't know the component.
    pub left_out: Vec<ArchivedVersion>,
}

impl Toolchain {
    /// Puts the versions of an archive into the cache; `-` is stdin. Versions that are there already are replaced. If anything is wrong
    /// with the archive, the cache stays as it is.
    ///
    /// `sha256` is the checksum that the archive must have, in hexadecimal digits.
    ///
    /// # Errors
    /// Returns [`ToolchainError::BadArchive`], [`ToolchainError::WrongChecksum`], or an error of a file operation.
    pub async fn import(
        &self,
        path: &Path,
        sha256: Option<&str>,
        progress: OnBuildEvent<'_>,
    ) -> Result<ImportedVersions, ToolchainError> {
        let work = ImportDirectory::create(self.root()).await?;
        progress(BuildEvent::Unpacking { file: path.to_owned() });
        let (from, to) = (path.to_owned(), work.unpacked());
        let (versions, actual) = blocking(move || unpack(&from, &from, &to)).await?;
        check_sum(path, sha256, actual)?;
        self.adopt(&work, versions, progress).await
    }

    /// Downloads an archive and puts its versions into the cache, as [`Toolchain::import`] does. Redirects are followed from https to https
    /// only. The archive is unpacked only if it has the checksum `sha256`.
    ///
    /// # Errors
    /// Returns [`ToolchainError::NotDownloaded`], or an error of [`Toolchain::import`], with the address in place of the path.
    pub async fn import_url(
        &self,
        url: &str,
        sha256: &str,
        progress: OnBuildEvent<'_>,
    ) -> Result<ImportedVersions, ToolchainError> {
        let work = ImportDirectory::create(self.root()).await?;
        let shown = without_secrets(url);
        let downloaded = Arc::new(DownloadProgress::default());
        let (from, to, written) = (url.to_owned(), work.archive(), Arc::clone(&downloaded));
        let mut download = pin!(blocking(move || download(&from, &to, &written)));
        let downloading = || {
            let (read, size) = downloaded.get();
            progress(BuildEvent::Fetching { url: shown.clone(), read, size });
        };
        downloading();
        let result = loop {
            match tokio::time::timeout(REPORT_INTERVAL, &mut download).await {
                Ok(result) => break result,
                Err(_) => downloading(),
            }
        };
        let actual = result.map_err(|failure| ToolchainError::NotDownloaded { url: shown.clone(), failure })?;
        let name = PathBuf::from(&shown);
        check_sum(&name, Some(sha256), actual)?;
        progress(BuildEvent::Unpacking { file: name.clone() });
        let (from, to) = (work.archive(), work.unpacked());
        let (versions, _) = blocking(move || unpack(&from, &name, &to)).await?;
        self.adopt(&work, versions, progress).await
    }

    /// Moves unpacked versions to their places in the cache.
    async fn adopt(
        &self,
        work: &ImportDirectory,
        versions: Vec<ArchivedVersion>,
        progress: OnBuildEvent<'_>,
    ) -> Result<ImportedVersions, ToolchainError> {
        let mut result = ImportedVersions::default();
        for version in versions {
            match self.slot_of(&version) {
                Some(slot) => {
                    let _lock = lock(&slot, progress).await?;
                    let unpacked = work.unpacked().join(&version.component).join(&version.folder);
                    swap(&unpacked, &slot.dir, &work.replaced(result.imported.len()))?;
                    result.imported.push(version);
                }
                None => result.left_out.push(version),
            }
        }
        Ok(result)
    }

    /// Returns the place of a version of an archive; `None` if this release of fleetdrill wouldn't use it.
    fn slot_of(&self, version: &ArchivedVersion) -> Option<CacheSlot> {
        let ArchivedVersion { component, version, folder, .. } = version;
        let definition = self.definitions().components().get(component)?;
        let slot = match CacheSlot::parse(folder)?.1 {
            VersionOrigin::Added => CacheSlot::added(&self.root(), component, version),
            VersionOrigin::Pinned => {
                let pinned = definition.versions.get(version)?;
                CacheSlot::pinned(&self.root(), component, version, &pinned.hash())
            }
        };
        (slot.folder() == *folder).then_some(slot)
    }
}

/// Temporary directory of an import, in the cache. Dropping it removes it.
struct ImportDirectory {
    directory: TempDir,
    _lock: Lock,
}

impl ImportDirectory {
    /// Creates the directory, after other imports into the cache have ended.
    async fn create(root: PathBuf) -> Result<Self, ToolchainError> {
        fs::create_dir_all(&root).map_err(|error| ToolchainError::io("create", &root, error))?;
        let lock = Lock::acquire(&root.join(".import.lock"), |_| {}).await?;
        let prefix = format!("{TEMPORARY}import-");
        remove_leftovers(&root, &prefix);
        let directory = tempfile::Builder::new().prefix(&prefix).tempdir_in(&root);
        let directory = directory.map_err(|error| ToolchainError::io("write", &root, error))?;
        Ok(Self { directory, _lock: lock })
    }

    /// Path of the downloaded archive.
    fn archive(&self) -> PathBuf {
        self.directory.path().join("archive.tar.gz")
    }

    /// Directory of the unpacked versions.
    fn unpacked(&self) -> PathBuf {
        self.directory.path().join("unpacked")
    }

    /// Directory of the n-th version that the import replaces.
    fn replaced(&self, n: usize) -> PathBuf {
        self.directory.path().join(format!("old-{n}"))
    }
}

/// Compares the checksum of an archive with the expected one.
fn check_sum(archive: &Path, expected: Option<&str>, actual: String) -> Result<(), ToolchainError> {
    match expected.filter(|expected| !expected.eq_ignore_ascii_case(&actual)) {
        Some(expected) => {
            Err(ToolchainError::WrongChecksum { path: archive.to_owned(), expected: expected.to_owned(), actual })
        }
        None => Ok(()),
    }
}

/// Reader that computes the checksum of everything that was read.
struct HashingReader<R> {
    inner: R,
    context: Context,
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.context.update(&buffer[..read]);
        Ok(read)
    }
}

/// Archive that is being unpacked.
struct Unpacker<'a> {
    archive: &'a Path,
    to: &'a Path,
    /// Manifests that have been read, by folder in the archive.
    manifests: HashMap<PathBuf, VersionManifest>,
    /// Versions that the index lists, by folder in the archive.
    versions: BTreeMap<PathBuf, ArchivedVersion>,
    /// Bytes of files that may still be unpacked.
    left: u64,
    /// Bytes of the index and of manifests that may still be read.
    lists_left: u64,
}

/// Unpacks an archive into an empty folder, and checks everything. Returns the versions and the archive's SHA-256. `archive` is its name in
/// errors.
fn unpack(file: &Path, archive: &Path, to: &Path) -> Result<(Vec<ArchivedVersion>, String), ToolchainError> {
    let source: Box<dyn Read> = if file.as_os_str() == STDIN {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(file).map_err(|error| ToolchainError::io("read", file, error))?)
    };
    let mut reader = HashingReader { inner: source, context: Context::new(&SHA256) };
    let versions = {
        let mut unpacker = Unpacker {
            archive,
            to,
            manifests: HashMap::new(),
            versions: BTreeMap::new(),
            left: LIMIT,
            lists_left: LISTS,
        };
        let mut decoder = GzDecoder::new(io::BufReader::new(&mut reader));
        let headers = HeaderLimit::default();
        let mut tar = Archive::new(headers.reader(&mut decoder));
        let mut entries = tar.entries().map_err(|error| unpacker.unreadable(&error))?;
        while let Some(entry) = headers.while_reading_headers(|| entries.next()) {
            let entry = entry.map_err(|error| unpacker.unreadable(&error))?;
            // Reads the whole entry, so that nothing but headers is left to read before the next one.
            unpacker.entry(entry)?;
        }
        // The end of the compressed data has its checksum.
        io::copy(&mut decoder, &mut io::sink()).map_err(|error| unpacker.unreadable(&error))?;
        unpacker.check()?
    };
    let failed = |error| ToolchainError::io("read", archive, error);
    io::copy(&mut reader, &mut io::sink()).map_err(failed)?;
    let digest = reader.context.finish();
    Ok((versions, hex::encode(digest)))
}

impl Unpacker<'_> {
    fn bad(&self, why: impl Into<String>) -> ToolchainError {
        ToolchainError::BadArchive { path: self.archive.to_owned(), why: why.into() }
    }

    fn unreadable(&self, error: &io::Error) -> ToolchainError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.bad("it is cut off"),
            _ => self.bad(format!("it is no gzip-compressed tar file, or damaged ({error})")),
        }
    }

    /// Unpacks one entry, which has to be a file with a path of the archive's form.
    fn entry<R: Read>(&mut self, mut entry: Entry<'_, R>) -> Result<(), ToolchainError> {
        let path = entry.path().map_err(|error| self.unreadable(&error))?.into_owned();
        if self.versions.is_empty() {
            return if path == Path::new(INDEX) { self.index(&mut entry) } else { Err(self.bad(NO_ARCHIVE)) };
        }
        let names: Option<Vec<&str>> =
            path.iter().map(|name| name.to_str().filter(|name| is_safe_name(name))).collect();
        let is_file = entry.header().entry_type() == EntryType::Regular;
        let ([component, folder, file @ ..], true) = (names.as_deref().unwrap_or_default(), is_file) else {
            return Err(self.bad(format!("its entry `{}` is no file of a component", path.display())));
        };
        let version = Path::new(component).join(folder);
        let Some(listed) = self.versions.get(&version).cloned() else {
            return Err(self.bad(format!("its index doesn't list `{}`", version.display())));
        };
        if *file == [VersionManifest::FILE] {
            let manifest: VersionManifest = self.parse(&mut entry)?;
            if manifest.component != listed.component || manifest.version != listed.version {
                return Err(self.bad(format!("the manifest of `{}` is of another version", version.display())));
            }
            if let Some(file) = manifest.files.keys().find(|file| !file.split('/').all(is_safe_name)) {
                return Err(self.bad(format!("the manifest of `{}` has a file `{file}`", version.display())));
            }
            let dir = self.to.join(&version);
            fs::create_dir_all(&dir).map_err(|error| ToolchainError::io("create", &dir, error))?;
            manifest.write(&dir)?;
            self.manifests.insert(version, manifest);
            return Ok(());
        }
        let file = file.join("/");
        let known = self.manifests.get(&version).and_then(|manifest| manifest.files.get(&file));
        // The size is compared before anything is written, so that an archive can't fill the disk.
        if known.is_none_or(|checksum| checksum.size != entry.size()) {
            return Err(self.bad(format!("its entry `{}` isn't in the version's manifest", path.display())));
        }
        let Some(left) = self.left.checked_sub(entry.size()) else {
            return Err(self.bad(format!("its files are larger than {}", human_size(LIMIT))));
        };
        self.left = left;
        self.unpack_file(&mut entry, &version.join(&file), file.starts_with("bin/"))
    }

    fn unpack_file(&self, entry: &mut impl Read, path: &Path, is_program: bool) -> Result<(), ToolchainError> {
        let path = self.to.join(path);
        let failed = ToolchainError::failed_to("write", &path);
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).map_err(&failed)?;
        }
        let mut file = File::create_new(&path).map_err(&failed)?;
        io::copy(entry, &mut file).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                self.unreadable(&error)
            }
            _ => failed(error),
        })?;
        // The modes of the archive don't count.
        file.set_permissions(Permissions::from_mode(if is_program { 0o755 } else { 0o644 })).map_err(&failed)
    }

    fn index<R: Read>(&mut self, entry: &mut Entry<'_, R>) -> Result<(), ToolchainError> {
        let index: ArchiveIndex = self.parse(entry)?;
        if index.schema > SCHEMA {
            return Err(self.bad(format!("it has schema {}, and this fleetdrill reads up to {SCHEMA}", index.schema)));
        }
        let here = (std::env::consts::OS, std::env::consts::ARCH);
        if (index.os.as_str(), index.architecture.as_str()) != here {
            let (os, architecture) = here;
            let why = format!("it is for {} {}, and this machine is {os} {architecture}", index.os, index.architecture);
            return Err(self.bad(why));
        }
        for version in index.versions {
            let named =
                [&version.component, &version.version, &version.folder].into_iter().all(|name| is_safe_name(name));
            if !named || CacheSlot::parse(&version.folder).is_none_or(|(parsed, _)| parsed != version.version) {
                return Err(self.bad(format!("its index has a version `{}` with a wrong name", version.folder)));
            }
            self.versions.insert(Path::new(&version.component).join(&version.folder), version);
        }
        if self.versions.is_empty() { Err(self.bad("its index lists no version")) } else { Ok(()) }
    }

    /// Parses an entry that is JSON.
    fn parse<R: Read, T: serde::de::DeserializeOwned>(
        &mut self,
        entry: &mut Entry<'_, R>,
    ) -> Result<T, ToolchainError> {
        let Some(left) = self.lists_left.checked_sub(entry.size()) else {
            return Err(self.bad("its lists are too long"));
        };
        self.lists_left = left;
        let mut text = Vec::new();
        entry.read_to_end(&mut text).map_err(|error| self.unreadable(&error))?;
        serde_json::from_slice(&text).map_err(|error| self.bad(format!("a list in it can't be read ({error})")))
    }

    /// Checks that everything that the index and the manifests list is there, and returns the versions.
    fn check(self) -> Result<Vec<ArchivedVersion>, ToolchainError> {
        if self.versions.is_empty() {
            return Err(self.bad(NO_ARCHIVE));
        }
        for folder in self.versions.keys() {
            let Some(manifest) = self.manifests.get(folder) else {
                return Err(self.bad(format!("it doesn't have `{}`, which its index lists", folder.display())));
            };
            let files: Vec<String> = manifest.files.keys().cloned().collect();
            if let Some(damage) = manifest.damages(&self.to.join(folder), &files).into_iter().next() {
                return Err(self.bad(format!(
                    "its entry `{}/{}` is damaged: {}",
                    folder.display(),
                    damage.file,
                    damage.why
                )));
            }
        }
        Ok(self.versions.into_values().collect())
    }
}

const NO_ARCHIVE: &str = "`fleetdrill toolchain export` hasn't written it";
