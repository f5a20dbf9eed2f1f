//! Reads JSON into a [`JsonStore`] without building `serde_json` values.

use std::fmt::{self, Write as _};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::store::{JsonNode, JsonStore, NodeType, StoreFull};
use super::value_limit::ValueAllowance;

/// Reads a value and its parts into a store.
pub(crate) struct StoredJson<'a> {
    pub store: &'a mut JsonStore,
    /// Elements of the lists and objects that aren't complete yet.
    pub open: &'a mut Vec<JsonNode>,
    /// Values that may still be read, keys included.
    pub values: &'a mut ValueAllowance,
}

impl StoredJson<'_> {
    fn part(&mut self) -> StoredJson<'_> {
        StoredJson { store: self.store, open: self.open, values: self.values }
    }

    /// Counts a value.
    fn count<E: Error>(&mut self) -> Result<(), E> {
        if self.values.take() { Ok(()) } else { Err(E::custom("too many values")) }
    }

    /// Stores the elements that were read since `start`.
    fn close<E: Error>(self, node_type: NodeType, start: usize) -> Result<JsonNode, E> {
        let node = self.store.container(node_type, &self.open[start..]).map_err(E::custom);
        self.open.truncate(start);
        node
    }

    fn number<E: Error>(self, number: impl fmt::Display) -> Result<JsonNode, E> {
        let mut text = String::new();
        write!(text, "{number}").map_err(E::custom)?;
        self.store.number(&text).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for StoredJson<'_> {
    type Value = JsonNode;

    fn deserialize<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<JsonNode, D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StoredJson<'_> {
    type Value = JsonNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<JsonNode, E> {
        Ok(JsonNode::NULL)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<JsonNode, E> {
        Ok(JsonNode::of_bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<JsonNode, E> {
        self.number(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<JsonNode, E> {
        self.number(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<JsonNode, E> {
        match serde_json::Number::from_f64(value) {
            Some(number) => self.number(number),
            None => Ok(JsonNode::NULL),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<JsonNode, E> {
        self.store.text(text).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<JsonNode, A::Error> {
        let start = self.open.len();
        while let Some(element) = list.next_element_seed(self.part())? {
            self.open.push(element);
        }
        self.close(NodeType::List, start)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<JsonNode, A::Error> {
        let start = self.open.len();
        while let Some(key) = object.next_key_seed(StoredKey(self.store))? {
            self.open.push(key);
            self.count()?;
            let value = object.next_value_seed(self.part())?;
            self.open.push(value);
        }
        self.close(NodeType::Object, start)
    }
}

/// Reads the key of a field into a store.
struct StoredKey<'a>(&'a mut JsonStore);

impl<'de> DeserializeSeed<'de> for StoredKey<'_> {
    type Value = JsonNode;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<JsonNode, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for StoredKey<'_> {
    type Value = JsonNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<JsonNode, E> {
        self.0.text(text).map_err(|full: StoreFull| E::custom(full))
    }
}
