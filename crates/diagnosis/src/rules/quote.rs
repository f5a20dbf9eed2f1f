//! Quoting what was read, so that a person can look it up.

use serde_json::Value;

use crate::{Condition, Evidence, Object};

/// Where the objects of a cluster are quoted from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote<'a> {
    cluster: &'a str,
}

impl<'a> Quote<'a> {
    pub fn from(cluster: &'a str) -> Self {
        Self { cluster }
    }

    /// A condition of `status.conditions`.
    pub fn condition(self, object: Object<'_>, condition: &Condition) -> Evidence {
        self.condition_in(object, "status", condition)
    }

    /// A condition below `holder`, e.g. `status.stagesStatus[staging]`.
    pub fn condition_in(self, object: Object<'_>, holder: &str, condition: &Condition) -> Evidence {
        let Condition { type_, status, reason, message, .. } = condition;
        let value = match (reason.as_str(), message.as_str()) {
            ("", "") => format!("{type_}={status}"),
            (reason, "") => format!("{type_}={status} {reason}"),
            ("", message) => format!("{type_}={status}: {message}"),
            (reason, message) => format!("{type_}={status} {reason}: {message}"),
        };
        self.text(object, &format!("{holder}.conditions[{type_}]"), value, condition.last_transition_time)
    }

    /// The field at a path of plain names, e.g. `spec.resourceSnapshotIndex`; `(absent)` where there is none.
    pub fn field(self, object: Object<'_>, path: &str) -> Evidence {
        let pointer = format!("/{}", path.replace('.', "/"));
        let value = match object.at(&pointer) {
            None => "(absent)".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        self.text(object, path, value, None)
    }

    /// That and since when an object is being deleted.
    pub fn deletion(self, object: Object<'_>) -> Evidence {
        Evidence { at: object.deleted_at(), ..self.field(object, "metadata.deletionTimestamp") }
    }

    /// Anything else that was read in an object.
    pub fn text(self, object: Object<'_>, path: &str, value: String, at: Option<jiff::Timestamp>) -> Evidence {
        Evidence { cluster: self.cluster.to_owned(), object: object.path(), path: path.to_owned(), value, at }
    }

    /// What was looked for and isn't there.
    pub fn absent(self, kind: &str, namespace: Option<&str>, name: &str) -> Evidence {
        let namespace = namespace.map(|n| format!("{n}/")).unwrap_or_default();
        Evidence {
            cluster: self.cluster.to_owned(),
            object: format!("{kind}/{namespace}{name}"),
            path: "metadata.name".to_owned(),
            value: "(no such object)".to_owned(),
            at: None,
        }
    }
}
