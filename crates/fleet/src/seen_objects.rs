//! Objects that came already, when several lists may have the same.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use serde_json::Value;

use crate::kinds::ResourceKind;

/// Objects that were seen, by hashes of kind, namespace and name.
#[derive(Debug, Default)]
pub(crate) struct SeenObjects {
    hasher: RandomState,
    hashes: HashSet<u64>,
}

impl SeenObjects {
    /// Adds an object; false if it was seen before.
    pub(crate) fn add(&mut self, kind: ResourceKind, object: &Value) -> bool {
        let metadata = &object["metadata"];
        let hash = self.hasher.hash_one((kind, metadata["namespace"].as_str(), metadata["name"].as_str()));
        self.hashes.insert(hash)
    }
}
