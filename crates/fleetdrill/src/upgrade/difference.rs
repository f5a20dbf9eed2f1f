//! One thing that is otherwise than before an upgrade, and how much that matters.

use std::collections::{BTreeSet, HashMap};

use fleet::upgrade::Order;
use serde::Serialize;
use steps::record::Outcome;
use strum::Display;

/// How much a difference matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Verdict {
    /// It harms nobody: something that failed passes, or something that couldn't be done can be done.
    Safe,
    /// Something is said otherwise, or takes longer: runbooks, alerts and scripts may have to follow.
    Differs,
    /// Something that worked doesn't work any more, or something was lost.
    Breaks,
}

/// When it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Display)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// In scenarios that began on the upgraded fleet.
    #[strum(serialize = "after")]
    After,
    /// In scenarios that were in the middle of things when the fleet was upgraded.
    #[strum(serialize = "in flight")]
    Forth,
    /// In scenarios that were in the middle of things when the fleet went back.
    #[strum(serialize = "on the way back")]
    Back,
}

/// How a scenario ended on the version before, without an upgrade: what a scenario in flight is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeBefore {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It was not run, or not to its end: `--only in-flight`, or a scenario that the version before can't run.
    NotTried,
}

impl OutcomeBefore {
    /// The outcome of a scenario in the run before; none where that run hasn't the scenario.
    #[must_use]
    pub fn of(outcome: Option<Outcome>) -> Self {
        match outcome {
            Some(Outcome::Passed) => Self::Passed,
            Some(Outcome::Failed) => Self::Failed,
            Some(Outcome::NotRun | Outcome::Interrupted) | None => Self::NotTried,
        }
    }

    /// The outcome in words, for reports.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Passed => "passed without an upgrade",
            Self::Failed => "failed without an upgrade as well",
            Self::NotTried => "not tried without an upgrade",
        }
    }
}

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// The upgrade itself.
    Upgrade,
    /// Something on members or of a placement was lost.
    Loss,
    /// How a scenario ended.
    Outcome,
    /// What the diagnosis finds.
    Finding,
    /// What a condition says.
    Condition,
    /// How long something takes.
    Timing,
}

/// A difference, seen in one scenario or, where it has none, of the upgrade as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Stable from run to run, whatever the names, times, ids and versions.
    pub id: String,
    /// How much it matters.
    pub verdict: Verdict,
    /// The baseline has it, in all of these orders.
    pub accepted: bool,
    /// The orders of upgrade in which it was seen.
    pub orders: BTreeSet<Order>,
    /// When it was seen.
    pub when: When,
    /// What differs.
    pub kind: Kind,
    /// The scenario's file, if it is a scenario's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The scenario, if it is a scenario's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// What it is about: an object and a condition's type, a failure code, what was waited for. Names stand as `{run}`.
    pub about: String,
    /// How the scenario ended without an upgrade, where a scenario in flight fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<OutcomeBefore>,
    /// What was seen before; none if there was nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// What was seen instead; none if there was nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<String>,
    /// The failure codes of what is found only in flight, where a scenario fails: it may be why.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub codes: BTreeSet<String>,
}

/// A difference before it is known in which orders and scenarios it is seen.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) verdict: Verdict,
    pub(super) kind: Kind,
    pub(super) about: String,
    /// How the scenario ended without an upgrade, where a scenario in flight fails.
    pub(super) before: Option<OutcomeBefore>,
    pub(super) was: Option<String>,
    pub(super) is: Option<String>,
    /// What tells it from others of its kind that are about the same.
    pub(super) key: String,
    /// Failure codes that may be why.
    pub(super) codes: BTreeSet<String>,
}

impl Found {
    /// One that its texts tell from others.
    pub(super) fn new(
        verdict: Verdict,
        kind: Kind,
        about: impl Into<String>,
        was: Option<String>,
        is: Option<String>,
    ) -> Self {
        let key = [&was, &is].map(|text| text.as_deref().unwrap_or("nothing")).join(" -> ");
        Self { verdict, kind, about: about.into(), before: None, was, is, key, codes: BTreeSet::new() }
    }

    /// One that is the same whatever its texts say besides this.
    pub(super) fn keyed(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// Sets what a scenario in flight is compared with, and the text that says so.
    pub(super) fn compared_with(mut self, before: OutcomeBefore) -> Self {
        self.before = Some(before);
        self.was = Some(before.text().to_owned());
        self
    }

    /// In a scenario, or in none, in an order.
    pub(super) fn seen(self, scenario: Option<(&str, &str)>, when: When, order: Order) -> Difference {
        let Self { verdict, kind, about, before, was, is, key, codes } = self;
        let (file, name) = scenario.unzip();
        let place = scenario.map_or("the upgrade".to_owned(), |(file, name)| format!("{file}: {name}"));
        Difference {
            id: format!("{place} | {when} | {kind} | {about} | {key}"),
            verdict,
            accepted: false,
            orders: BTreeSet::from([order]),
            when,
            kind,
            file: file.map(str::to_owned),
            scenario: name.map(str::to_owned),
            about,
            before,
            was,
            is,
            codes,
        }
    }
}

/// The same differences, those that several orders show once.
pub(super) fn merged(all: impl IntoIterator<Item = Difference>) -> Vec<Difference> {
    let mut merged: Vec<Difference> = Vec::new();
    let mut at = HashMap::new();
    for difference in all {
        let index = *at.entry(difference.id.clone()).or_insert(merged.len());
        match merged.get_mut(index) {
            Some(known) => {
                known.verdict = known.verdict.max(difference.verdict);
                known.orders.extend(difference.orders);
                known.codes.extend(difference.codes);
            }
            None => merged.push(difference),
        }
    }
    merged
}
