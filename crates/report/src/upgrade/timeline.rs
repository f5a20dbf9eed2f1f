//! Layout of a drawing that shows a scenario's conditions during an upgrade: the position of each bar, in pixels.

use std::collections::BTreeMap;

use jiff::Timestamp;
use record::UpgradePhase;
use record::VersionChangeRecord;
use serde::Serialize;

use super::in_flight_differences::ComparisonTimes;
use super::scenario_observations::{ScenarioObservations, StateSpan};
use super::state_class::class;

/// Width of the time axis.
const WIDTH: f64 = 1000.0;
/// Margin left and right of the axis.
const MARGIN: f64 = 10.0;
/// Height above the first lane: the phases' names and the axis.
const TOP: f64 = 44.0;
/// Heights of an object's name, a condition's name, and a lane (a condition's name and its bar).
const OBJECT: f64 = 24.0;
const NAME: f64 = 13.0;
const LANE: f64 = 32.0;
/// Width of a character in the fonts of bars and labels, which are monospaced.
const CHARACTER: f64 = 6.1;
/// Minimum width of a bar, so that a short state can be seen.
const NARROWEST: f64 = 2.0;

/// Drawing with a width and a height.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Timeline {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) bands: Vec<Band>,
    pub(super) ticks: Vec<Tick>,
    pub(super) lanes: Vec<Lane>,
}

/// Phase of the upgrade, drawn from the top to the bottom.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Band {
    pub(super) x: f64,
    pub(super) width: f64,
    /// Name of the phase, shortened to the width.
    pub(super) label: String,
    pub(super) title: &'static str,
    pub(super) class: &'static str,
}

/// Mark on the time axis.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Tick {
    pub(super) x: f64,
    pub(super) label: String,
}

/// Condition of an object.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Lane {
    /// Name of the object; `None` if it is the same as in the lane above.
    pub(super) object: Option<String>,
    pub(super) object_y: f64,
    pub(super) name: String,
    pub(super) name_y: f64,
    pub(super) y: f64,
    pub(super) bars: Vec<Bar>,
}

/// State of a condition, from its start to its end.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Bar {
    pub(super) x: f64,
    pub(super) width: f64,
    /// CSS class by the condition's status, or by an Application's state.
    pub(super) class: &'static str,
    /// Status and reason, shortened to the width.
    pub(super) label: String,
    /// Full text, with the message and the times of start and end.
    pub(super) title: String,
}

/// Time range of the drawing.
struct Axis {
    from: Timestamp,
    seconds: f64,
}

impl Axis {
    fn seconds(&self, at: Timestamp) -> f64 {
        at.duration_since(self.from).as_secs_f64().clamp(0.0, self.seconds)
    }

    fn x(&self, at: Timestamp) -> f64 {
        pixels(MARGIN + WIDTH * self.seconds(at) / self.seconds)
    }
}

/// Rounds to tenths of a pixel.
fn pixels(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

/// Shortens a text to a width in pixels; returns an empty text if there is no room for three characters.
fn fit(text: &str, width: f64) -> String {
    let room = ((width - 6.0) / CHARACTER).floor();
    let all = text.chars().count();
    #[expect(clippy::cast_precision_loss, reason = "texts are shorter than 2^52 characters")]
    let fits = all as f64 <= room;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a drawing is 1000 pixels wide")]
    let room = room.max(0.0) as usize;
    match room {
        _ if fits => text.to_owned(),
        0..3 => String::new(),
        _ => format!("{}…", text.chars().take(room - 1).collect::<String>()),
    }
}

impl Timeline {
    /// Draws a scenario in flight; `None` if no condition was seen.
    pub(super) fn of(story: &ScenarioObservations<'_>, passage: &VersionChangeRecord) -> Option<Self> {
        let last = story.record.entries.last()?.at;
        let from = story.record.started_at;
        let axis = Axis { from, seconds: last.duration_since(from).as_secs_f64().max(1.0) };
        let mut y = TOP;
        let mut object = String::new();
        let mut lanes = Vec::new();
        for ((of, name), spans) in by_condition(story) {
            let new = of != object;
            if new {
                y += OBJECT;
            }
            lanes.push(Lane {
                object: new.then(|| fit(&of, WIDTH)),
                object_y: y - 6.0,
                name: fit(&name, WIDTH),
                name_y: y + NAME - 3.0,
                y: y + NAME,
                bars: bars(&spans, &axis),
            });
            object = of;
            y += LANE;
        }
        let bands = bands(story, passage, &axis, last);
        let height = pixels(y + MARGIN);
        (!lanes.is_empty()).then(|| Self { width: WIDTH + 2.0 * MARGIN, height, bands, ticks: ticks(&axis), lanes })
    }
}

/// Groups spans by object, and by part and condition.
fn by_condition<'s>(story: &'s ScenarioObservations<'_>) -> BTreeMap<(String, String), Vec<&'s StateSpan<'s>>> {
    let mut all = BTreeMap::<_, Vec<_>>::new();
    for span in &story.spans {
        let t = span.transition;
        let on = if t.cluster == "hub" { String::new() } else { format!(" on {}", t.cluster) };
        let part = if t.place.is_object() { String::new() } else { format!(" ({})", t.place) };
        let name = format!("{}{part}{on}", span.place.condition);
        all.entry((t.object.to_string(), name)).or_default().push(span);
    }
    all
}

fn bars(spans: &[&StateSpan<'_>], axis: &Axis) -> Vec<Bar> {
    let bars = spans.iter().enumerate().map(|(index, span)| bar(span, spans.get(index + 1).copied(), axis));
    bars.filter(|bar| bar.width > 0.0).collect()
}

fn bar(span: &StateSpan<'_>, next: Option<&StateSpan<'_>>, axis: &Axis) -> Bar {
    let x = axis.x(span.from);
    let end = span.until.map_or(MARGIN + WIDTH, |until| axis.x(until));
    // The next state may follow in less than a pixel.
    let next = next.map_or(MARGIN + WIDTH + NARROWEST, |next| axis.x(next.from));
    let width = pixels((end - x).max(NARROWEST.min(next - x)));
    let state = span.state.to_string();
    let until = span.until.map_or("the end".to_owned(), |until| format!("{:.1} s", axis.seconds(until)));
    let title = format!("{state}, from {:.1} s to {until}\n{}", axis.seconds(span.from), span.state.message);
    let class = class(&span.transition.object.kind, &span.transition.condition, &span.state.status);
    Bar { x, width, class, label: fit(&state, width), title: title.trim_end().to_owned() }
}

fn bands(story: &ScenarioObservations<'_>, passage: &VersionChangeRecord, axis: &Axis, last: Timestamp) -> Vec<Band> {
    let moments = ComparisonTimes::of(story, passage);
    let old = (UpgradePhase::Before.told(), "old", "before");
    let mut marks = vec![(axis.from, old)];
    for phase in &passage.phases {
        let began = phase.at - std::time::Duration::try_from_secs_f64(phase.seconds).unwrap_or_default();
        let (label, class) =
            if phase.phase == UpgradePhase::Skew { ("hub and members differ", "skew") } else { ("upgraded", "new") };
        marks.push((began, (phase.phase.told(), class, label)));
    }
    if let Some(moments) = moments {
        marks.push((moments.after, ("the scenario goes on, with its remedy", "remedy", "remedy")));
    }
    let mut bands = Vec::new();
    for (index, (from, (title, class, label))) in marks.iter().enumerate() {
        let until = marks.get(index + 1).map_or(last, |(next, _)| *next);
        let (x, end) = (axis.x(*from), axis.x(until));
        let width = pixels(end - x);
        if width > 0.0 {
            bands.push(Band { x, width, label: fit(label, width), title, class });
        }
    }
    bands
}

/// Returns about ten marks at most, at round numbers of seconds.
fn ticks(axis: &Axis) -> Vec<Tick> {
    let step =
        [1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0].into_iter().find(|step| axis.seconds / step <= 10.0);
    let step = step.unwrap_or(600.0);
    let mut at = 0.0;
    let mut ticks = Vec::new();
    while at <= axis.seconds {
        ticks.push(Tick { x: pixels(MARGIN + WIDTH * at / axis.seconds), label: format!("{at:.0} s") });
        at += step;
    }
    ticks
}
