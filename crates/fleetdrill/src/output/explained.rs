//! A failure code as text, in the look of a finding; the names in it are an example's.

use diagnosis::{Entry, Severity, Texts};
use owo_colors::OwoColorize;

use super::Page;
use super::findings::{NUMBER, heading, write_guide, write_remedies, write_title};
use super::style::{BOLD, ERROR, PLAIN, WARNING};

/// Names of an example that are worth telling, in this order.
const TOLD: [&str; 6] = ["placement", "run", "stage", "member", "namespace", "request"];

/// Columns that `KF-WS-001` and the space after it take.
const CODE: usize = 11;

/// What the code means, what to look for and what to do, wrapped to a width.
#[must_use]
pub fn render(entry: &Entry, texts: &Texts, width: usize) -> String {
    let mut page = Page::new(width);
    if let Some(loss) = &texts.data_loss {
        page.item("warning: ", WARNING, 2, loss);
        page.blank();
    }
    write_title(&mut page, &entry.code, entry.severity, &entry.title);
    page.blank();
    page.text(&texts.cause);
    let names: Vec<String> =
        TOLD.into_iter().filter_map(|key| Some(format!("{key} {}", entry.example.get(key)?.as_str()?))).collect();
    if !names.is_empty() {
        page.text(&format!("(The names here and below are examples: {}.)", names.join(", ")));
    }
    page.blank();
    heading(&mut page, "evidence to look for:");
    for (number, evidence) in entry.evidence.iter().enumerate() {
        page.item(&format!("{:>2}. ", number + 1), PLAIN, NUMBER, evidence);
    }
    write_remedies(&mut page, &texts.remedies);
    page.blank();
    match &entry.guide {
        Some(guide) => write_guide(&mut page, guide),
        None => page.item("guide: ", BOLD, 2, "none describes it"),
    }
    page.finish()
}

/// All codes with their titles, a line each.
#[must_use]
pub fn list(entries: &[Entry]) -> String {
    let mut page = Page::new(usize::MAX);
    for entry in entries {
        let (style, note) = match entry.severity {
            Severity::Failure => (ERROR, ""),
            Severity::Notice => (WARNING, " (notice)"),
        };
        let space = " ".repeat(CODE.saturating_sub(entry.code.0.len()));
        page.styled(&format!("{}{space}{}{note}", entry.code.style(style), entry.title));
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::style::WIDTH;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn explained(entry: &Entry) -> String {
        plain(&render(entry, &entry.example().unwrap(), WIDTH))
    }

    #[test]
    fn a_code_with_everything() {
        insta::assert_snapshot!(explained(diagnosis::entry("KF-WS-001").unwrap()));
    }

    #[test]
    fn every_code_fits_the_page_but_for_what_is_copied() {
        for entry in diagnosis::catalogue() {
            let text = explained(entry);
            for line in text.lines().filter(|line| line.chars().count() > WIDTH) {
                let is_copied = line.contains("kubectl") || !line.trim().contains(' ');
                let is_one_word = line.split_whitespace().any(|word| word.chars().count() > WIDTH / 2);
                assert!(is_copied || is_one_word, "{}: {line}", entry.code);
            }
        }
    }

    #[test]
    fn the_list_has_one_line_for_each_code() {
        let text = plain(&list(diagnosis::catalogue()));
        assert_eq!(text.lines().count(), diagnosis::catalogue().len());
        assert!(text.starts_with("KF-WS-001  The member's namespace on the hub is being deleted\n"), "{text}");
    }
}
