//! Regular expressions for controllers' messages.

use regex::{Captures, Regex};

/// Compiles a pattern that is part of the source.
///
/// # Panics
/// If the pattern is invalid, which the first test that uses it shows.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

/// Compiles a pattern that is part of the source and ignores upper and lower case.
pub(super) fn pattern_of_any_case(text: &str) -> Regex {
    pattern(&format!("(?i){text}"))
}

/// Returns the text of a named group; empty if the group didn't match.
pub(super) fn group<'h>(captures: &Captures<'h>, name: &str) -> &'h str {
    captures.name(name).map_or("", |m| m.as_str())
}
