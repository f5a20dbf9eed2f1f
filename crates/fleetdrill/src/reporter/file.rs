//! Reports as files: which formats there are, and how they get onto the disk whole or not at all.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use steps::record::RunRecord;

use super::{json, junit};
use crate::output::stdout;

/// A report that couldn't be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A directory on the way to the report is missing and can't be made.
    #[error("failed to create the directory `{}`", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The report can't be written: no permission, no space, a directory in its place.
    #[error("failed to write `{}`", path.display())]
    Write {
        /// The report.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The report can't be put into its format: a bug.
    #[error("failed to make the {format} report")]
    Format {
        /// Which format.
        format: &'static str,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Stdout can't be written to.
    #[error("failed to write to stdout")]
    Stdout(#[source] io::Error),
}

/// The path that stands for stdout.
pub const STDOUT: &str = "-";

/// The formats that reports are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// XML, as CI systems read it.
    Junit,
    /// The run's record as JSON.
    Json,
}

impl Format {
    /// As people call it.
    fn name(self) -> &'static str {
        match self {
            Self::Junit => "JUnit",
            Self::Json => "JSON",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A report that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportFile {
    /// In which format.
    pub format: Format,
    /// Where to.
    pub path: PathBuf,
}

impl ReportFile {
    /// A report in a format at a path.
    #[must_use]
    pub fn new(format: Format, path: impl Into<PathBuf>) -> Self {
        Self { format, path: path.into() }
    }

    /// Whether it goes to stdout: its path is `-`.
    #[must_use]
    pub fn is_stdout(&self) -> bool {
        self.path == Path::new(STDOUT)
    }

    /// Makes the parent directories and tries whether a file can be made there.
    ///
    /// # Errors
    /// When it can't.
    pub fn prepare(&self) -> Result<(), ReportError> {
        if self.is_stdout() { Ok(()) } else { prepare(&self.path) }
    }

    /// Writes the report.
    ///
    /// # Errors
    /// When it can't be written; a file that was there before is untouched then.
    pub fn write(&self, run: &RunRecord) -> Result<(), ReportError> {
        let bytes = match self.format {
            Format::Junit => junit::to_xml(run),
            Format::Json => json::to_json(run),
        };
        let bytes = bytes.map_err(|source| ReportError::Format { format: self.format.name(), source })?;
        if self.is_stdout() {
            // Whether it could be written, the command says at its end.
            stdout::print_text(&bytes);
            return Ok(());
        }
        write_atomically(&self.path, bytes.as_bytes())
    }
}

/// Makes the parent directories of a file that is to be written later, and tries whether it can be made there.
///
/// # Errors
/// When it can't.
pub fn prepare(path: &Path) -> Result<(), ReportError> {
    let at = |source| ReportError::Write { path: path.to_owned(), source };
    if path.is_dir() {
        return Err(at(io::ErrorKind::IsADirectory.into()));
    }
    if is_special(path) {
        return Ok(());
    }
    tempfile::NamedTempFile::new_in(make_parent(path)?).map_err(at)?;
    Ok(())
}

/// Writes a file whole or not at all: into a temporary file beside it, which then takes its name. Parent directories are
/// made. Pipes and devices, `/dev/stdout` for one, are written to as they are.
///
/// # Errors
/// When a directory can't be made or the file can't be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    let at = |source| ReportError::Write { path: path.to_owned(), source };
    if is_special(path) {
        return fs::OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(bytes)).map_err(at);
    }
    // A link stays a link: its target is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let dir = make_parent(&target)?;
    let mut builder = tempfile::Builder::new();
    // Others may read a report as they may read any new file; a temporary file alone would be 0600.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.prefix(".fleetdrill-").tempfile_in(dir).map_err(at)?;
    file.write_all(bytes).map_err(at)?;
    file.persist(&target).map_err(|err| at(err.error))?;
    Ok(())
}

/// Whether something is there that renaming a file onto it would destroy.
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
    use crate::reporter::fixture;

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
        let file = ReportFile::new(Format::Json, dir.path());
        let expected = format!("failed to write `{}`", dir.path().display());
        assert_eq!(file.prepare().unwrap_err().to_string(), expected);
        assert_eq!(file.write(&fixture::run()).unwrap_err().to_string(), expected);

        let below = dir.path().join("file");
        fs::write(&below, "").unwrap();
        let file = ReportFile::new(Format::Json, below.join("run.json"));
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
        ReportFile::new(Format::Junit, "/dev/null").write(&fixture::run()).unwrap();
        assert!(is_special(Path::new("/dev/null")));
    }
}
