//! Objects of one cluster, with an index by kind and name.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::RandomState;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::Object;
use crate::json::{JsonNode, JsonStore};

/// Complete objects as JSON, each with apiVersion and kind, in the order in which they were read. Equal parts of them are stored once
/// in each store.
///
/// The first lookup builds an index in time proportional to the number of objects; each further one takes constant time.
#[derive(Clone, Debug, Default)]
pub struct ObjectList {
    /// Contents of the objects. There are several stores if several threads have read the objects.
    stores: Vec<JsonStore>,
    objects: Vec<StoredObject>,
    index: OnceLock<ObjectIndex>,
    by_namespace: OnceLock<HashMap<String, Vec<u32>, RandomState>>,
}

/// Place of an object: the position of its store, and its node there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredObject {
    pub store: u32,
    pub node: JsonNode,
}

/// Positions of the objects, by group and kind.
type ObjectIndex = HashMap<GroupKindKey, KindIndex>;

/// Group and kind of objects.
type GroupKindKey = (String, String);

/// Positions of the objects of one kind.
#[derive(Clone, Debug, Default)]
struct KindIndex {
    positions: Vec<u32>,
    /// Positions by the names' nodes.
    by_name: HashMap<NameKey, u32, RandomState>,
}

/// Position of a store, and the nodes there of an object's namespace (null for cluster-scoped objects) and name.
type NameKey = (u32, JsonNode, JsonNode);

impl ObjectList {
    /// Creates a list of objects that were read into these stores.
    pub(crate) fn stored(stores: Vec<JsonStore>, objects: Vec<StoredObject>) -> Self {
        Self { stores, objects, ..Self::default() }
    }

    /// Adds objects.
    pub fn extend(&mut self, objects: impl IntoIterator<Item = Value>) {
        self.index = OnceLock::new();
        self.by_namespace = OnceLock::new();
        if self.stores.is_empty() {
            self.stores.push(JsonStore::default());
        }
        let store = &mut self.stores[0];
        self.objects.extend(objects.into_iter().map(|object| StoredObject { store: 0, node: store.insert(&object) }));
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
        self.objects.iter().map(|object| self.read(*object))
    }

    /// Returns all objects of a kind in a group (`""` is the core group), in the order in which they were read.
    pub fn of_kind(&self, group: &str, kind: &str) -> impl Iterator<Item = Object<'_>> {
        let positions = self.kind(group, kind).map_or(&[][..], |kind| &kind.positions);
        positions.iter().map(|position| self.at(*position))
    }

    /// Returns all objects in a namespace, in the order in which they were read.
    pub fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = Object<'_>> {
        let by_namespace = self.by_namespace.get_or_init(|| self.build_namespaces());
        let positions = by_namespace.get(namespace).map_or(&[][..], Vec::as_slice);
        positions.iter().map(|position| self.at(*position))
    }

    /// Returns an object by group, kind, namespace (`None` for cluster-scoped kinds) and name.
    #[must_use]
    pub fn find(&self, group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Option<Object<'_>> {
        let kind = self.kind(group, kind)?;
        let namespace = namespace.filter(|namespace| !namespace.is_empty());
        let keys = (0..).zip(&self.stores).filter_map(|(position, store)| name_key(position, store, namespace, name));
        // Of two objects with the same name, the first counts.
        keys.filter_map(|key| kind.by_name.get(&key)).min().map(|position| self.at(*position))
    }

    fn at(&self, position: u32) -> Object<'_> {
        self.read(self.objects[position as usize])
    }

    fn read(&self, object: StoredObject) -> Object<'_> {
        Object::new(self.stores[object.store as usize].get(object.node))
    }

    fn kind(&self, group: &str, kind: &str) -> Option<&KindIndex> {
        let index = self.index.get_or_init(|| self.build_index());
        index.get(&(group.to_owned(), kind.to_owned()))
    }

    fn build_namespaces(&self) -> HashMap<String, Vec<u32>, RandomState> {
        let mut by_namespace: HashMap<String, Vec<u32>, RandomState> = HashMap::default();
        for (position, object) in (0..).zip(self.iter()) {
            let Some(namespace) = object.namespace() else { continue };
            match by_namespace.get_mut(namespace) {
                Some(positions) => positions.push(position),
                None => drop(by_namespace.insert(namespace.to_owned(), vec![position])),
            }
        }
        by_namespace
    }

    fn build_index(&self) -> ObjectIndex {
        let mut index = ObjectIndex::new();
        for (position, stored) in (0..).zip(&self.objects) {
            let object = self.read(*stored);
            let key = (object.group().to_owned(), object.kind().to_owned());
            let kind = index.entry(key).or_default();
            kind.positions.push(position);
            let store = &self.stores[stored.store as usize];
            if let Some(key) = name_key(stored.store, store, object.namespace(), object.name()) {
                kind.by_name.entry(key).or_insert(position);
            }
        }
        index
    }
}

/// Returns the key of an object's name; `None` if the store has no object of this name.
fn name_key(position: u32, store: &JsonStore, namespace: Option<&str>, name: &str) -> Option<NameKey> {
    let namespace = namespace.map_or(Some(JsonNode::NULL), |namespace| store.find_text(namespace))?;
    Some((position, namespace, store.find_text(name)?))
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ObjectList;

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
    fn what_is_read_is_what_is_written() {
        let objects = json!([{"kind": "A", "list": [1, -2, 2.5, true, false, null, "text", [], {}], "metadata": {"name": "a"}},
            {"kind": "A", "list": [1, -2, 2.5, true, false, null, "text", [], {}], "\u{e9}": "\n"}]);
        let read: ObjectList = serde_json::from_str(&objects.to_string()).expect("JSON");
        assert_eq!(serde_json::to_value(&read).expect("JSON"), objects);
        let Value::Array(values) = objects else { unreachable!() };
        assert_eq!(read, ObjectList::from(values));
    }
}
