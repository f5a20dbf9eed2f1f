//! Drawing of a scenario's conditions during an upgrade.

use jiff::Timestamp;
use record::{UpgradePhase, VersionChangeRecord};

use super::in_flight_differences::ComparisonTimes;
use crate::comparison::scenario_observations::ScenarioObservations;
use crate::html::condition_spans::ConditionSpan;
use crate::html::timeline::{Axis, Period, Timeline, condition_lanes, state_and_seconds};

/// Draws a scenario in flight; `None` if no condition was seen.
pub(super) fn draw(story: &ScenarioObservations<'_>, passage: &VersionChangeRecord) -> Option<Timeline> {
    let last = story.record.entries.last()?.at;
    let axis = Axis::new(story.record.started_at, last);
    let spans: Vec<ConditionSpan<'_>> = story.spans.iter().map(|span| span.real).collect();
    let told = |span: &ConditionSpan<'_>| format!("{}\n{}", state_and_seconds(span, &axis), span.state.message);
    let lanes = condition_lanes(&spans, told, |_| None);
    Timeline::draw(&axis, &phases(story, passage, last), &[], lanes)
}

/// Returns the phases of the upgrade, from the scenario's start to its last entry.
fn phases(story: &ScenarioObservations<'_>, passage: &VersionChangeRecord, last: Timestamp) -> Vec<Period> {
    let old = (UpgradePhase::Before.told(), "old", "before");
    let mut marks = vec![(story.record.started_at, old)];
    for phase in &passage.phases {
        let began = phase.at - std::time::Duration::try_from_secs_f64(phase.seconds).unwrap_or_default();
        let (label, class) =
            if phase.phase == UpgradePhase::Skew { ("hub and members differ", "skew") } else { ("upgraded", "new") };
        marks.push((began, (phase.phase.told(), class, label)));
    }
    if let Some(moments) = ComparisonTimes::of(story, passage) {
        marks.push((moments.after, ("the scenario goes on, with its remedy", "remedy", "remedy")));
    }
    let ends = marks.iter().skip(1).map(|(from, _)| *from).chain([last]);
    let periods = marks.iter().zip(ends).map(|((from, (title, class, label)), until)| Period {
        from: *from,
        until: Some(until),
        class,
        label: (*label).to_owned(),
        title: (*title).to_owned(),
        link: None,
    });
    periods.collect()
}
