//! Colours and signs that every output uses.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};

use owo_colors::Style;
use record::Outcome;

/// Style of success: a scenario that passed, a remedy that was applied.
pub const SUCCESS: Style = Style::new().green().bold();
/// Style of failures.
pub const ERROR: Style = Style::new().red().bold();
/// Style of warnings: data that may be lost, a fault, a fast-forward.
pub const WARNING: Style = Style::new().yellow().bold();
/// Style of hints about the next step.
pub const HINT: Style = Style::new().cyan().bold();
/// Style of names and headings.
pub const BOLD: Style = Style::new().bold();
/// Style of less important details.
pub const DIMMED: Style = Style::new().dimmed();
/// No style.
pub const PLAIN: Style = Style::new();

/// Default width of texts, in columns.
pub const WIDTH: usize = 80;
/// Minimum width of a text. A terminal with fewer columns breaks its lines.
const NARROWEST: usize = 60;
/// Maximum width of a text: longer lines are hard to read.
const WIDEST_TEXT: usize = 100;
/// Default width of a scenario's story: conditions with two reasons are long.
pub const STORY_WIDTH: usize = 100;
/// Maximum width of a story: wider stories are hard to read.
const WIDEST: usize = 110;

/// True if `--ascii` was given.
static ASCII_ONLY: AtomicBool = AtomicBool::new(false);

/// Makes all outputs of this process use only ASCII signs, whatever the locale supports.
pub fn use_ascii_only() {
    ASCII_ONLY.store(true, Ordering::Relaxed);
}

/// Signs in outputs: Unicode signs, or ASCII signs for a locale without UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbols {
    /// Sign of a scenario or check that passed.
    pub passed: &'static str,
    /// Sign of a scenario or check that failed.
    pub failed: &'static str,
    /// Sign of a scenario that was not run.
    pub skipped: &'static str,
    /// Arrow between an old and a new state.
    pub arrow: &'static str,
}

impl Symbols {
    /// Signs for terminals and files that support UTF-8.
    pub const UNICODE: Self = Self { passed: "✓", failed: "✗", skipped: "–", arrow: "→" };
    /// Signs for all other terminals and files.
    pub const ASCII: Self = Self { passed: "+", failed: "x", skipped: "-", arrow: "->" };

    /// Returns the signs that this process's locale supports, or ASCII signs if `--ascii` was given. The first of
    /// `LC_ALL`, `LC_CTYPE` and `LANG` that is set decides, as in POSIX; ASCII if none is set.
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

/// Returns the sign of an outcome with its style.
#[must_use]
pub fn sign(outcome: Outcome, symbols: Symbols) -> (&'static str, Style) {
    match outcome {
        Outcome::Passed => (symbols.passed, SUCCESS),
        Outcome::Failed => (symbols.failed, ERROR),
        Outcome::Interrupted => (symbols.failed, WARNING),
        Outcome::NotRun => (symbols.skipped, HINT),
    }
}

/// Formats seconds as in all reports.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    format!("{seconds:.1}s")
}

/// Properties of the output device that texts depend on: width and signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLayout {
    /// Maximum number of columns of a line; commands and single long words may be longer.
    pub width: usize,
    /// Maximum number of columns of a line in a scenario's story.
    pub story: usize,
    /// Signs that may be used.
    pub symbols: Symbols,
}

impl OutputLayout {
    /// Returns the look for this process's stdout: the terminal's columns, at least 60, at most 100 (stories: 110), and
    /// the locale's signs. If stdout isn't a terminal, the widths are 80 and 100 columns.
    #[must_use]
    pub fn from_locale() -> Self {
        Self { symbols: Symbols::from_locale(), ..Self::of_columns(terminal_columns()) }
    }

    /// Returns the look for a terminal with this number of columns; `None` for no terminal.
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

impl Default for OutputLayout {
    /// 80 columns, 100 for stories, Unicode.
    fn default() -> Self {
        Self { width: WIDTH, story: STORY_WIDTH, symbols: Symbols::UNICODE }
    }
}

/// Returns the columns of the terminal at stdout; `None` if stdout isn't a terminal, or the terminal doesn't know its
/// size.
///
/// The standard library can't ask a terminal for its size. `stty`, which POSIX requires, asks the terminal at its
/// stdin.
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

/// Returns the second number of `24 80`. A terminal that doesn't know its size says 0.
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
            let look = OutputLayout::of_columns(columns_of(size));
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
