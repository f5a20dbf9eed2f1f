//! What a guide is about. Its statements hold or differ by the version of that.

use serde::{Deserialize, Serialize};

/// A product with guides.
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
    /// All of them.
    pub const ALL: [Self; 2] = [Self::KubeFleet, Self::ArgoCd];

    /// Its component in the toolchain, and its option of `fleetdrill run`.
    #[must_use]
    pub fn component(self) -> &'static str {
        match self {
            Self::KubeFleet => "kubefleet",
            Self::ArgoCd => "argocd",
        }
    }

    /// As it calls itself.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::KubeFleet => "KubeFleet",
            Self::ArgoCd => "Argo CD",
        }
    }

    /// The file of what was measured on a version, without its ending.
    #[must_use]
    pub fn measured(self, version: &str) -> String {
        match self {
            Self::KubeFleet => version.to_owned(),
            Self::ArgoCd => format!("{}-{version}", self.component()),
        }
    }
}
