//! A scenario's conditions through an upgrade, as they are drawn: where each bar stands, in pixels.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use steps::record::Phase;

use super::flight::Moments;
use super::record::Passage;
use super::story::{Span, Story};

/// How wide the time axis is.
const WIDTH: f64 = 1000.0;
/// What stands left and right of it.
const MARGIN: f64 = 10.0;
/// Above the first lane: the phases' names and the axis.
const TOP: f64 = 44.0;
/// An object's name takes this much, a condition's name this, and its bar this.
const OBJECT: f64 = 24.0;
const NAME: f64 = 13.0;
const LANE: f64 = 32.0;
/// Of a character of the bars' and of the labels' fonts, which are monospaced.
const CHARACTER: f64 = 6.1;
/// A bar that stood shorter than this can still be seen.
const NARROWEST: f64 = 2.0;

/// A drawing, `width` by `height`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Timeline {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) bands: Vec<Band>,
    pub(super) ticks: Vec<Tick>,
    pub(super) lanes: Vec<Lane>,
}

/// A phase of the upgrade, from the top to the bottom.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Band {
    pub(super) x: f64,
    pub(super) width: f64,
    /// What it is called, as far as there is room.
    pub(super) label: String,
    pub(super) title: &'static str,
    pub(super) class: &'static str,
}

/// A mark on the time axis.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Tick {
    pub(super) x: f64,
    pub(super) label: String,
}

/// One condition of one object.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Lane {
    /// The object, where it is another than the one above.
    pub(super) object: Option<String>,
    pub(super) object_y: f64,
    pub(super) name: String,
    pub(super) name_y: f64,
    pub(super) y: f64,
    pub(super) bars: Vec<Bar>,
}

/// A state that a condition stood in.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Bar {
    pub(super) x: f64,
    pub(super) width: f64,
    /// By status.
    pub(super) class: &'static str,
    /// Status and reason, as far as there is room.
    pub(super) label: String,
    /// All of it, with the message and from when to when.
    pub(super) title: String,
}

/// From when to when the drawing goes.
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

/// Tenths are fine enough.
fn pixels(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

/// A text, if need be shortened to so many pixels; nothing where there is no room for three characters.
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
    /// A scenario's that was in flight; none if it saw nothing.
    pub(super) fn of(story: &Story<'_>, passage: &Passage) -> Option<Self> {
        let last = story.record.entries.last()?.at;
        let from = story.record.started_at;
        let axis = Axis { from, seconds: last.duration_since(from).as_secs_f64().max(1.0) };
        let mut y = TOP;
        let mut object = "";
        let mut lanes = Vec::new();
        for ((of, name), spans) in by_condition(story) {
            let new = of != object;
            if new {
                y += OBJECT;
            }
            lanes.push(Lane {
                object: new.then(|| fit(of, WIDTH)),
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

/// Spans by object, and by part and condition.
fn by_condition<'s>(story: &'s Story<'_>) -> BTreeMap<(&'s str, String), Vec<&'s Span<'s>>> {
    let mut all = BTreeMap::<_, Vec<_>>::new();
    for span in &story.spans {
        let t = span.transition;
        let on = if t.cluster == "hub" { String::new() } else { format!(" on {}", t.cluster) };
        let part = t.part.as_ref().map(|part| format!(" ({part})")).unwrap_or_default();
        let name = format!("{}{part}{on}", span.place.condition);
        all.entry((t.object.as_str(), name)).or_default().push(span);
    }
    all
}

fn bars(spans: &[&Span<'_>], axis: &Axis) -> Vec<Bar> {
    let bar = |(index, span): (usize, &&Span<'_>)| {
        let x = axis.x(span.from);
        let end = span.until.map_or(MARGIN + WIDTH, |until| axis.x(until));
        // The next one may follow in less than a pixel.
        let next = spans.get(index + 1).map_or(MARGIN + WIDTH + NARROWEST, |next| axis.x(next.from));
        let width = pixels((end - x).max(NARROWEST.min(next - x)));
        let state = span.state.to_string();
        let until = span.until.map_or("the end".to_owned(), |until| format!("{:.1} s", axis.seconds(until)));
        let title = format!("{state}, from {:.1} s to {until}\n{}", axis.seconds(span.from), span.state.message);
        let class = match span.state.status.as_str() {
            "True" => "true",
            "False" => "false",
            _ => "unknown",
        };
        Bar { x, width, class, label: fit(&state, width), title: title.trim_end().to_owned() }
    };
    spans.iter().enumerate().map(bar).filter(|bar| bar.width > 0.0).collect()
}

fn bands(story: &Story<'_>, passage: &Passage, axis: &Axis, last: Timestamp) -> Vec<Band> {
    let moments = Moments::of(story, passage);
    let old = (Phase::Before.told(), "old", "before");
    let mut marks = vec![(axis.from, old)];
    for phase in &passage.phases {
        let began = phase.at - std::time::Duration::try_from_secs_f64(phase.seconds).unwrap_or_default();
        let (label, class) =
            if phase.phase == Phase::Skew { ("hub and members differ", "skew") } else { ("upgraded", "new") };
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

/// At most about ten marks, at round numbers of seconds.
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
