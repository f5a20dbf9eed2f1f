//! A debrief as text.

use owo_colors::{OwoColorize, Style};

use super::{Debrief, minutes};
use crate::text::TextPage;
use crate::text::style::{BOLD, ERROR, OutputLayout, SUCCESS};

/// Columns of the time and of the kind.
const LABEL: usize = 22;

/// Returns the debrief, with colours.
#[must_use]
pub fn text(debrief: &Debrief, look: OutputLayout) -> String {
    let mut page = TextPage::new(look.width);
    page.styled(&debrief.title.style(BOLD).to_string());
    let Debrief { exercise, trainee, score, kubefleet, provider, started_at, .. } = debrief;
    page.text(&format!("{exercise}, {trainee}, {}: {score}", started_at.strftime("%Y-%m-%d %H:%M UTC")));
    page.text(&format!("KubeFleet {kubefleet}, provider {provider}; times since the page, in minutes"));
    page.blank();
    for entry in &debrief.entries {
        let style = match entry.kind.verdict() {
            Some(true) => SUCCESS,
            Some(false) => ERROR,
            None => Style::new(),
        };
        let mut label = format!("{:>6}  {:14}", minutes(entry.seconds), entry.kind.label());
        for text in entry.texts.iter().map(String::as_str).chain(entry.texts.is_empty().then_some("")) {
            page.item(&label, style, LABEL, text);
            label = " ".repeat(LABEL);
        }
    }
    if !debrief.teaches.is_empty() {
        page.blank();
        page.styled(&"the cause".style(BOLD).to_string());
        page.text(&debrief.teaches);
    }
    for (title, url) in &debrief.guides {
        page.unwrapped(&format!("{title}: {url}"));
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn snapshot() {
        let text = text(&fixture::debrief(), OutputLayout::default());
        insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
    }
}
