//! Text of an accuracy report.

use super::drill::{DrillResult, FaultResult, WrongFinding};
use super::totals::{AccuracyReport, CodeScore, Confusion, ConfusionKind};
use crate::text::TextPage;
use crate::text::style::{BOLD, ERROR, HINT, OutputLayout, PLAIN, SUCCESS, WARNING};

/// Word for healthy objects in the table of confusions.
const HEALTHY: &str = "(healthy)";

/// Word for no finding in the table of confusions.
const NOTHING: &str = "(nothing)";

/// Writes a report for people: sums, a table of codes, a table of confusions, and each drill that wasn't all right.
#[must_use]
pub fn text(report: &AccuracyReport, layout: OutputLayout) -> String {
    let mut page = TextPage::new(layout.width);
    write_codes(&mut page, &report.codes);
    page.blank();
    write_confusions(&mut page, &report.confusions, layout.symbols.arrow);
    page.blank();
    for drill in &report.results {
        write_drill(&mut page, drill);
    }
    if !report.nobodys.is_empty() {
        page.item("on objects of no drill", BOLD, 2, "");
        page.indented(2, |page| report.nobodys.iter().for_each(|wrong| write_wrong(page, "wrong ", wrong)));
    }
    page.blank();
    write_sums(&mut page, report);
    page.finish()
}

fn write_codes(page: &mut TextPage, codes: &[CodeScore]) {
    let mut rows =
        vec![["code", "drills", "found", "missed", "wrong", "symptom", "median"].map(str::to_owned).to_vec()];
    for score in codes {
        let median = score.median_seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.1}s"));
        let numbers = [score.drills, score.found, score.missed, score.wrong, score.symptoms].map(|n| n.to_string());
        rows.push([score.code.clone()].into_iter().chain(numbers).chain([median]).collect());
    }
    write_table(page, &rows, 1);
}

fn write_confusions(page: &mut TextPage, confusions: &[Confusion], arrow: &str) {
    if confusions.is_empty() {
        page.text("nothing was confused with anything else");
        return;
    }
    let mut rows = vec![["expected", "", "said", "when", "times"].map(str::to_owned).to_vec()];
    for Confusion { expected, said, kind, times } in confusions {
        let expected = if expected.is_empty() { HEALTHY.to_owned() } else { expected.join(" ") };
        let when = match kind {
            ConfusionKind::Instead => "at the end, instead",
            ConfusionKind::Beside => "at the end, beside it",
            ConfusionKind::ForAWhile => "for a while",
        };
        let said = said.clone().unwrap_or_else(|| NOTHING.to_owned());
        rows.push(vec![expected, arrow.to_owned(), said, when.to_owned(), times.to_string()]);
    }
    write_table(page, &rows, 4);
}

/// Writes a table. The first `left` columns and the first row's names are aligned to the left, numbers to the right.
fn write_table(page: &mut TextPage, rows: &[Vec<String>], left: usize) {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if column < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        page.unwrapped(cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}

fn write_drill(page: &mut TextPage, drill: &DrillResult) {
    let has_missed = drill.faults.iter().any(|f| f.not_induced.is_some() || f.causes.iter().any(|c| !c.found));
    let stopped = drill.healthy.iter().any(|traffic| traffic.ended_early.is_some());
    if !has_missed && !stopped && drill.wrong.is_empty() && drill.symptoms.is_empty() {
        return;
    }
    page.item(&format!("drill {}", drill.number), BOLD, 2, "");
    page.indented(2, |page| {
        drill.faults.iter().for_each(|fault| write_fault(page, fault));
        for traffic in drill.healthy.iter().filter(|traffic| traffic.ended_early.is_some()) {
            let scenario = &traffic.scenario;
            let why = traffic.ended_early.as_deref().unwrap_or_default();
            let place = format!("{}:{}", scenario.file, scenario.line);
            page.at_most(4, "not judged to its end: ", 2, &format!("{} ({place}): {why}", scenario.name));
        }
        drill.wrong.iter().for_each(|wrong| write_wrong(page, "wrong: ", wrong));
        drill.symptoms.iter().for_each(|symptom| write_wrong(page, "symptom: ", symptom));
        if let Some(bundle) = &drill.bundle {
            page.unwrapped(&format!("fleetdrill diagnose --from {}", bundle.display()));
        }
    });
}

fn write_fault(page: &mut TextPage, fault: &FaultResult) {
    let place = format!("{}:{}", fault.scenario.file, fault.scenario.line);
    if let Some(why) = &fault.not_induced {
        page.at_most(4, "not induced: ", 2, &format!("{} ({place}): {why}", fault.codes.join(" ")));
    }
    for cause in fault.causes.iter().filter(|cause| !cause.found) {
        let instead = if cause.instead.is_empty() { "nothing".to_owned() } else { cause.instead.join(", ") };
        let text = format!("{} ({place}), expected {}; said: {instead}", cause.code, cause.expected.join(", "));
        page.item("missed: ", ERROR, 2, &text);
    }
}

fn write_wrong(page: &mut TextPage, label: &str, wrong: &WrongFinding) {
    let WrongFinding { code, subject, cause, first_seconds, last_seconds, .. } = wrong;
    let until = if wrong.at_end { "the end".to_owned() } else { format!("{last_seconds:.0} s") };
    page.item(label, WARNING, 2, &format!("{code} {subject}, from {first_seconds:.0} s to {until}: {cause}"));
    if let Some(bundle) = &wrong.bundle {
        page.indented(2, |page| page.unwrapped(&format!("fleetdrill diagnose --from {}", bundle.display())));
    }
}

fn write_sums(page: &mut TextPage, report: &AccuracyReport) {
    let run = &report.run;
    let cases = format!("{} faults and {} healthy scenarios", run.fault_cases, run.healthy_cases);
    page.item("drills made of: ", BOLD, 2, &cases);
    for (reason, count) in &run.left_out {
        page.item("left out: ", HINT, 2, &format!("{}: {reason}", counted(*count, "scenario")));
    }
    if report.not_induced > 0 {
        page.item("not induced: ", WARNING, 2, &format!("{}, not scored", counted(report.not_induced, "fault")));
    }
    let fleet = format!("KubeFleet {}, {} members, fleetdrill {}", run.kubefleet, run.members, run.fleetdrill);
    page.item("fleet: ", BOLD, 2, &fleet);
    let wrong = report.wrong;
    let style = if report.is_good() { SUCCESS } else { ERROR };
    page.item(
        &format!("seed {}: ", run.seed),
        style,
        2,
        &format!(
            "{} in {:.0} s; {} of {} found, {} missed; of {} {wrong} wrong, {} taken for causes",
            counted(report.drills, "drill"),
            run.seconds,
            report.found,
            counted(report.causes, "cause"),
            report.missed,
            counted(report.findings, "finding"),
            counted(report.symptoms, "symptom"),
        ),
    );
    page.item("", PLAIN, 0, "wanted: at least 95 % of causes found, at most 2 % of findings wrong or symptoms");
}

/// Returns a number with a noun in its singular or plural.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
