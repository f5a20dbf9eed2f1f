//! What a snapshot has to contain for the rules to say all that they can.

/// A kind in a group; the core group is the empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// The API group.
    pub group: &'static str,
    /// The kind.
    pub kind: &'static str,
}

const fn placement(kind: &'static str) -> Kind {
    Kind { group: "placement.kubernetes-fleet.io", kind }
}

const fn core(kind: &'static str) -> Kind {
    Kind { group: "", kind }
}

const fn apps(kind: &'static str) -> Kind {
    Kind { group: "apps", kind }
}

/// What to read from the hub, in all namespaces. A kind that the installed version doesn't have is left out.
///
/// Of `ServiceAccount`, `RoleBinding` and `Role`, reading none at all counts as not having been allowed to; of
/// resource snapshots and Works the `spec` may be left out.
pub const HUB_KINDS: &[Kind] = &[
    placement("ClusterResourcePlacement"),
    placement("ResourcePlacement"),
    placement("ClusterStagedUpdateRun"),
    placement("StagedUpdateRun"),
    placement("ClusterStagedUpdateStrategy"),
    placement("StagedUpdateStrategy"),
    placement("ClusterApprovalRequest"),
    placement("ApprovalRequest"),
    placement("ClusterResourceBinding"),
    placement("ResourceBinding"),
    placement("ClusterResourceSnapshot"),
    placement("ResourceSnapshot"),
    placement("ClusterSchedulingPolicySnapshot"),
    placement("SchedulingPolicySnapshot"),
    placement("ClusterResourceEnvelope"),
    placement("ResourceEnvelope"),
    placement("Work"),
    Kind { group: "cluster.kubernetes-fleet.io", kind: "MemberCluster" },
    core("Namespace"),
    core("ServiceAccount"),
    Kind { group: "rbac.authorization.k8s.io", kind: "Role" },
    Kind { group: "rbac.authorization.k8s.io", kind: "RoleBinding" },
];

/// What to read from a member, in all namespaces.
pub const MEMBER_KINDS: &[Kind] =
    &[apps("Deployment"), apps("StatefulSet"), apps("DaemonSet"), core("Pod"), core("Service")];
