//! An upgrade's report as text.

use std::fmt::Write as _;

use fleet::upgrade::Order;
use owo_colors::{OwoColorize, Style};
use steps::record::Outcome;

use super::action::Action;
use super::difference::{Kind, Verdict, When};
use super::report::{Cell, Change, Report, Row, Runbook};
use crate::output::Page;
use crate::output::style::{BOLD, DIMMED, ERROR, HINT, Look, PLAIN, SUCCESS, Symbols, WARNING};

/// Lines that a text of a controller may take; JSON and HTML have all of it.
const TEXT: usize = 4;
/// Scenarios that are named below a difference.
const NAMED: usize = 3;

/// The report as text with colours.
#[must_use]
pub fn render(report: &Report, look: Look) -> String {
    let mut page = Page::new(look.width);
    let Report { from, to, verdict, .. } = report;
    page.styled(&format!(
        "{} {}",
        format!("KubeFleet {from} {} {to}:", look.symbols.arrow).style(BOLD),
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
    for (verdict, heading) in [(Verdict::Breaks, "breaks"), (Verdict::Differs, "differs"), (Verdict::Safe, "is better")]
    {
        write_changes(&mut page, heading, &changes, verdict, look.symbols);
    }
    write_runbooks(&mut page, &report.runbooks);
    page.blank();
    page.finish()
}

fn told(verdict: Verdict) -> String {
    match verdict {
        Verdict::Breaks => "something breaks".style(ERROR).to_string(),
        Verdict::Differs => "nothing breaks, something differs".style(WARNING).to_string(),
        Verdict::Safe => "safe".style(SUCCESS).to_string(),
    }
}

fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Breaks => ERROR,
        Verdict::Differs => WARNING,
        Verdict::Safe => SUCCESS,
    }
}

/// The orders of upgrade that were gone.
fn orders(report: &Report) -> Vec<Order> {
    report.matrix.first().map(|row| row.orders.iter().map(|cells| cells.order).collect()).unwrap_or_default()
}

/// One line: how the scenarios ended before, in flight, after and on the way back.
fn write_order(page: &mut Page, report: &Report, order: Order) {
    let ended = |cell: &dyn Fn(&Row) -> Option<Outcome>| {
        let outcomes: Vec<Outcome> = report.matrix.iter().filter_map(cell).collect();
        let of = |outcome| outcomes.iter().filter(|other| **other == outcome).count();
        let (passed, not_run) = (of(Outcome::Passed), of(Outcome::NotRun));
        match outcomes.len() {
            0 => None,
            all => Some(format!("{passed} of {} passed", all - not_run)),
        }
    };
    let of = |row: &Row, cell: fn(&super::report::Cells) -> Cell| {
        row.orders.iter().find(|cells| cells.order == order).and_then(|cells| cell(cells).outcome)
    };
    let parts = [
        ("before", ended(&|row| row.before)),
        ("in flight", ended(&|row| of(row, |cells| cells.forth))),
        ("after", ended(&|row| of(row, |cells| cells.after))),
        ("on the way back", ended(&|row| of(row, |cells| cells.back))),
    ];
    let told: Vec<String> = parts.into_iter().filter_map(|(when, ended)| Some(format!("{when} {}", ended?))).collect();
    let told = if told.is_empty() { "no scenario was run".to_owned() } else { told.join(", ") };
    page.item(&format!("{order}: "), BOLD, 2, &told);
}

fn write_changes(page: &mut Page, heading: &str, changes: &[Change], verdict: Verdict, symbols: Symbols) {
    let changes: Vec<&Change> = changes.iter().filter(|change| change.verdict == verdict).collect();
    if changes.is_empty() {
        return;
    }
    page.blank();
    page.styled(&heading.style(style(verdict)).to_string());
    let sign = match verdict {
        Verdict::Breaks => symbols.failed,
        Verdict::Differs => symbols.skipped,
        Verdict::Safe => symbols.passed,
    };
    for change in changes {
        page.blank();
        write_change(page, change, sign);
    }
}

fn write_change(page: &mut Page, change: &Change, sign: &str) {
    let accepted = if change.accepted { " (accepted by the baseline)" } else { "" };
    let orders: Vec<String> = change.orders.iter().map(ToString::to_string).collect();
    let label = if change.accepted { DIMMED } else { style(change.verdict) };
    page.indented(2, |page| {
        page.item(&format!("{sign} "), label, 2, &format!("{}{accepted}", change.title()));
        page.indented(2, |page| {
            page.aside(1, "", 0, &format!("{}, {}", change.when, orders.join(", ")));
            page.at_most(TEXT, "was: ", 2, change.was.as_deref().unwrap_or("(nothing)"));
            page.at_most(TEXT, "now: ", 2, change.is.as_deref().unwrap_or("(nothing)"));
            for scenario in change.scenarios.iter().take(NAMED) {
                page.aside(2, "in ", 3, scenario);
            }
            if let Some(more) = change.scenarios.len().checked_sub(NAMED).filter(|more| *more > 0) {
                page.aside(1, "", 3, &format!("and in {more} more"));
            }
        });
    });
}

impl Change {
    /// What it is about, on one line.
    #[must_use]
    pub fn title(&self) -> String {
        let about = self.about.join(", ");
        match self.kind {
            Kind::Upgrade => "the upgrade fails".to_owned(),
            Kind::Finding => about,
            Kind::Loss => format!("lost on a member: {about}"),
            Kind::Outcome if self.when == When::After => "a scenario ends differently".to_owned(),
            Kind::Outcome => format!("a scenario in flight fails: {about}"),
            Kind::Timing if self.verdict == Verdict::Safe => format!("takes less time: {about}"),
            Kind::Timing => format!("takes longer: {about}"),
            Kind::Condition => {
                let (mut objects, condition) = (Vec::new(), self.about[0].rsplit_once(": ").map_or("", |(_, c)| c));
                for object in self.about.iter().filter_map(|about| Some(about.rsplit_once(": ")?.0)) {
                    if !objects.contains(&object) {
                        objects.push(object);
                    }
                }
                format!("{condition} of {}", objects.join("; "))
            }
        }
    }
}

impl Report {
    /// How many scenarios are what, in words.
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
        // Writing to a String doesn't fail.
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

/// What to do before the upgrade, as a list to be gone through.
fn write_actions(page: &mut Page, actions: &[Action]) {
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

fn write_runbooks(page: &mut Page, runbooks: &[Runbook]) {
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
