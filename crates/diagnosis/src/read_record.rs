//! Record of what was read of a cluster, and of what rules have looked for beyond that.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Mutex, PoisonError};

use crate::{GroupKind, ObjectQuery, ObjectSelection};

/// Record of what was read of a cluster. By default, everything was.
///
/// A live hub of a large fleet is read in rounds: the rules run on what was read, the record collects what they have looked for
/// and not found, and the reader asks for that next. A finding of the last round rests on nothing that wasn't read.
#[derive(Debug, Default)]
pub struct ReadRecord {
    /// Queries that were answered; `None` if everything was read.
    answered: Option<HashSet<ObjectQuery>>,
    /// Kinds of which only the objects that somebody has asked for by name or label are wanted.
    narrowed: HashSet<GroupKind>,
    unanswered: Mutex<BTreeSet<ObjectQuery>>,
}

impl ReadRecord {
    /// Record of a cluster of which nothing was read yet.
    #[must_use]
    pub fn nothing() -> Self {
        Self { answered: Some(HashSet::new()), ..Self::default() }
    }

    /// Leaves the rules without all objects of a kind, when only one object is diagnosed. Objects that rules look for by name or label
    /// are still asked for.
    pub fn narrow(&mut self, kind: GroupKind) {
        self.narrowed.insert(kind);
    }

    /// True if everything was read.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.answered.is_none()
    }

    /// True if no query was answered.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.answered.as_ref().is_some_and(HashSet::is_empty)
    }

    /// Adds a query whose objects were read, or can't be.
    pub fn answer(&mut self, query: ObjectQuery) {
        if let Some(answered) = &mut self.answered {
            answered.insert(query);
        }
    }

    /// Adds a query that a rule needs the answer of, unless it was answered.
    pub(crate) fn ask(&self, query: impl FnOnce() -> ObjectQuery) {
        let Some(answered) = &self.answered else { return };
        let query = query();
        let is_wide = matches!(query.selection, ObjectSelection::All | ObjectSelection::Deleting { .. });
        if is_wide && self.narrowed.contains(&query.kind) {
            return;
        }
        if !answered.contains(&query) && !query.wider().iter().any(|wider| answered.contains(wider)) {
            self.unanswered.lock().unwrap_or_else(PoisonError::into_inner).insert(query);
        }
    }

    /// Takes the queries that rules need the answers of, in a stable order.
    pub(crate) fn take_unanswered(&self) -> Vec<ObjectQuery> {
        let mut unanswered = self.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *unanswered).into_iter().collect()
    }
}

impl Clone for ReadRecord {
    fn clone(&self) -> Self {
        Self { answered: self.answered.clone(), narrowed: self.narrowed.clone(), unanswered: Mutex::default() }
    }
}

impl PartialEq for ReadRecord {
    fn eq(&self, other: &Self) -> bool {
        self.answered == other.answered && self.narrowed == other.narrowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::{NAMESPACE, WORK};

    fn query(selection: ObjectSelection) -> ObjectQuery {
        ObjectQuery { kind: WORK, selection }
    }

    fn named(namespace: &str, name: &str) -> ObjectQuery {
        query(ObjectSelection::Named { namespace: Some(namespace.to_owned()), name: name.to_owned() })
    }

    fn labeled(namespace: Option<&str>, value: &str) -> ObjectQuery {
        let (key, value) = ("placement".to_owned(), value.to_owned());
        query(ObjectSelection::Labeled { namespace: namespace.map(str::to_owned), key, value })
    }

    #[test]
    fn a_query_is_answered_by_a_wider_one() {
        let in_namespace = query(ObjectSelection::InNamespace("m-1".to_owned()));
        let all = ObjectQuery::all(WORK);
        for (answered, asked, is_answered) in [
            (&named("m-1", "w"), &named("m-1", "w"), true),
            (&named("m-1", "w"), &named("m-1", "v"), false),
            (&in_namespace, &named("m-1", "w"), true),
            (&in_namespace, &named("m-2", "w"), false),
            (&in_namespace, &labeled(Some("m-1"), "web"), true),
            (&labeled(None, "web"), &labeled(Some("m-1"), "web"), true),
            (&labeled(Some("m-1"), "web"), &labeled(None, "web"), false),
            (&labeled(None, "web"), &named("m-1", "w"), false),
            (&all, &in_namespace, true),
            (&all, &query(ObjectSelection::Deleting { expected: 3 }), true),
            (&ObjectQuery::all(NAMESPACE), &all, false),
        ] {
            let mut record = ReadRecord::nothing();
            record.answer(answered.clone());
            record.ask(|| asked.clone());
            let unanswered = record.take_unanswered();
            assert_eq!(unanswered.is_empty(), is_answered, "{answered:?} {asked:?}");
        }
    }

    #[test]
    fn of_a_narrowed_kind_only_some_objects_are_asked_for() {
        let mut record = ReadRecord::nothing();
        record.narrow(WORK);
        record.ask(|| ObjectQuery::all(WORK));
        record.ask(|| query(ObjectSelection::Deleting { expected: 1 }));
        record.ask(|| named("m-1", "w"));
        assert_eq!(record.take_unanswered(), [named("m-1", "w")]);
    }

    #[test]
    fn where_everything_was_read_nothing_is_asked() {
        let record = ReadRecord::default();
        record.ask(|| ObjectQuery::all(WORK));
        assert!(record.is_everything() && record.take_unanswered().is_empty());
    }
}
