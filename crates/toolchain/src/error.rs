//! What can go wrong with the toolchain.

use std::io;
use std::path::{Path, PathBuf};

use crate::archive::DownloadFailure;
use crate::disk::human_size;

/// An error that occurs while getting a component. The output of Go or of a program is part of the message, on lines of
/// its own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolchainError {
    /// No component has this name.
    #[error("there is no component `{component}`")]
    UnknownComponent {
        /// Requested name.
        component: String,
        /// Known components.
        known: Vec<String>,
    },
    /// The component has no such version, neither pinned nor added.
    #[error("there is no {component} {version} in the toolchain")]
    UnknownVersion {
        /// The component.
        component: String,
        /// Requested version.
        version: String,
        /// Known versions, pinned and added.
        known: Vec<String>,
        /// Known version that the user most likely meant.
        nearest: Option<String>,
        /// Names of the component's programs.
        programs: Vec<String>,
    },
    /// The version has no such program.
    #[error("{component} {version} has no program `{program}`")]
    UnknownProgram {
        /// The component.
        component: String,
        /// The version.
        version: String,
        /// Requested program.
        program: String,
        /// Programs of the version.
        known: Vec<String>,
    },
    /// A program that the system should have is missing.
    #[error("{needed_by} needs `{program}`, and there is none on the PATH")]
    SystemProgramMissing {
        /// The program.
        program: &'static str,
        /// Debian package with the program.
        package: &'static str,
        /// Component or feature that needs the program.
        needed_by: &'static str,
    },
    /// There is no `go` command.
    #[error("building {component} {version} needs Go {needed} or later, and there is no `{command}`")]
    GoMissing {
        /// The component.
        component: String,
        /// The version.
        version: String,
        /// Name or path of the command.
        command: String,
        /// Oldest version of Go that can build the component.
        needed: String,
    },
    /// The `go` command is too old, and isn't allowed to fetch a newer one.
    #[error("building {component} {version} needs Go {needed} or later, and {} is {found}", command.display())]
    GoTooOld {
        /// The component.
        component: String,
        /// The version.
        version: String,
        /// The command.
        command: PathBuf,
        /// Version that the command reports.
        found: String,
        /// Oldest version of Go that can build the component.
        needed: String,
    },
    /// Go couldn't download a module.
    #[error("failed to download the modules of {component} {version}{}", indented(output))]
    Download {
        /// The component.
        component: String,
        /// The version.
        version: String,
        /// Last lines of Go's output.
        output: Vec<String>,
    },
    /// Go couldn't build something, for a reason that has no variant of its own.
    #[error("failed to build {what} {version}{}", indented(output))]
    Build {
        /// The program, or the component.
        what: String,
        /// The version.
        version: String,
        /// Last lines of Go's output, 20 at most.
        output: Vec<String>,
    },
    /// A disk is full.
    #[error("no space left on device for {}{}", directory.display(), free_text(*free))]
    DiskFull {
        /// Folder that could not be written to.
        directory: PathBuf,
        /// Free bytes in this folder, if known.
        free: Option<u64>,
        /// Bytes that the work takes in all folders together; 0 if unknown.
        needed: u64,
    },
    /// The cache folder can't be written to.
    #[error("can't write to the cache folder {}: {source}", directory.display())]
    NotWritable {
        /// The folder.
        directory: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// There is no home directory to put a cache into.
    #[error("can't find a cache folder: there is no home directory")]
    NoCacheDir,
    /// A file of an added version has changed since it was added.
    #[error("{} of {component} {version} is damaged: {why}", file.display())]
    Corrupt {
        /// The component.
        component: String,
        /// The version.
        version: String,
        /// The file.
        file: PathBuf,
        /// Reason why the file counts as damaged.
        why: String,
    },
    /// Nothing of a version is in the cache.
    #[error("{component} {version} isn't in the cache")]
    NotInCache {
        /// The component.
        component: String,
        /// The version.
        version: String,
    },
    /// A file isn't an archive of components for this machine.
    #[error("failed to import {}: {why}", path.display())]
    BadArchive {
        /// The file.
        path: PathBuf,
        /// Reason why it can't be imported.
        why: String,
    },
    /// An archive can't be downloaded.
    #[error("failed to download {url}: {failure}")]
    NotDownloaded {
        /// Address of the archive, without secrets.
        url: String,
        /// Reason.
        failure: DownloadFailure,
    },
    /// An archive has another checksum than its owner gave.
    #[error("failed to import {}: its SHA-256 is {actual}, not {expected}", path.display())]
    WrongChecksum {
        /// The file.
        path: PathBuf,
        /// Checksum that was given.
        expected: String,
        /// Checksum of the file.
        actual: String,
    },
    /// A pinned version would be replaced.
    #[error("{component} {version} can be built and isn't replaced")]
    IsPinned {
        /// The component.
        component: String,
        /// The version.
        version: String,
    },
    /// A version or a program has a name that can't be a file name.
    #[error("`{name}` can't be the name of a {what}")]
    BadName {
        /// `version` or `program`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A program that was to be added doesn't start.
    #[error("{} doesn't start: {why}{}", path.display(), indented(output))]
    DoesNotStart {
        /// The program.
        path: PathBuf,
        /// Reason why the program counts as not starting.
        why: String,
        /// Last lines of the program's output.
        output: Vec<String>,
    },
    /// A program to add, or the folder with its CRDs, can't be read.
    #[error("can't add {}: {why}", path.display())]
    BadSource {
        /// The file or folder.
        path: PathBuf,
        /// Reason why the file or folder can't be added.
        why: String,
    },
    /// A folder to add contains something other than CRDs.
    #[error("{} can't be added as CRDs: {why}", path.display())]
    BadCrds {
        /// The file or folder.
        path: PathBuf,
        /// Reason why the file or folder can't be added.
        why: String,
    },
    /// The toolchain's own definitions are wrong.
    #[error("the toolchain's definition {file} is wrong: {why}")]
    Definition {
        /// The file.
        file: String,
        /// Reason why the definition is wrong.
        why: String,
    },
    /// A file or command failed for another reason.
    #[error("failed to {doing} {}: {source}", path.display())]
    Io {
        /// Verb for the failed operation, such as `read`.
        doing: &'static str,
        /// Path of the file or command.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl ToolchainError {
    /// Turns an I/O error into a toolchain error: a full disk and a missing permission have variants of their own.
    ///
    /// The needed space isn't known here; [`needing`](Self::needing) fills it in.
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let directory = path.parent().unwrap_or(path).to_owned();
        match source.kind() {
            StorageFull | QuotaExceeded => Self::DiskFull { free: crate::disk::free(&directory), directory, needed: 0 },
            PermissionDenied | ReadOnlyFilesystem if doing != "read" && doing != "run" => {
                Self::NotWritable { directory, source }
            }
            _ => Self::Io { doing, path: path.to_owned(), source },
        }
    }

    /// Returns [`Self::io`] for `map_err`.
    pub(crate) fn failed_to(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::io(doing, &path, source)
    }

    /// Returns the same error; one about a full disk gets the number of bytes that are needed.
    pub(crate) fn needing(self, bytes: u64) -> Self {
        match self {
            Self::DiskFull { directory, free, needed: 0 } => Self::DiskFull { directory, free, needed: bytes },
            other => other,
        }
    }
}

fn free_text(free: Option<u64>) -> String {
    free.map(|free| format!(" ({} free)", human_size(free))).unwrap_or_default()
}

fn indented(lines: &[String]) -> String {
    lines.iter().fold(String::new(), |text, line| text + "\n  " + line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_errors_are_sorted() {
        let sort = |kind: io::ErrorKind| ToolchainError::io("write", Path::new("/c/file"), kind.into());
        assert!(matches!(sort(io::ErrorKind::StorageFull), ToolchainError::DiskFull { .. }));
        assert!(matches!(sort(io::ErrorKind::PermissionDenied), ToolchainError::NotWritable { .. }));
        assert!(matches!(sort(io::ErrorKind::NotFound), ToolchainError::Io { .. }));
    }
}
