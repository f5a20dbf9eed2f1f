//! Layout of a drawing that shows periods on lanes, such as the states of conditions: the position of each bar, in pixels.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::condition_spans::ConditionSpan;
use super::state_class::class;
use crate::finding::short_findings::short_type;

/// Width of the time axis.
const WIDTH: f64 = 1000.0;
/// Margin left and right of the axis.
const MARGIN: f64 = 10.0;
/// Height above the first lane: the bands' names and the axis.
const TOP: f64 = 44.0;
/// Heights of a group's name, a lane's name, and a lane (its name and its bars).
const GROUP: f64 = 24.0;
const NAME: f64 = 13.0;
const LANE: f64 = 32.0;
/// Width of a character in the fonts of bars and labels, which are monospaced.
const CHARACTER: f64 = 6.1;
/// Minimum width of a bar, so that a short period can be seen.
const NARROWEST: f64 = 2.0;

/// Period to be drawn.
#[derive(Clone, Debug)]
pub(crate) struct Period {
    pub(crate) from: Timestamp,
    /// End of the period; `None` if it lasts to the end of the drawing.
    pub(crate) until: Option<Timestamp>,
    /// CSS class.
    pub(crate) class: &'static str,
    /// Text within the bar, which is shortened to its width.
    pub(crate) label: String,
    /// Full text.
    pub(crate) title: String,
    /// Id of the element that tells more.
    pub(crate) link: Option<String>,
}

/// Lane to be drawn.
#[derive(Clone, Debug)]
pub(crate) struct LanePeriods {
    /// Name of the lane's group, e.g. an object; groups are drawn in the order of their lanes.
    pub(crate) group: String,
    /// Name of the lane.
    pub(crate) name: String,
    pub(crate) periods: Vec<Period>,
}

/// Drawing with a width and a height.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Timeline {
    width: f64,
    height: f64,
    bands: Vec<Band>,
    marks: Vec<Mark>,
    ticks: Vec<Tick>,
    lanes: Vec<Lane>,
}

/// Period that is drawn from the top to the bottom.
#[derive(Clone, Debug, Serialize)]
struct Band {
    x: f64,
    width: f64,
    label: String,
    title: String,
    class: &'static str,
}

/// Moment that is drawn as a line from the top to the bottom.
#[derive(Clone, Debug, Serialize)]
struct Mark {
    x: f64,
    title: String,
    class: &'static str,
}

/// Mark on the time axis.
#[derive(Clone, Debug, Serialize)]
struct Tick {
    x: f64,
    label: String,
}

/// Lane with its bars.
#[derive(Clone, Debug, Serialize)]
struct Lane {
    /// Name of the group; `None` if it is the same as in the lane above.
    group: Option<String>,
    group_y: f64,
    name: String,
    name_y: f64,
    y: f64,
    bars: Vec<Bar>,
}

/// Period on a lane.
#[derive(Clone, Debug, Serialize)]
struct Bar {
    x: f64,
    width: f64,
    class: &'static str,
    label: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

/// Time range of a drawing.
pub(crate) struct Axis {
    from: Timestamp,
    seconds: f64,
}

impl Axis {
    /// Creates the range between two times; it is at least one second long.
    pub(crate) fn new(from: Timestamp, until: Timestamp) -> Self {
        Self { from, seconds: until.duration_since(from).as_secs_f64().max(1.0) }
    }

    /// Returns the seconds from the begin of the range.
    pub(crate) fn seconds(&self, at: Timestamp) -> f64 {
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
    /// Draws lanes above bands and marks; `None` if there is no lane. The ends of a band are those of its period; of a mark, only the
    /// begin counts.
    pub(crate) fn draw(axis: &Axis, bands: &[Period], marks: &[Period], lanes: Vec<LanePeriods>) -> Option<Self> {
        let mut y = TOP;
        let mut last: Option<String> = None;
        let mut drawn = Vec::new();
        for LanePeriods { group, name, periods } in lanes {
            let is_new = last.as_ref() != Some(&group);
            if is_new {
                y += GROUP;
            }
            drawn.push(Lane {
                group: is_new.then(|| fit(&group, WIDTH)),
                group_y: y - 6.0,
                name: fit(&name, WIDTH),
                name_y: y + NAME - 3.0,
                y: y + NAME,
                bars: bars(&periods, axis),
            });
            last = Some(group);
            y += LANE;
        }
        let height = pixels(y + MARGIN);
        (!drawn.is_empty()).then(|| Self {
            width: WIDTH + 2.0 * MARGIN,
            height,
            bands: bands.iter().filter_map(|period| band(period, axis)).collect(),
            marks: marks.iter().map(|p| Mark { x: axis.x(p.from), title: p.title.clone(), class: p.class }).collect(),
            ticks: ticks(axis),
            lanes: drawn,
        })
    }
}

/// Returns a lane for each condition, grouped by object. `told` writes the full text of a state, and `link` the id of the element that
/// tells more about it.
pub(crate) fn condition_lanes(
    spans: &[ConditionSpan<'_>],
    told: impl Fn(&ConditionSpan<'_>) -> String,
    link: impl Fn(&ConditionSpan<'_>) -> Option<String>,
) -> Vec<LanePeriods> {
    let mut all = BTreeMap::<(String, String), Vec<Period>>::new();
    for span in spans {
        let t = span.transition;
        let on = if t.cluster == "hub" { String::new() } else { format!(" on {}", t.cluster) };
        let part = if t.place.is_object() { String::new() } else { format!(" ({})", t.place) };
        let name = format!("{}{part}{on}", short_type(&t.object.kind, &t.condition));
        all.entry((t.object.to_string(), name)).or_default().push(Period {
            from: span.from,
            until: span.until,
            class: class(&t.object.kind, &t.condition, &span.state.status),
            label: span.state.to_string(),
            title: told(span),
            link: link(span),
        });
    }
    all.into_iter().map(|((group, name), periods)| LanePeriods { group, name, periods }).collect()
}

/// Returns a state and the seconds between which it was current: `False SyncWorkFailed, from 1.2 s to the end`.
pub(crate) fn state_and_seconds(span: &ConditionSpan<'_>, axis: &Axis) -> String {
    let until = span.until.map_or("the end".to_owned(), |until| format!("{:.1} s", axis.seconds(until)));
    format!("{}, from {:.1} s to {until}", span.state, axis.seconds(span.from))
}

fn bars(periods: &[Period], axis: &Axis) -> Vec<Bar> {
    let bars = periods.iter().enumerate().map(|(index, period)| bar(period, periods.get(index + 1), axis));
    bars.filter(|bar| bar.width > 0.0).collect()
}

fn bar(period: &Period, next: Option<&Period>, axis: &Axis) -> Bar {
    let x = axis.x(period.from);
    let end = period.until.map_or(MARGIN + WIDTH, |until| axis.x(until));
    // The next period may follow in less than a pixel.
    let next = next.map_or(MARGIN + WIDTH + NARROWEST, |next| axis.x(next.from));
    let width = pixels((end - x).max(NARROWEST.min(next - x)));
    let Period { class, title, link, .. } = period;
    Bar { x, width, class, label: fit(&period.label, width), title: title.trim_end().to_owned(), link: link.clone() }
}

fn band(period: &Period, axis: &Axis) -> Option<Band> {
    let x = axis.x(period.from);
    let width = pixels(period.until.map_or(MARGIN + WIDTH, |until| axis.x(until)) - x);
    let (label, title) = (fit(&period.label, width), period.title.clone());
    (width > 0.0).then_some(Band { x, width, label, title, class: period.class })
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
