//! Completions of `kubectl fleetdrill`. kubectl runs an executable [`PROGRAM`] with the words of the command line, the last of which is to be
//! completed. It expects a candidate on each line, with a description behind a tab, and then a line with a number that says what the
//! shell may do with them.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::Path;

use clap_complete::engine::{CompletionCandidate, complete};

use crate::help;

/// Name by which kubectl calls this program for completions: a link to it.
pub const PROGRAM: &str = "kubectl_complete-fleetdrill";

/// Flag of the last line: no space behind the completed word.
const NO_SPACE: u8 = 2;

/// Flag of the last line: no names of files if there are no candidates.
const NO_FILES: u8 = 4;

/// True if the program was called by its name for completions.
#[must_use]
pub fn is_requested(called_as: Option<&OsStr>) -> bool {
    called_as.is_some_and(|name| Path::new(name).file_name() == Some(OsStr::new(PROGRAM)))
}

/// Returns the candidates for the last word, as kubectl reads them.
#[must_use]
pub fn completions(words: &[OsString]) -> String {
    let mut arguments: Vec<OsString> = vec!["fleetdrill".into()];
    arguments.extend_from_slice(words);
    if words.is_empty() {
        arguments.push(OsString::new());
    }
    let (last, directory) = (arguments.len() - 1, std::env::current_dir().ok());
    // A line that can't be completed has no candidates.
    let candidates = complete(&mut help::command(), arguments, last, directory.as_deref()).unwrap_or_default();
    let mut text = String::new();
    let mut flags = NO_FILES;
    for candidate in candidates.iter().filter(|candidate| !candidate.is_hide_set()) {
        let line = line(candidate);
        if line.ends_with('/') {
            flags |= NO_SPACE;
        }
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, ":{flags}");
    text
}

fn line(candidate: &CompletionCandidate) -> String {
    let value = candidate.get_value().to_string_lossy();
    let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
    match help.lines().next().filter(|help| !help.is_empty()) {
        Some(help) => format!("{value}\t{help}"),
        None => value.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(words: &[&str]) -> String {
        completions(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn commands_and_options_are_completed_with_their_help() {
        let about = "Find the causes of failures in a fleet's objects, without changing anything";
        assert_eq!(completed(&["diag"]), format!("diagnose\t{about}\n:4\n"));
        assert!(completed(&["toolchain", "imp"]).starts_with("import\t"));
        assert!(completed(&["up", "--provider", ""]).lines().any(|line| line.starts_with("kind")));
        assert_eq!(completed(&["no-such-command", "x"]), ":4\n");
        assert!(completed(&[]).contains("\nup\t"));
        assert!(!completed(&["up", "--na"]).contains("--name"), "hidden aliases stay hidden");
    }

    #[test]
    fn only_a_call_by_the_name_of_the_link_is_for_completions() {
        assert!(is_requested(Some(OsStr::new("/usr/bin/kubectl_complete-fleetdrill"))));
        assert!(!is_requested(Some(OsStr::new("/usr/bin/kubectl-fleetdrill"))) && !is_requested(None));
    }
}
