//! The edge to a terminal: what a text may contain that is printed.
//!
//! Texts of clusters, bundles and files are cleaned where they enter a page ([`clean`](super::clean)). Every text passes here once more
//! when it is printed, so that a text which nobody has cleaned can't steer the terminal, and can at most choose a colour.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Longest sequence of a style, without `ESC [` and `m`: two numbers and a semicolon.
const LONGEST_STYLE: usize = 5;

/// Sign in place of a character that was taken out.
pub(super) const REPLACEMENT: char = '\u{fffd}';

/// True for the characters that change the order in which a line is displayed (`Bidi_Control` of Unicode). A name with such a character
/// can look like another one.
pub(super) fn changes_order(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// True for a character that a terminal doesn't display as itself. Line ends and tabs are displayed.
fn steers(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t' || changes_order(c)
}

/// Returns a text in which U+FFFD stands for everything that would steer a terminal: control characters other than line ends and tabs,
/// characters that change the order of a line, and escape sequences other than those of styles.
#[must_use]
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(steers) {
        safe.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = if let Some(length) = style_length(rest) {
            safe.push_str(&rest[..length]);
            length
        } else {
            safe.push(REPLACEMENT);
            rest.chars().next().map_or(0, char::len_utf8)
        };
        rest = &rest[end..];
    }
    safe.push_str(rest);
    Cow::Owned(safe)
}

/// Length of the sequence of a style at the beginning of a text; `None` if there is none. Styles are those of [`style`](super::style) and
/// of clap's help texts: bold, dimmed, underlined, the eight colours of a text, and their end. A text can't be hidden by them.
fn style_length(text: &str) -> Option<usize> {
    let sequence = text.strip_prefix("\u{1b}[")?;
    let end = sequence.bytes().take(LONGEST_STYLE + 1).position(|byte| byte == b'm')?;
    let is_style = |number: &str| matches!(number.parse(), Ok(0..=2 | 4 | 22 | 24 | 31..=37 | 39));
    (end == 0 || sequence[..end].split(';').all(is_style)).then_some("\u{1b}[".len() + end + "m".len())
}

/// Returns a JSON text in which every character that would steer a terminal is written as `\uXXXX`, so that the text means the same. JSON
/// allows such characters in strings only, except for line ends.
#[must_use]
pub fn escaped_json(json: String) -> String {
    if !json.contains(steers) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if steers(c) {
            // A write to a String can't fail. All of these characters have four digits.
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use owo_colors::OwoColorize as _;
    use serde_json::json;

    use super::super::style::{BOLD, DIMMED, ERROR, HINT, SUCCESS, WARNING};
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_replaced() {
        for (text, expected) in [
            ("plain, with ü and a\ttab\n", "plain, with ü and a\ttab\n"),
            // The title of the window, and what the terminal would type at the prompt.
            ("a\u{1b}]0;title\u{7}b", "a\u{fffd}]0;title\u{fffd}b"),
            ("a\u{1b}[21tb\u{1b}[6n", "a\u{fffd}[21tb\u{fffd}[6n"),
            // A link that shows another address.
            ("\u{1b}]8;;http://x\u{1b}\\https://y\u{1b}]8;;\u{1b}\\", "�]8;;http://x�\\https://y�]8;;�\\"),
            // The line is written over.
            ("failed\rpassed", "failed\u{fffd}passed"),
            ("failed\u{8}\u{8}ok", "failed\u{fffd}\u{fffd}ok"),
            ("failed\u{1b}[2K\u{1b}[1Apassed", "failed\u{fffd}[2K\u{fffd}[1Apassed"),
            // Escape sequences of one character.
            ("a\u{9b}31mb\u{9d}0;t\u{9c}\u{90}c\u{7f}", "a�31mb�0;t��c�"),
            // Hidden, black, and backgrounds.
            ("\u{1b}[8mhidden\u{1b}[30m\u{1b}[41m\u{1b}[38;5;16m", "�[8mhidden�[30m�[41m�[38;5;16m"),
            ("\u{1b}[", "\u{fffd}["),
            ("\u{1b}[1", "\u{fffd}[1"),
            ("\u{1b}", "\u{fffd}"),
            // The order on the screen.
            ("user\u{202e}nimda\u{2066}x\u{200f}", "user\u{fffd}nimda\u{fffd}x\u{fffd}"),
        ] {
            assert_eq!(harmless(text), expected, "{text:?}");
        }
    }

    #[test]
    fn styles_stay() {
        for style in [SUCCESS, ERROR, WARNING, HINT, BOLD, DIMMED] {
            let text = format!("a {} b\n", "text".style(style));
            assert!(text.contains('\u{1b}'));
            assert_eq!(harmless(&text), text);
        }
        assert_eq!(harmless("\u{1b}[1m\u{1b}[4mUsage:\u{1b}[0m\u{1b}[m"), "\u{1b}[1m\u{1b}[4mUsage:\u{1b}[0m\u{1b}[m");
    }

    #[test]
    fn escaped_json_means_the_same() {
        let value = json!({"a\u{9b}31m": ["\u{202e}\u{85}\u{7f}", "\u{1b}\r", "ü"]});
        let text = escaped_json(serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(harmless(&text), text);
        assert!(text.contains("\\u202e\\u0085\\u007f") && text.contains('ü'), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
