//! A text that grows line by line, wrapped to a width, with nested indentation.

use owo_colors::{OwoColorize, Style};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

use super::style::PLAIN;

/// Fewer columns than this make no readable text, however deep the indentation.
const NARROWEST: usize = 24;

/// Collects lines. Whatever comes from a cluster goes through [`clean`] on its way in.
#[derive(Debug)]
pub struct Page {
    text: String,
    width: usize,
    indent: usize,
}

impl Page {
    /// An empty page of a width in columns.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self { text: String::new(), width, indent: 0 }
    }

    /// Writes with everything moved to the right by some columns.
    pub fn indented(&mut self, by: usize, write: impl FnOnce(&mut Self)) {
        self.indent += by;
        write(self);
        self.indent -= by;
    }

    /// One empty line: never two in a row, never at the top.
    pub fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A line that may be longer than the width: something that people copy.
    pub fn unwrapped(&mut self, text: &str) {
        for line in clean(text).lines() {
            self.text.push_str(&" ".repeat(self.indent));
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    /// A line made of pieces that are styled already. It is neither wrapped nor cleaned.
    pub fn styled(&mut self, line: &str) {
        self.text.push_str(&" ".repeat(self.indent));
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// A wrapped paragraph.
    pub fn text(&mut self, text: &str) {
        self.item("", PLAIN, 0, text);
    }

    /// A wrapped paragraph that starts with a label; its further lines stand `hang` columns to the right of the label's
    /// beginning.
    pub fn item(&mut self, label: &str, style: Style, hang: usize, text: &str) {
        let indent = " ".repeat(self.indent);
        let hanging = " ".repeat(self.indent + hang);
        // An empty style would still write its reset.
        let first = if label.is_empty() || style == PLAIN {
            format!("{indent}{label}")
        } else {
            format!("{indent}{}", label.style(style))
        };
        let text = clean(text);
        if text.is_empty() {
            self.text.push_str(first.trim_end());
            self.text.push('\n');
        }
        for (number, line) in text.lines().enumerate() {
            let options = options(self.columns() + self.indent)
                .initial_indent(if number == 0 { &first } else { &hanging })
                .subsequent_indent(&hanging);
            for piece in textwrap::wrap(line, options) {
                self.text.push_str(piece.trim_end());
                self.text.push('\n');
            }
        }
    }

    /// Everything that was written.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }

    /// How many columns a line has here.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.width.saturating_sub(self.indent).max(NARROWEST)
    }
}

/// Breaks at spaces only: names of objects have hyphens and slashes, and a broken name can't be searched for or copied.
fn options<'a>(width: usize) -> Options<'a> {
    Options::new(width)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
}

/// Text from elsewhere without what a terminal or XML would take for more than text: escape sequences, control
/// characters (line ends stay, tabs become spaces), non-characters.
#[must_use]
pub fn clean(text: &str) -> String {
    anstream::adapter::strip_str(text)
        .to_string()
        .chars()
        .filter_map(|c| match c {
            '\n' => Some('\n'),
            '\t' => Some(' '),
            '\u{fffe}' | '\u{ffff}' => None,
            c if c.is_control() => None,
            c => Some(c),
        })
        .collect::<String>()
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_never_broken() {
        let mut page = Page::new(40);
        page.item(
            "1. ",
            PLAIN,
            3,
            "works.placement.kubernetes-fleet.io \"web-work\" is forbidden in fleet-member-member-4",
        );
        assert_eq!(
            page.finish(),
            "1. works.placement.kubernetes-fleet.io\n   \"web-work\" is forbidden in\n   fleet-member-member-4\n"
        );
    }

    #[test]
    fn indentation_nests_and_blank_lines_never_double() {
        let mut page = Page::new(80);
        page.blank();
        page.text("one");
        page.blank();
        page.blank();
        page.indented(2, |page| page.indented(2, |page| page.unwrapped("two\nthree")));
        page.text("four");
        assert_eq!(page.finish(), "one\n\n    two\n    three\nfour\n");
    }

    #[test]
    fn what_a_cluster_says_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\u{7}c\td\r\ne\u{ffff}\n"), "abc d\ne");
    }
}
