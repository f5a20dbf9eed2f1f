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

const fn rbac(kind: &'static str) -> Kind {
    Kind { group: "rbac.authorization.k8s.io", kind }
}

const fn admission(kind: &'static str) -> Kind {
    Kind { group: "admissionregistration.k8s.io", kind }
}

/// Argo CD's applications. What else is read where there is one: [`DESTINATION_KINDS`].
pub const APPLICATION: Kind = Kind { group: "argoproj.io", kind: "Application" };

/// Argo CD's projects, which say what applications may do and as whom. Read from the hub where there is an [`APPLICATION`].
pub const PROJECT: Kind = Kind { group: "argoproj.io", kind: "AppProject" };

/// What to read from the hub, in all namespaces. A kind that the installed version doesn't have is left out.
///
/// Of `ServiceAccount`, `RoleBinding` and `Role`, reading none at all counts as not having been allowed to, and so does
/// reading no `Application`; of resource snapshots and Works the `spec` may be left out.
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
    rbac("Role"),
    rbac("RoleBinding"),
    APPLICATION,
];

/// What to read from a member, in all namespaces.
pub const MEMBER_KINDS: &[Kind] =
    &[apps("Deployment"), apps("StatefulSet"), apps("DaemonSet"), core("Pod"), core("Service")];

/// What to read beside [`MEMBER_KINDS`] from every cluster once the hub has an [`APPLICATION`]. Reading none of a kind
/// counts as not having been allowed to. Of `CustomResourceDefinition` the metadata will do.
pub const DESTINATION_KINDS: &[Kind] = &[
    Kind { group: "batch", kind: "Job" },
    admission("ValidatingWebhookConfiguration"),
    admission("MutatingWebhookConfiguration"),
    admission("ValidatingAdmissionPolicy"),
    admission("ValidatingAdmissionPolicyBinding"),
    Kind { group: "apiextensions.k8s.io", kind: "CustomResourceDefinition" },
];
