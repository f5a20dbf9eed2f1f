//! Storage of JSON values that keeps equal parts once.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use serde_json::Value;
use string_interner::backend::StringBackend;
use string_interner::symbol::SymbolU32;
use string_interner::{StringInterner, Symbol};

use super::reference::JsonRef;

/// Bits of a node that tell its type. The other bits are its payload.
const TYPE_BITS: u32 = 3;
/// Number of different payloads.
const PAYLOADS: u32 = 1 << (u32::BITS - TYPE_BITS);

/// Value in a [`JsonStore`]: its type and, by type, a text, or the place of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct JsonNode(u32);

/// Type of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeType {
    Null,
    False,
    True,
    /// Number, stored as its text.
    Number,
    Text,
    List,
    Object,
}

const TYPES: [NodeType; 7] = [
    NodeType::Null,
    NodeType::False,
    NodeType::True,
    NodeType::Number,
    NodeType::Text,
    NodeType::List,
    NodeType::Object,
];

impl JsonNode {
    pub(crate) const NULL: Self = Self(NodeType::Null as u32);

    pub(super) fn of_bool(value: bool) -> Self {
        Self(if value { NodeType::True as u32 } else { NodeType::False as u32 })
    }

    fn new(node_type: NodeType, payload: u32) -> Self {
        Self(payload << TYPE_BITS | node_type as u32)
    }

    pub(super) fn node_type(self) -> NodeType {
        TYPES[(self.0 & ((1 << TYPE_BITS) - 1)) as usize]
    }

    fn payload(self) -> usize {
        (self.0 >> TYPE_BITS) as usize
    }
}

/// Error for more JSON than a [`JsonStore`] can hold: some 500 million different texts or elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more JSON than can be kept")]
pub(super) struct StoreFull;

/// Storage of JSON values. Equal texts, lists and objects are stored once.
#[derive(Clone, Debug)]
pub(crate) struct JsonStore {
    texts: StringInterner<StringBackend<SymbolU32>, RandomState>,
    /// For each list and object: the number of its elements, and the elements. An object has a key and a value for each field.
    elements: Vec<JsonNode>,
    /// Places in `elements`, by contents.
    places: HashTable<u32>,
    hasher: RandomState,
}

impl Default for JsonStore {
    fn default() -> Self {
        let (elements, places, hasher) = (Vec::new(), HashTable::new(), RandomState::default());
        Self { texts: StringInterner::with_hasher(hasher.clone()), elements, places, hasher }
    }
}

impl JsonStore {
    /// Reads a value that was stored here.
    pub(crate) fn get(&self, node: JsonNode) -> JsonRef<'_> {
        JsonRef::stored(self, node)
    }

    /// Stores a value.
    ///
    /// # Panics
    /// Panics if the store is full: one of several GB.
    pub(crate) fn insert(&mut self, value: &Value) -> JsonNode {
        let node = self.try_insert(value);
        node.unwrap_or_else(|full| panic!("{full}"))
    }

    fn try_insert(&mut self, value: &Value) -> Result<JsonNode, StoreFull> {
        match value {
            Value::Null => Ok(JsonNode::NULL),
            Value::Bool(value) => Ok(JsonNode::of_bool(*value)),
            Value::Number(number) => self.number(&number.to_string()),
            Value::String(text) => self.text(text),
            Value::Array(list) => {
                let elements: Result<Vec<_>, _> = list.iter().map(|element| self.try_insert(element)).collect();
                self.container(NodeType::List, &elements?)
            }
            Value::Object(fields) => {
                let mut elements = Vec::with_capacity(fields.len() * 2);
                for (key, value) in fields {
                    elements.extend([self.text(key)?, self.try_insert(value)?]);
                }
                self.container(NodeType::Object, &elements)
            }
        }
    }

    pub(super) fn text(&mut self, text: &str) -> Result<JsonNode, StoreFull> {
        Ok(JsonNode::new(NodeType::Text, self.symbol(text)?))
    }

    pub(super) fn number(&mut self, text: &str) -> Result<JsonNode, StoreFull> {
        Ok(JsonNode::new(NodeType::Number, self.symbol(text)?))
    }

    /// Returns the node of a text that was stored.
    pub(crate) fn find_text(&self, text: &str) -> Option<JsonNode> {
        let symbol = u32::try_from(self.texts.get(text)?.to_usize()).ok()?;
        Some(JsonNode::new(NodeType::Text, symbol))
    }

    fn symbol(&mut self, text: &str) -> Result<u32, StoreFull> {
        let symbol = self.texts.get_or_intern(text).to_usize();
        u32::try_from(symbol).ok().filter(|symbol| *symbol < PAYLOADS).ok_or(StoreFull)
    }

    /// Stores a list of elements, or an object of keys and values.
    pub(super) fn container(&mut self, node_type: NodeType, nodes: &[JsonNode]) -> Result<JsonNode, StoreFull> {
        let Self { elements, places, hasher, .. } = self;
        let hash = hasher.hash_one(nodes);
        if let Some(place) = places.find(hash, |place| elements_at(elements, *place as usize) == nodes) {
            return Ok(JsonNode::new(node_type, *place));
        }
        let place = u32::try_from(elements.len()).ok().filter(|place| *place < PAYLOADS).ok_or(StoreFull)?;
        elements.push(JsonNode(u32::try_from(nodes.len()).map_err(|_| StoreFull)?));
        elements.extend_from_slice(nodes);
        places.insert_unique(hash, place, |place| hasher.hash_one(elements_at(elements, *place as usize)));
        Ok(JsonNode::new(node_type, place))
    }

    /// Returns the text of a node that is a text or a number.
    pub(super) fn text_of(&self, node: JsonNode) -> &str {
        SymbolU32::try_from_usize(node.payload()).and_then(|symbol| self.texts.resolve(symbol)).unwrap_or_default()
    }

    /// Returns the elements of a node that is a list or an object.
    pub(super) fn elements_of(&self, node: JsonNode) -> &[JsonNode] {
        elements_at(&self.elements, node.payload())
    }
}

fn elements_at(elements: &[JsonNode], place: usize) -> &[JsonNode] {
    let count = elements[place].0 as usize;
    &elements[place + 1..place + 1 + count]
}
