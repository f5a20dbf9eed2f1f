//! The handful of colours and signs that every output uses.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};

use owo_colors::Style;

/// Success: a scenario that passed, a remedy that was applied.
pub const SUCCESS: Style = Style::new().green().bold();
/// What failed.
pub const ERROR: Style = Style::new().red().bold();
/// What needs attention: data that may be lost, a fault, a fast-forward.
pub const WARNING: Style = Style::new().yellow().bold();
/// What to do next.
pub const HINT: Style = Style::new().cyan().bold();
/// Names and headings.
pub const BOLD: Style = Style::new().bold();
/// What is there for completeness.
pub const DIMMED: Style = Style::new().dimmed();
/// No style.
pub const PLAIN: Style = Style::new();

/// The width that texts are wrapped to where nothing else is known.
pub const WIDTH: usize = 80;
/// The least width of a text; a terminal with fewer columns breaks its lines.
const NARROWEST: usize = 60;
/// The greatest width of a text: longer lines are hard to read.
const WIDEST_TEXT: usize = 100;
/// The width of a scenario's story where nothing else is known: conditions with two reasons are long.
pub const STORY_WIDTH: usize = 100;
/// Wider stories than this are hard to read.
const WIDEST: usize = 110;

/// Whether `--ascii` was given.
static ASCII_ONLY: AtomicBool = AtomicBool::new(false);

/// Makes all outputs of this process use only ASCII signs, whatever the locale takes.
pub fn use_ascii_only() {
    ASCII_ONLY.store(true, Ordering::Relaxed);
}

/// The signs beyond ASCII that outputs use, or what stands for them in a locale without UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbols {
    /// Before what passed.
    pub passed: &'static str,
    /// Before what failed.
    pub failed: &'static str,
    /// Before what was not run.
    pub skipped: &'static str,
    /// Between what was and what became.
    pub arrow: &'static str,
}

impl Symbols {
    /// For terminals and files that take UTF-8.
    pub const UNICODE: Self = Self { passed: "✓", failed: "✗", skipped: "–", arrow: "→" };
    /// For everything else.
    pub const ASCII: Self = Self { passed: "+", failed: "x", skipped: "-", arrow: "->" };

    /// What the locale of this process takes, unless `--ascii` was given: the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set
    /// decides, as in POSIX; without any of them it is ASCII.
    #[must_use]
    pub fn from_locale() -> Self {
        if ASCII_ONLY.load(Ordering::Relaxed) {
            Self::ASCII
        } else {
            Self::from_variables(|name| std::env::var_os(name))
        }
    }

    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty());
        let locale = locale.unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") { Self::UNICODE } else { Self::ASCII }
    }
}

/// What each text needs to know of the place where it appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Lines are wrapped to this many columns; commands and single long words aren't.
    pub width: usize,
    /// The same for a scenario's story.
    pub story: usize,
    /// Which signs may be used.
    pub symbols: Symbols,
}

impl Look {
    /// For this process' stdout: its terminal's columns, at least 60, at most 100 and for stories 110, and the signs that the
    /// locale takes. Where stdout is no terminal, 80 and 100 columns.
    #[must_use]
    pub fn from_locale() -> Self {
        Self { symbols: Symbols::from_locale(), ..Self::of_columns(terminal_columns()) }
    }

    /// For a terminal of some columns, or for none.
    fn of_columns(columns: Option<usize>) -> Self {
        match columns {
            Some(columns) => Self {
                width: columns.clamp(NARROWEST, WIDEST_TEXT),
                story: columns.clamp(NARROWEST, WIDEST),
                ..Self::default()
            },
            None => Self::default(),
        }
    }
}

impl Default for Look {
    /// 80 columns, 100 for stories, Unicode.
    fn default() -> Self {
        Self { width: WIDTH, story: STORY_WIDTH, symbols: Symbols::UNICODE }
    }
}

/// How wide the terminal at stdout is; none when stdout is no terminal, or one that doesn't say.
///
/// The standard library can't ask a terminal; `stty`, which POSIX requires, asks the one at its stdin.
fn terminal_columns() -> Option<usize> {
    use std::io::IsTerminal as _;
    use std::os::fd::AsFd as _;
    use std::process::{Command, Stdio};

    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let terminal = stdout.as_fd().try_clone_to_owned().ok()?;
    let output = Command::new("stty").arg("size").stdin(Stdio::from(terminal)).stderr(Stdio::null()).output().ok()?;
    columns_of(&String::from_utf8(output.stdout).ok()?)
}

/// The second number of `24 80`. A terminal that doesn't know its size says 0.
fn columns_of(size: &str) -> Option<usize> {
    size.split_whitespace().nth(1)?.parse().ok().filter(|columns| *columns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(set: &[(&str, &str)]) -> Symbols {
        Symbols::from_variables(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value)))
    }

    #[test]
    fn the_first_variable_that_is_set_decides() {
        assert_eq!(symbols(&[("LANG", "en_GB.UTF-8")]), Symbols::UNICODE);
        assert_eq!(symbols(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8")]), Symbols::UNICODE);
        assert_eq!(symbols(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")]), Symbols::ASCII);
        assert_eq!(symbols(&[]), Symbols::ASCII);
    }

    #[test]
    fn texts_follow_the_terminal_between_what_reads_well() {
        let look = |size: &str| {
            let look = Look::of_columns(columns_of(size));
            (look.width, look.story)
        };
        assert_eq!(look("50 240\n"), (100, 110));
        assert_eq!(look("50 100\n"), (100, 100));
        assert_eq!(look("24 40\n"), (60, 60));
        assert_eq!(look("24 80\n"), (80, 80));
        assert_eq!(look("24 70\n"), (70, 70));
        assert_eq!(look("0 0\n"), (80, 100));
        assert_eq!(look(""), (80, 100));
    }
}
