//! The name of an object among all objects of a cluster.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// An object's kind, namespace and name.
///
/// Its text, which is also its form in JSON, is `Kind/name` for a cluster-scoped object and `Kind/namespace/name` for a namespaced one; `Kind` alone
/// stands for all objects of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct ObjectPath {
    /// The kind, e.g. `ClusterResourcePlacement`.
    pub kind: String,
    /// The namespace; none for a cluster-scoped object.
    pub namespace: Option<String>,
    /// The name; empty for all objects of the kind.
    pub name: String,
}

impl ObjectPath {
    /// The path of an object; an empty namespace counts as none.
    #[must_use]
    pub fn new(kind: &str, namespace: Option<&str>, name: &str) -> Self {
        let namespace = namespace.filter(|namespace| !namespace.is_empty()).map(str::to_owned);
        Self { kind: kind.to_owned(), namespace, name: name.to_owned() }
    }

    /// The name, behind the namespace where there is one: `namespace/name`.
    #[must_use]
    pub fn full_name(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}/{}", self.name),
            None => self.name.clone(),
        }
    }

    /// Kind and full name with a space between them, as the prose of reports has it: `Deployment web/app`.
    #[must_use]
    pub fn in_words(&self) -> String {
        format!("{} {}", self.kind, self.full_name())
    }
}

impl fmt::Display for ObjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if self.name.is_empty() { Ok(()) } else { write!(f, "/{}", self.full_name()) }
    }
}

/// Inverse of the text; names of Kubernetes objects that fleetdrill reads contain no `/`. A text without `/` is a kind.
impl From<&str> for ObjectPath {
    fn from(text: &str) -> Self {
        match text.split('/').collect::<Vec<_>>()[..] {
            [kind, name] => Self::new(kind, None, name),
            [kind, namespace, name] => Self::new(kind, Some(namespace), name),
            _ => Self::new(text, None, ""),
        }
    }
}

impl From<String> for ObjectPath {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<ObjectPath> for String {
    fn from(path: ObjectPath) -> Self {
        path.to_string()
    }
}

/// The form in JSON is the text.
impl JsonSchema for ObjectPath {
    fn schema_name() -> Cow<'static, str> {
        "ObjectPath".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Object of a cluster: `Kind/name` if it is cluster-scoped, `Kind/namespace/name` if it is namespaced. `Kind` \
                alone stands for all objects of a kind.",
            "type": "string",
            "examples": ["ClusterResourcePlacement/web", "Deployment/shop/app"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ObjectPath;

    #[test]
    fn the_text_of_a_path_can_be_read_back() {
        for (path, text) in [
            (ObjectPath::new("Namespace", None, "web"), "Namespace/web"),
            (ObjectPath::new("Deployment", Some("web"), "app"), "Deployment/web/app"),
        ] {
            assert_eq!(path.to_string(), text);
            assert_eq!(ObjectPath::from(text), path);
            assert_eq!(serde_json::to_value(&path).unwrap(), text);
        }
    }
}
