//! Typed access to an object of any kind. Conditions and metadata have a fixed shape in every version; everything else
//! is read as JSON.

use jiff::Timestamp;
use record::ObjectPath;

use crate::{JsonList, JsonRef};

/// View of one object as JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Object<'a>(JsonRef<'a>);

/// Kubernetes condition, with the fields that `KubeFleet`'s controllers write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Type, e.g. `Progressing`.
    pub type_: String,
    /// Status: `True`, `False` or `Unknown`.
    pub status: String,
    /// Reason, one word in CamelCase.
    pub reason: String,
    /// Message for people. The wording differs between versions.
    pub message: String,
    /// Generation of the object that the controller had seen when it wrote the condition; 0 if the field is absent.
    pub observed_generation: i64,
    /// Time of the last change of the status.
    pub last_transition_time: Option<Timestamp>,
}

impl<'a> Object<'a> {
    /// Creates a view of `value`, which should have apiVersion, kind and metadata.
    pub fn new(value: impl Into<JsonRef<'a>>) -> Self {
        Self(value.into())
    }

    /// Whole object as JSON.
    #[must_use]
    pub fn value(&self) -> JsonRef<'a> {
        self.0
    }

    /// API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &'a str {
        self.str("/apiVersion").and_then(|v| v.split_once('/')).map_or("", |(group, _)| group)
    }

    /// Kind; empty if absent.
    #[must_use]
    pub fn kind(&self) -> &'a str {
        self.str("/kind").unwrap_or_default()
    }

    /// Name; empty if absent.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.str("/metadata/name").unwrap_or_default()
    }

    /// Namespace; `None` for cluster-scoped objects.
    #[must_use]
    pub fn namespace(&self) -> Option<&'a str> {
        self.str("/metadata/namespace").filter(|n| !n.is_empty())
    }

    /// Value of `metadata.generation`; 0 if absent.
    #[must_use]
    pub fn generation(&self) -> i64 {
        self.at("/metadata/generation").and_then(JsonRef::as_i64).unwrap_or_default()
    }

    /// Value of a label.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&'a str> {
        self.0.get("metadata")?.get("labels")?.get(key)?.as_str()
    }

    /// Value of an annotation.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&'a str> {
        self.0.get("metadata")?.get("annotations")?.get(key)?.as_str()
    }

    /// Creation time of the object, in whole seconds.
    #[must_use]
    pub fn created_at(&self) -> Option<Timestamp> {
        self.time("/metadata/creationTimestamp")
    }

    /// Value of `metadata.deletionTimestamp`; `None` if the object isn't being deleted.
    #[must_use]
    pub fn deleted_at(&self) -> Option<Timestamp> {
        self.time("/metadata/deletionTimestamp")
    }

    /// Time of the last write of a part of the object, by the API server's clock, in whole seconds: the status for
    /// `Some("status")`, everything else for `None`. Absent in snapshots that fleetdrill v0.1 took.
    #[must_use]
    pub fn written_at(&self, subresource: Option<&str>) -> Option<Timestamp> {
        let writes = self.list("/metadata/managedFields").iter();
        let of_part = writes.filter(|write| write.get("subresource").and_then(JsonRef::as_str) == subresource);
        of_part.filter_map(|write| text_field(write, "time").parse().ok()).max()
    }

    /// Time of the last change of the object outside of its status; the creation time if no write is recorded.
    #[must_use]
    pub fn changed_at(&self) -> Option<Timestamp> {
        self.written_at(None).or(self.created_at())
    }

    /// Time at a JSON pointer.
    pub(crate) fn time(self, pointer: &str) -> Option<Timestamp> {
        self.str(pointer).and_then(|t| t.parse().ok())
    }

    /// Value at a JSON pointer.
    #[must_use]
    pub fn at(&self, pointer: &str) -> Option<JsonRef<'a>> {
        self.0.pointer(pointer)
    }

    /// String at a JSON pointer.
    #[must_use]
    pub fn str(&self, pointer: &str) -> Option<&'a str> {
        self.at(pointer).and_then(JsonRef::as_str)
    }

    /// Array at a JSON pointer; empty if there is none.
    #[must_use]
    pub fn list(&self, pointer: &str) -> JsonList<'a> {
        self.at(pointer).and_then(JsonRef::as_array).unwrap_or_default()
    }

    /// Conditions in `status.conditions`.
    #[must_use]
    pub fn conditions(&self) -> Vec<Condition> {
        conditions(self.at("/status"))
    }

    /// Returns the condition of a type from `status.conditions`, of any observed generation.
    #[must_use]
    pub fn condition(&self, type_: &str) -> Option<Condition> {
        conditions_of_type(self.at("/status"), type_).next()
    }

    /// Returns the condition of a type from `status.conditions` if its observed generation is the object's present
    /// generation. An update run on v0.1.2 keeps conditions of older generations beside new ones.
    #[must_use]
    pub fn current_condition(&self, type_: &str) -> Option<Condition> {
        self.condition(type_).filter(|c| c.observed_generation == self.generation())
    }

    /// Values of `metadata.finalizers`.
    pub fn finalizers(self) -> impl Iterator<Item = &'a str> {
        self.list("/metadata/finalizers").iter().filter_map(JsonRef::as_str)
    }

    /// Kind, namespace and name.
    #[must_use]
    pub fn path(&self) -> ObjectPath {
        ObjectPath::new(self.kind(), self.namespace(), self.name())
    }
}

/// Returns a string field of a JSON object; empty if absent.
pub(crate) fn text_field<'a>(value: JsonRef<'a>, field: &str) -> &'a str {
    value.get(field).and_then(JsonRef::as_str).unwrap_or_default()
}

/// Returns an array field of a JSON object; empty if absent.
pub(crate) fn list_field<'a>(value: JsonRef<'a>, field: &str) -> JsonList<'a> {
    value.get(field).and_then(JsonRef::as_array).unwrap_or_default()
}

/// Returns the string at a JSON pointer; empty if absent.
pub(crate) fn text_at<'a>(value: JsonRef<'a>, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(JsonRef::as_str).unwrap_or_default()
}

impl Condition {
    /// Reads a condition; `None` if the value isn't one.
    #[must_use]
    pub fn read(value: JsonRef<'_>) -> Option<Self> {
        let text = |field: &str| match value.get(field) {
            Some(text) => text.as_str(),
            None => Some(""),
        };
        Some(Self {
            type_: value.get("type")?.as_str()?.to_owned(),
            status: value.get("status")?.as_str()?.to_owned(),
            reason: text("reason")?.to_owned(),
            message: text("message")?.to_owned(),
            observed_generation: value.get("observedGeneration").map_or(Some(0), JsonRef::as_i64)?,
            last_transition_time: match value.get("lastTransitionTime").filter(|time| !time.is_null()) {
                Some(time) => Some(time.as_str()?.parse().ok()?),
                None => None,
            },
        })
    }
}

/// Returns the conditions of a value with a `conditions` array, such as an object's status, or a stage or cluster in a
/// run's status. Skips entries that aren't valid conditions.
#[must_use]
pub fn conditions<'a>(holder: Option<impl Into<JsonRef<'a>>>) -> Vec<Condition> {
    entries(holder.map(Into::into)).filter_map(Condition::read).collect()
}

/// Returns the conditions of a type, of any observed generation. The others aren't parsed.
pub(crate) fn conditions_of_type<'a>(
    holder: Option<JsonRef<'a>>,
    type_: &str,
) -> impl Iterator<Item = Condition> + use<'a> {
    let of_type: Vec<_> = entries(holder).filter(|entry| text_field(*entry, "type") == type_).collect();
    of_type.into_iter().filter_map(Condition::read)
}

fn entries(holder: Option<JsonRef<'_>>) -> impl Iterator<Item = JsonRef<'_>> {
    holder.and_then(|holder| holder.get("conditions")?.as_array()).unwrap_or_default().iter()
}
