//! Names of `KubeFleet`'s kinds, each of which exists twice: for the whole cluster and for one namespace.

/// Scope of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum KindScope {
    Cluster,
    Namespaced,
}

impl KindScope {
    pub const BOTH: [KindScope; 2] = [KindScope::Cluster, KindScope::Namespaced];

    /// Returns the scope of a placement with this namespace.
    pub fn of_namespace(namespace: Option<&str>) -> Self {
        namespace.map_or(Self::Cluster, |_| Self::Namespaced)
    }

    pub fn placement(self) -> &'static str {
        self.choose("ClusterResourcePlacement", "ResourcePlacement")
    }

    pub fn run(self) -> &'static str {
        self.choose("ClusterStagedUpdateRun", "StagedUpdateRun")
    }

    pub fn request(self) -> &'static str {
        self.choose("ClusterApprovalRequest", "ApprovalRequest")
    }

    pub fn binding(self) -> &'static str {
        self.choose("ClusterResourceBinding", "ResourceBinding")
    }

    pub fn resource_snapshot(self) -> &'static str {
        self.choose("ClusterResourceSnapshot", "ResourceSnapshot")
    }

    pub fn policy_snapshot(self) -> &'static str {
        self.choose("ClusterSchedulingPolicySnapshot", "SchedulingPolicySnapshot")
    }

    pub fn strategy(self) -> &'static str {
        self.choose("ClusterStagedUpdateStrategy", "StagedUpdateStrategy")
    }

    fn choose(self, cluster: &'static str, namespaced: &'static str) -> &'static str {
        match self {
            KindScope::Cluster => cluster,
            KindScope::Namespaced => namespaced,
        }
    }
}
