//! False alarms of a run's continuous diagnosis, as text.

use record::{FalseAlarm, RunRecord};

use crate::finding::text::write;
use crate::text::TextPage;
use crate::text::style::{BOLD, ERROR, OutputLayout, sign};

/// Returns a false alarm in one sentence: the finding, the scenario that it is about, and how long it was there.
pub(super) fn headline(alarm: &FalseAlarm) -> String {
    let FalseAlarm { finding, scenario, first_seen, last_seen, snapshots, .. } = alarm;
    let about = match scenario {
        Some(name) => format!("which \"{}\" ({}:{}) doesn't account for", name.scenario, name.file, name.line),
        None => "about an object of no scenario".to_owned(),
    };
    let seconds = last_seen.duration_since(*first_seen).as_secs_f64();
    format!(
        "{} {}: {}; {about}, in {snapshots} snapshots from {first_seen:.0} on, {seconds:.0} s",
        finding.code, finding.subject, finding.title
    )
}

/// Returns the whole finding, and the command that diagnoses its snapshot again.
pub(super) fn story(alarm: &FalseAlarm, layout: OutputLayout) -> String {
    let mut page = TextPage::new(layout.width);
    page.text(&headline(alarm));
    page.blank();
    write(&mut page, &alarm.finding, None);
    write_bundle(&mut page, alarm);
    anstream::adapter::strip_str(&page.finish()).to_string()
}

/// Writes how many snapshots were diagnosed; nothing if the continuous diagnosis was off.
pub(super) fn write_count(page: &mut TextPage, run: &RunRecord) {
    if let Some(diagnosed) = &run.continuous_diagnosis {
        let alarms = counted(diagnosed.false_alarms.len());
        let style = if diagnosed.false_alarms.is_empty() { BOLD } else { ERROR };
        let snapshots = if diagnosed.snapshots == 1 { "snapshot" } else { "snapshots" };
        page.item("diagnosed all the time: ", style, 2, &format!("{} {snapshots}, {alarms}", diagnosed.snapshots));
    }
}

/// Writes each false alarm with its cause and its bundle.
pub(super) fn write_all(page: &mut TextPage, run: &RunRecord, layout: OutputLayout) {
    for alarm in run.false_alarms() {
        let (sign, style) = sign(record::Outcome::Failed, layout.symbols);
        page.item(&format!("{sign} false alarm: "), style, 2, &headline(alarm));
        page.indented(4, |page| page.text(&alarm.finding.cause));
        page.indented(4, |page| write_bundle(page, alarm));
    }
}

fn write_bundle(page: &mut TextPage, alarm: &FalseAlarm) {
    if let Some(bundle) = &alarm.bundle {
        page.unwrapped(&format!("fleetdrill diagnose --from {}", bundle.display()));
    }
}

/// Returns `no false alarm`, `1 false alarm` or `2 false alarms`.
pub(super) fn counted(alarms: usize) -> String {
    match alarms {
        0 => "no false alarm".to_owned(),
        1 => "1 false alarm".to_owned(),
        more => format!("{more} false alarms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::fixture;

    #[test]
    fn a_false_alarm_has_its_finding_and_its_bundle() {
        let run = fixture::run_with_false_alarms();
        insta::assert_snapshot!(story(&run.false_alarms()[0], OutputLayout::default()));
    }
}
