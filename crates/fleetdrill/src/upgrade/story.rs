//! What a scenario saw, in a form in which two of them can be compared: without names, times and ids.

use std::collections::{BTreeMap, BTreeSet};

use diagnosis::Finding;
use jiff::Timestamp;
use steps::record::{Entry, Outcome, Phase, ScenarioRecord, State, Transition, What};

use crate::names::Names;
use crate::output::brief::short_type;

/// Where a condition stands, without names: `ClusterStagedUpdateRun/{run} in stage {stage}`, `Progressing`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Whose: kind and what the names are names of, with the part of the object.
    pub(super) object: String,
    /// The condition's type, without the kind.
    pub(super) condition: String,
}

/// What a condition said, without names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Said {
    pub(super) status: String,
    pub(super) reason: String,
    pub(super) message: String,
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.status, self.reason)?;
        if self.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}

/// A state of one condition, from when to when it stood.
#[derive(Clone, Debug)]
pub(super) struct Span<'a> {
    /// The transition to it, with the real names.
    pub(super) transition: &'a Transition,
    /// Its state.
    pub(super) state: &'a State,
    pub(super) place: Place,
    pub(super) said: Said,
    pub(super) from: Timestamp,
    /// When something else took its place; none if nothing did.
    pub(super) until: Option<Timestamp>,
    /// It stood when what a scenario asserts had come, or when the diagnosis was asked: it isn't only one that a
    /// condition passed through.
    pub(super) settled: bool,
}

impl Span<'_> {
    /// Whether it stood at a time.
    pub(super) fn stood(&self, at: Timestamp) -> bool {
        self.from <= at && self.until.is_none_or(|until| at < until)
    }
}

/// What one scenario saw.
#[derive(Clone, Debug)]
pub(super) struct Story<'a> {
    pub(super) record: &'a ScenarioRecord,
    names: Names,
    pub(super) spans: Vec<Span<'a>>,
}

/// The word that a step's keyword stands for: `And` goes on with what was before.
fn is_then(keyword: &str, before: bool) -> bool {
    match keyword.trim() {
        "Then" => true,
        "Given" | "When" => false,
        _ => before,
    }
}

impl<'a> Story<'a> {
    /// A scenario's, of a run with this id.
    pub(super) fn of(record: &'a ScenarioRecord, run: &str) -> Self {
        let names = Names::of(record.entries.iter().filter_map(Entry::transition), run);
        let mut story = Self { record, names, spans: Vec::new() };
        let mut open: BTreeMap<(&str, &str, Option<&str>, &str), usize> = BTreeMap::new();
        let mut then = false;
        for entry in &record.entries {
            let at = entry.at;
            let settles = match &entry.what {
                What::Step { keyword, .. } => {
                    let asserted = then;
                    then = is_then(keyword, then);
                    asserted
                }
                What::Diagnosed { .. } => true,
                _ => false,
            };
            if settles {
                for span in open.values() {
                    story.spans[*span].settled = true;
                }
            }
            let Some(t) = entry.transition() else { continue };
            let key = (t.cluster.as_str(), t.object.as_str(), t.part.as_deref(), t.condition.as_str());
            if let Some(span) = open.remove(&key) {
                story.spans[span].until = Some(at);
            }
            if let Some(state) = &t.to {
                open.insert(key, story.spans.len());
                let (place, said) = (story.place(t), story.said(state));
                story.spans.push(Span { transition: t, state, place, said, from: at, until: None, settled: false });
            }
        }
        story
    }

    fn place(&self, transition: &Transition) -> Place {
        let kind = transition.object.split('/').next().unwrap_or_default();
        let on = if transition.cluster == "hub" { "" } else { " on {member}" };
        let part = match transition.part.as_deref() {
            None => String::new(),
            Some(part) => {
                format!("{}{}", if part.starts_with("stage ") { " in " } else { ", " }, self.names.mask(part))
            }
        };
        Place {
            object: format!("{}{on}{part}", self.names.mask(&transition.object)),
            condition: short_type(kind, &transition.condition).to_owned(),
        }
    }

    fn said(&self, state: &State) -> Said {
        Said { status: state.status.clone(), reason: state.reason.clone(), message: self.names.mask(&state.message) }
    }

    /// A text without names.
    pub(super) fn mask(&self, text: &str) -> String {
        self.names.mask(text)
    }

    pub(super) fn passed(&self) -> bool {
        self.record.outcome == Outcome::Passed
    }

    pub(super) fn was_run(&self) -> bool {
        self.record.outcome != Outcome::NotRun
    }

    /// Everything that conditions said at any time.
    pub(super) fn ever(&self) -> BTreeSet<(&Place, &Said)> {
        self.spans.iter().map(|span| (&span.place, &span.said)).collect()
    }

    /// What conditions said when it counted.
    pub(super) fn settled(&self) -> BTreeSet<(&Place, &Said)> {
        self.spans.iter().filter(|span| span.settled).map(|span| (&span.place, &span.said)).collect()
    }

    /// What the diagnosis found whenever it was asked, with those that a finding explains.
    pub(super) fn findings(&self) -> impl Iterator<Item = &'a Finding> + use<'a> {
        self.record.entries.iter().filter_map(Entry::diagnosed).flatten().flat_map(Finding::flatten)
    }

    /// The findings that a step names, and those that no other finding explains: what one explains comes and goes with the
    /// moment at which the diagnosis was asked.
    pub(super) fn settled_findings(&self) -> impl Iterator<Item = &'a Finding> {
        let asked = self.record.entries.iter().filter_map(Entry::diagnosed);
        let named = |finding: &&Finding| {
            let code = finding.code.to_string();
            self.record.entries.iter().any(|e| matches!(&e.what, What::Step { text, .. } if text.contains(&code)))
        };
        let explained = self.findings().filter(named);
        explained.chain(asked.flatten())
    }

    /// When an upgrade had come so far; none if the scenario didn't see it.
    pub(super) fn upgraded(&self, to: Phase) -> Option<Timestamp> {
        let is = |entry: &&Entry| matches!(&entry.what, What::Upgraded { phase } if *phase == to);
        self.record.entries.iter().find(is).map(|entry| entry.at)
    }

    /// The last step that began, as it is written.
    pub(super) fn last_step(&self) -> Option<String> {
        self.record.entries.iter().rev().find_map(|entry| match &entry.what {
            What::Step { keyword, text } => Some(format!("{} {text}", keyword.trim())),
            _ => None,
        })
    }

    /// What failed, without names; none in a scenario that passed or was not run.
    pub(super) fn failure(&self) -> Option<String> {
        let failed = !self.passed() && self.was_run();
        failed.then(|| self.mask(self.record.reason.as_deref().unwrap_or("it did not end")))
    }
}
