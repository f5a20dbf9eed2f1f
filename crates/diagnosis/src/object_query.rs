//! Queries for objects of a cluster: what a reader has to ask the API server so that the rules can look at them.

use crate::GroupKind;

/// Objects of one kind that rules look for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectQuery {
    /// Kind of the objects.
    pub kind: GroupKind,
    /// Objects of the kind that are wanted.
    pub selection: ObjectSelection,
}

/// Objects of a kind that a query selects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectSelection {
    /// All objects, in all namespaces.
    All,
    /// All objects in a namespace.
    InNamespace(String),
    /// Objects with a label, in one namespace or in all.
    Labeled {
        /// Namespace; `None` for all namespaces and for cluster-scoped kinds.
        namespace: Option<String>,
        /// Key of the label.
        key: String,
        /// Value of the label.
        value: String,
    },
    /// Object with this name.
    Named {
        /// Namespace; `None` for cluster-scoped kinds.
        namespace: Option<String>,
        /// Name of the object.
        name: String,
    },
    /// Objects that are being deleted.
    Deleting {
        /// Number of objects of the kind if none is being deleted, in a fleet that is at rest. If the API server counts as many, it needn't list
        /// them.
        expected: usize,
    },
}

impl ObjectQuery {
    /// Creates a query for all objects of a kind.
    #[must_use]
    pub fn all(kind: GroupKind) -> Self {
        Self { kind, selection: ObjectSelection::All }
    }

    /// Returns the wider queries that select, among others, what this query selects.
    pub(crate) fn wider(&self) -> Vec<Self> {
        let kind = self.kind;
        let of = |selection| Self { kind, selection };
        let in_namespace = |namespace: &Option<String>| namespace.clone().map(|n| of(ObjectSelection::InNamespace(n)));
        let mut wider = Vec::new();
        match &self.selection {
            ObjectSelection::All => return wider,
            ObjectSelection::InNamespace(_) | ObjectSelection::Deleting { .. } => {}
            ObjectSelection::Named { namespace, .. } => wider.extend(in_namespace(namespace)),
            ObjectSelection::Labeled { namespace, key, value } => {
                wider.extend(in_namespace(namespace));
                if namespace.is_some() {
                    let (key, value) = (key.clone(), value.clone());
                    wider.push(of(ObjectSelection::Labeled { namespace: None, key, value }));
                }
            }
        }
        wider.push(of(ObjectSelection::All));
        wider
    }
}
