//! A failure code as text, in the layout of a finding. The names in the text are from an example.

use diagnosis::{CatalogueEntry, RenderedTexts, Severity};
use owo_colors::OwoColorize;

use super::text::{NUMBER, heading, write_guide, write_remedies, write_title};
use crate::text::TextPage;
use crate::text::style::{BOLD, ERROR, PLAIN, WARNING};

/// Names of the example that are listed below the cause, in this order.
const TOLD: [&str; 6] = ["placement", "run", "stage", "member", "namespace", "request"];

/// Columns of a code and the space after it, e.g. `KF-WS-001`.
const CODE: usize = 11;

/// Returns the meaning of a code, its evidence and its remedies, wrapped to a width.
#[must_use]
pub fn render(entry: &CatalogueEntry, texts: &RenderedTexts, width: usize) -> String {
    let mut page = TextPage::new(width);
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

/// Returns all codes with their titles, one per line.
#[must_use]
pub fn list(entries: &[CatalogueEntry]) -> String {
    let mut page = TextPage::new(usize::MAX);
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
    use crate::text::style::WIDTH;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn explained(entry: &CatalogueEntry) -> String {
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
