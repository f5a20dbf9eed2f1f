//! Evidence quoted from objects, so that a person can look it up.

use record::{ConditionPlace, ObjectPath, QuotedCondition};

use crate::{Condition, Evidence, Object};

/// Path of the API server's record of the last write of an object's status.
pub(super) const STATUS_WRITE: &str = "metadata.managedFields[status].time";

/// Source of evidence: the objects of one cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct EvidenceSource<'a> {
    cluster: &'a str,
}

impl<'a> EvidenceSource<'a> {
    pub fn from(cluster: &'a str) -> Self {
        Self { cluster }
    }

    /// Quotes a condition of `status.conditions`.
    pub fn condition(self, object: Object<'_>, condition: &Condition) -> Evidence {
        self.condition_in(object, ConditionPlace::Object, condition)
    }

    /// Quotes a condition of a part of an object.
    pub fn condition_in(self, object: Object<'_>, place: ConditionPlace, condition: &Condition) -> Evidence {
        let Condition { type_, status, reason, message, .. } = condition.clone();
        let quoted = QuotedCondition { place, type_, status, reason, message };
        let evidence = self.text(object, &quoted.path(), quoted.text(), condition.last_transition_time);
        Evidence { condition: Some(quoted), ..evidence }
    }

    /// Quotes the field at a path of plain names, e.g. `spec.resourceSnapshotIndex`; `(absent)` if there is none.
    pub fn field(self, object: Object<'_>, path: &str) -> Evidence {
        let pointer = format!("/{}", path.replace('.', "/"));
        let value = match object.at(&pointer) {
            None => "(absent)".to_owned(),
            Some(value) => value.to_text(),
        };
        self.text(object, path, value, None)
    }

    /// Quotes that a condition of an object's present generation isn't there: the generation of the one that is there, or `(absent)`.
    /// `path` is the condition's.
    pub fn no_current_condition(
        self,
        object: Object<'_>,
        path: &str,
        older: Option<&Condition>,
        at: Option<jiff::Timestamp>,
    ) -> Evidence {
        match older {
            Some(older) => self.older_generation(object, path, older.observed_generation, at),
            None => self.text(object, path, "(absent)".to_owned(), at),
        }
    }

    /// Quotes the generation that conditions are of, beside the object's present one. `path` is the conditions'.
    pub fn older_generation(
        self,
        object: Object<'_>,
        path: &str,
        observed: i64,
        at: Option<jiff::Timestamp>,
    ) -> Evidence {
        let value = format!("{observed} (generation: {})", object.generation());
        self.text(object, &format!("{path}.observedGeneration"), value, at)
    }

    /// Quotes the deletion timestamp of an object.
    pub fn deletion(self, object: Object<'_>) -> Evidence {
        Evidence { at: object.deleted_at(), ..self.field(object, "metadata.deletionTimestamp") }
    }

    /// Quotes any other text that was read in an object.
    pub fn text(self, object: Object<'_>, path: &str, value: String, at: Option<jiff::Timestamp>) -> Evidence {
        Evidence {
            cluster: self.cluster.to_owned(),
            object: object.path(),
            path: path.to_owned(),
            value,
            condition: None,
            at,
            is_absent: false,
        }
    }

    /// Quotes the absence of an object.
    pub fn absent(self, kind: &str, namespace: Option<&str>, name: &str) -> Evidence {
        Evidence {
            cluster: self.cluster.to_owned(),
            object: ObjectPath::new(kind, namespace, name),
            path: "metadata.name".to_owned(),
            value: "(no such object)".to_owned(),
            condition: None,
            at: None,
            is_absent: true,
        }
    }
}
