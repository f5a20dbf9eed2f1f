//! Products whose versions and guides fleetdrill distinguishes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Product that a fleet runs, with guides and versions of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Product {
    /// `KubeFleet`.
    #[default]
    KubeFleet,
    /// Argo CD.
    ArgoCd,
}

impl Product {
    /// All products.
    pub const ALL: [Self; 2] = [Self::KubeFleet, Self::ArgoCd];

    /// Returns the product's component in the toolchain, which is also its option of `fleetdrill run`.
    #[must_use]
    pub fn component(self) -> &'static str {
        match self {
            Self::KubeFleet => "kubefleet",
            Self::ArgoCd => "argocd",
        }
    }

    /// Returns the product's own name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::KubeFleet => "KubeFleet",
            Self::ArgoCd => "Argo CD",
        }
    }
}
