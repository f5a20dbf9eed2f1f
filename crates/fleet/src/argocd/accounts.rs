//! `ServiceAccounts` of Argo CD, and the objects that bind them to roles.

use serde_json::{Value, json};

use crate::kinds::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING};

/// Builds a `ServiceAccount`.
pub(super) fn service_account(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})
}

/// Builds a `ClusterRoleBinding` of a `ServiceAccount`.
pub(super) fn cluster_role_binding(name: &str, role: &str, (namespace, account): (&str, &str)) -> Value {
    json!({
        "apiVersion": CLUSTER_ROLE_BINDING.api_version(), "kind": CLUSTER_ROLE_BINDING.kind, "metadata": {"name": name},
        "roleRef": {"apiGroup": CLUSTER_ROLE.group, "kind": CLUSTER_ROLE.kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": account}],
    })
}
