//! State that a repair is compared with.

use std::collections::{BTreeMap, BTreeSet};

use fleet::placed_resources::PlacedResources;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// State at one moment of everything that a repair has to keep.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SurvivalBaseline {
    /// Objects by cluster and `Kind/name` or `Kind/namespace/name`.
    pub(crate) objects: BTreeMap<String, BaselineObject>,
    pub(crate) placed: PlacedResources,
    /// KubeFleet's agents that run.
    pub(crate) agents: BTreeSet<String>,
    /// Field managers that have written into a status.
    pub(crate) writers: BTreeSet<String>,
}

/// An object as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BaselineObject {
    pub(crate) uid: String,
    /// Without its metadata and status.
    pub(crate) content: Value,
}
