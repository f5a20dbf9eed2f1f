//! What can go wrong with the toolchain, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use super::disk::human;

/// Why a component can't be had. What Go or a program printed is part of the message, on lines of its own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolchainError {
    /// No component has this name.
    #[error("there is no component `{component}`")]
    UnknownComponent {
        /// The name that was asked for.
        component: String,
        /// The components that there are.
        known: Vec<String>,
    },
    /// The component has no such version, neither pinned nor added.
    #[error("there is no {component} {version} in the toolchain")]
    UnknownVersion {
        /// The component.
        component: String,
        /// The version that was asked for.
        version: String,
        /// The versions that there are, pinned and added.
        known: Vec<String>,
        /// The one among them that was most likely meant.
        nearest: Option<String>,
        /// The names of the component's programs.
        programs: Vec<String>,
    },
    /// The version has no such program.
    #[error("{component} {version} has no program `{program}`")]
    UnknownProgram {
        /// The component.
        component: String,
        /// The version.
        version: String,
        /// The program that was asked for.
        program: String,
        /// The programs that it has.
        known: Vec<String>,
    },
    /// A program that the system should have isn't there.
    #[error("{needed_by} needs `{program}`, and there is none on the PATH")]
    SystemProgramMissing {
        /// The program.
        program: &'static str,
        /// The Debian package that has it.
        package: &'static str,
        /// What needs it.
        needed_by: &'static str,
    },
    /// There is no `go` command.
    #[error("building {component} {version} needs Go {needed} or later, and there is no `{command}`")]
    GoMissing {
        /// The component.
        component: String,
        /// The version.
        version: String,
        /// The command that was looked for.
        command: String,
        /// The oldest Go that will do.
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
        /// What it says that it is.
        found: String,
        /// The oldest Go that will do.
        needed: String,
    },
    /// Go couldn't download a module.
    #[error("failed to download the modules of {component} {version}{}", indented(output))]
    Download {
        /// The component.
        component: String,
        /// The version.
        version: String,
        /// Go's last lines.
        output: Vec<String>,
    },
    /// Go couldn't build something, for another reason than those that have a variant of their own.
    #[error("failed to build {what} {version}{}", indented(output))]
    Build {
        /// The program, or the component.
        what: String,
        /// The version.
        version: String,
        /// Go's last lines, 20 at most.
        output: Vec<String>,
    },
    /// A disk is full.
    #[error("no space left on device for {}{}", directory.display(), free_text(*free))]
    DiskFull {
        /// The folder that could not be written to.
        directory: PathBuf,
        /// The bytes that are free there.
        free: Option<u64>,
        /// The bytes that the work takes, all folders together.
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
    /// A file of an added version isn't what was added.
    #[error("{} of {component} {version} is damaged: {why}", file.display())]
    Corrupt {
        /// The component.
        component: String,
        /// The version.
        version: String,
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
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
        /// What happened.
        why: String,
        /// The last lines of what it printed.
        output: Vec<String>,
    },
    /// A program that was to be added, or the folder with its CRDs, can't be read.
    #[error("can't add {}: {why}", path.display())]
    BadSource {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A folder that was to be added holds something else than CRDs.
    #[error("{} can't be added as CRDs: {why}", path.display())]
    BadCrds {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The toolchain's own definitions are wrong.
    #[error("the toolchain's definition {file} is wrong: {why}")]
    Definition {
        /// The file.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// A file or command failed for another reason.
    #[error("failed to {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl ToolchainError {
    /// Sorts an I/O error: a full disk and a folder without permission get their own variants.
    ///
    /// How much is needed isn't known here: [`needing`](Self::needing) fills it in.
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let directory = || path.parent().unwrap_or(path).to_owned();
        match source.kind() {
            StorageFull | QuotaExceeded => {
                let directory = directory();
                Self::DiskFull { free: super::disk::free(&directory), directory, needed: 0 }
            }
            PermissionDenied | ReadOnlyFilesystem if doing != "read" && doing != "run" => {
                Self::NotWritable { directory: directory(), source }
            }
            _ => Self::Io { doing, path: path.to_owned(), source },
        }
    }

    /// The same error, with the bytes that are needed if it is about a full disk.
    pub(crate) fn needing(self, bytes: u64) -> Self {
        match self {
            Self::DiskFull { directory, free, needed: 0 } => Self::DiskFull { directory, free, needed: bytes },
            other => other,
        }
    }
}

fn free_text(free: Option<u64>) -> String {
    free.map(|free| format!(" ({} free)", human(free))).unwrap_or_default()
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
