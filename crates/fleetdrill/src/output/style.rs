//! The handful of colours and signs that every output uses.

use std::ffi::OsString;

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
/// No style.
pub const PLAIN: Style = Style::new();

/// The width that texts are wrapped to where nothing else is known.
pub const WIDTH: usize = 80;

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

    /// What the locale of this process takes: the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set decides, as in
    /// POSIX; without any of them it is ASCII.
    #[must_use]
    pub fn from_locale() -> Self {
        Self::from_variables(|name| std::env::var_os(name))
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
    /// Which signs may be used.
    pub symbols: Symbols,
}

impl Look {
    /// For this process' stdout: 80 columns, and the signs that the locale takes.
    #[must_use]
    pub fn from_locale() -> Self {
        Self { symbols: Symbols::from_locale(), ..Self::default() }
    }
}

impl Default for Look {
    /// 80 columns, Unicode.
    fn default() -> Self {
        Self { width: WIDTH, symbols: Symbols::UNICODE }
    }
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
}
