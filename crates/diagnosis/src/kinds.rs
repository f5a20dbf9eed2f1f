//! Kinds by group and name, and those that a snapshot has to contain for the rules to say all that they can.

use crate::kubefleet::{CLUSTER_GROUP, PLACEMENT_GROUP};

/// A kind in a group; the core group is the empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKind {
    /// The API group.
    pub group: &'static str,
    /// The kind.
    pub kind: &'static str,
}

const ARGO_CD: &str = "argoproj.io";

macro_rules! kinds {
    ($($name:ident = $group:expr, $kind:literal;)*) => {
        $(
            #[doc = concat!("`", $kind, "`.")]
            pub const $name: GroupKind = GroupKind { group: $group, kind: $kind };
        )*
    };
}

kinds! {
    MEMBER_CLUSTER = CLUSTER_GROUP, "MemberCluster";
    INTERNAL_MEMBER_CLUSTER = CLUSTER_GROUP, "InternalMemberCluster";
    CLUSTER_RESOURCE_PLACEMENT = PLACEMENT_GROUP, "ClusterResourcePlacement";
    RESOURCE_PLACEMENT = PLACEMENT_GROUP, "ResourcePlacement";
    CLUSTER_RESOURCE_BINDING = PLACEMENT_GROUP, "ClusterResourceBinding";
    RESOURCE_BINDING = PLACEMENT_GROUP, "ResourceBinding";
    CLUSTER_RESOURCE_SNAPSHOT = PLACEMENT_GROUP, "ClusterResourceSnapshot";
    RESOURCE_SNAPSHOT = PLACEMENT_GROUP, "ResourceSnapshot";
    CLUSTER_POLICY_SNAPSHOT = PLACEMENT_GROUP, "ClusterSchedulingPolicySnapshot";
    POLICY_SNAPSHOT = PLACEMENT_GROUP, "SchedulingPolicySnapshot";
    CLUSTER_RUN = PLACEMENT_GROUP, "ClusterStagedUpdateRun";
    RUN = PLACEMENT_GROUP, "StagedUpdateRun";
    CLUSTER_STRATEGY = PLACEMENT_GROUP, "ClusterStagedUpdateStrategy";
    STRATEGY = PLACEMENT_GROUP, "StagedUpdateStrategy";
    CLUSTER_APPROVAL_REQUEST = PLACEMENT_GROUP, "ClusterApprovalRequest";
    APPROVAL_REQUEST = PLACEMENT_GROUP, "ApprovalRequest";
    CLUSTER_ENVELOPE = PLACEMENT_GROUP, "ClusterResourceEnvelope";
    ENVELOPE = PLACEMENT_GROUP, "ResourceEnvelope";
    WORK = PLACEMENT_GROUP, "Work";
    APPLIED_WORK = PLACEMENT_GROUP, "AppliedWork";
    EVICTION = PLACEMENT_GROUP, "ClusterResourcePlacementEviction";
    OVERRIDE = PLACEMENT_GROUP, "ResourceOverride";
    OVERRIDE_SNAPSHOT = PLACEMENT_GROUP, "ResourceOverrideSnapshot";
    CLUSTER_OVERRIDE = PLACEMENT_GROUP, "ClusterResourceOverride";
    CLUSTER_OVERRIDE_SNAPSHOT = PLACEMENT_GROUP, "ClusterResourceOverrideSnapshot";
    DISRUPTION_BUDGET = PLACEMENT_GROUP, "ClusterResourcePlacementDisruptionBudget";
    // What else is read where there is one: `DESTINATION_KINDS`.
    APPLICATION = ARGO_CD, "Application";
    // Makes applications.
    APPLICATION_SET = ARGO_CD, "ApplicationSet";
    // Says what applications may do and as whom. Read from the hub where there is an `APPLICATION`.
    APP_PROJECT = ARGO_CD, "AppProject";
    NAMESPACE = "", "Namespace";
    CONFIG_MAP = "", "ConfigMap";
    SECRET = "", "Secret";
    SERVICE_ACCOUNT = "", "ServiceAccount";
    POD = "", "Pod";
    RESOURCE_QUOTA = "", "ResourceQuota";
    LIMIT_RANGE = "", "LimitRange";
    PERSISTENT_VOLUME = "", "PersistentVolume";
    PERSISTENT_VOLUME_CLAIM = "", "PersistentVolumeClaim";
    REPLICA_SET = "apps", "ReplicaSet";
    DEPLOYMENT = "apps", "Deployment";
    STATEFUL_SET = "apps", "StatefulSet";
    DAEMON_SET = "apps", "DaemonSet";
    SERVICE = "", "Service";
    EVENT = "", "Event";
    ROLE = "rbac.authorization.k8s.io", "Role";
    ROLE_BINDING = "rbac.authorization.k8s.io", "RoleBinding";
    CLUSTER_ROLE = "rbac.authorization.k8s.io", "ClusterRole";
    CLUSTER_ROLE_BINDING = "rbac.authorization.k8s.io", "ClusterRoleBinding";
    ADMISSION_POLICY = "admissionregistration.k8s.io", "ValidatingAdmissionPolicy";
    ADMISSION_POLICY_BINDING = "admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding";
    WEBHOOK_CONFIGURATION = "admissionregistration.k8s.io", "ValidatingWebhookConfiguration";
    MUTATING_WEBHOOK = "admissionregistration.k8s.io", "MutatingWebhookConfiguration";
    MUTATING_POLICY = "admissionregistration.k8s.io", "MutatingAdmissionPolicy";
    MUTATING_POLICY_BINDING = "admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding";
    LEASE = "coordination.k8s.io", "Lease";
    JOB = "batch", "Job";
    CRON_JOB = "batch", "CronJob";
    AUTOSCALER = "autoscaling", "HorizontalPodAutoscaler";
    CRD = "apiextensions.k8s.io", "CustomResourceDefinition";
}

/// Kinds to read from the hub, in all namespaces. A kind that the installed version doesn't have is left out.
///
/// An empty list of `ServiceAccount`, `RoleBinding`, `Role`, `ClusterRoleBinding` or `Application` counts as a list that wasn't allowed. The
/// `spec` of resource snapshots and Works may be left out.
pub const HUB_KINDS: &[GroupKind] = &[
    CLUSTER_RESOURCE_PLACEMENT,
    RESOURCE_PLACEMENT,
    CLUSTER_RUN,
    RUN,
    CLUSTER_STRATEGY,
    STRATEGY,
    CLUSTER_APPROVAL_REQUEST,
    APPROVAL_REQUEST,
    CLUSTER_RESOURCE_BINDING,
    RESOURCE_BINDING,
    CLUSTER_RESOURCE_SNAPSHOT,
    RESOURCE_SNAPSHOT,
    CLUSTER_POLICY_SNAPSHOT,
    POLICY_SNAPSHOT,
    CLUSTER_ENVELOPE,
    ENVELOPE,
    EVICTION,
    DISRUPTION_BUDGET,
    CLUSTER_OVERRIDE,
    OVERRIDE,
    CLUSTER_OVERRIDE_SNAPSHOT,
    OVERRIDE_SNAPSHOT,
    WORK,
    MEMBER_CLUSTER,
    INTERNAL_MEMBER_CLUSTER,
    NAMESPACE,
    SERVICE_ACCOUNT,
    ROLE,
    ROLE_BINDING,
    CLUSTER_ROLE_BINDING,
    WEBHOOK_CONFIGURATION,
    LEASE,
    APPLICATION,
    APPLICATION_SET,
];

/// Kinds of the hub whose objects say if a placement, a run, an eviction, an override, a member or an application isn't well. A live hub is
/// asked for them first, and for others as [`crate::unanswered_queries`] tells.
pub const FIRST_HUB_KINDS: &[GroupKind] = &[
    CLUSTER_RESOURCE_PLACEMENT,
    RESOURCE_PLACEMENT,
    CLUSTER_RUN,
    RUN,
    CLUSTER_APPROVAL_REQUEST,
    APPROVAL_REQUEST,
    EVICTION,
    CLUSTER_OVERRIDE,
    OVERRIDE,
    MEMBER_CLUSTER,
    INTERNAL_MEMBER_CLUSTER,
    NAMESPACE,
    APPLICATION,
    APPLICATION_SET,
];

/// Kinds to read from a member, in all namespaces.
pub const MEMBER_KINDS: &[GroupKind] =
    &[DEPLOYMENT, STATEFUL_SET, DAEMON_SET, JOB, POD, SERVICE, RESOURCE_QUOTA, LIMIT_RANGE, NAMESPACE, APPLIED_WORK];

/// Kinds to read besides [`MEMBER_KINDS`] from every cluster if the hub has an [`APPLICATION`]. An empty list counts as
/// a list that wasn't allowed. Only the metadata of a `CustomResourceDefinition` is needed.
pub const DESTINATION_KINDS: &[GroupKind] =
    &[WEBHOOK_CONFIGURATION, MUTATING_WEBHOOK, ADMISSION_POLICY, ADMISSION_POLICY_BINDING, CRD];
