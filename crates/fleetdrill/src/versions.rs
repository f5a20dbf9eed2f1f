//! Which versions of KubeFleet a scenario is for.
//!
//! Tags say it: `@since-v0.2.0` and `@before-v0.2.0`, on a feature, a scenario or its examples. All that there are must
//! hold. Only a version's three numbers count: a release candidate or somebody's own build of v0.2.0 behaves as v0.2.0.

use std::fmt;

use fleet::version::{KubeFleet, Numbers};

/// What begins a tag of a version from which on a scenario is for.
const SINCE: &str = "since-";

/// What begins a tag of a version up to which a scenario is for.
const BEFORE: &str = "before-";

/// The versions that a scenario is for; by default all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needed {
    since: Option<Numbers>,
    before: Option<Numbers>,
}

impl Needed {
    /// What tags (without `@`) say.
    ///
    /// # Errors
    /// When a tag that should name a version doesn't, or no version satisfies all; the error is for people.
    pub fn of(tags: &[String]) -> Result<Self, String> {
        let mut needed = Self::default();
        for tag in tags {
            if let Some(version) = tag.strip_prefix(SINCE) {
                needed.since = needed.since.max(Some(release(tag, version)?));
            } else if let Some(version) = tag.strip_prefix(BEFORE) {
                let version = release(tag, version)?;
                needed.before = Some(needed.before.map_or(version, |before| before.min(version)));
            }
        }
        match needed {
            Self { since: Some(since), before: Some(before) } if since >= before => {
                Err(format!("no version satisfies its tags: {needed}"))
            }
            needed => Ok(needed),
        }
    }

    /// Whether a version is among them.
    #[must_use]
    pub fn admits(self, version: &KubeFleet) -> bool {
        self.since.is_none_or(|since| version.numbers() >= since)
            && self.before.is_none_or(|before| version.numbers() < before)
    }

    /// Whether all versions are among them.
    #[must_use]
    pub fn is_all(self) -> bool {
        self == Self::default()
    }
}

/// `KubeFleet v0.2.0 or later`, `KubeFleet before v0.2.0`.
impl fmt::Display for Needed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(major, minor, patch): Numbers| format!("v{major}.{minor}.{patch}");
        match (self.since.map(shown), self.before.map(shown)) {
            (Some(since), Some(before)) => write!(f, "KubeFleet {since} or later and before {before}"),
            (Some(since), None) => write!(f, "KubeFleet {since} or later"),
            (None, Some(before)) => write!(f, "KubeFleet before {before}"),
            (None, None) => f.write_str("any KubeFleet"),
        }
    }
}

/// The version in a tag, which is a release's.
fn release(tag: &str, version: &str) -> Result<Numbers, String> {
    let parsed =
        KubeFleet::parse(version).filter(|_| version.chars().all(|c| c == 'v' || c == '.' || c.is_ascii_digit()));
    let wrong = || format!("tag @{tag} names no version: write it like @{SINCE}v0.2.0 or @{BEFORE}v0.2.0");
    parsed.map(|version| version.numbers()).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(tags: &[&str]) -> Result<Needed, String> {
        Needed::of(&tags.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    fn admitted(tags: &[&str], version: &str) -> bool {
        let version = KubeFleet::parse(version).unwrap_or_else(|| panic!("{version} is a version"));
        needed(tags).expect("well-formed tags").admits(&version)
    }

    #[test]
    fn without_tags_every_version_will_do() {
        assert!(admitted(&["drill", "KF-UR-001"], "v0.1.2"));
        assert!(needed(&["drill"]).expect("no version").is_all());
    }

    #[test]
    fn since_has_the_version_itself_and_before_has_not() {
        for (version, since, before) in
            [("v0.1.2", false, true), ("v0.2.0", true, false), ("v0.14.0", true, false), ("v1.0.0", true, false)]
        {
            assert_eq!(admitted(&["since-v0.2.0"], version), since, "{version}");
            assert_eq!(admitted(&["before-v0.2.0"], version), before, "{version}");
        }
    }

    #[test]
    fn all_tags_must_hold() {
        let tags = ["since-v0.1.0", "before-v0.4.0", "since-v0.2.0", "before-v0.3.0"];
        assert!(!admitted(&tags, "v0.1.2") && admitted(&tags, "v0.2.9") && !admitted(&tags, "v0.3.0"));
        assert_eq!(needed(&tags).expect("well-formed").to_string(), "KubeFleet v0.2.0 or later and before v0.3.0");
    }

    #[test]
    fn only_the_numbers_of_a_build_count() {
        for build in ["v0.2.0-rc.1", "v0.2.0-mine", "v0.2.0+abc"] {
            assert!(admitted(&["since-v0.2.0"], build) && !admitted(&["before-v0.2.0"], build), "{build}");
        }
    }

    #[test]
    fn a_tag_without_a_version_is_an_error() {
        for tag in ["since-0.2.0", "since-v0.2", "before-v0.2.0-rc.1", "before-", "since-yesterday"] {
            let error = needed(&[tag]).expect_err(tag);
            assert!(error.starts_with(&format!("tag @{tag} names no version: write it like @since-v0.2.0")), "{error}");
        }
        let error = needed(&["since-v0.2.0", "before-v0.2.0"]).expect_err("nothing is left");
        assert_eq!(error, "no version satisfies its tags: KubeFleet v0.2.0 or later and before v0.2.0");
    }
}
