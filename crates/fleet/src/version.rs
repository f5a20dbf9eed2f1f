//! KubeFleet's versions, and what differs between them that a harness has to know before it can do anything.

use std::fmt;

use semver::Version;
use serde::{Deserialize, Serialize};

/// The first version in which `spec.state` of an update run matters. v0.1.2 has the field too, with other values, and ignores
/// it (seen on v0.1.2 and v0.3.1; in between read in the source).
const RUNS_HAVE_STATES: Numbers = (0, 2, 0);

/// The first version in which a placement with strategy External has no resource snapshot until an update run without an
/// index takes one (read in the source of v0.2.2 and v0.3.0, seen on v0.1.2 and v0.3.1).
const RUNS_TAKE_SNAPSHOTS: Numbers = (0, 3, 0);

/// A version's three numbers.
pub type Numbers = (u64, u64, u64);

/// A version of KubeFleet, e.g. `v0.3.1`, or `v0.3.1-mine` for somebody's own build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KubeFleet {
    name: String,
    numbers: Numbers,
}

impl KubeFleet {
    /// Reads a version's name; nothing when it says no version.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let version = Version::parse(name.strip_prefix('v')?).ok()?;
        Some(Self { name: name.to_owned(), numbers: (version.major, version.minor, version.patch) })
    }

    /// Its three numbers. Only they count: a release candidate or somebody's own build of v0.2.0 behaves as v0.2.0.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// The `spec.state` that lets an update run go, where one is needed.
    #[must_use]
    pub fn run_state(&self) -> Option<&'static str> {
        (self.numbers >= RUNS_HAVE_STATES).then_some("Run")
    }

    /// Whether update runs take the resource snapshots of placements with strategy External, and not the placement's
    /// controller whenever the resources change.
    #[must_use]
    pub fn runs_take_snapshots(&self) -> bool {
        self.numbers >= RUNS_TAKE_SNAPSHOTS
    }
}

impl TryFrom<String> for KubeFleet {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::parse(&name).ok_or_else(|| format!("`{name}` is no version of KubeFleet"))
    }
}

impl From<KubeFleet> for String {
    fn from(version: KubeFleet) -> Self {
        version.name
    }
}

impl fmt::Display for KubeFleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::KubeFleet;

    #[test]
    fn a_name_without_a_version_is_none() {
        for name in ["mine", "main-abc", "0.2.0", "v0.2", "v0.2.0_mine", "v0.2.0.1", ""] {
            assert_eq!(KubeFleet::parse(name), None, "{name}");
        }
    }

    #[test]
    fn only_the_numbers_of_a_build_count() {
        for build in ["v0.3.0", "v0.3.0-rc.1", "v0.3.0-mine", "v0.3.0+abc"] {
            let version = KubeFleet::parse(build).expect("a version");
            assert_eq!((version.numbers(), version.to_string().as_str()), ((0, 3, 0), build));
            assert!(version.runs_take_snapshots());
        }
    }
}
