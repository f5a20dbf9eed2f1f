//! Names that `KubeFleet`'s controllers give to namespaces, labels, annotations and finalizers (v0.1.2, v0.14.0).

/// Group of placements, runs, bindings, snapshots and Works.
pub const PLACEMENT_GROUP: &str = "placement.kubernetes-fleet.io";

/// Group of `MemberCluster` and `InternalMemberCluster`.
pub const CLUSTER_GROUP: &str = "cluster.kubernetes-fleet.io";

/// Label of a snapshot, binding and Work with the placement's name, for namespaced placements too.
pub const PARENT_PLACEMENT: &str = "kubernetes-fleet.io/parent-CRP";

/// Label of a Work with the namespace of a namespaced placement.
pub const PARENT_PLACEMENT_NAMESPACE: &str = "kubernetes-fleet.io/parent-placement-namespace";

/// Label of a Work with the name of the binding that it was made for.
pub const PARENT_BINDING: &str = "kubernetes-fleet.io/parent-resource-binding";

/// Label of a snapshot, `true` for the latest.
pub const IS_LATEST_SNAPSHOT: &str = "kubernetes-fleet.io/is-latest-snapshot";

/// Label of a resource snapshot with its index.
pub const RESOURCE_INDEX: &str = "kubernetes-fleet.io/resource-index";

/// Label of a policy snapshot with its index.
pub const POLICY_INDEX: &str = "kubernetes-fleet.io/policy-index";

/// Label of a Work with the name of the envelope that it is made of.
pub const ENVELOPE_NAME: &str = "kubernetes-fleet.io/envelope-name";

/// Label of a Work with the namespace of the envelope that it is made of.
pub const ENVELOPE_NAMESPACE: &str = "kubernetes-fleet.io/envelope-namespace";

/// Annotation by which a `ConfigMap` is an envelope (v0.1.2).
pub const ENVELOPE_CONFIG_MAP: &str = "kubernetes-fleet.io/envelope-configmap";

/// Finalizer on a Work, until the member-agent has deleted the workload, and on a binding, until the hub-agent has deleted its Works.
///
/// v0.1.2: on a Work it holds the member's namespace when that is deleted, since the agent loses its rights with the namespace's
/// contents.
pub const WORK_CLEANUP_FINALIZER: &str = "kubernetes-fleet.io/work-cleanup";

/// Label of an approval request with the update run that it belongs to.
pub const TARGET_UPDATE_RUN: &str = "kubernetes-fleet.io/targetUpdateRun";

/// Name of the `ValidatingWebhookConfiguration` that a hub-agent with webhooks makes at its start (v0.1.2, v0.3.1).
pub const VALIDATING_WEBHOOKS: &str = "fleet-validating-webhook-configuration";

/// Prefix of a member's namespace on the hub; the member's name follows.
pub const MEMBER_NAMESPACE_PREFIX: &str = "fleet-member-";

/// Returns the name of a member's namespace on the hub.
#[must_use]
pub fn member_namespace(member: &str) -> String {
    format!("{MEMBER_NAMESPACE_PREFIX}{member}")
}
