//! Content of all reports about an upgrade, made from its record alone.

use std::collections::{BTreeMap, BTreeSet};

use record::UpgradeOrder;
use record::{FailureCode, Outcome, Product, ScenarioRecord, UpgradeOrderRecord, UpgradeRecord, VersionChangeRecord};
use schemars::JsonSchema;
use serde::Serialize;

use super::advice::{UpgradeAdvice, actions};
use super::baseline::Baseline;
use super::difference::{Difference, DifferencePeriod, merged};
use super::false_alarms;
use super::in_flight_differences::{self, ObservationsWithoutUpgrade};
use super::json::SCHEMA;
use crate::comparison::compare::{self, ScenarioKey, by_name};
use crate::comparison::difference::{DifferenceDraft, DifferenceKind, DifferenceVerdict, OutcomeBefore};
use crate::comparison::scenario_observations::ScenarioObservations;

/// Report about the differences after an upgrade.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct UpgradeReport {
    /// Number of the schema of the report as JSON and YAML.
    pub schema: u32,
    /// Product that is upgraded.
    pub product: Product,
    /// Version before the upgrade.
    pub from: String,
    /// Version after the upgrade.
    pub to: String,
    /// Most severe verdict of the differences that the baseline doesn't have.
    pub verdict: DifferenceVerdict,
    /// Reason why the command ended early, if the environment is at fault.
    pub cut_off: Option<String>,
    /// Number of scenarios by their most severe difference.
    pub counts: VerdictCounts,
    /// Advice about differences that break something.
    pub actions: Vec<UpgradeAdvice>,
    /// Findings that are made on one version only, or only in flight.
    pub findings: Vec<DifferenceGroup>,
    /// Sections of guides that may have to be rewritten.
    pub runbooks: Vec<AffectedGuideSection>,
    /// Outcome of each scenario by version and order.
    pub matrix: Vec<OutcomeRow>,
    /// All differences, the most severe first.
    pub differences: Vec<Difference>,
}

/// Number of scenarios per verdict. A scenario with several differences counts by the most severe one that isn't in the
/// baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct VerdictCounts {
    /// Scenarios that don't work any more.
    pub breaks: usize,
    /// Scenarios in which a text or a duration differs.
    pub differs: usize,
    /// Scenarios without a difference, or with harmless differences only.
    pub safe: usize,
    /// Scenarios that no order of upgrade has run, neither in flight nor afterwards: nothing is known about them.
    pub not_tried: usize,
    /// Scenarios that break in flight and can't be compared, because they weren't tried without an upgrade.
    pub without_comparison: usize,
    /// Differences that the baseline has.
    pub accepted: usize,
}

/// Group of differences with the same texts, in several scenarios.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct DifferenceGroup {
    /// Severity of the differences.
    pub verdict: DifferenceVerdict,
    /// True if the baseline has all of these differences.
    pub accepted: bool,
    /// Time at which the differences were seen.
    pub when: DifferencePeriod,
    /// Kind of the differences.
    pub kind: DifferenceKind,
    /// Subjects; several if several objects have the same texts.
    pub about: Vec<String>,
    /// Objects with the condition that differs; none for other kinds of differences.
    #[serde(skip)]
    pub objects: Vec<String>,
    /// The type of the condition that differs.
    #[serde(skip)]
    pub condition: Option<String>,
    /// Outcome of the scenarios without an upgrade, for scenarios in flight that fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<OutcomeBefore>,
    /// State seen before.
    pub was: Option<String>,
    /// State seen instead.
    pub is: Option<String>,
    /// Orders of upgrade in which the differences were seen.
    pub orders: BTreeSet<UpgradeOrder>,
    /// Scenarios that show the differences.
    pub scenarios: Vec<String>,
    /// The failure codes of findings, and those that may be why a scenario fails.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub codes: BTreeSet<FailureCode>,
}

/// Section of a guide about a failure that looks or ends differently on the new version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
pub struct AffectedGuideSection {
    /// Name of the guide.
    pub guide: String,
    /// Heading of the section.
    pub section: String,
    /// Address of the guide.
    pub url: Option<String>,
    /// Failure codes that the section is about.
    pub codes: BTreeSet<String>,
    /// Changes for a reader who follows the section.
    pub why: BTreeSet<String>,
}

/// Row of the matrix: a scenario.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct OutcomeRow {
    /// Name of the feature.
    pub feature: String,
    /// File of the feature.
    pub file: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Outcome on the old version.
    pub before: Option<Outcome>,
    /// Outcomes by order of upgrade.
    pub orders: Vec<OrderOutcomes>,
}

/// Outcomes of a scenario in one order of upgrade.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
pub struct OrderOutcomes {
    /// The order.
    pub order: UpgradeOrder,
    /// Outcome on the upgraded fleet.
    pub after: OutcomeCell,
    /// Outcome in flight, during the upgrade.
    pub forth: OutcomeCell,
    /// Outcome in flight, during the downgrade.
    pub back: OutcomeCell,
}

/// Outcome of a scenario and its most severe difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct OutcomeCell {
    /// Outcome; `None` if the scenario wasn't requested or the upgrade failed.
    pub outcome: Option<Outcome>,
    /// Most severe verdict of the scenario's differences, including those in the baseline.
    pub verdict: Option<DifferenceVerdict>,
}

impl OutcomeRow {
    /// True if the scenario ran during an upgrade or after it.
    fn was_tried(&self) -> bool {
        let cells = self.orders.iter().flat_map(|cells| [cells.forth, cells.after, cells.back]);
        cells.filter_map(|cell| cell.outcome).any(|outcome| outcome != Outcome::NotRun)
    }
}

impl UpgradeReport {
    /// Makes the report of a record.
    #[must_use]
    pub fn of(record: &UpgradeRecord, baseline: &Baseline) -> Self {
        let mut differences = merged(record.orders.iter().flat_map(|order| of_order(record, order)));
        for difference in &mut differences {
            difference.accepted = baseline.has(difference);
        }
        differences
            .sort_by_key(|d| (std::cmp::Reverse(d.verdict), d.accepted, d.kind > DifferenceKind::Loss, d.when, d.kind));
        let new = differences.iter().filter(|d| !d.accepted);
        let verdict = new.map(|d| d.verdict).max().unwrap_or(DifferenceVerdict::Safe);
        let matrix = matrix(record, &differences);
        Self {
            schema: SCHEMA,
            product: record.product,
            from: record.from.clone(),
            to: record.to.clone(),
            verdict,
            cut_off: record.cut_off.clone(),
            counts: counts(&matrix, &differences),
            actions: actions(&changes(&differences), record),
            findings: changes(differences.iter().filter(|d| d.kind == DifferenceKind::Finding)),
            runbooks: runbooks(record, &differences),
            matrix,
            differences,
        }
    }

    /// Returns the differences in groups with the same texts, the most severe and most frequent first.
    #[must_use]
    pub fn changes(&self) -> Vec<DifferenceGroup> {
        changes(&self.differences)
    }
}

fn of_order(record: &UpgradeRecord, order: &UpgradeOrderRecord) -> Vec<Difference> {
    let mut all = Vec::new();
    let before = stories(&record.before.scenarios, &record.before.id);
    let after = order.after.as_ref().map(|after| stories(&after.scenarios, &after.id)).unwrap_or_default();
    let mut alarms = Vec::new();
    if let Some(after) = &order.after {
        alarms.push((after.continuous_diagnosis.as_ref(), DifferencePeriod::After));
        let found = compare::runs(&record.before, after);
        all.extend(found.into_iter().map(|(is, found)| {
            Difference::seen(found, Some((&is.file, &is.scenario)), DifferencePeriod::After, order.order)
        }));
    }
    for (passage, when) in
        [(Some(&order.forth), DifferencePeriod::Forth), (order.back.as_ref(), DifferencePeriod::Back)]
    {
        let Some(passage) = passage else { continue };
        alarms.push((passage.continuous_diagnosis.as_ref(), when));
        all.extend(failed(passage).map(|found| Difference::seen(found, None, when, order.order)));
        for (which, scenario) in by_name(&passage.scenarios) {
            let story = ScenarioObservations::of(scenario, &passage.id);
            let known = ObservationsWithoutUpgrade { before: before.get(&which), after: after.get(&which) };
            let found = in_flight_differences::differences(&story, passage, known);
            let seen = found
                .into_iter()
                .map(|f| Difference::seen(f, Some((&scenario.file, &scenario.scenario)), when, order.order));
            all.extend(seen);
        }
    }
    for (diagnosed, when) in alarms {
        let found = false_alarms::differences(record.before.continuous_diagnosis.as_ref(), diagnosed);
        all.extend(found.into_iter().map(|(about, found)| {
            Difference::seen(found, about.map(|name| (name.file.as_str(), name.scenario.as_str())), when, order.order)
        }));
    }
    all
}

fn failed(passage: &VersionChangeRecord) -> Option<DifferenceDraft> {
    let error = passage.error.as_ref()?;
    let was = Some(format!("{} runs", passage.from));
    let reached = passage.phases.last().map_or("no phase was reached", |phase| phase.phase.told());
    let found = DifferenceDraft::new(
        DifferenceVerdict::Breaks,
        DifferenceKind::Upgrade,
        "the upgrade",
        was,
        Some(format!("failed: {error}")),
    );
    Some(found.keyed(format!("fails when {reached}")))
}

fn stories<'a>(scenarios: &'a [ScenarioRecord], run: &str) -> BTreeMap<ScenarioKey<'a>, ScenarioObservations<'a>> {
    by_name(scenarios).into_iter().map(|(which, record)| (which, ScenarioObservations::of(record, run))).collect()
}

/// Groups differences that have the same texts in several scenarios, or for both scopes of an object.
fn changes<'a>(differences: impl IntoIterator<Item = &'a Difference>) -> Vec<DifferenceGroup> {
    let mut all: Vec<DifferenceGroup> = Vec::new();
    let mut at = BTreeMap::new();
    for d in differences {
        // Conditions with the same texts are grouped whatever their object. For other kinds the subject is all the
        // information there is.
        let same = d.condition.as_deref().unwrap_or(&d.about);
        let index =
            *at.entry((d.verdict, d.accepted, d.when, d.kind, same, d.before, &d.was, &d.is)).or_insert(all.len());
        if index == all.len() {
            all.push(DifferenceGroup {
                verdict: d.verdict,
                accepted: d.accepted,
                when: d.when,
                kind: d.kind,
                about: Vec::new(),
                objects: Vec::new(),
                condition: d.condition.clone(),
                before: d.before,
                was: d.was.clone(),
                is: d.is.clone(),
                orders: BTreeSet::new(),
                scenarios: Vec::new(),
                codes: BTreeSet::new(),
            });
        }
        let change = &mut all[index];
        let name = d.file.iter().zip(&d.scenario).map(|(file, scenario)| format!("{file}: {scenario}")).next();
        let about = Some(d.about.clone());
        let lists =
            [(&mut change.about, about), (&mut change.objects, d.object.clone()), (&mut change.scenarios, name)];
        for (list, text) in lists {
            list.extend(text.filter(|text| !list.contains(text)));
        }
        change.orders.extend(&d.orders);
        change.codes.extend(d.codes.iter().cloned());
    }
    all.sort_by_key(|c| {
        // Losses come first, after a failed upgrade.
        (
            std::cmp::Reverse(c.verdict),
            c.accepted,
            c.kind > DifferenceKind::Loss,
            c.when,
            c.kind,
            std::cmp::Reverse(c.scenarios.len()),
        )
    });
    all
}

fn matrix(record: &UpgradeRecord, differences: &[Difference]) -> Vec<OutcomeRow> {
    let mut weightiest = BTreeMap::<_, DifferenceVerdict>::new();
    for d in differences {
        let (Some(file), Some(scenario)) = (&d.file, &d.scenario) else { continue };
        for order in &d.orders {
            let known = weightiest.entry((file.as_str(), scenario.as_str(), *order, d.when)).or_insert(d.verdict);
            *known = (*known).max(d.verdict);
        }
    }
    let outcomes_by_order = record.orders.iter().map(|order| {
        let after = order.after.as_ref().map(|run| outcomes(&run.scenarios)).unwrap_or_default();
        let back = order.back.as_ref().map(|back| outcomes(&back.scenarios)).unwrap_or_default();
        (order.order, after, outcomes(&order.forth.scenarios), back)
    });
    let outcomes_by_order: Vec<_> = outcomes_by_order.collect();
    let outcomes_before = outcomes(&record.before.scenarios);
    // Without a run on the old version, the scenarios in flight are the rows.
    let in_flight = record.orders.first().map_or(&[][..], |order| &order.forth.scenarios);
    let before = &record.before.scenarios[..];
    let scenarios = by_name(if before.is_empty() { in_flight } else { before });
    let rows = scenarios.into_iter().map(|(which, scenario)| {
        let cells = outcomes_by_order.iter().map(|(order, after, forth, back)| {
            let cell = |outcomes: &BTreeMap<ScenarioKey<'_>, Outcome>, when| OutcomeCell {
                outcome: outcomes.get(&which).copied(),
                verdict: weightiest.get(&(which.0, which.1, *order, when)).copied(),
            };
            OrderOutcomes {
                order: *order,
                after: cell(after, DifferencePeriod::After),
                forth: cell(forth, DifferencePeriod::Forth),
                back: cell(back, DifferencePeriod::Back),
            }
        });
        OutcomeRow {
            feature: scenario.feature.clone(),
            file: scenario.file.clone(),
            scenario: scenario.scenario.clone(),
            before: outcomes_before.get(&which).copied(),
            orders: cells.collect(),
        }
    });
    rows.collect()
}

fn outcomes(scenarios: &[ScenarioRecord]) -> BTreeMap<ScenarioKey<'_>, Outcome> {
    by_name(scenarios).into_iter().map(|(which, record)| (which, record.outcome)).collect()
}

fn counts(matrix: &[OutcomeRow], differences: &[Difference]) -> VerdictCounts {
    let mut counts =
        VerdictCounts { accepted: differences.iter().filter(|d| d.accepted).count(), ..VerdictCounts::default() };
    let uncompared = differences
        .iter()
        .filter(|d| !d.accepted && d.verdict == DifferenceVerdict::Breaks && d.before == Some(OutcomeBefore::NotTried));
    counts.without_comparison = uncompared.map(|d| (&d.file, &d.scenario)).collect::<BTreeSet<_>>().len();
    let mut weightiest = BTreeMap::<(&str, &str), DifferenceVerdict>::new();
    for d in differences.iter().filter(|d| !d.accepted) {
        let (Some(file), Some(scenario)) = (&d.file, &d.scenario) else { continue };
        let known = weightiest.entry((file, scenario)).or_insert(d.verdict);
        *known = (*known).max(d.verdict);
    }
    for row in matrix {
        match weightiest.get(&(row.file.as_str(), row.scenario.as_str())) {
            Some(DifferenceVerdict::Breaks) => counts.breaks += 1,
            Some(DifferenceVerdict::Differs) => counts.differs += 1,
            Some(DifferenceVerdict::Safe) => counts.safe += 1,
            None if row.was_tried() => counts.safe += 1,
            None => counts.not_tried += 1,
        }
    }
    counts
}

/// Returns the sections of guides that a scenario's findings name, if the scenario shows a difference that matters to a
/// reader of the section.
fn runbooks(record: &UpgradeRecord, differences: &[Difference]) -> Vec<AffectedGuideSection> {
    let mut why = BTreeMap::<(&str, &str), BTreeSet<&str>>::new();
    for d in differences.iter().filter(|d| !d.accepted && d.verdict > DifferenceVerdict::Safe) {
        let (Some(file), Some(scenario)) = (&d.file, &d.scenario) else { continue };
        let reason = match (d.kind, d.when) {
            (DifferenceKind::Condition, _) => "conditions say something else",
            (DifferenceKind::Finding, _) => "the diagnosis finds something else",
            (DifferenceKind::Outcome, DifferencePeriod::After) => "what it describes no longer happens like this",
            (DifferenceKind::Outcome, _) => "its remedy doesn't work where an upgrade came in between",
            (DifferenceKind::Loss, _) => "something is lost where an upgrade came in between",
            (DifferenceKind::Timing | DifferenceKind::Upgrade, _) => continue,
        };
        why.entry((file, scenario)).or_default().insert(reason);
    }
    let mut sections = BTreeMap::<(String, String), AffectedGuideSection>::new();
    let runs = record.orders.iter().filter_map(|order| order.after.as_ref()).chain([&record.before]);
    for run in runs {
        for scenario in &run.scenarios {
            let Some(why) = why.get(&(scenario.file.as_str(), scenario.scenario.as_str())) else { continue };
            for finding in ScenarioObservations::of(scenario, &run.id).findings() {
                let Some(guide) = &finding.guide else { continue };
                let runbook = sections.entry((guide.name.clone(), guide.section.clone())).or_insert_with(|| {
                    AffectedGuideSection {
                        guide: guide.name.clone(),
                        section: guide.section.clone(),
                        url: guide.url.clone(),
                        codes: BTreeSet::new(),
                        why: BTreeSet::new(),
                    }
                });
                runbook.codes.insert(finding.code.to_string());
                runbook.why.extend(why.iter().map(|why| (*why).to_owned()));
            }
        }
    }
    sections.into_values().collect()
}
