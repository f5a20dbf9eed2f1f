//! Report of an upgrade as one self-contained HTML page.

use record::UpgradeOrder;
use record::{Outcome, Product, RecordEntry, ScenarioRecord};
use record::{UpgradeRecord, VersionChangeRecord};
use serde::Serialize;
use serde_json::json;

use super::difference::DifferencePeriod;
use super::in_flight_differences::{ComparisonTimes, ConditionComparison, moved};
use super::report::{DifferenceGroup, UpgradeReport};
use super::timeline;
use crate::comparison::scenario_observations::ScenarioObservations;
use crate::comparison::word_diff::{WordDiffPart, side_by_side};
use crate::html;
use crate::html::timeline::Timeline;
use crate::run::ReportError;

/// Template of the page.
const PAGE: &str = include_str!("report.html");

/// Change with both of its texts split into parts.
#[derive(Serialize)]
struct DifferenceGroupView {
    #[serde(flatten)]
    change: DifferenceGroup,
    title: String,
    left: Vec<WordDiffPart>,
    right: Vec<WordDiffPart>,
}

/// Upgrade or downgrade of a fleet.
#[derive(Serialize)]
struct UpgradeView<'a> {
    order: UpgradeOrder,
    when: DifferencePeriod,
    from: &'a str,
    to: &'a str,
    error: Option<&'a str>,
    scenarios: Vec<InFlightScenarioView<'a>>,
}

/// Scenario in flight.
#[derive(Serialize)]
struct InFlightScenarioView<'a> {
    feature: &'a str,
    scenario: &'a str,
    outcome: Outcome,
    reason: Option<&'a str>,
    lost: Vec<String>,
    moved: Vec<ConditionComparison>,
    timeline: Option<Timeline>,
}

impl<'a> InFlightScenarioView<'a> {
    fn of(record: &'a ScenarioRecord, passage: &VersionChangeRecord) -> Self {
        let story = ScenarioObservations::of(record, &passage.id);
        Self {
            feature: &record.feature,
            scenario: &record.scenario,
            outcome: record.outcome,
            reason: record.reason.as_deref(),
            lost: record.entries.iter().filter_map(RecordEntry::lost).map(ToString::to_string).collect(),
            moved: ComparisonTimes::of(&story, passage).map(|moments| moved(&story, &moments)).unwrap_or_default(),
            timeline: timeline::draw(&story, passage),
        }
    }
}

/// Returns the page.
///
/// # Errors
/// Returns an error if the template can't be filled: a bug.
pub fn render(record: &UpgradeRecord, report: &UpgradeReport) -> Result<String, ReportError> {
    let changes: Vec<DifferenceGroupView> = report.changes().into_iter().map(shown).collect();
    let ways: Vec<UpgradeView<'_>> = record
        .orders
        .iter()
        .flat_map(|order| {
            let forth = (DifferencePeriod::Forth, Some(&order.forth));
            [forth, (DifferencePeriod::Back, order.back.as_ref())].into_iter().filter_map(|(when, passage)| {
                let passage = passage?;
                Some(UpgradeView {
                    order: order.order,
                    when,
                    from: &passage.from,
                    to: &passage.to,
                    error: passage.error.as_deref(),
                    scenarios: passage
                        .scenarios
                        .iter()
                        .map(|scenario| InFlightScenarioView::of(scenario, passage))
                        .collect(),
                })
            })
        })
        .collect();
    let known = json!({
        "report": report,
        "product": report.product.name(),
        "holes": holes(report.product),
        "key": key(report.product),
        "skews": report.product == Product::KubeFleet,
        "changes": changes,
        "ways": ways,
        "counts": report.counts(),
        "back": record.orders.iter().any(|order| order.back.is_some()),
        "fleetdrill": record.fleetdrill,
        "started_at": record.started_at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        "minutes": format!("{:.0}", record.seconds / 60.0),
    });
    html::render(PAGE, &known)
}

/// Meanings of the three colours of states.
fn key(product: Product) -> [&'static str; 3] {
    match product {
        Product::KubeFleet => ["True", "False", "Unknown"],
        Product::ArgoCd => ["Synced, Healthy, Succeeded", "OutOfSync, Degraded, Missing, Failed; an error", "other"],
    }
}

/// Examples of the words that stand for names.
fn holes(product: Product) -> &'static str {
    match product {
        Product::KubeFleet => "{placement}, {run}, {member}",
        Product::ArgoCd => "{application}, {namespace}, {member}",
    }
}

fn shown(change: DifferenceGroup) -> DifferenceGroupView {
    let (left, right) = side_by_side(change.was.as_deref(), change.is.as_deref());
    DifferenceGroupView { title: change.title(), left, right, change }
}
