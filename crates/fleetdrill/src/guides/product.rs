//! Products that guides are about. A statement holds or differs by the version of its guide's product.

use serde::{Deserialize, Serialize};

/// Product with guides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

    /// Returns the name of the file with the results measured on a version, without extension.
    #[must_use]
    pub fn measured(self, version: &str) -> String {
        match self {
            Self::KubeFleet => version.to_owned(),
            Self::ArgoCd => format!("{}-{version}", self.component()),
        }
    }
}
