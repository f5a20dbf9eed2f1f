//! Objects of one cluster, with an index by kind and name.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::Object;
use crate::json::{JsonNode, JsonStore, StoredJson};

/// Complete objects as JSON, each with apiVersion and kind, in the order in which they were read. Equal parts of them are stored once.
///
/// The first lookup builds an index in time proportional to the number of objects; each further one takes constant time.
#[derive(Clone, Debug, Default)]
pub struct ObjectList {
    store: JsonStore,
    objects: Vec<JsonNode>,
    index: OnceLock<ObjectIndex>,
    by_namespace: OnceLock<HashMap<JsonNode, Vec<u32>, foldhash::fast::RandomState>>,
}

/// Positions of the objects, by group and kind.
type ObjectIndex = HashMap<GroupKindKey, KindIndex>;

/// Group and kind of objects.
type GroupKindKey = (String, String);

/// Positions of the objects of one kind.
#[derive(Clone, Debug, Default)]
struct KindIndex {
    positions: Vec<u32>,
    /// Positions by the nodes of namespace (null for cluster-scoped objects) and name.
    by_name: HashMap<(JsonNode, JsonNode), u32, foldhash::fast::RandomState>,
}

impl ObjectList {
    /// Adds objects.
    pub fn extend(&mut self, objects: impl IntoIterator<Item = Value>) {
        self.index = OnceLock::new();
        self.by_namespace = OnceLock::new();
        for object in objects {
            let node = self.store.insert(&object);
            self.objects.push(node);
        }
    }

    /// Number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// True if there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Returns all objects, in the order in which they were read.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Object<'_>> {
        self.objects.iter().map(|node| Object::new(self.store.get(*node)))
    }

    /// Returns all objects of a kind in a group (`""` is the core group), in the order in which they were read.
    pub fn of_kind(&self, group: &str, kind: &str) -> impl Iterator<Item = Object<'_>> {
        let positions = self.kind(group, kind).map_or(&[][..], |kind| &kind.positions);
        positions.iter().map(|position| self.at(*position))
    }

    /// Returns all objects in a namespace, in the order in which they were read.
    pub fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = Object<'_>> {
        let by_namespace = self.by_namespace.get_or_init(|| self.build_namespaces());
        let positions = self.store.find_text(namespace).and_then(|node| by_namespace.get(&node));
        positions.map_or(&[][..], Vec::as_slice).iter().map(|position| self.at(*position))
    }

    /// Returns an object by group, kind, namespace (`None` for cluster-scoped kinds) and name.
    #[must_use]
    pub fn find(&self, group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Option<Object<'_>> {
        let namespace = match namespace.filter(|namespace| !namespace.is_empty()) {
            Some(namespace) => self.store.find_text(namespace)?,
            None => JsonNode::NULL,
        };
        let key = (namespace, self.store.find_text(name)?);
        self.kind(group, kind)?.by_name.get(&key).map(|position| self.at(*position))
    }

    fn at(&self, position: u32) -> Object<'_> {
        Object::new(self.store.get(self.objects[position as usize]))
    }

    fn kind(&self, group: &str, kind: &str) -> Option<&KindIndex> {
        let index = self.index.get_or_init(|| self.build_index());
        index.get(&(group.to_owned(), kind.to_owned()))
    }

    fn build_namespaces(&self) -> HashMap<JsonNode, Vec<u32>, foldhash::fast::RandomState> {
        let mut by_namespace = HashMap::default();
        for (position, object) in (0..).zip(self.iter()) {
            let node = object.namespace().and_then(|namespace| self.store.find_text(namespace));
            by_namespace.entry(node.unwrap_or(JsonNode::NULL)).or_insert_with(Vec::new).push(position);
        }
        by_namespace
    }

    /// Builds the index. Of two objects with the same name, the first counts.
    fn build_index(&self) -> ObjectIndex {
        let mut index = ObjectIndex::new();
        for (position, object) in (0..).zip(self.iter()) {
            let key = (object.group().to_owned(), object.kind().to_owned());
            let kind = index.entry(key).or_default();
            kind.positions.push(position);
            let node = |text: &str| self.store.find_text(text).unwrap_or(JsonNode::NULL);
            let key = (object.namespace().map_or(JsonNode::NULL, node), node(object.name()));
            kind.by_name.entry(key).or_insert(position);
        }
        index
    }
}

impl From<Vec<Value>> for ObjectList {
    fn from(objects: Vec<Value>) -> Self {
        objects.into_iter().collect()
    }
}

impl FromIterator<Value> for ObjectList {
    fn from_iter<I: IntoIterator<Item = Value>>(objects: I) -> Self {
        let mut list = Self::default();
        list.extend(objects);
        list
    }
}

impl PartialEq for ObjectList {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Serialize for ObjectList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|object| object.value()))
    }
}

impl<'de> Deserialize<'de> for ObjectList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut reader = ObjectListReader::new(u64::MAX);
        deserializer.deserialize_seq(StoredObjects(&mut reader))?;
        Ok(reader.finish())
    }
}

/// Byte between two JSON texts of a sequence (RFC 7464). JSON itself can't contain it.
pub const RECORD_SEPARATOR: u8 = 0x1E;

/// Reader of objects that come in pieces of JSON text.
#[derive(Debug)]
pub struct ObjectListReader {
    list: ObjectList,
    open: Vec<JsonNode>,
    values_left: u64,
}

/// Objects that can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadObjectsError {
    /// The objects have more JSON values than the reader may read.
    #[error("too many JSON values")]
    TooManyValues,
    /// The text isn't JSON.
    #[error("object {object}: {source}")]
    NotJson {
        /// Position of the object, from 1.
        object: usize,
        /// Cause. Its line and column are those of the object.
        source: serde_json::Error,
    },
}

impl ObjectListReader {
    /// Creates a reader that reads at most this many JSON values. A key counts as a value.
    #[must_use]
    pub fn new(most_values: u64) -> Self {
        Self { list: ObjectList::default(), open: Vec::new(), values_left: most_values }
    }

    /// Reads complete objects with a [`RECORD_SEPARATOR`] between them.
    ///
    /// # Errors
    /// Returns an error if the text isn't JSON, or has more values than may be read.
    pub fn read(&mut self, text: &[u8]) -> Result<(), ReadObjectsError> {
        for object in text.split(|byte| *byte == RECORD_SEPARATOR) {
            if object.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match self.read_object(object) {
                Ok(object) => self.list.objects.push(object),
                Err(error) if error.is_data() && self.values_left == 0 => return Err(ReadObjectsError::TooManyValues),
                Err(source) => return Err(ReadObjectsError::NotJson { object: self.len() + 1, source }),
            }
        }
        Ok(())
    }

    fn read_object(&mut self, text: &[u8]) -> Result<JsonNode, serde_json::Error> {
        let Self { list: ObjectList { store, .. }, open, values_left } = self;
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        let object = (StoredJson { store, open, values_left }).deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(object)
    }

    /// Number of objects that were read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True if no object was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Number of values that may still be read.
    #[must_use]
    pub fn values_left(&self) -> u64 {
        self.values_left
    }

    /// Returns the objects.
    #[must_use]
    pub fn finish(self) -> ObjectList {
        self.list
    }
}

/// Reads a list of objects.
struct StoredObjects<'a>(&'a mut ObjectListReader);

impl<'de> Visitor<'de> for StoredObjects<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Self(ObjectListReader { list: ObjectList { store, objects, .. }, open, values_left }) = self;
        while let Some(object) = elements.next_element_seed(StoredJson { store, open, values_left })? {
            objects.push(object);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ObjectList, ObjectListReader, ReadObjectsError};

    #[test]
    fn objects_are_found_by_kind_and_name_also_those_that_were_added_later() {
        let pod = |namespace: &str, name: &str| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": namespace, "name": name}});
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}});
        let mut objects = ObjectList::from(vec![pod("x", "a"), node]);
        assert!(objects.find("", "Pod", Some("y"), "a").is_none());
        assert_eq!(objects.find("", "Node", None, "a").map(|node| node.kind()), Some("Node"));
        objects.extend([pod("y", "a")]);
        assert!(objects.find("", "Pod", Some("y"), "a").is_some());
        let namespaces: Vec<_> = objects.of_kind("", "Pod").filter_map(|pod| pod.namespace()).collect();
        assert_eq!(namespaces, ["x", "y"]);
        assert_eq!(objects.of_kind("apps", "Pod").count(), 0);
        assert_eq!(objects.in_namespace("y").map(|pod| pod.name()).collect::<Vec<_>>(), ["a"]);
        assert_eq!(objects.in_namespace("z").count(), 0);
    }

    #[test]
    fn a_reader_reads_pieces_and_names_the_object_that_is_no_json() {
        let mut reader = ObjectListReader::new(8);
        reader.read(b"{\"a\": 1}\x1e[true]\x1e").expect("JSON");
        reader.read(b" ").expect("nothing");
        assert_eq!((reader.len(), reader.values_left()), (2, 3));
        assert_eq!(
            reader.read(b"{}\x1e {\"a\" 1}").expect_err("no colon").to_string(),
            "object 4: expected `:` at line 1 column 7"
        );
        assert!(matches!(reader.read(b"[1, 2, 3]"), Err(ReadObjectsError::TooManyValues)));
    }

    #[test]
    fn what_is_read_is_what_is_written() {
        let objects = json!([{"kind": "A", "list": [1, -2, 2.5, true, false, null, "text", [], {}], "metadata": {"name": "a"}},
            {"kind": "A", "list": [1, -2, 2.5, true, false, null, "text", [], {}], "\u{e9}": "\n"}]);
        let read: ObjectList = serde_json::from_str(&objects.to_string()).expect("JSON");
        assert_eq!(serde_json::to_value(&read).expect("JSON"), objects);
        let Value::Array(values) = objects else { unreachable!() };
        assert_eq!(read, ObjectList::from(values));
    }
}
