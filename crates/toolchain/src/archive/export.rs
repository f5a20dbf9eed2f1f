//! Writes versions from the cache to an archive.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::{ArchiveIndex, ArchivedVersion, INDEX};
use crate::blocking::blocking;
use crate::cache_slot::{CacheSlot, TEMPORARY};
use crate::ensure::lock;
use crate::error::ToolchainError;
use crate::event::{BuildEvent, OnBuildEvent};
use crate::manifest::VersionManifest;
use crate::toolchain::Toolchain;

type Archive = Builder<GzEncoder<File>>;

impl Toolchain {
    /// Writes versions from the cache to a file, and returns them. The file is complete or isn't there.
    ///
    /// # Errors
    /// Returns [`ToolchainError::NotInCache`] for a version of which nothing is in the cache, [`ToolchainError::Corrupt`] for one that is
    /// damaged, or an error of a file operation.
    pub async fn export(
        &self,
        versions: &[(String, String)],
        path: &Path,
        progress: OnBuildEvent<'_>,
    ) -> Result<Vec<ArchivedVersion>, ToolchainError> {
        let mut exported = Vec::new();
        for (component, version) in versions {
            let (slot, _) = self.find(component, version)?;
            let manifest = VersionManifest::read(&slot.dir)
                .map_err(|damage| damage.of(&slot))?
                .unwrap_or_else(|| VersionManifest::empty(&slot));
            if manifest.files.is_empty() {
                let (component, version) = (component.clone(), version.clone());
                return Err(ToolchainError::NotInCache { component, version });
            }
            exported.push((archived(&slot, &manifest), slot));
        }
        let failed = ToolchainError::failed_to("write", path);
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let temporary = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(dir).map_err(&failed)?;
        // A temporary file has mode 0600, but everyone may read an archive.
        temporary.as_file().set_permissions(Permissions::from_mode(0o644)).map_err(&failed)?;
        let file = temporary.as_file().try_clone().map_err(&failed)?;
        let index = ArchiveIndex::new(exported.iter().map(|(version, _)| version.clone()).collect());
        let mut archive = Builder::new(GzEncoder::new(file, Compression::default()));
        // serde_json fails only on maps whose keys aren't strings.
        let text = serde_json::to_vec_pretty(&index).map_err(|error| failed(error.into()))?;
        append(&mut archive, INDEX, &text).map_err(&failed)?;
        for (version, slot) in &exported {
            let ArchivedVersion { component, version, .. } = version.clone();
            progress(BuildEvent::Exporting { component, version });
            let _lock = lock(slot, progress).await?;
            let (slot, to) = (slot.clone(), path.to_owned());
            archive = blocking(move || append_version(archive, &slot, &to)).await?;
        }
        let ended = archive.into_inner().and_then(GzEncoder::finish).and_then(|mut file| file.flush());
        ended.map_err(&failed)?;
        temporary.persist(path).map_err(|error| failed(error.error))?;
        Ok(exported.into_iter().map(|(version, _)| version).collect())
    }
}

fn archived(slot: &CacheSlot, manifest: &VersionManifest) -> ArchivedVersion {
    ArchivedVersion {
        component: slot.component.clone(),
        version: slot.version.clone(),
        size: manifest.files.values().map(|checksum| checksum.size).sum(),
        folder: slot.folder(),
    }
}

/// Appends a version's manifest and files, after comparing the files with their checksums.
fn append_version(mut archive: Archive, slot: &CacheSlot, to: &Path) -> Result<Archive, ToolchainError> {
    let manifest = VersionManifest::read(&slot.dir).map_err(|damage| damage.of(slot))?;
    let manifest = manifest.unwrap_or_else(|| VersionManifest::empty(slot));
    let files: Vec<String> = manifest.files.keys().cloned().collect();
    if let Some(damage) = manifest.damages(&slot.dir, &files).into_iter().next() {
        return Err(damage.of(slot));
    }
    let failed = ToolchainError::failed_to("write", to);
    let prefix = format!("{}/{}", slot.component, slot.folder());
    let text = serde_json::to_vec_pretty(&manifest).map_err(|error| failed(error.into()))?;
    append(&mut archive, &format!("{prefix}/{}", VersionManifest::FILE), &text).map_err(&failed)?;
    for file in files {
        let path = slot.dir.join(&file);
        let read = ToolchainError::failed_to("read", &path);
        let mut source = File::open(&path).map_err(&read)?;
        let size = fs::metadata(&path).map_err(&read)?.len();
        let mut header = header(size, if file.starts_with("bin/") { 0o755 } else { 0o644 });
        archive.append_data(&mut header, format!("{prefix}/{file}"), &mut source).map_err(&failed)?;
    }
    Ok(archive)
}

fn append(archive: &mut Archive, name: &str, content: &[u8]) -> std::io::Result<()> {
    archive.append_data(&mut header(content.len() as u64, 0o644), name, content)
}

/// Header without names of users and without times, so that equal versions make equal archives.
fn header(size: u64, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(0);
    header
}
