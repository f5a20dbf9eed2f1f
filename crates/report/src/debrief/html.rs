//! A debrief as one self-contained HTML page.

use serde::Serialize;

use super::{Debrief, DebriefEntry, minutes};
use crate::html as page;
use crate::run::ReportError;

/// Template of the page.
const PAGE: &str = include_str!("debrief.html");

/// Everything on the page.
#[derive(Serialize)]
struct DebriefPage<'a> {
    title: &'a str,
    exercise: &'a str,
    trainee: &'a str,
    score: &'a str,
    /// CSS class of the outcome.
    verdict: &'static str,
    outcome: &'static str,
    kubefleet: &'a str,
    provider: &'a str,
    started_at: String,
    entries: Vec<EntryView<'a>>,
    teaches: &'a str,
    guides: &'a [(String, String)],
}

/// One entry on the page.
#[derive(Serialize)]
struct EntryView<'a> {
    at: String,
    label: &'static str,
    /// CSS class: `passed`, `failed`, or `notice` for what is neither.
    class: &'static str,
    texts: &'a [String],
}

impl<'a> EntryView<'a> {
    fn of(entry: &'a DebriefEntry) -> Self {
        let class = match entry.kind.verdict() {
            Some(true) => "passed",
            Some(false) => "failed",
            None => "notice",
        };
        Self { at: minutes(entry.seconds), label: entry.kind.label(), class, texts: &entry.texts }
    }
}

/// Returns the page.
///
/// # Errors
/// Returns an error if the template can't be filled: a bug.
pub fn render(debrief: &Debrief) -> Result<String, ReportError> {
    let (verdict, outcome) = if debrief.repaired { ("passed", "repaired") } else { ("notice", "not repaired") };
    let known = DebriefPage {
        title: &debrief.title,
        exercise: &debrief.exercise,
        trainee: &debrief.trainee,
        score: &debrief.score,
        verdict,
        outcome,
        kubefleet: &debrief.kubefleet,
        provider: &debrief.provider,
        started_at: debrief.started_at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        entries: debrief.entries.iter().map(EntryView::of).collect(),
        teaches: &debrief.teaches,
        guides: &debrief.guides,
    };
    page::render(PAGE, &known)
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn snapshot() {
        let html = render(&fixture::debrief()).expect("a page");
        let body = html.split("<body>").nth(1).expect("a body");
        insta::assert_snapshot!(body);
    }

    #[test]
    fn what_a_trainee_writes_is_no_markup() {
        let mut debrief = fixture::debrief();
        debrief.entries[2].texts = vec!["<script>alert(1)</script>".to_owned()];
        let html = render(&debrief).expect("a page");
        assert!(!html.contains("<script>alert"), "{html}");
        assert!(html.contains("&lt;script&gt;alert(1)"), "{html}");
    }
}
