//! A text that grows line by line, wrapped to a width, with nested indentation.

use owo_colors::{OwoColorize, Style};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

use super::style::{DIMMED, PLAIN};

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
        self.write(Item { label, style, hang, text, text_style: PLAIN, lines: usize::MAX });
    }

    /// A paragraph like [`Page::item`] that takes no more than some lines; "..." stands for what had no room.
    pub fn at_most(&mut self, lines: usize, label: &str, hang: usize, text: &str) {
        self.write(Item { label, style: PLAIN, hang, text, text_style: PLAIN, lines });
    }

    /// A paragraph like [`Page::at_most`] that stays in the background.
    pub fn aside(&mut self, lines: usize, label: &str, hang: usize, text: &str) {
        self.write(Item { label, style: DIMMED, hang, text, text_style: DIMMED, lines });
    }

    /// Writes with lines that end after some columns from here, if not before.
    pub fn measured(&mut self, columns: usize, write: impl FnOnce(&mut Self)) {
        let width = self.width;
        self.width = width.min(self.indent + columns);
        write(self);
        self.width = width;
    }

    fn write(&mut self, Item { label, style, hang, text, text_style, lines }: Item<'_>) {
        let indent = " ".repeat(self.indent);
        let text = clean(text);
        let pieces = wrap(&text, label, hang, self.columns(), lines);
        for (number, piece) in pieces.iter().enumerate() {
            let space = if number == 0 { label.len() - label.trim_end().len() } else { hang };
            let label = if number == 0 { label.trim_end() } else { "" };
            let line = format!("{indent}{}{}{}", styled(label, style), " ".repeat(space), styled(piece, text_style));
            self.text.push_str(line.trim_end());
            self.text.push('\n');
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

/// A paragraph and how it looks.
struct Item<'a> {
    label: &'a str,
    style: Style,
    hang: usize,
    text: &'a str,
    text_style: Style,
    lines: usize,
}

/// A text's lines without label and indentation; at least one, at most `lines`.
fn wrap(text: &str, label: &str, hang: usize, columns: usize, lines: usize) -> Vec<String> {
    let (first, hanging) = (" ".repeat(label.chars().count()), " ".repeat(hang));
    let mut pieces: Vec<String> = Vec::new();
    for line in text.lines() {
        let initial = if pieces.is_empty() { &first } else { &hanging };
        let options = options(columns).initial_indent(initial).subsequent_indent(&hanging);
        for piece in textwrap::wrap(line, options) {
            let indented = if pieces.is_empty() { first.len() } else { hang };
            pieces.push(piece.get(indented..).unwrap_or_default().trim_end().to_owned());
        }
    }
    if pieces.len() > lines {
        pieces.truncate(lines);
        if let Some(last) = pieces.last_mut() {
            let room = columns.saturating_sub(if lines == 1 { first.len() } else { hang });
            *last = shorten(&format!("{last} ..."), room);
        }
    }
    if pieces.is_empty() { vec![String::new()] } else { pieces }
}

/// A text of at most some characters, cut at a space; "..." stands for the rest.
#[must_use]
pub fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let end = text.char_indices().nth(most.saturating_sub(4)).map_or(text.len(), |(at, _)| at);
    let cut = text[..end].rfind(' ').filter(|at| *at > 0).unwrap_or(end);
    format!("{} ...", text[..cut].trim_end_matches([' ', ',', ';', ':']))
}

/// A style that is empty, or has nothing to show, would still write its codes.
fn styled(text: &str, style: Style) -> String {
    if text.is_empty() || style == PLAIN { text.to_owned() } else { text.style(style).to_string() }
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

/// Text from elsewhere on one line, [clean]ed.
#[must_use]
pub fn clean_line(text: &str) -> String {
    clean(text).replace('\n', " ")
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
    fn what_has_no_room_is_dots() {
        let mut page = Page::new(30);
        page.at_most(2, "1. ", 3, "one two three four five six seven eight nine ten eleven twelve");
        page.aside(1, "done: ", 2, "one two three four five six seven");
        let text = anstream::adapter::strip_str(&page.finish()).to_string();
        assert_eq!(text, "1. one two three four five six\n   seven eight nine ten ...\ndone: one two three four ...\n");
        assert_eq!(shorten("one two", 7), "one two");
        assert_eq!(shorten("one two three", 12), "one two ...");
        assert_eq!(shorten("abcdefghijkl", 8), "abcd ...");
    }

    #[test]
    fn a_measure_never_widens_the_page() {
        let mut page = Page::new(30);
        page.indented(4, |page| page.measured(10, |page| assert_eq!(page.columns(), NARROWEST)));
        page.measured(80, |page| assert_eq!(page.columns(), 30));
        assert_eq!(page.columns(), 30);
    }

    #[test]
    fn what_a_cluster_says_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\u{7}c\td\r\ne\u{ffff}\n"), "abc d\ne");
    }
}
