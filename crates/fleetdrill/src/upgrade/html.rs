//! An upgrade's report as one HTML page that needs nothing else.

use fleet::upgrade::Order;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;
use serde_json::json;
use steps::record::{Entry, Outcome, ScenarioRecord};

use super::difference::When;
use super::flight::{Moments, Told, moved};
use super::record::{Passage, UpgradeRecord};
use super::report::{Change, Report};
use super::story::Story;
use super::timeline::Timeline;
use super::words::{Piece, side_by_side};
use crate::output::clean;
use crate::reporter::ReportError;

/// The page.
const PAGE: &str = include_str!("report.html");

/// A difference with both texts in pieces.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    change: Change,
    title: String,
    left: Vec<Piece>,
    right: Vec<Piece>,
}

/// One way of a fleet from one version to another.
#[derive(Serialize)]
struct Way<'a> {
    order: Order,
    when: When,
    from: &'a str,
    to: &'a str,
    error: Option<&'a str>,
    scenarios: Vec<InFlight<'a>>,
}

/// A scenario in flight.
#[derive(Serialize)]
struct InFlight<'a> {
    feature: &'a str,
    scenario: &'a str,
    outcome: Outcome,
    reason: Option<&'a str>,
    lost: Vec<&'a str>,
    moved: Vec<Told>,
    timeline: Option<Timeline>,
}

impl<'a> InFlight<'a> {
    fn of(record: &'a ScenarioRecord, passage: &Passage) -> Self {
        let story = Story::of(record, &passage.id);
        Self {
            feature: &record.feature,
            scenario: &record.scenario,
            outcome: record.outcome,
            reason: record.reason.as_deref(),
            lost: record.entries.iter().filter_map(Entry::lost).collect(),
            moved: Moments::of(&story, passage).map(|moments| moved(&story, &moments)).unwrap_or_default(),
            timeline: Timeline::of(&story, passage),
        }
    }
}

/// The page.
///
/// # Errors
/// When the template can't be filled: a bug.
pub fn render(record: &UpgradeRecord, report: &Report) -> Result<String, ReportError> {
    filled(record, report).map_err(|source| ReportError::Format { format: "HTML", source: source.into() })
}

fn filled(record: &UpgradeRecord, report: &Report) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let syntax = environment.syntax().to_builder().trim_blocks(true).lstrip_blocks(true).build()?;
    environment.set_syntax(syntax);
    environment.add_template("report", PAGE)?;
    let changes: Vec<Shown> = report.changes().into_iter().map(shown).collect();
    let ways: Vec<Way<'_>> = record
        .orders
        .iter()
        .flat_map(|order| {
            let forth = (When::Forth, Some(&order.forth));
            [forth, (When::Back, order.back.as_ref())].into_iter().filter_map(|(when, passage)| {
                let passage = passage?;
                Some(Way {
                    order: order.order,
                    when,
                    from: &passage.from,
                    to: &passage.to,
                    error: passage.error.as_deref(),
                    scenarios: passage.scenarios.iter().map(|scenario| InFlight::of(scenario, passage)).collect(),
                })
            })
        })
        .collect();
    let known = json!({
        "report": report,
        "changes": changes,
        "ways": ways,
        "counts": report.counts(),
        "back": record.orders.iter().any(|order| order.back.is_some()),
        "fleetdrill": record.fleetdrill,
        "started_at": record.started_at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        "minutes": format!("{:.0}", record.seconds / 60.0),
    });
    let page = environment.get_template("report")?.render(Serde(&known))?;
    // What controllers say may have characters that no document takes.
    Ok(clean(&page) + "\n")
}

fn shown(change: Change) -> Shown {
    let (left, right) = side_by_side(change.was.as_deref(), change.is.as_deref());
    Shown { title: change.title(), left, right, change }
}
