//! Objects of one cluster, with an index by kind and name.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::Object;

/// Complete objects as JSON, each with apiVersion and kind, in the order in which they were read.
///
/// The first lookup builds an index in time proportional to the number of objects; each further one takes constant time.
#[derive(Clone, Debug, Default)]
pub struct ObjectList {
    objects: Vec<Value>,
    index: OnceLock<ObjectIndex>,
}

/// Positions of the objects, by group and kind.
type ObjectIndex = HashMap<GroupKindKey, KindIndex>;

/// Group and kind of objects.
type GroupKindKey = (String, String);

/// Positions of the objects of one kind.
#[derive(Clone, Debug, Default)]
struct KindIndex {
    positions: Vec<usize>,
    /// Positions by namespace (empty for cluster-scoped objects) and name.
    by_name: HashMap<String, HashMap<String, usize>>,
}

impl ObjectList {
    /// Adds objects.
    pub fn extend(&mut self, objects: impl IntoIterator<Item = Value>) {
        self.index = OnceLock::new();
        self.objects.extend(objects);
    }

    /// Returns the objects for changes.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.index = OnceLock::new();
        self.objects.iter_mut()
    }

    /// Returns all objects of a kind in a group (`""` is the core group), in the order in which they were read.
    pub fn of_kind(&self, group: &str, kind: &str) -> impl Iterator<Item = Object<'_>> {
        let positions = self.kind(group, kind).map_or(&[][..], |kind| &kind.positions);
        positions.iter().map(|position| Object::new(&self.objects[*position]))
    }

    /// Returns an object by group, kind, namespace (`None` for cluster-scoped kinds) and name.
    #[must_use]
    pub fn find(&self, group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Option<Object<'_>> {
        let by_name = self.kind(group, kind)?.by_name.get(namespace.unwrap_or_default())?;
        by_name.get(name).map(|position| Object::new(&self.objects[*position]))
    }

    fn kind(&self, group: &str, kind: &str) -> Option<&KindIndex> {
        let index = self.index.get_or_init(|| index(&self.objects));
        index.get(&(group.to_owned(), kind.to_owned()))
    }
}

/// Builds the index. Of two objects with the same name, the first counts.
fn index(objects: &[Value]) -> ObjectIndex {
    let mut index = ObjectIndex::new();
    for (position, value) in objects.iter().enumerate() {
        let object = Object::new(value);
        let kind = index.entry((object.group().to_owned(), object.kind().to_owned())).or_default();
        kind.positions.push(position);
        let namespace = object.namespace().unwrap_or_default();
        if !kind.by_name.contains_key(namespace) {
            kind.by_name.insert(namespace.to_owned(), HashMap::new());
        }
        if let Some(names) = kind.by_name.get_mut(namespace) {
            names.entry(object.name().to_owned()).or_insert(position);
        }
    }
    index
}

impl Deref for ObjectList {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.objects
    }
}

impl From<Vec<Value>> for ObjectList {
    fn from(objects: Vec<Value>) -> Self {
        Self { objects, index: OnceLock::new() }
    }
}

impl FromIterator<Value> for ObjectList {
    fn from_iter<I: IntoIterator<Item = Value>>(objects: I) -> Self {
        Vec::from_iter(objects).into()
    }
}

impl PartialEq for ObjectList {
    fn eq(&self, other: &Self) -> bool {
        self.objects == other.objects
    }
}

impl Serialize for ObjectList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.objects.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ObjectList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
    }
}
