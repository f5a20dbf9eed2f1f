//! The kinds that fleetdrill speaks of, each with its group and version.
//!
//! KubeFleet serves `v1` and `v1beta1` side by side; `v1beta1` is pinned, since it is the one that every version has for
//! every kind. Kind names repeat across groups on v0.14.0, so the group is always given.

use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject};

/// A kind with all that is needed to address it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The pinned version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The plural, as in URLs.
    pub plural: &'static str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

macro_rules! kinds {
    ($($name:ident = $group:expr, $version:literal, $kind:literal, $plural:literal, $namespaced:literal;)*) => {
        $(
            #[doc = concat!("`", $kind, "`.")]
            pub const $name: Kind =
                Kind { group: $group, version: $version, kind: $kind, plural: $plural, namespaced: $namespaced };
        )*
        /// All of them.
        pub const ALL: &[Kind] = &[$($name),*];
    };
}

const PLACEMENT: &str = "placement.kubernetes-fleet.io";
const CLUSTER: &str = "cluster.kubernetes-fleet.io";
const ARGO_CD: &str = "argoproj.io";

kinds! {
    MEMBER_CLUSTER = CLUSTER, "v1beta1", "MemberCluster", "memberclusters", false;
    INTERNAL_MEMBER_CLUSTER = CLUSTER, "v1beta1", "InternalMemberCluster", "internalmemberclusters", true;
    CLUSTER_RESOURCE_PLACEMENT = PLACEMENT, "v1beta1", "ClusterResourcePlacement", "clusterresourceplacements", false;
    RESOURCE_PLACEMENT = PLACEMENT, "v1beta1", "ResourcePlacement", "resourceplacements", true;
    CLUSTER_RESOURCE_BINDING = PLACEMENT, "v1beta1", "ClusterResourceBinding", "clusterresourcebindings", false;
    RESOURCE_BINDING = PLACEMENT, "v1beta1", "ResourceBinding", "resourcebindings", true;
    CLUSTER_RESOURCE_SNAPSHOT = PLACEMENT, "v1beta1", "ClusterResourceSnapshot", "clusterresourcesnapshots", false;
    RESOURCE_SNAPSHOT = PLACEMENT, "v1beta1", "ResourceSnapshot", "resourcesnapshots", true;
    CLUSTER_POLICY_SNAPSHOT =
        PLACEMENT, "v1beta1", "ClusterSchedulingPolicySnapshot", "clusterschedulingpolicysnapshots", false;
    POLICY_SNAPSHOT = PLACEMENT, "v1beta1", "SchedulingPolicySnapshot", "schedulingpolicysnapshots", true;
    CLUSTER_RUN = PLACEMENT, "v1beta1", "ClusterStagedUpdateRun", "clusterstagedupdateruns", false;
    RUN = PLACEMENT, "v1beta1", "StagedUpdateRun", "stagedupdateruns", true;
    CLUSTER_STRATEGY = PLACEMENT, "v1beta1", "ClusterStagedUpdateStrategy", "clusterstagedupdatestrategies", false;
    STRATEGY = PLACEMENT, "v1beta1", "StagedUpdateStrategy", "stagedupdatestrategies", true;
    CLUSTER_APPROVAL_REQUEST = PLACEMENT, "v1beta1", "ClusterApprovalRequest", "clusterapprovalrequests", false;
    APPROVAL_REQUEST = PLACEMENT, "v1beta1", "ApprovalRequest", "approvalrequests", true;
    CLUSTER_ENVELOPE = PLACEMENT, "v1beta1", "ClusterResourceEnvelope", "clusterresourceenvelopes", false;
    ENVELOPE = PLACEMENT, "v1beta1", "ResourceEnvelope", "resourceenvelopes", true;
    WORK = PLACEMENT, "v1beta1", "Work", "works", true;
    APPLIED_WORK = PLACEMENT, "v1beta1", "AppliedWork", "appliedworks", false;
    OVERRIDE = PLACEMENT, "v1beta1", "ResourceOverride", "resourceoverrides", true;
    OVERRIDE_SNAPSHOT =
        PLACEMENT, "v1beta1", "ResourceOverrideSnapshot", "resourceoverridesnapshots", true;
    APPLICATION = ARGO_CD, "v1alpha1", "Application", "applications", true;
    APP_PROJECT = ARGO_CD, "v1alpha1", "AppProject", "appprojects", true;
    NAMESPACE = "", "v1", "Namespace", "namespaces", false;
    CONFIG_MAP = "", "v1", "ConfigMap", "configmaps", true;
    SECRET = "", "v1", "Secret", "secrets", true;
    SERVICE_ACCOUNT = "", "v1", "ServiceAccount", "serviceaccounts", true;
    POD = "", "v1", "Pod", "pods", true;
    DEPLOYMENT = "apps", "v1", "Deployment", "deployments", true;
    STATEFUL_SET = "apps", "v1", "StatefulSet", "statefulsets", true;
    DAEMON_SET = "apps", "v1", "DaemonSet", "daemonsets", true;
    SERVICE = "", "v1", "Service", "services", true;
    EVENT = "", "v1", "Event", "events", true;
    ROLE = "rbac.authorization.k8s.io", "v1", "Role", "roles", true;
    ROLE_BINDING = "rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", true;
    CLUSTER_ROLE = "rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false;
    CLUSTER_ROLE_BINDING = "rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", false;
    ADMISSION_POLICY =
        "admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", false;
    ADMISSION_POLICY_BINDING =
        "admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false;
    WEBHOOK_CONFIGURATION =
        "admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false;
    MUTATING_WEBHOOK =
        "admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false;
    JOB = "batch", "v1", "Job", "jobs", true;
    CRD = "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false;
}

/// The kind of that group and name, when it is among them.
#[must_use]
pub fn find(group: &str, kind: &str) -> Option<Kind> {
    ALL.iter().find(|k| k.group == group && k.kind == kind).copied()
}

impl Kind {
    /// As kube wants it.
    #[must_use]
    pub fn resource(&self) -> ApiResource {
        let api_version =
            if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) };
        ApiResource {
            group: self.group.into(),
            version: self.version.into(),
            api_version,
            kind: self.kind.into(),
            plural: self.plural.into(),
        }
    }

    /// The objects of a namespace, or of the whole cluster when the kind has none or none is given.
    #[must_use]
    pub fn api(&self, client: &Client, namespace: Option<&str>) -> Api<DynamicObject> {
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &self.resource()),
            None => Api::all_with(client.clone(), &self.resource()),
        }
    }

    /// `apiVersion` and `kind`, for an object's JSON.
    #[must_use]
    pub fn api_version(&self) -> String {
        self.resource().api_version
    }
}
