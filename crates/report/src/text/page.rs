//! Text that grows line by line, wrapped to a width, with nested indentation.

use owo_colors::{OwoColorize, Style};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

use super::style::{DIMMED, PLAIN};
use super::terminal::{REPLACEMENT, changes_order};

/// Minimum number of columns of a line, however deep the indentation: narrower text isn't readable.
const NARROWEST: usize = 24;

/// Collects the lines of a text. Texts from a cluster go through [`clean`] first.
#[derive(Debug)]
pub struct TextPage {
    text: String,
    width: usize,
    indent: usize,
}

impl TextPage {
    /// Creates an empty page with a width in columns.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self { text: String::new(), width, indent: 0 }
    }

    /// Runs `write` with the indentation increased by `by` columns.
    pub fn indented(&mut self, by: usize, write: impl FnOnce(&mut Self)) {
        self.indent += by;
        write(self);
        self.indent -= by;
    }

    /// Adds an empty line, but not at the top and never two in a row.
    pub fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Adds a line that may be longer than the width, because people copy it.
    pub fn unwrapped(&mut self, text: &str) {
        for line in clean(text).lines() {
            self.text.push_str(&" ".repeat(self.indent));
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    /// Adds a line of parts that are already styled. The line is neither wrapped nor cleaned.
    pub fn styled(&mut self, line: &str) {
        self.text.push_str(&" ".repeat(self.indent));
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Adds a wrapped paragraph.
    pub fn text(&mut self, text: &str) {
        self.item("", PLAIN, 0, text);
    }

    /// Adds a wrapped paragraph that starts with a label. Its further lines are indented by `hang` columns from the
    /// beginning of the label.
    pub fn item(&mut self, label: &str, style: Style, hang: usize, text: &str) {
        self.write(LabelledParagraph { label, style, hang, text, text_style: PLAIN, lines: usize::MAX });
    }

    /// Adds a paragraph like [`TextPage::item`] with a maximum number of lines; "..." stands for the rest.
    pub fn at_most(&mut self, lines: usize, label: &str, hang: usize, text: &str) {
        self.write(LabelledParagraph { label, style: PLAIN, hang, text, text_style: PLAIN, lines });
    }

    /// Adds a dimmed paragraph like [`TextPage::at_most`].
    pub fn aside(&mut self, lines: usize, label: &str, hang: usize, text: &str) {
        self.write(LabelledParagraph { label, style: DIMMED, hang, text, text_style: DIMMED, lines });
    }

    /// Adds the first names of a list, each as a dimmed paragraph after `label`, and how many more there are.
    pub fn first_of<N: AsRef<str>>(&mut self, label: &str, names: impl ExactSizeIterator<Item = N>, most: usize) {
        let more = names.len().saturating_sub(most);
        for name in names.take(most) {
            self.aside(2, label, 3, name.as_ref());
        }
        if more > 0 {
            self.aside(1, "", 3, &format!("and {label}{more} more"));
        }
    }

    /// Runs `write` with lines limited to `columns` columns from the current indentation.
    pub fn measured(&mut self, columns: usize, write: impl FnOnce(&mut Self)) {
        let width = self.width;
        self.width = width.min(self.indent + columns);
        write(self);
        self.width = width;
    }

    fn write(&mut self, LabelledParagraph { label, style, hang, text, text_style, lines }: LabelledParagraph<'_>) {
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

    /// Returns the text.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }

    /// Returns the number of columns that a line has at the current indentation.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.width.saturating_sub(self.indent).max(NARROWEST)
    }
}

/// Paragraph with its label and styles.
struct LabelledParagraph<'a> {
    label: &'a str,
    style: Style,
    hang: usize,
    text: &'a str,
    text_style: Style,
    lines: usize,
}

/// Wraps a text into its lines, without label and indentation: at least one line, at most `lines`.
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

/// Shortens a text to at most `most` characters, cut at a space; "..." stands for the rest.
#[must_use]
pub fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let end = text.char_indices().nth(most.saturating_sub(4)).map_or(text.len(), |(at, _)| at);
    let cut = text[..end].rfind(' ').filter(|at| *at > 0).unwrap_or(end);
    format!("{} ...", text[..cut].trim_end_matches([' ', ',', ';', ':']))
}

/// Styles a text. An empty text and the plain style get no escape codes.
fn styled(text: &str, style: Style) -> String {
    if text.is_empty() || style == PLAIN { text.to_owned() } else { text.style(style).to_string() }
}

/// Options that break lines at spaces only: names of objects contain hyphens and slashes, and a broken name can't be
/// searched for or copied.
fn options<'a>(width: usize) -> Options<'a> {
    Options::new(width)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
}

/// Removes from a foreign text all characters that a terminal or XML would interpret: escape sequences, control
/// characters (line ends stay, tabs become spaces), non-characters. U+FFFD stands for characters that change the order of a line.
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
            c if changes_order(c) => Some(REPLACEMENT),
            c => Some(c),
        })
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// Cleans a foreign text with [`clean`] and puts it on one line.
#[must_use]
pub fn clean_line(text: &str) -> String {
    clean(text).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_never_broken() {
        let mut page = TextPage::new(40);
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
        let mut page = TextPage::new(80);
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
        let mut page = TextPage::new(30);
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
        let mut page = TextPage::new(30);
        page.indented(4, |page| page.measured(10, |page| assert_eq!(page.columns(), NARROWEST)));
        page.measured(80, |page| assert_eq!(page.columns(), 30));
        assert_eq!(page.columns(), 30);
    }

    #[test]
    fn what_a_cluster_says_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\u{7}c\td\r\ne\u{ffff}\n"), "abc d\ne");
        assert_eq!(clean("a\u{9b}2Jb\u{8}c\u{202e}d\u{1b}]8;;http://x\u{7}e"), "a2Jbc\u{fffd}de");
    }
}
