//! References to JSON values.

use std::fmt;
use std::sync::Arc;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};

use super::store::{JsonNode, JsonStore, NodeType};

/// Reference to a JSON value, either of `serde_json` or in the store of an object list. The methods are those of [`Value`].
#[derive(Clone, Copy)]
pub struct JsonRef<'a>(Place<'a>);

#[derive(Clone, Copy)]
enum Place<'a> {
    Value(&'a Value),
    Store(&'a JsonStore, JsonNode),
}

/// Elements of a list.
#[derive(Clone, Copy)]
pub struct JsonList<'a>(ListPlace<'a>);

#[derive(Clone, Copy)]
enum ListPlace<'a> {
    Value(&'a [Value]),
    Store(&'a JsonStore, &'a [JsonNode]),
}

/// Keys and values of an object, in the order in which they were read.
#[derive(Clone, Copy)]
pub struct JsonFields<'a>(FieldsPlace<'a>);

#[derive(Clone, Copy)]
enum FieldsPlace<'a> {
    Value(&'a serde_json::Map<String, Value>),
    Store(&'a JsonStore, &'a [JsonNode]),
}

impl<'a> JsonRef<'a> {
    /// The value `null`.
    pub const NULL: Self = Self(Place::Value(&Value::Null));

    pub(super) fn stored(store: &'a JsonStore, node: JsonNode) -> Self {
        Self(Place::Store(store, node))
    }

    /// Value of an object's field; `None` if this is no object or has no such field.
    #[must_use]
    pub fn get(self, field: &str) -> Option<Self> {
        match self.0 {
            Place::Value(value) => value.as_object()?.get(field).map(Self::from),
            Place::Store(store, node) if node.node_type() == NodeType::Object => {
                // Of two fields with the same key, the last one counts, as in `serde_json`.
                let mut fields = store.elements_of(node).chunks_exact(2).rev();
                fields.find(|pair| store.text_of(pair[0]) == field).map(|pair| Self::stored(store, pair[1]))
            }
            Place::Store(..) => None,
        }
    }

    /// Value at a JSON pointer.
    #[must_use]
    pub fn pointer(self, pointer: &str) -> Option<Self> {
        if let Place::Value(value) = self.0 {
            return value.pointer(pointer).map(Self::from);
        }
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, token| match value.as_array() {
            Some(list) => list.get(token.parse().ok()?),
            None if token.contains('~') => value.get(&token.replace("~1", "/").replace("~0", "~")),
            None => value.get(token),
        })
    }

    /// The string; `None` for every other value.
    #[must_use]
    pub fn as_str(self) -> Option<&'a str> {
        match self.0 {
            Place::Value(value) => value.as_str(),
            Place::Store(store, node) => (node.node_type() == NodeType::Text).then(|| store.text_of(node)),
        }
    }

    /// The number; `None` for every other value, and for a number that isn't a whole one.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        match self.0 {
            Place::Value(value) => value.as_i64(),
            Place::Store(store, node) => {
                (node.node_type() == NodeType::Number).then(|| store.text_of(node).parse().ok()).flatten()
            }
        }
    }

    /// The number; `None` for every other value, and for a number that is negative or isn't a whole one.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        self.as_i64().and_then(|number| number.try_into().ok())
    }

    /// The truth value; `None` for every other value.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        match self.0 {
            Place::Value(value) => value.as_bool(),
            Place::Store(_, node) => match node.node_type() {
                NodeType::True => Some(true),
                NodeType::False => Some(false),
                _ => None,
            },
        }
    }

    /// True for `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        match self.0 {
            Place::Value(value) => value.is_null(),
            Place::Store(_, node) => node.node_type() == NodeType::Null,
        }
    }

    /// The list; `None` for every other value.
    #[must_use]
    pub fn as_array(self) -> Option<JsonList<'a>> {
        match self.0 {
            Place::Value(value) => value.as_array().map(|list| JsonList(ListPlace::Value(list))),
            Place::Store(store, node) => {
                (node.node_type() == NodeType::List).then(|| JsonList(ListPlace::Store(store, store.elements_of(node))))
            }
        }
    }

    /// The object; `None` for every other value.
    #[must_use]
    pub fn as_object(self) -> Option<JsonFields<'a>> {
        match self.0 {
            Place::Value(value) => value.as_object().map(|fields| JsonFields(FieldsPlace::Value(fields))),
            Place::Store(store, node) => (node.node_type() == NodeType::Object)
                .then(|| JsonFields(FieldsPlace::Store(store, store.elements_of(node)))),
        }
    }

    /// Returns a string itself, and every other value as JSON.
    #[must_use]
    pub fn to_text(self) -> String {
        self.as_str().map_or_else(|| self.to_string(), str::to_owned)
    }

    /// Copies the value.
    #[must_use]
    pub fn to_value(self) -> Value {
        let (store, node) = match self.0 {
            Place::Value(value) => return value.clone(),
            Place::Store(store, node) => (store, node),
        };
        match node.node_type() {
            NodeType::Null => Value::Null,
            NodeType::False => false.into(),
            NodeType::True => true.into(),
            NodeType::Number => store.text_of(node).parse::<Number>().map_or(Value::Null, Value::Number),
            NodeType::Text => store.text_of(node).into(),
            NodeType::List => self.as_array().into_iter().flat_map(JsonList::iter).map(Self::to_value).collect(),
            NodeType::Object => {
                let fields = self.as_object().into_iter().flat_map(JsonFields::iter);
                fields.map(|(key, value)| (key.to_owned(), value.to_value())).collect()
            }
        }
    }
}

impl<'a> From<&'a Value> for JsonRef<'a> {
    fn from(value: &'a Value) -> Self {
        Self(Place::Value(value))
    }
}

impl<'a> From<&'a Arc<Value>> for JsonRef<'a> {
    fn from(value: &'a Arc<Value>) -> Self {
        Self(Place::Value(value))
    }
}

impl PartialEq for JsonRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (Place::Store(store, node), Place::Store(other_store, other)) if std::ptr::eq(store, other_store) => {
                node == other
            }
            (Place::Value(value), Place::Value(other)) => value == other,
            _ => self.to_value() == other.to_value(),
        }
    }
}

impl PartialEq<str> for JsonRef<'_> {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for JsonRef<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(*other)
    }
}

impl fmt::Debug for JsonRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

impl fmt::Display for JsonRef<'_> {
    /// Formats the value as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

impl Serialize for JsonRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (store, node) = match self.0 {
            Place::Value(value) => return value.serialize(serializer),
            Place::Store(store, node) => (store, node),
        };
        match node.node_type() {
            NodeType::Null => serializer.serialize_unit(),
            NodeType::False => serializer.serialize_bool(false),
            NodeType::True => serializer.serialize_bool(true),
            NodeType::Number => self.to_value().serialize(serializer),
            NodeType::Text => serializer.serialize_str(store.text_of(node)),
            NodeType::List => {
                let list = self.as_array().unwrap_or_default();
                let mut out = serializer.serialize_seq(Some(list.len()))?;
                list.iter().try_for_each(|element| out.serialize_element(&element))?;
                out.end()
            }
            NodeType::Object => {
                let mut out = serializer.serialize_map(None)?;
                let fields = self.as_object().into_iter().flat_map(JsonFields::iter);
                fields.into_iter().try_for_each(|(key, value)| out.serialize_entry(key, &value))?;
                out.end()
            }
        }
    }
}

impl Default for JsonList<'_> {
    /// An empty list.
    fn default() -> Self {
        Self(ListPlace::Value(&[]))
    }
}

impl<'a> From<&'a [Value]> for JsonList<'a> {
    fn from(list: &'a [Value]) -> Self {
        Self(ListPlace::Value(list))
    }
}

impl<'a> JsonList<'a> {
    /// Number of elements.
    #[must_use]
    pub fn len(self) -> usize {
        match self.0 {
            ListPlace::Value(list) => list.len(),
            ListPlace::Store(_, list) => list.len(),
        }
    }

    /// True if there are no elements.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Element at a position.
    #[must_use]
    pub fn get(self, position: usize) -> Option<JsonRef<'a>> {
        match self.0 {
            ListPlace::Value(list) => list.get(position).map(JsonRef::from),
            ListPlace::Store(store, list) => list.get(position).map(|node| JsonRef::stored(store, *node)),
        }
    }

    /// First element.
    #[must_use]
    pub fn first(self) -> Option<JsonRef<'a>> {
        self.get(0)
    }

    /// Last element.
    #[must_use]
    pub fn last(self) -> Option<JsonRef<'a>> {
        self.get(self.len().checked_sub(1)?)
    }

    /// All elements.
    #[must_use]
    pub fn iter(self) -> JsonElements<'a> {
        JsonElements { list: self, positions: 0..self.len() }
    }
}

impl<'a> IntoIterator for JsonList<'a> {
    type Item = JsonRef<'a>;
    type IntoIter = JsonElements<'a>;

    fn into_iter(self) -> JsonElements<'a> {
        self.iter()
    }
}

/// Iterator over the elements of a list.
#[derive(Clone)]
pub struct JsonElements<'a> {
    list: JsonList<'a>,
    positions: std::ops::Range<usize>,
}

impl<'a> Iterator for JsonElements<'a> {
    type Item = JsonRef<'a>;

    fn next(&mut self) -> Option<JsonRef<'a>> {
        self.positions.next().and_then(|position| self.list.get(position))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.positions.size_hint()
    }
}

impl DoubleEndedIterator for JsonElements<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.positions.next_back().and_then(|position| self.list.get(position))
    }
}

impl ExactSizeIterator for JsonElements<'_> {}

impl<'a> JsonFields<'a> {
    /// Number of fields.
    #[must_use]
    pub fn len(self) -> usize {
        match self.0 {
            FieldsPlace::Value(fields) => fields.len(),
            FieldsPlace::Store(_, nodes) => nodes.len() / 2,
        }
    }

    /// True if there are no fields.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Keys and values.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, JsonRef<'a>)> + use<'a> {
        let (values, stored) = match self.0 {
            FieldsPlace::Value(fields) => (Some(fields), None),
            FieldsPlace::Store(store, nodes) => (None, Some((store, nodes))),
        };
        let values = values.into_iter().flatten().map(|(key, value)| (key.as_str(), JsonRef::from(value)));
        let stored = stored.into_iter().flat_map(|(store, nodes)| {
            let pairs = nodes.chunks_exact(2);
            pairs.map(move |pair| (store.text_of(pair[0]), JsonRef::stored(store, pair[1])))
        });
        values.chain(stored)
    }
}
