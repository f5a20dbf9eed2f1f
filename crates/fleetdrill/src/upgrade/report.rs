//! All that an upgrade's reports say, made of its record alone.

use std::collections::{BTreeMap, BTreeSet};

use fleet::upgrade::Order;
use serde::Serialize;
use steps::record::{Outcome, ScenarioRecord};

use super::action::{Action, actions};
use super::baseline::Baseline;
use super::compare::{self, Which, by_name};
use super::difference::{Difference, Found, Kind, OutcomeBefore, Verdict, When, merged};
use super::flight::{self, PeacefulStories};
use super::record::{OrderRecord, Passage, UpgradeRecord};
use super::story::Story;
use crate::exit::Exit;

/// What differs after an upgrade.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version before.
    pub from: String,
    /// The version after.
    pub to: String,
    /// The weightiest of the differences that the baseline doesn't have.
    pub verdict: Verdict,
    /// Why not all was seen that was asked for, where the environment is at fault.
    pub cut_off: Option<String>,
    /// How many scenarios were compared, and how they ended.
    pub counts: Counts,
    /// What to do about what breaks.
    pub actions: Vec<Action>,
    /// The findings that are made on one version only, or only in flight.
    pub findings: Vec<Change>,
    /// The guides' sections that may have to be rewritten.
    pub runbooks: Vec<Runbook>,
    /// Each scenario's outcome by version and order.
    pub matrix: Vec<Row>,
    /// Everything that differs, the weightiest first.
    pub differences: Vec<Difference>,
}

/// How many scenarios are what. One that has several differences counts by the weightiest that isn't in the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Scenarios that don't work any more.
    pub breaks: usize,
    /// Scenarios of which something is said otherwise.
    pub differs: usize,
    /// Scenarios without a difference, or with one that harms nobody.
    pub safe: usize,
    /// Scenarios that no order of upgrade has run, in flight or afterwards: nothing is known of them.
    pub not_tried: usize,
    /// Scenarios that break in flight and have nothing to be compared with: they weren't tried without an upgrade.
    pub without_comparison: usize,
    /// Differences that the baseline has.
    pub accepted: usize,
}

/// Differences of several scenarios that say the same.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// How much they matter.
    pub verdict: Verdict,
    /// The baseline has them all.
    pub accepted: bool,
    /// When they were seen.
    pub when: When,
    /// What differs.
    pub kind: Kind,
    /// What they are about; several where several objects say the same.
    pub about: Vec<String>,
    /// How the scenarios ended without an upgrade, where scenarios in flight fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<OutcomeBefore>,
    /// What was seen before.
    pub was: Option<String>,
    /// What was seen instead.
    pub is: Option<String>,
    /// The orders in which they were seen.
    pub orders: BTreeSet<Order>,
    /// The scenarios that show it.
    pub scenarios: Vec<String>,
    /// The failure codes that may be why.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub codes: BTreeSet<String>,
}

/// A section of a guide that describes a failure which looks or ends otherwise on the new version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Runbook {
    /// The guide.
    pub guide: String,
    /// Its section.
    pub section: String,
    /// Where it is.
    pub url: Option<String>,
    /// The failure codes that it is about.
    pub codes: BTreeSet<String>,
    /// What changes for who follows it.
    pub why: BTreeSet<String>,
}

/// A scenario's line in the matrix.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The feature's name.
    pub feature: String,
    /// The scenario's file.
    pub file: String,
    /// The scenario.
    pub scenario: String,
    /// On the old version.
    pub before: Option<Outcome>,
    /// By order.
    pub orders: Vec<Cells>,
}

/// What one order of upgrade made of a scenario.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cells {
    /// Which order.
    pub order: Order,
    /// On the upgraded fleet.
    pub after: Cell,
    /// In flight.
    pub forth: Cell,
    /// On the way back.
    pub back: Cell,
}

/// How a scenario ended, and the weightiest of its differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// How it ended; none where it was not asked for or the upgrade failed.
    pub outcome: Option<Outcome>,
    /// The weightiest difference, whether or not the baseline has it.
    pub verdict: Option<Verdict>,
}

impl Row {
    /// Whether an upgrade was under the scenario, or before it.
    fn was_tried(&self) -> bool {
        let cells = self.orders.iter().flat_map(|cells| [cells.forth, cells.after, cells.back]);
        cells.filter_map(|cell| cell.outcome).any(|outcome| outcome != Outcome::NotRun)
    }
}

impl Report {
    /// What a record shows.
    #[must_use]
    pub fn of(record: &UpgradeRecord, baseline: &Baseline) -> Self {
        let mut differences = merged(record.orders.iter().flat_map(|order| of_order(record, order)));
        for difference in &mut differences {
            difference.accepted = baseline.has(difference);
        }
        differences.sort_by_key(|d| (std::cmp::Reverse(d.verdict), d.accepted, d.kind > Kind::Loss, d.when, d.kind));
        let new = differences.iter().filter(|d| !d.accepted);
        let verdict = new.map(|d| d.verdict).max().unwrap_or(Verdict::Safe);
        let matrix = matrix(record, &differences);
        Self {
            from: record.from.clone(),
            to: record.to.clone(),
            verdict,
            cut_off: record.cut_off.clone(),
            counts: counts(&matrix, &differences),
            actions: actions(&changes(&differences), &record.to),
            findings: changes(differences.iter().filter(|d| d.kind == Kind::Finding)),
            runbooks: runbooks(record, &differences),
            matrix,
            differences,
        }
    }

    /// The differences, those that say the same together; the weightiest and most frequent first.
    #[must_use]
    pub fn changes(&self) -> Vec<Change> {
        changes(&self.differences)
    }

    /// The exit code: something breaks only if the baseline doesn't have it.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self.verdict {
            _ if self.cut_off.is_some() => Exit::Environment,
            Verdict::Breaks => Exit::Found,
            Verdict::Differs | Verdict::Safe => Exit::Fine,
        }
    }
}

fn of_order(record: &UpgradeRecord, order: &OrderRecord) -> Vec<Difference> {
    let mut all = Vec::new();
    let before = stories(&record.before.scenarios, &record.before.id);
    let after = order.after.as_ref().map(|after| stories(&after.scenarios, &after.id)).unwrap_or_default();
    if let Some(after) = &order.after {
        let found = compare::runs(&record.before, after);
        all.extend(
            found.into_iter().map(|(is, found)| found.seen(Some((&is.file, &is.scenario)), When::After, order.order)),
        );
    }
    for (passage, when) in [(Some(&order.forth), When::Forth), (order.back.as_ref(), When::Back)] {
        let Some(passage) = passage else { continue };
        all.extend(failed(passage).map(|found| found.seen(None, when, order.order)));
        for (which, scenario) in by_name(&passage.scenarios) {
            let story = Story::of(scenario, &passage.id);
            let known = PeacefulStories { before: before.get(&which), after: after.get(&which) };
            let found = flight::differences(&story, passage, known);
            let seen = found.into_iter().map(|f| f.seen(Some((&scenario.file, &scenario.scenario)), when, order.order));
            all.extend(seen);
        }
    }
    all
}

fn failed(passage: &Passage) -> Option<Found> {
    let error = passage.error.as_ref()?;
    let was = Some(format!("{} runs", passage.from));
    let reached = passage.phases.last().map_or("no phase was reached", |phase| phase.phase.told());
    let found = Found::new(Verdict::Breaks, Kind::Upgrade, "the upgrade", was, Some(format!("failed: {error}")));
    Some(found.keyed(format!("fails when {reached}")))
}

fn stories<'a>(scenarios: &'a [ScenarioRecord], run: &str) -> BTreeMap<Which<'a>, Story<'a>> {
    by_name(scenarios).into_iter().map(|(which, record)| (which, Story::of(record, run))).collect()
}

/// Groups differences that say the same of several scenarios, and of both scopes of an object.
fn changes<'a>(differences: impl IntoIterator<Item = &'a Difference>) -> Vec<Change> {
    let mut all: Vec<Change> = Vec::new();
    let mut at = BTreeMap::new();
    for d in differences {
        // An object's place says little where the texts are the same; a code or a wait is all there is.
        let same = if d.kind == Kind::Condition { condition_of(&d.about) } else { d.about.as_str() };
        let index =
            *at.entry((d.verdict, d.accepted, d.when, d.kind, same, d.before, &d.was, &d.is)).or_insert(all.len());
        if index == all.len() {
            all.push(Change {
                verdict: d.verdict,
                accepted: d.accepted,
                when: d.when,
                kind: d.kind,
                about: Vec::new(),
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
        for (list, text) in [(&mut change.about, Some(d.about.clone())), (&mut change.scenarios, name)] {
            list.extend(text.filter(|text| !list.contains(text)));
        }
        change.orders.extend(&d.orders);
        change.codes.extend(d.codes.iter().cloned());
    }
    all.sort_by_key(|c| {
        // What is lost comes before everything else but an upgrade that fails.
        (
            std::cmp::Reverse(c.verdict),
            c.accepted,
            c.kind > Kind::Loss,
            c.when,
            c.kind,
            std::cmp::Reverse(c.scenarios.len()),
        )
    });
    all
}

fn condition_of(about: &str) -> &str {
    about.rsplit_once(": ").map_or(about, |(_, condition)| condition)
}

fn matrix<'a>(record: &'a UpgradeRecord, differences: &[Difference]) -> Vec<Row> {
    let mut weightiest = BTreeMap::<_, Verdict>::new();
    for d in differences {
        let (Some(file), Some(scenario)) = (&d.file, &d.scenario) else { continue };
        for order in &d.orders {
            let known = weightiest.entry((file.as_str(), scenario.as_str(), *order, d.when)).or_insert(d.verdict);
            *known = (*known).max(d.verdict);
        }
    }
    let ended = |scenarios: Option<&'a Vec<ScenarioRecord>>| -> BTreeMap<Which<'a>, Outcome> {
        by_name(scenarios.map_or(&[], Vec::as_slice))
            .into_iter()
            .map(|(which, record)| (which, record.outcome))
            .collect()
    };
    let ended_by_order = record.orders.iter().map(|order| {
        let after = ended(order.after.as_ref().map(|run| &run.scenarios));
        let forth = ended(Some(&order.forth.scenarios));
        (order.order, after, forth, ended(order.back.as_ref().map(|back| &back.scenarios)))
    });
    let ended_by_order: Vec<_> = ended_by_order.collect();
    let ended_before = ended(Some(&record.before.scenarios));
    let row = |(which, scenario): (Which<'_>, &ScenarioRecord)| {
        let cells = ended_by_order.iter().map(|(order, after, forth, back)| {
            let cell = |ended: &BTreeMap<Which<'_>, Outcome>, when| Cell {
                outcome: ended.get(&which).copied(),
                verdict: weightiest.get(&(which.0, which.1, *order, when)).copied(),
            };
            Cells {
                order: *order,
                after: cell(after, When::After),
                forth: cell(forth, When::Forth),
                back: cell(back, When::Back),
            }
        });
        Row {
            feature: scenario.feature.clone(),
            file: scenario.file.clone(),
            scenario: scenario.scenario.clone(),
            before: ended_before.get(&which).copied(),
            orders: cells.collect(),
        }
    };
    // Without a run before, the scenarios are those in flight.
    let in_flight = record.orders.first().map_or(&[][..], |order| &order.forth.scenarios);
    let before = &record.before.scenarios[..];
    by_name(if before.is_empty() { in_flight } else { before }).into_iter().map(row).collect()
}

fn counts(matrix: &[Row], differences: &[Difference]) -> Counts {
    let mut counts = Counts { accepted: differences.iter().filter(|d| d.accepted).count(), ..Counts::default() };
    let uncompared = differences
        .iter()
        .filter(|d| !d.accepted && d.verdict == Verdict::Breaks && d.before == Some(OutcomeBefore::NotTried));
    counts.without_comparison = uncompared.map(|d| (&d.file, &d.scenario)).collect::<BTreeSet<_>>().len();
    let mut weightiest = BTreeMap::<(&str, &str), Verdict>::new();
    for d in differences.iter().filter(|d| !d.accepted) {
        let (Some(file), Some(scenario)) = (&d.file, &d.scenario) else { continue };
        let known = weightiest.entry((file, scenario)).or_insert(d.verdict);
        *known = (*known).max(d.verdict);
    }
    for row in matrix {
        match weightiest.get(&(row.file.as_str(), row.scenario.as_str())) {
            Some(Verdict::Breaks) => counts.breaks += 1,
            Some(Verdict::Differs) => counts.differs += 1,
            Some(Verdict::Safe) => counts.safe += 1,
            None if row.was_tried() => counts.safe += 1,
            None => counts.not_tried += 1,
        }
    }
    counts
}

/// The guides' sections that a scenario's findings name, where the scenario shows something that its reader would look for.
fn runbooks(record: &UpgradeRecord, differences: &[Difference]) -> Vec<Runbook> {
    let mut why = BTreeMap::<(&str, &str), BTreeSet<&str>>::new();
    for d in differences.iter().filter(|d| !d.accepted && d.verdict > Verdict::Safe) {
        let (Some(file), Some(scenario)) = (&d.file, &d.scenario) else { continue };
        let reason = match (d.kind, d.when) {
            (Kind::Condition, _) => "conditions say something else",
            (Kind::Finding, _) => "the diagnosis finds something else",
            (Kind::Outcome, When::After) => "what it describes no longer happens like this",
            (Kind::Outcome, _) => "its remedy doesn't work where an upgrade came in between",
            (Kind::Loss, _) => "something is lost where an upgrade came in between",
            (Kind::Timing | Kind::Upgrade, _) => continue,
        };
        why.entry((file, scenario)).or_default().insert(reason);
    }
    let mut sections = BTreeMap::<(String, String), Runbook>::new();
    let runs = record.orders.iter().filter_map(|order| order.after.as_ref()).chain([&record.before]);
    for run in runs {
        for scenario in &run.scenarios {
            let Some(why) = why.get(&(scenario.file.as_str(), scenario.scenario.as_str())) else { continue };
            for finding in Story::of(scenario, &run.id).findings() {
                let Some(guide) = &finding.guide else { continue };
                let runbook = sections.entry((guide.name.clone(), guide.section.clone())).or_insert_with(|| Runbook {
                    guide: guide.name.clone(),
                    section: guide.section.clone(),
                    url: guide.url.clone(),
                    codes: BTreeSet::new(),
                    why: BTreeSet::new(),
                });
                runbook.codes.insert(finding.code.to_string());
                runbook.why.extend(why.iter().map(|why| (*why).to_owned()));
            }
        }
    }
    sections.into_values().collect()
}
