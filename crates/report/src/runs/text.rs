//! Report about several runs as text.

use owo_colors::{OwoColorize, Style};
use record::ScenarioName;

use super::changes::heading;
use super::compare::{RunComparison, RunDifference};
use super::merge::FlakyScenario;
use crate::comparison::difference::{DifferenceKind, DifferenceVerdict};
use crate::text::TextPage;
use crate::text::style::{BOLD, ERROR, OutputLayout, SUCCESS, WARNING};

/// Maximum number of lines of a controller's text; JSON has the whole text.
const TEXT: usize = 4;

/// Maximum number of scenarios that are named of one difference.
const NAMED: usize = 5;

/// Returns the scenarios that passed in some of the runs and failed in others, with colours; nothing if there are none.
#[must_use]
pub fn flaky(flaky: &[FlakyScenario], look: OutputLayout) -> String {
    let mut page = TextPage::new(look.width);
    if flaky.is_empty() {
        return String::new();
    }
    page.styled(&"passes in some runs and fails in others".style(WARNING).to_string());
    for FlakyScenario { file, line, scenario, passed, failed } in flaky {
        let text = format!("{scenario} ({file}:{line}): {passed} passed, {failed} failed");
        page.indented(2, |page| page.item(&format!("{} ", look.symbols.skipped), WARNING, 2, &text));
    }
    page.blank();
    page.finish()
}

/// Returns the comparison, with colours.
#[must_use]
pub fn comparison(comparison: &RunComparison, look: OutputLayout) -> String {
    let mut page = TextPage::new(look.width);
    let RunComparison { before, after, in_both, gone, new, new_false_alarms, .. } = comparison;
    page.styled(&"compared".style(BOLD).to_string());
    page.indented(2, |page| {
        for (label, runs) in [("was: ", before), ("now: ", after)] {
            let text = format!("{} of {:.0}: {} ({})", runs.id, runs.started_at, runs.counts, runs.versions_text());
            page.item(label, BOLD, 5, &text);
        }
        page.text(&counts(comparison, *in_both));
        for code in new_false_alarms {
            let sign = format!("{} ", look.symbols.failed);
            page.item(&sign, ERROR, 2, &format!("{code} is a new false alarm of the continuous diagnosis"));
        }
    });
    for verdict in DifferenceVerdict::WORST_FIRST {
        write_differences(&mut page, comparison, verdict, look);
    }
    for (what, scenarios) in [("only in the earlier runs", gone), ("only in these runs", new)] {
        if !scenarios.is_empty() {
            page.blank();
            page.styled(&format!("{what}: {}", scenarios.len()).style(BOLD).to_string());
            page.indented(2, |page| write_names(page, "", scenarios));
        }
    }
    page.blank();
    page.finish()
}

/// Returns the number of scenarios in both, and of differences per severity.
fn counts(comparison: &RunComparison, in_both: usize) -> String {
    let of = |verdict| comparison.with_verdict(verdict).count();
    let (breaks, differs, safe) =
        (of(DifferenceVerdict::Breaks), of(DifferenceVerdict::Differs), of(DifferenceVerdict::Safe));
    let scenarios = if in_both == 1 { "1 scenario is".to_owned() } else { format!("{in_both} scenarios are") };
    format!("{scenarios} in both; differences: {breaks} that break, {differs} others, {safe} for the better")
}

fn write_differences(page: &mut TextPage, comparison: &RunComparison, verdict: DifferenceVerdict, look: OutputLayout) {
    let (style, sign): (Style, _) = match verdict {
        DifferenceVerdict::Breaks => (ERROR, look.symbols.failed),
        DifferenceVerdict::Differs => (WARNING, look.symbols.skipped),
        DifferenceVerdict::Safe => (SUCCESS, look.symbols.passed),
    };
    if comparison.with_verdict(verdict).next().is_none() {
        return;
    }
    page.blank();
    page.styled(&heading(verdict).style(style).to_string());
    for difference in comparison.with_verdict(verdict) {
        page.indented(2, |page| {
            page.item(&format!("{sign} "), style, 2, &difference.title());
            page.indented(2, |page| write_difference(page, difference));
        });
    }
}

fn write_difference(page: &mut TextPage, difference: &RunDifference) {
    for (label, state) in [("was: ", &difference.was), ("now: ", &difference.is)] {
        let state =
            state.as_deref().map_or("(nothing)", |state| if state.trim().is_empty() { "(empty)" } else { state });
        page.at_most(TEXT, label, 2, state);
    }
    if difference.kind != DifferenceKind::Outcome {
        write_names(page, "in ", &difference.scenarios);
    }
}

/// Writes the names of some scenarios, and how many more there are.
fn write_names(page: &mut TextPage, label: &str, scenarios: &[ScenarioName]) {
    let names = scenarios.iter().map(|ScenarioName { file, line, scenario }| format!("{scenario} ({file}:{line})"));
    page.first_of(label, names, NAMED);
}
