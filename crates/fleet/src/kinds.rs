//! Addresses of kinds: version, plural and scope of each kind in [`diagnosis::kinds`].
//!
//! KubeFleet serves `v1` and `v1beta1` side by side; `v1beta1` is pinned, since it is the one that every version has for
//! every kind. Kind names repeat across groups on v0.14.0, so the group is always given.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResource;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject};

/// A kind, with everything that is needed to address its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResourceKind {
    /// API group; empty for the core group.
    pub group: &'static str,
    /// Pinned version.
    pub version: &'static str,
    /// Kind, e.g. `Pod`.
    pub kind: &'static str,
    /// Plural name, as in URLs.
    pub plural: &'static str,
    /// True if the objects of this kind live in namespaces.
    pub namespaced: bool,
}

macro_rules! kinds {
    ($($name:ident = $version:literal, $plural:literal, $namespaced:literal;)*) => {
        $(
            #[doc = concat!("Address of the kind [`", stringify!($name), "`](diagnosis::kinds::", stringify!($name), ").")]
            pub const $name: ResourceKind = ResourceKind {
                group: diagnosis::kinds::$name.group,
                version: $version,
                kind: diagnosis::kinds::$name.kind,
                plural: $plural,
                namespaced: $namespaced,
            };
        )*
        /// All kinds of this module.
        pub const ALL: &[ResourceKind] = &[$($name),*];
    };
}

kinds! {
    MEMBER_CLUSTER = "v1beta1", "memberclusters", false;
    INTERNAL_MEMBER_CLUSTER = "v1beta1", "internalmemberclusters", true;
    CLUSTER_RESOURCE_PLACEMENT = "v1beta1", "clusterresourceplacements", false;
    RESOURCE_PLACEMENT = "v1beta1", "resourceplacements", true;
    CLUSTER_RESOURCE_BINDING = "v1beta1", "clusterresourcebindings", false;
    RESOURCE_BINDING = "v1beta1", "resourcebindings", true;
    CLUSTER_RESOURCE_SNAPSHOT = "v1beta1", "clusterresourcesnapshots", false;
    RESOURCE_SNAPSHOT = "v1beta1", "resourcesnapshots", true;
    CLUSTER_POLICY_SNAPSHOT = "v1beta1", "clusterschedulingpolicysnapshots", false;
    POLICY_SNAPSHOT = "v1beta1", "schedulingpolicysnapshots", true;
    CLUSTER_RUN = "v1beta1", "clusterstagedupdateruns", false;
    RUN = "v1beta1", "stagedupdateruns", true;
    CLUSTER_STRATEGY = "v1beta1", "clusterstagedupdatestrategies", false;
    STRATEGY = "v1beta1", "stagedupdatestrategies", true;
    CLUSTER_APPROVAL_REQUEST = "v1beta1", "clusterapprovalrequests", false;
    APPROVAL_REQUEST = "v1beta1", "approvalrequests", true;
    CLUSTER_ENVELOPE = "v1beta1", "clusterresourceenvelopes", false;
    ENVELOPE = "v1beta1", "resourceenvelopes", true;
    WORK = "v1beta1", "works", true;
    APPLIED_WORK = "v1beta1", "appliedworks", false;
    EVICTION = "v1beta1", "clusterresourceplacementevictions", false;
    OVERRIDE = "v1beta1", "resourceoverrides", true;
    OVERRIDE_SNAPSHOT = "v1beta1", "resourceoverridesnapshots", true;
    CLUSTER_OVERRIDE = "v1beta1", "clusterresourceoverrides", false;
    CLUSTER_OVERRIDE_SNAPSHOT = "v1beta1", "clusterresourceoverridesnapshots", false;
    DISRUPTION_BUDGET = "v1beta1", "clusterresourceplacementdisruptionbudgets", false;
    APPLICATION = "v1alpha1", "applications", true;
    APPLICATION_SET = "v1alpha1", "applicationsets", true;
    APP_PROJECT = "v1alpha1", "appprojects", true;
    NAMESPACE = "v1", "namespaces", false;
    CONFIG_MAP = "v1", "configmaps", true;
    SECRET = "v1", "secrets", true;
    SERVICE_ACCOUNT = "v1", "serviceaccounts", true;
    POD = "v1", "pods", true;
    RESOURCE_QUOTA = "v1", "resourcequotas", true;
    LIMIT_RANGE = "v1", "limitranges", true;
    PERSISTENT_VOLUME = "v1", "persistentvolumes", false;
    PERSISTENT_VOLUME_CLAIM = "v1", "persistentvolumeclaims", true;
    REPLICA_SET = "v1", "replicasets", true;
    DEPLOYMENT = "v1", "deployments", true;
    STATEFUL_SET = "v1", "statefulsets", true;
    DAEMON_SET = "v1", "daemonsets", true;
    SERVICE = "v1", "services", true;
    EVENT = "v1", "events", true;
    ROLE = "v1", "roles", true;
    ROLE_BINDING = "v1", "rolebindings", true;
    CLUSTER_ROLE = "v1", "clusterroles", false;
    CLUSTER_ROLE_BINDING = "v1", "clusterrolebindings", false;
    ADMISSION_POLICY = "v1", "validatingadmissionpolicies", false;
    ADMISSION_POLICY_BINDING = "v1", "validatingadmissionpolicybindings", false;
    WEBHOOK_CONFIGURATION = "v1", "validatingwebhookconfigurations", false;
    MUTATING_WEBHOOK = "v1", "mutatingwebhookconfigurations", false;
    MUTATING_POLICY = "v1", "mutatingadmissionpolicies", false;
    MUTATING_POLICY_BINDING = "v1", "mutatingadmissionpolicybindings", false;
    LEASE = "v1", "leases", true;
    JOB = "v1", "jobs", true;
    CRON_JOB = "v1", "cronjobs", true;
    AUTOSCALER = "v2", "horizontalpodautoscalers", true;
    CRD = "v1", "customresourcedefinitions", false;
}

/// Returns the kind of this group and name, if it is one of [`ALL`].
#[must_use]
pub fn find(group: &str, kind: &str) -> Option<ResourceKind> {
    ALL.iter().find(|k| k.group == group && k.kind == kind).copied()
}

/// True if `kubectl get WORD` means a resource of an API server: `word` is its kind in lower case, its plural, singular or short name.
pub(crate) fn is_called(resource: &APIResource, word: &str) -> bool {
    let short = resource.short_names.iter().flatten().any(|short| short == word);
    let is_called =
        resource.kind.to_lowercase() == word || resource.name == word || resource.singular_name == word || short;
    // A subresource has the kind of its resource.
    is_called && !resource.name.contains('/')
}

impl ResourceKind {
    /// Converts to the type that kube uses.
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

    /// Client for the objects of a namespace; for the whole cluster if the kind isn't namespaced or no namespace is
    /// given.
    #[must_use]
    pub fn api(&self, client: &Client, namespace: Option<&str>) -> Api<DynamicObject> {
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &self.resource()),
            None => Api::all_with(client.clone(), &self.resource()),
        }
    }

    /// Value of `apiVersion` in an object's JSON.
    #[must_use]
    pub fn api_version(&self) -> String {
        self.resource().api_version
    }
}
