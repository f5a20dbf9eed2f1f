//! Observations of a scenario without names, times and ids, so that two runs of the scenario can be compared.

use std::collections::BTreeSet;

use diagnosis::Finding;
use jiff::Timestamp;
use record::{
    ConditionPlace, ConditionState, Outcome, RecordEntry, RecordedEvent, ScenarioRecord, Transition, UpgradePhase,
};

use crate::finding::short_findings::short_type;
use crate::html::condition_spans::{ConditionSpan, condition_spans};
use crate::name_masker::NameMasker;

/// Place of a condition, without names: `ClusterStagedUpdateRun/{run} in stage {stage}`, `Progressing`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MaskedConditionKey {
    /// Object with the condition: its kind and masked name, with the part of the object.
    pub(crate) object: String,
    /// Type of the condition, without the kind.
    pub(crate) condition: String,
}

/// State of a condition, without names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MaskedState {
    pub(crate) status: String,
    pub(crate) reason: String,
    pub(crate) message: String,
}

impl std::fmt::Display for MaskedState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.status, self.reason)?;
        if self.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}

/// State of one condition, with the time from its start to its end.
#[derive(Clone, Debug)]
pub(crate) struct StateSpan<'a> {
    /// State with the real names.
    pub(crate) real: ConditionSpan<'a>,
    pub(crate) place: MaskedConditionKey,
    pub(crate) said: MaskedState,
    /// True if the state was current when an assertion of the scenario had passed, or when the diagnosis ran: the
    /// condition didn't only pass through this state.
    pub(crate) settled: bool,
}

impl StateSpan<'_> {
    /// True if the state was current at this time.
    pub(crate) fn stood(&self, at: Timestamp) -> bool {
        self.real.from <= at && self.real.until.is_none_or(|until| at < until)
    }
}

/// Observations of one scenario.
#[derive(Clone, Debug)]
pub(crate) struct ScenarioObservations<'a> {
    pub(crate) record: &'a ScenarioRecord,
    names: NameMasker,
    pub(crate) spans: Vec<StateSpan<'a>>,
}

/// True if a step is a Then. `And` and `But` continue the step before; `before` is true if that step is a Then.
fn is_then(keyword: &str, before: bool) -> bool {
    match keyword.trim() {
        "Then" => true,
        "Given" | "When" => false,
        _ => before,
    }
}

/// Returns the indices of the entries at which the states of conditions count: the step after each assertion, and each diagnosis.
fn settling_entries(entries: &[RecordEntry]) -> Vec<usize> {
    let mut then = false;
    let settles = |(index, entry): (usize, &RecordEntry)| {
        let settles = match &entry.what {
            RecordedEvent::Step { keyword, .. } => {
                let asserted = then;
                then = is_then(keyword, then);
                asserted
            }
            RecordedEvent::Diagnosed { .. } => true,
            _ => false,
        };
        settles.then_some(index)
    };
    entries.iter().enumerate().filter_map(settles).collect()
}

impl<'a> ScenarioObservations<'a> {
    /// Builds the story of a scenario. `run` is the id of the scenario's run.
    pub(crate) fn of(record: &'a ScenarioRecord, run: &str) -> Self {
        let names = NameMasker::of(record.entries.iter().filter_map(RecordEntry::transition), run);
        let mut story = Self { record, names, spans: Vec::new() };
        let settling = settling_entries(&record.entries);
        for span in condition_spans(&record.entries) {
            let (place, said) = (story.place(span.transition), story.said(span.state));
            let settled = settling.iter().any(|entry| span.covers(*entry));
            story.spans.push(StateSpan { real: span, place, said, settled });
        }
        story
    }

    fn place(&self, transition: &Transition) -> MaskedConditionKey {
        let Transition { object, place, condition, .. } = transition;
        let on = if transition.cluster == "hub" { "" } else { " on {member}" };
        let part = match place {
            ConditionPlace::Object => String::new(),
            place if place.is_in_stage() => format!(" in {}", self.names.mask(&place.to_string())),
            place => format!(", {}", self.names.mask(&place.to_string())),
        };
        MaskedConditionKey {
            object: format!("{}{on}{part}", self.names.mask(&object.to_string())),
            condition: short_type(&object.kind, condition).to_owned(),
        }
    }

    fn said(&self, state: &ConditionState) -> MaskedState {
        MaskedState {
            status: state.status.clone(),
            reason: state.reason.clone(),
            message: self.names.mask(&state.message),
        }
    }

    /// Returns the text without names.
    pub(crate) fn mask(&self, text: &str) -> String {
        self.names.mask(text)
    }

    pub(crate) fn passed(&self) -> bool {
        self.record.outcome == Outcome::Passed
    }

    pub(crate) fn was_run(&self) -> bool {
        self.record.outcome != Outcome::NotRun
    }

    /// Returns all states that conditions had at any time.
    pub(crate) fn ever(&self) -> BTreeSet<(&MaskedConditionKey, &MaskedState)> {
        self.spans.iter().map(|span| (&span.place, &span.said)).collect()
    }

    /// Returns the states that were current at an assertion or a diagnosis.
    pub(crate) fn settled(&self) -> BTreeSet<(&MaskedConditionKey, &MaskedState)> {
        self.spans.iter().filter(|span| span.settled).map(|span| (&span.place, &span.said)).collect()
    }

    /// Returns the findings of all diagnoses, with the findings that another finding explains.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &'a Finding> + use<'a> {
        self.record.entries.iter().filter_map(RecordEntry::diagnosed).flatten().flat_map(Finding::flatten)
    }

    /// Returns the findings that a step names, and those that no other finding explains. An explained finding comes and
    /// goes with the exact time of the diagnosis.
    pub(crate) fn settled_findings(&self) -> impl Iterator<Item = &'a Finding> {
        let asked = self.record.entries.iter().filter_map(RecordEntry::diagnosed);
        let named = self.findings().filter(|finding| {
            let code = finding.code.to_string();
            self.record
                .entries
                .iter()
                .any(|e| matches!(&e.what, RecordedEvent::Step { text, .. } if text.contains(&code)))
        });
        named.chain(asked.flatten())
    }

    /// Returns the time when an upgrade had reached a phase; `None` if the scenario didn't see it.
    pub(crate) fn upgraded(&self, to: UpgradePhase) -> Option<Timestamp> {
        let mut entries = self.record.entries.iter();
        let reached = entries.find(|entry| matches!(&entry.what, RecordedEvent::Upgraded { phase } if *phase == to));
        reached.map(|entry| entry.at)
    }

    /// Returns the last step that started, as written in the feature.
    pub(crate) fn last_step(&self) -> Option<String> {
        self.record.entries.iter().rev().find_map(|entry| match &entry.what {
            RecordedEvent::Step { keyword, text } => Some(format!("{} {text}", keyword.trim())),
            _ => None,
        })
    }

    /// Returns the failure without names; `None` if the scenario passed or was not run.
    pub(crate) fn failure(&self) -> Option<String> {
        let failed = !self.passed() && self.was_run();
        failed.then(|| self.mask(self.record.reason.as_deref().unwrap_or("it did not end")))
    }
}
