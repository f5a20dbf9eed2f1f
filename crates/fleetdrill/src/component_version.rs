//! Versions of the components that a fleet is made of.

use std::path::PathBuf;

/// KubeFleet's component in the toolchain.
pub const KUBEFLEET: &str = "kubefleet";

/// The component with the programs of control planes.
pub const KUBERNETES: &str = "kubernetes";

/// The component that plays kubelets.
pub const KWOK: &str = "kwok";

/// The component that stands between hub and members where their network is broken.
pub const TOXIPROXY: &str = "toxiproxy";

/// Argo CD's component.
pub const ARGOCD: &str = "argocd";

/// A component in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentVersion {
    /// Name of the component in the toolchain.
    pub component: &'static str,
    /// Version, e.g. `v0.14.0`.
    pub version: String,
}

impl ComponentVersion {
    /// Returns KubeFleet in this version.
    #[must_use]
    pub fn kubefleet(version: impl Into<String>) -> Self {
        Self { component: KUBEFLEET, version: version.into() }
    }

    /// Returns Argo CD in this version.
    #[must_use]
    pub fn argocd(version: impl Into<String>) -> Self {
        Self { component: ARGOCD, version: version.into() }
    }

    /// Returns versions as a run's record holds them.
    #[must_use]
    pub fn pairs(versions: &[Self]) -> Vec<(String, String)> {
        versions.iter().map(|one| (one.component.to_owned(), one.version.clone())).collect()
    }
}

/// Request for Argo CD on a fleet's hub.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ArgoCdRequest {
    /// No Argo CD.
    #[default]
    No,
    /// Argo CD in the toolchain's default version.
    Default,
    /// Argo CD in this version.
    Version(String),
    /// Argo CD as this file with manifests installs it, in Pods.
    Manifests(PathBuf),
}

impl ArgoCdRequest {
    /// Returns a request for Argo CD in this version, or in the default version where there is none.
    #[must_use]
    pub fn of_version(version: Option<&str>) -> Self {
        version.map_or(Self::Default, |version| Self::Version(version.to_owned()))
    }

    /// True if Argo CD is requested, in whatever version.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        *self != Self::No
    }

    /// The version that was named, if one was.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        match self {
            Self::Version(version) => Some(version),
            Self::No | Self::Default | Self::Manifests(_) => None,
        }
    }
}
