//! What [`Toolchain::ensure`](crate::Toolchain::ensure) tells while it works.

use std::fmt;
use std::path::PathBuf;

use crate::disk::human_size;

/// Callback that receives [`BuildEvent`]s. The task that builds calls it, so it must not block.
pub type OnBuildEvent<'a> = &'a (dyn Fn(BuildEvent) + Send + Sync);

/// A program that is being built, and its place in the build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildStep {
    /// The component that the program belongs to.
    pub component: String,
    /// The component's version.
    pub version: String,
    /// The program's file name.
    pub program: String,
    /// Position of the program among those that this call builds, from 1.
    pub index: usize,
    /// Number of programs that this call builds.
    pub of: usize,
}

/// Event during the installation of a component.
///
/// The [`Display`](fmt::Display) form is one plain line for logs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BuildEvent {
    /// The existing files are being compared with their checksums.
    Verifying {
        /// The component.
        component: String,
        /// The component's version.
        version: String,
    },
    /// Another fleetdrill process works on this component and version; this process waits for it.
    Waiting {
        /// The component.
        component: String,
        /// The component's version.
        version: String,
        /// Id of the other process, if it is known.
        pid: Option<u32>,
    },
    /// A file is damaged and is built again.
    Rebuilding {
        /// The component.
        component: String,
        /// The component's version.
        version: String,
        /// The file's path.
        file: String,
        /// Kind of damage, to be read after the file's name: `its size is 3 bytes, not 26751138`.
        why: String,
    },
    /// Go has started downloading a module.
    Downloading {
        /// The component.
        component: String,
        /// The component's version.
        version: String,
        /// The module and its version, as Go prints them.
        module: String,
        /// Number of downloads that this call has started so far, this one included. Go doesn't tell the total.
        count: usize,
    },
    /// Go has started compiling a package. The first event of a program has `done` 0 and no package. There is no such
    /// event if everything is compiled already and only linking remains.
    Compiling {
        /// The program.
        step: BuildStep,
        /// Number of packages whose compilation has started.
        done: usize,
        /// Number of packages that Go's build cache doesn't hold, without the program's own; at least 1.
        total: usize,
        /// The package's import path.
        package: Option<String>,
    },
    /// All packages of the program were started; what remains is mostly linking.
    Linking {
        /// The program.
        step: BuildStep,
    },
    /// A version from the cache is being written to an archive.
    Exporting {
        /// The component.
        component: String,
        /// The component's version.
        version: String,
    },
    /// An archive is being downloaded.
    Fetching {
        /// Address of the archive, without secrets.
        url: String,
        /// Bytes that have been downloaded.
        read: u64,
        /// Bytes of the whole archive, if the server has announced them.
        size: Option<u64>,
    },
    /// An archive is being unpacked and checked.
    Unpacking {
        /// The archive: a file or an address; `-` is stdin.
        file: PathBuf,
    },
    /// Everything that was requested is there and undamaged.
    Done {
        /// The component.
        component: String,
        /// The component's version.
        version: String,
        /// Number of programs that were built.
        built: usize,
        /// Duration of the call, in seconds.
        seconds: f64,
    },
}

impl fmt::Display for BuildStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({} of {} programs)", self.program, self.version, self.index, self.of)
    }
}

impl fmt::Display for BuildEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verifying { component, version } => write!(f, "verifying {component} {version}"),
            Self::Waiting { component, version, pid: Some(pid) } => {
                write!(f, "waiting for process {pid}, which is installing {component} {version}")
            }
            Self::Waiting { component, version, pid: None } => {
                write!(f, "waiting for another process, which is installing {component} {version}")
            }
            Self::Rebuilding { component, version, file, why } => {
                write!(f, "building {component} {version} again: {file} is damaged, {why}")
            }
            Self::Downloading { component, version, module, .. } => {
                write!(f, "downloading for {component} {version}: {module}")
            }
            Self::Compiling { step, done, total, .. } => write!(f, "building {step}: {done}/{total} packages"),
            Self::Linking { step } => write!(f, "building {step}: linking"),
            Self::Exporting { component, version } => write!(f, "writing {component} {version}"),
            Self::Fetching { url, read, size: Some(size) } => {
                write!(f, "downloading {url}: {} of {}", human_size(*read), human_size(*size))
            }
            Self::Fetching { url, read, size: None } => write!(f, "downloading {url}: {}", human_size(*read)),
            Self::Unpacking { file } => write!(f, "unpacking {}", file.display()),
            Self::Done { component, version, built: 0, seconds } => {
                write!(f, "{component} {version} is whole, checked in {seconds:.1} s")
            }
            Self::Done { component, version, built, seconds } => {
                let s = if *built == 1 { "" } else { "s" };
                write!(f, "{component} {version} is there, {built} program{s} built in {seconds:.0} s")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let step = BuildStep {
            component: "kubernetes".into(),
            version: "v1.36.3".into(),
            program: "kube-apiserver".into(),
            index: 2,
            of: 7,
        };
        let event = BuildEvent::Compiling { step, done: 412, total: 1603, package: None };
        assert_eq!(event.to_string(), "building kube-apiserver v1.36.3 (2 of 7 programs): 412/1603 packages");
        let fetching = |size| BuildEvent::Fetching { url: "https://example.com/t.tar.gz".into(), read: 12 << 20, size };
        let lines = [Some(219 << 20), None].map(|size| fetching(size).to_string());
        assert_eq!(
            lines,
            [
                "downloading https://example.com/t.tar.gz: 12 MiB of 219 MiB",
                "downloading https://example.com/t.tar.gz: 12 MiB"
            ]
        );
    }
}
