//! What [`Toolchain::ensure`](super::Toolchain::ensure) tells while it works.

use std::fmt;

/// Receives [`BuildEvent`]s; called from the task that builds, so it must not block.
pub type Progress<'a> = &'a (dyn Fn(BuildEvent) + Send + Sync);

/// Which program is being built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The component that the program belongs to.
    pub component: String,
    /// The component's version.
    pub version: String,
    /// The program's file name.
    pub program: String,
    /// Its place among the programs that this call builds, from 1.
    pub index: usize,
    /// How many programs this call builds.
    pub of: usize,
}

/// Something that happened on the way to an installed component.
///
/// The [`Display`](fmt::Display) form is one plain line for logs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BuildEvent {
    /// The files that are there are being compared with their checksums.
    Verifying {
        /// The component.
        component: String,
        /// Its version.
        version: String,
    },
    /// Another fleetdrill works on this component and version; this one waits for it.
    Waiting {
        /// The component.
        component: String,
        /// Its version.
        version: String,
        /// The other's process id, if it could be found out.
        pid: Option<u32>,
    },
    /// A file isn't what was built, and is built again.
    Rebuilding {
        /// The component.
        component: String,
        /// Its version.
        version: String,
        /// The file's path.
        file: String,
        /// What is wrong with it, to be read after its name: `its size is 3 bytes, not 26751138`.
        why: String,
    },
    /// Go has started downloading a module.
    Downloading {
        /// The component.
        component: String,
        /// Its version.
        version: String,
        /// The module and its version, as Go prints them.
        module: String,
        /// How many downloads this call has started, this one included; Go doesn't say how many there will be.
        count: usize,
    },
    /// Go has started compiling a package. The first event of a program has `done` 0 and no package; there is none
    /// at all when everything is compiled already and only linking remains.
    Compiling {
        /// The program.
        step: Step,
        /// Packages that were started.
        done: usize,
        /// Packages that Go's build cache doesn't hold, those of the program itself left out; at least 1.
        total: usize,
        /// The package's import path.
        package: Option<String>,
    },
    /// All packages of the program were started; what remains is mostly linking.
    Linking {
        /// The program.
        step: Step,
    },
    /// Everything that was asked for is there and whole.
    Done {
        /// The component.
        component: String,
        /// Its version.
        version: String,
        /// How many programs were built.
        built: usize,
        /// How long the call took, in seconds.
        seconds: f64,
    },
}

impl fmt::Display for Step {
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
        let step = Step {
            component: "kubernetes".into(),
            version: "v1.36.3".into(),
            program: "kube-apiserver".into(),
            index: 2,
            of: 7,
        };
        let event = BuildEvent::Compiling { step, done: 412, total: 1603, package: None };
        assert_eq!(event.to_string(), "building kube-apiserver v1.36.3 (2 of 7 programs): 412/1603 packages");
    }
}
