//! Report of an upgrade as text.

use std::fmt::Write as _;

use owo_colors::{OwoColorize, Style};
use record::Outcome;
use record::UpgradeOrder;

use super::advice::UpgradeAdvice;
use super::difference::DifferencePeriod;
use super::report::{AffectedGuideSection, DifferenceGroup, UpgradeReport};
use crate::comparison::difference::{DifferenceKind, DifferenceVerdict};
use crate::text::TextPage;
use crate::text::style::{BOLD, DIMMED, ERROR, HINT, OutputLayout, PLAIN, SUCCESS, Symbols, WARNING};

/// Maximum number of lines of a controller's text; JSON and HTML have the whole text.
const TEXT: usize = 4;
/// Maximum number of scenarios that are named below a difference.
const NAMED: usize = 3;

/// Returns the report as text with colours.
#[must_use]
pub fn render(report: &UpgradeReport, look: OutputLayout) -> String {
    let mut page = TextPage::new(look.width);
    let UpgradeReport { product, from, to, verdict, .. } = report;
    page.styled(&format!(
        "{} {}",
        format!("{} {from} {} {to}:", product.name(), look.symbols.arrow).style(BOLD),
        told(*verdict)
    ));
    page.indented(2, |page| {
        if let Some(why) = &report.cut_off {
            page.item("ended early: ", ERROR, 2, why);
        }
        page.text(&report.counts());
        for order in orders(report) {
            write_order(page, report, order);
        }
    });
    write_actions(&mut page, &report.actions);
    let changes = report.changes();
    for (verdict, heading) in [
        (DifferenceVerdict::Breaks, "breaks"),
        (DifferenceVerdict::Differs, "differs"),
        (DifferenceVerdict::Safe, "is better"),
    ] {
        write_changes(&mut page, heading, &changes, verdict, look.symbols);
    }
    write_runbooks(&mut page, &report.runbooks);
    page.blank();
    page.finish()
}

fn told(verdict: DifferenceVerdict) -> String {
    match verdict {
        DifferenceVerdict::Breaks => "something breaks".style(ERROR).to_string(),
        DifferenceVerdict::Differs => "nothing breaks, something differs".style(WARNING).to_string(),
        DifferenceVerdict::Safe => "safe".style(SUCCESS).to_string(),
    }
}

fn style(verdict: DifferenceVerdict) -> Style {
    match verdict {
        DifferenceVerdict::Breaks => ERROR,
        DifferenceVerdict::Differs => WARNING,
        DifferenceVerdict::Safe => SUCCESS,
    }
}

/// Returns the orders of upgrade that were tried.
fn orders(report: &UpgradeReport) -> Vec<UpgradeOrder> {
    report.matrix.first().map(|row| row.orders.iter().map(|cells| cells.order).collect()).unwrap_or_default()
}

/// Writes one line with the number of passed scenarios before, in flight, after and on the way back.
fn write_order(page: &mut TextPage, report: &UpgradeReport, order: UpgradeOrder) {
    let cells = report.matrix.iter().filter_map(|row| row.orders.iter().find(|cells| cells.order == order));
    let parts = [
        ("before", passed(report.matrix.iter().filter_map(|row| row.before))),
        ("in flight", passed(cells.clone().filter_map(|cells| cells.forth.outcome))),
        ("after", passed(cells.clone().filter_map(|cells| cells.after.outcome))),
        ("on the way back", passed(cells.filter_map(|cells| cells.back.outcome))),
    ];
    let told: Vec<String> = parts.into_iter().filter_map(|(when, ended)| Some(format!("{when} {}", ended?))).collect();
    let told = if told.is_empty() { "no scenario was run".to_owned() } else { told.join(", ") };
    page.item(&format!("{order}: "), BOLD, 2, &told);
}

/// Number of passed scenarios and of all that were run; `None` if there are no outcomes.
fn passed(outcomes: impl Iterator<Item = Outcome>) -> Option<String> {
    let outcomes: Vec<Outcome> = outcomes.collect();
    let passed = outcomes.iter().filter(|outcome| **outcome == Outcome::Passed).count();
    let run = outcomes.iter().filter(|outcome| **outcome != Outcome::NotRun).count();
    (!outcomes.is_empty()).then(|| format!("{passed} of {run} passed"))
}

fn write_changes(
    page: &mut TextPage,
    heading: &str,
    changes: &[DifferenceGroup],
    verdict: DifferenceVerdict,
    symbols: Symbols,
) {
    let changes: Vec<&DifferenceGroup> = changes.iter().filter(|change| change.verdict == verdict).collect();
    if changes.is_empty() {
        return;
    }
    page.blank();
    page.styled(&heading.style(style(verdict)).to_string());
    let sign = match verdict {
        DifferenceVerdict::Breaks => symbols.failed,
        DifferenceVerdict::Differs => symbols.skipped,
        DifferenceVerdict::Safe => symbols.passed,
    };
    for change in changes {
        page.blank();
        write_change(page, change, sign);
    }
}

fn write_change(page: &mut TextPage, change: &DifferenceGroup, sign: &str) {
    let accepted = if change.accepted { " (accepted by the baseline)" } else { "" };
    let orders: Vec<String> = change.orders.iter().map(ToString::to_string).collect();
    let label = if change.accepted { DIMMED } else { style(change.verdict) };
    page.indented(2, |page| {
        page.item(&format!("{sign} "), label, 2, &format!("{}{accepted}", change.title()));
        page.indented(2, |page| {
            page.aside(1, "", 0, &format!("{}, {}", change.when, orders.join(", ")));
            page.at_most(TEXT, "was: ", 2, change.was.as_deref().unwrap_or("(nothing)"));
            page.at_most(TEXT, "now: ", 2, change.is.as_deref().unwrap_or("(nothing)"));
            page.first_of("in ", change.scenarios.iter(), NAMED);
        });
    });
}

impl DifferenceGroup {
    /// Returns the subject of the change on one line.
    #[must_use]
    pub fn title(&self) -> String {
        let about = self.about.join(", ");
        match self.kind {
            DifferenceKind::Upgrade => "the upgrade fails".to_owned(),
            DifferenceKind::Finding => about,
            DifferenceKind::Loss => format!("lost on a member: {about}"),
            DifferenceKind::Outcome if self.when == DifferencePeriod::After => "a scenario ends differently".to_owned(),
            DifferenceKind::Outcome => format!("a scenario in flight fails: {about}"),
            DifferenceKind::Timing if self.verdict == DifferenceVerdict::Safe => format!("takes less time: {about}"),
            DifferenceKind::Timing => format!("takes longer: {about}"),
            DifferenceKind::Condition => {
                format!("{} of {}", self.condition.as_deref().unwrap_or_default(), self.objects.join("; "))
            }
        }
    }
}

impl UpgradeReport {
    /// Returns the number of scenarios per verdict, in words.
    #[must_use]
    pub fn counts(&self) -> String {
        let counts = self.counts;
        let mut text = format!(
            "of {} scenarios {} break, {} differ, {} are safe",
            self.matrix.len(),
            counts.breaks,
            counts.differs,
            counts.safe
        );
        // A write to a String can't fail.
        if counts.not_tried > 0 {
            let _ = write!(text, ", {} were not tried", counts.not_tried);
        }
        if counts.accepted > 0 {
            let _ = write!(text, "; {} differences are in the baseline", counts.accepted);
        }
        if counts.without_comparison > 0 {
            let _ =
                write!(text, "; {} of those that break were not tried without an upgrade", counts.without_comparison);
        }
        text
    }
}

/// Writes the advice to follow before the upgrade, as a numbered list.
fn write_actions(page: &mut TextPage, actions: &[UpgradeAdvice]) {
    if actions.is_empty() {
        return;
    }
    page.blank();
    page.styled(&"what to do before you upgrade".style(HINT).to_string());
    for (number, action) in (1..).zip(actions) {
        let orders: Vec<String> = action.orders.iter().map(ToString::to_string).collect();
        page.indented(2, |page| {
            page.item(&format!("{number}. "), PLAIN, 3, &action.what);
            page.indented(3, |page| {
                for why in &action.why {
                    page.at_most(TEXT, "", 2, why);
                }
                let scenarios = match action.scenarios.len() {
                    0 => String::new(),
                    1 => ", 1 scenario".to_owned(),
                    n => format!(", {n} scenarios"),
                };
                page.aside(1, "", 0, &format!("{}{scenarios}", orders.join(", ")));
            });
        });
    }
}

fn write_runbooks(page: &mut TextPage, runbooks: &[AffectedGuideSection]) {
    if runbooks.is_empty() {
        return;
    }
    page.blank();
    page.styled(&"runbooks to look at".style(HINT).to_string());
    for runbook in runbooks {
        let codes: Vec<&str> = runbook.codes.iter().map(String::as_str).collect();
        let why: Vec<&str> = runbook.why.iter().map(String::as_str).collect();
        page.indented(2, |page| {
            page.item("", PLAIN, 2, &format!("{}, \"{}\" ({})", runbook.guide, runbook.section, codes.join(", ")));
            page.indented(2, |page| page.text(&why.join("; ")));
        });
    }
}
