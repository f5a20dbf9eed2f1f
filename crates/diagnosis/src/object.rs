//! Reading one object without knowing its type: conditions and metadata have a fixed shape in every version, the rest
//! is JSON.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// A view of one object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Object<'a>(&'a Value);

/// A Kubernetes condition, with the fields that `KubeFleet`'s controllers write.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// E.g. `Progressing`.
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// CamelCase.
    #[serde(default)]
    pub reason: String,
    /// For people; differs between versions.
    #[serde(default)]
    pub message: String,
    /// The generation that the controller had seen when it wrote this; 0 where it is absent.
    #[serde(default)]
    pub observed_generation: i64,
    /// When the status last changed.
    #[serde(default)]
    pub last_transition_time: Option<Timestamp>,
}

impl<'a> Object<'a> {
    /// A view of `value`, which should have apiVersion, kind and metadata.
    #[must_use]
    pub fn new(value: &'a Value) -> Self {
        Self(value)
    }

    /// The whole object.
    #[must_use]
    pub fn value(&self) -> &'a Value {
        self.0
    }

    /// The API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &'a str {
        self.str("/apiVersion").and_then(|v| v.split_once('/')).map_or("", |(group, _)| group)
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> &'a str {
        self.str("/kind").unwrap_or_default()
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.str("/metadata/name").unwrap_or_default()
    }

    /// The namespace, where the kind has one.
    #[must_use]
    pub fn namespace(&self) -> Option<&'a str> {
        self.str("/metadata/namespace").filter(|n| !n.is_empty())
    }

    /// `metadata.generation`; 0 where it is absent.
    #[must_use]
    pub fn generation(&self) -> i64 {
        self.0.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or_default()
    }

    /// A label's value.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&'a str> {
        self.0.get("metadata")?.get("labels")?.get(key)?.as_str()
    }

    /// When the object was made, in whole seconds.
    #[must_use]
    pub fn created_at(&self) -> Option<Timestamp> {
        self.time("/metadata/creationTimestamp")
    }

    /// Since when the object is being deleted, when it is.
    #[must_use]
    pub fn deleted_at(&self) -> Option<Timestamp> {
        self.time("/metadata/deletionTimestamp")
    }

    fn time(self, pointer: &str) -> Option<Timestamp> {
        self.str(pointer).and_then(|t| t.parse().ok())
    }

    /// The value at a JSON pointer.
    #[must_use]
    pub fn at(&self, pointer: &str) -> Option<&'a Value> {
        self.0.pointer(pointer)
    }

    /// The string at a JSON pointer.
    #[must_use]
    pub fn str(&self, pointer: &str) -> Option<&'a str> {
        self.at(pointer).and_then(Value::as_str)
    }

    /// The array at a JSON pointer; empty where there is none.
    #[must_use]
    pub fn list(&self, pointer: &str) -> &'a [Value] {
        self.at(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The conditions at `status.conditions`.
    #[must_use]
    pub fn conditions(&self) -> Vec<Condition> {
        conditions(self.at("/status"))
    }

    /// One condition of `status.conditions`, whatever generation it is of.
    #[must_use]
    pub fn condition(&self, type_: &str) -> Option<Condition> {
        self.conditions().into_iter().find(|c| c.type_ == type_)
    }

    /// One condition of `status.conditions`, only when it speaks of the present generation. A run on v0.1.2 keeps
    /// conditions of older generations beside new ones.
    #[must_use]
    pub fn current_condition(&self, type_: &str) -> Option<Condition> {
        self.condition(type_).filter(|c| c.observed_generation == self.generation())
    }

    /// `Kind/name` or `Kind/namespace/name`.
    #[must_use]
    pub fn path(&self) -> String {
        match self.namespace() {
            Some(namespace) => format!("{}/{namespace}/{}", self.kind(), self.name()),
            None => format!("{}/{}", self.kind(), self.name()),
        }
    }
}

/// The conditions in a value with a `conditions` array, such as a status, a stage's or a cluster's status.
#[must_use]
pub fn conditions(holder: Option<&Value>) -> Vec<Condition> {
    let list = holder.and_then(|v| v.get("conditions")).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|c| serde_json::from_value(c.clone()).ok()).collect()
}
