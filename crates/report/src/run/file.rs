//! Report files: their formats, and how each is written completely or not at all.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use record::RunRecord;

use super::{html, json, junit};
use crate::runs::changes::RunChanges;
use crate::text::stdout;

/// A report that couldn't be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A parent directory of the report is missing and can't be created.
    #[error("failed to create the directory `{}`", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Underlying I/O error.
        source: io::Error,
    },
    /// The report can't be written: no permission, no space, or a directory has its path.
    #[error("failed to write `{}`", path.display())]
    Write {
        /// Path of the report.
        path: PathBuf,
        /// Underlying I/O error.
        source: io::Error,
    },
    /// The report can't be converted to its format: a bug.
    #[error("failed to make the {format} report")]
    Format {
        /// Name of the format.
        format: &'static str,
        /// Underlying error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Stdout can't be written to.
    #[error("failed to write to stdout")]
    Stdout(#[source] io::Error),
}

/// Path that stands for stdout.
pub const STDOUT: &str = "-";

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// XML, as CI systems read it.
    Junit,
    /// The run's record as JSON.
    Json,
    /// One page that a browser shows without requesting anything.
    Html,
}

impl ReportFormat {
    /// Name of the format in messages.
    fn name(self) -> &'static str {
        match self {
            Self::Junit => "JUnit",
            Self::Json => "JSON",
            Self::Html => "HTML",
        }
    }
}

impl fmt::Display for ReportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A requested report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportFile {
    /// Format of the report.
    pub format: ReportFormat,
    /// Path of the report; [`STDOUT`] for stdout.
    pub path: PathBuf,
}

impl ReportFile {
    /// Creates a report with this format and path.
    #[must_use]
    pub fn new(format: ReportFormat, path: impl Into<PathBuf>) -> Self {
        Self { format, path: path.into() }
    }

    /// True if the report goes to stdout: its path is `-`.
    #[must_use]
    pub fn is_stdout(&self) -> bool {
        self.path == Path::new(STDOUT)
    }

    /// Creates the parent directories and checks that a file can be created there.
    ///
    /// # Errors
    /// Returns an error if a directory or the file can't be created.
    pub fn prepare(&self) -> Result<(), ReportError> {
        if self.is_stdout() { Ok(()) } else { prepare(&self.path) }
    }

    /// Writes the report of one run.
    ///
    /// # Errors
    /// Returns an error if the report can't be written. An older file of that name is unchanged then.
    pub fn write(&self, run: &RunRecord) -> Result<(), ReportError> {
        self.write_with(run, &RunChanges::default())
    }

    /// Writes the report of a merged run, with what the runs say together. Only the page has that.
    ///
    /// # Errors
    /// Returns an error if the report can't be written. An older file of that name is unchanged then.
    pub fn write_with(&self, run: &RunRecord, changes: &RunChanges) -> Result<(), ReportError> {
        let of_format = |source| ReportError::Format { format: self.format.name(), source };
        let bytes = match self.format {
            ReportFormat::Junit => junit::to_xml(run).map_err(of_format)?,
            ReportFormat::Json => json::to_json(run).map_err(of_format)?,
            ReportFormat::Html => html::to_html(run, changes)?,
        };
        if self.is_stdout() {
            // The command reports at its end if stdout couldn't be written to.
            stdout::print_text(&bytes);
            return Ok(());
        }
        write_atomically(&self.path, bytes.as_bytes())
    }
}

/// Creates the parent directories of a file that is written later, and checks that the file can be created there.
///
/// # Errors
/// Returns an error if a directory or the file can't be created.
pub fn prepare(path: &Path) -> Result<(), ReportError> {
    if path.is_dir() {
        return Err(write_error(path, io::ErrorKind::IsADirectory.into()));
    }
    if is_special(path) {
        return Ok(());
    }
    tempfile::NamedTempFile::new_in(make_parent(path)?).map_err(|e| write_error(path, e))?;
    Ok(())
}

fn write_error(path: &Path, source: io::Error) -> ReportError {
    ReportError::Write { path: path.to_owned(), source }
}

/// Writes a file completely or not at all: a temporary file beside it is written first and then renamed. Creates the
/// parent directories. Pipes and devices, e.g. `/dev/stdout`, are written to directly.
///
/// # Errors
/// Returns an error if a directory can't be created or the file can't be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    if is_special(path) {
        let written = fs::OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(bytes));
        return written.map_err(|e| write_error(path, e));
    }
    // A symbolic link stays a link: its target is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let dir = make_parent(&target)?;
    let mut builder = tempfile::Builder::new();
    // Others may read a report like any new file; a temporary file has mode 0600 by default.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.prefix(".fleetdrill-").tempfile_in(dir).map_err(|e| write_error(path, e))?;
    file.write_all(bytes).map_err(|e| write_error(path, e))?;
    file.persist(&target).map_err(|e| write_error(path, e.error))?;
    Ok(())
}

/// True if the path is a pipe or a device, which a rename would replace by a plain file.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

fn make_parent(path: &Path) -> Result<&Path, ReportError> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(dir).map_err(|source| ReportError::Directory { path: dir.to_owned(), source })?;
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::fixture;

    #[test]
    fn directories_are_made_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("reports/today/run.json");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn errors_name_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let file = ReportFile::new(ReportFormat::Json, dir.path());
        let expected = format!("failed to write `{}`", dir.path().display());
        assert_eq!(file.prepare().unwrap_err().to_string(), expected);
        assert_eq!(file.write(&fixture::run()).unwrap_err().to_string(), expected);

        let below = dir.path().join("file");
        fs::write(&below, "").unwrap();
        let file = ReportFile::new(ReportFormat::Json, below.join("run.json"));
        assert_eq!(
            file.prepare().unwrap_err().to_string(),
            format!("failed to create the directory `{}`", below.display())
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("target");
        fs::write(&target, "old").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write_atomically(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"new");
        ReportFile::new(ReportFormat::Junit, "/dev/null").write(&fixture::run()).unwrap();
        assert!(is_special(Path::new("/dev/null")));
    }
}
