//! Errors of the configuration: which place of the file, or which environment variable, is wrong.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use super::setting::{SECTIONS, WAIVERS, of_section};
use crate::failure_codes::UnknownCode;

/// Similarity, from 0 to 1, from which on a name may be meant by another one.
const SIMILAR: f64 = 0.5;

/// Error of the configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// File that can't be read.
    #[error("failed to read {}: {source}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// File that was found, not named, and that another user has written.
    #[error("{} belongs to another user", path.display())]
    Foreign {
        /// Path of the file.
        path: PathBuf,
    },
    /// Value or key that is wrong.
    #[error("{place}: {problem}")]
    Invalid {
        /// Place that is wrong.
        place: ConfigPlace,
        /// Description of the problem.
        problem: ConfigProblem,
    },
}

/// Place that gives a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigPlace {
    /// Place in the file; line and column are counted from 1.
    File {
        /// Path of the file, as it is shown.
        path: PathBuf,
        /// Line.
        line: usize,
        /// Column, in characters.
        column: usize,
    },
    /// Environment variable.
    Variable(String),
}

impl fmt::Display for ConfigPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// Description of what is wrong at a place.
#[derive(Debug, Error)]
pub enum ConfigProblem {
    /// Text that isn't TOML.
    #[error("{0}")]
    Syntax(String),
    /// Section or key outside of a section that doesn't exist.
    #[error("there is no section `{0}`")]
    UnknownSection(String),
    /// Key that a section doesn't have.
    #[error("`{section}` has no key `{key}`")]
    UnknownKey {
        /// Name of the section.
        section: &'static str,
        /// The key.
        key: String,
        /// Keys that the section has.
        known: Vec<&'static str>,
    },
    /// Value of another type.
    #[error("`{key}` has to be {expected}, not {found}")]
    WrongType {
        /// The key, with its section.
        key: String,
        /// Types that the key takes.
        expected: String,
        /// TOML's name of the type.
        found: &'static str,
    },
    /// Value that an option doesn't take.
    #[error("`{key}` can't be `{value}`: {reason}")]
    BadValue {
        /// The key, with its section.
        key: String,
        /// The value.
        value: String,
        /// Reason why it can't be.
        reason: String,
    },
    /// Waiver without a key that it needs.
    #[error("this waiver has no `{0}`")]
    Missing(&'static str),
    /// Text that is empty.
    #[error("`{0}` is empty")]
    Empty(String),
    /// Failure code that doesn't exist.
    #[error("{0}")]
    UnknownCode(UnknownCode),
}

impl ConfigError {
    /// Returns a hint for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let problem = match self {
            Self::Invalid { problem, .. } => problem,
            Self::Foreign { path } => {
                let path = path.display();
                return Some(format!(
                    "if you trust it, name it: --config {path}; it can name programs, as a kubeconfig can"
                ));
            }
            Self::Unreadable { .. } => return None,
        };
        match problem {
            ConfigProblem::UnknownSection(name) => Some(hint_for_section(name)),
            ConfigProblem::UnknownKey { key, known, .. } => Some(hint_for_name(key, known, "its keys are")),
            ConfigProblem::Missing("until") => Some("give its last day, e.g. until = 2027-01-31".to_owned()),
            ConfigProblem::Missing("reason") => Some("say why the failure is accepted: reason = \"...\"".to_owned()),
            ConfigProblem::Missing(_) => Some("`fleetdrill explain` lists the failure codes".to_owned()),
            _ => None,
        }
    }
}

/// Returns the sections that have a key of the name, or the nearest section.
fn hint_for_section(name: &str) -> String {
    let has_key = |section: &&&str| of_section(section).any(|setting| setting.key == name);
    let having: Vec<String> = SECTIONS.iter().filter(has_key).map(|section| format!("[{section}]")).collect();
    if !having.is_empty() {
        return format!("`{name}` belongs to {}", having.join(" or "));
    }
    let known: Vec<&str> = SECTIONS.iter().copied().chain([WAIVERS]).collect();
    hint_for_name(name, &known, "the sections are")
}

fn hint_for_name(name: &str, known: &[&'static str], all: &str) -> String {
    let list = known.join(", ");
    match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`? {all} {list}"),
        None => format!("{all} {list}"),
    }
}

/// Returns the name that is most similar to another one.
pub(super) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let rated = known.iter().map(|known| (strsim::normalized_damerau_levenshtein(known, name), *known));
    let best = rated.filter(|(similarity, _)| *similarity >= SIMILAR).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered() {
        assert_eq!(
            hint_for_section("flet"),
            "did you mean `fleet`? the sections are fleet, contexts, run, limits, waivers"
        );
        assert_eq!(
            hint_for_section("waiver"),
            "did you mean `waivers`? the sections are fleet, contexts, run, limits, waivers"
        );
        assert_eq!(hint_for_section("tags"), "`tags` belongs to [run]");
        assert_eq!(hint_for_section("members"), "`members` belongs to [fleet] or [contexts]");
        assert_eq!(hint_for_section("quux"), "the sections are fleet, contexts, run, limits, waivers");
        assert_eq!(nearest("kubeflet", &["kubefleet", "members"]), Some("kubefleet"));
    }
}
