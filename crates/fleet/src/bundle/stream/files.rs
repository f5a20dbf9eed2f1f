//! Files of a bundle that is being written, all compressed except the manifest.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use diagnosis::PodLog;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use super::super::logs::LogTail;
use super::super::manifest::{BundleLogEntry, BundleManifest};
use super::super::write::{json, unique};
use super::super::{file, path_part};

/// Bytes on disk that a bundle may still take.
#[derive(Clone, Debug)]
pub(super) struct DiskBudget {
    limit: u64,
    written: Arc<AtomicU64>,
}

impl DiskBudget {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, written: Arc::default() }
    }

    fn is_exhausted(&self) -> bool {
        self.written.load(Ordering::Relaxed) >= self.limit
    }
}

/// A file that counts what is written to it.
#[derive(Debug)]
struct CountedFile {
    file: File,
    written: Arc<AtomicU64>,
}

impl Write for CountedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.written.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The files of a bundle.
#[derive(Debug)]
pub(super) struct BundleFiles {
    root: PathBuf,
    budget: DiskBudget,
    log_names: Mutex<BTreeSet<String>>,
}

impl BundleFiles {
    pub(super) fn new(root: PathBuf, budget: DiskBudget) -> Self {
        Self { root, budget, log_names: Mutex::default() }
    }

    /// Says that the limit is reached, if it is.
    pub(super) fn full(&self) -> Option<String> {
        let limit = self.budget.limit.div_ceil(1 << 20);
        self.budget.is_exhausted().then(|| format!("the bundle has reached its limit of {limit} MiB"))
    }

    /// Begins a list of objects, or goes on with it.
    pub(super) fn list(&self, list: &ListFile) -> io::Result<ListWriter> {
        let file = self.open(&list.name)?;
        Ok(ListWriter { encoder: GzEncoder::new(BufWriter::new(file), Compression::fast()) })
    }

    /// Writes the ends of some logs of a cluster.
    pub(super) fn pod_logs(&self, directory: &str, logs: &[PodLog]) -> io::Result<()> {
        self.open(&file::of_cluster(directory, file::LOGS))?.write_all(&json(&logs))
    }

    /// Writes a log.
    pub(super) fn log(&self, log: &LogTail) -> io::Result<BundleLogEntry> {
        let name = {
            let mut taken = self.log_names.lock().unwrap_or_else(PoisonError::into_inner);
            format!("{}.log.gz", unique(&path_part(&log.process), &mut taken))
        };
        let mut encoder = GzEncoder::new(self.open(&file::log(&name))?, Compression::fast());
        encoder.write_all(log.text.as_bytes())?;
        encoder.finish()?;
        Ok(BundleLogEntry { process: log.process.clone(), file: name, cut: log.cut })
    }

    pub(super) fn manifest(&self, manifest: &BundleManifest) -> io::Result<()> {
        self.open(file::MANIFEST)?.write_all(&json(manifest))
    }

    fn open(&self, name: &str) -> io::Result<CountedFile> {
        let path = self.root.join(name);
        let parent = path.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path)?;
        Ok(CountedFile { file, written: Arc::clone(&self.budget.written) })
    }
}

/// A file with a JSON list of objects. It is written in parts, each of them compressed for itself: hundreds of open
/// encoders would take more memory than the objects.
#[derive(Debug)]
pub(super) struct ListFile {
    name: String,
    /// Number of objects in the file.
    pub(super) count: usize,
}

impl ListFile {
    pub(super) fn new(directory: &str, name: &str) -> Self {
        Self { name: file::of_cluster(directory, name), count: 0 }
    }

    /// Ends the list.
    pub(super) fn end(&self, files: &BundleFiles) -> io::Result<()> {
        let mut writer = files.list(self)?;
        writer.encoder.write_all(if self.count == 0 { b"[]\n" } else { b"\n]\n" })?;
        writer.finish()
    }
}

/// A part of a list file that is being written.
pub(super) struct ListWriter {
    encoder: GzEncoder<BufWriter<CountedFile>>,
}

impl ListWriter {
    /// Adds an object to the list.
    pub(super) fn add(&mut self, list: &mut ListFile, object: &Value) -> io::Result<()> {
        self.encoder.write_all(if list.count == 0 { b"[\n" } else { b",\n" })?;
        serde_json::to_writer(&mut self.encoder, object)?;
        list.count += 1;
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.encoder.finish()?.into_inner().map(drop).map_err(io::IntoInnerError::into_error)
    }
}
