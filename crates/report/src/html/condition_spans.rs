//! States of conditions with the time from their start to their end.

use std::collections::BTreeMap;

use jiff::Timestamp;
use record::{ConditionPlace, ConditionState, ObjectPath, RecordEntry, Transition};

/// State of one condition, with the time from its start to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConditionSpan<'a> {
    /// Transition to the state.
    pub(crate) transition: &'a Transition,
    /// State.
    pub(crate) state: &'a ConditionState,
    /// Time when the state began.
    pub(crate) from: Timestamp,
    /// Time when the next state began; `None` for the last state.
    pub(crate) until: Option<Timestamp>,
    /// Index of the entry with the transition to the state.
    pub(crate) entry: usize,
    /// Index of the entry with the next transition; `None` for the last state.
    pub(crate) next_entry: Option<usize>,
}

impl ConditionSpan<'_> {
    /// True if the state was current when this entry was recorded.
    pub(crate) fn covers(&self, entry: usize) -> bool {
        self.entry < entry && self.next_entry.is_none_or(|next| entry < next)
    }
}

/// Returns the states of all conditions, in the order in which they began.
pub(crate) fn condition_spans(entries: &[RecordEntry]) -> Vec<ConditionSpan<'_>> {
    let mut spans: Vec<ConditionSpan<'_>> = Vec::new();
    let mut open: BTreeMap<(&str, &ObjectPath, &ConditionPlace, &str), usize> = BTreeMap::new();
    for (index, entry) in entries.iter().enumerate() {
        let Some(t) = entry.transition() else { continue };
        let key = (t.cluster.as_str(), &t.object, &t.place, t.condition.as_str());
        if let Some(span) = open.remove(&key) {
            spans[span].until = Some(entry.at);
            spans[span].next_entry = Some(index);
        }
        if let Some(state) = &t.to {
            open.insert(key, spans.len());
            spans.push(ConditionSpan {
                transition: t,
                state,
                from: entry.at,
                until: None,
                entry: index,
                next_entry: None,
            });
        }
    }
    spans
}
