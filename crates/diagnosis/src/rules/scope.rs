//! `KubeFleet` has each of its kinds twice: for whole clusters and for one namespace.

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Cluster,
    Namespaced,
}

impl Scope {
    pub const BOTH: [Scope; 2] = [Scope::Cluster, Scope::Namespaced];

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
            Scope::Cluster => cluster,
            Scope::Namespaced => namespaced,
        }
    }
}
