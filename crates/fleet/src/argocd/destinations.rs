//! Members as Argo CD's destinations: one cluster Secret on the hub for each member, with a token.

use clusters::cluster::Cluster;
use clusters::kubeconfig::base64;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::NAMESPACE;
use crate::error::FleetError;
use crate::kinds::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, SECRET, SERVICE_ACCOUNT};
use crate::member::account_token;
use crate::objects::{create, delete};

/// ServiceAccount of Argo CD on a member, with the name that `argocd cluster add` gives it.
const MANAGER: &str = "argocd-manager";

/// ServiceAccount of Argo CD on a member while its rights are limited.
const LIMITED: &str = "argocd-limited";

/// Namespace of both accounts.
const SYSTEM: &str = "kube-system";

/// Creates a ServiceAccount with all rights on the member, and a Secret on the hub with a token for the ServiceAccount.
pub(super) async fn add(hub: &Cluster, member: &Cluster) -> Result<(), FleetError> {
    account(member, MANAGER, "cluster-admin").await?;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": secret(&member.name), "labels": {"argocd.argoproj.io/secret-type": "cluster"}},
        "stringData": {"name": member.name, "server": member.server, "config": config(member, MANAGER).await?},
    });
    create(hub, SECRET, Some(NAMESPACE), secret).await
}

/// Deletes the member's Secret. The ServiceAccount ends with the member's cluster.
pub(super) async fn remove(hub: &Cluster, member: &str) -> Result<(), FleetError> {
    delete(hub, SECRET, Some(NAMESPACE), &secret(member)).await
}

/// Limits Argo CD's rights on a member to these rules of a ClusterRole. Another call with other rules replaces the
/// rules, with effect at once.
///
/// # Errors
/// Returns an error if the member or the hub refuses the request.
pub async fn limit_rights(hub: &Cluster, member: &Cluster, rules: &Value) -> Result<(), FleetError> {
    let role = json!({
        "apiVersion": CLUSTER_ROLE.api_version(), "kind": CLUSTER_ROLE.kind,
        "metadata": {"name": LIMITED}, "rules": rules,
    });
    let applied = CLUSTER_ROLE
        .api(&member.client, None)
        .patch(LIMITED, &PatchParams::apply(crate::install::FIELD_MANAGER).force(), &Patch::Apply(role))
        .await;
    applied.map_err(FleetError::api(&member.name, format!("apply ClusterRole/{LIMITED}")))?;
    account(member, LIMITED, LIMITED).await?;
    use_account(hub, member, LIMITED).await
}

/// Gives Argo CD all rights on a member again.
///
/// # Errors
/// Returns an error if the member or the hub refuses the request.
pub async fn restore_rights(hub: &Cluster, member: &Cluster) -> Result<(), FleetError> {
    use_account(hub, member, MANAGER).await
}

/// Creates a ServiceAccount on the member and binds it to a ClusterRole.
async fn account(member: &Cluster, name: &str, role: &str) -> Result<(), FleetError> {
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}});
    create(member, SERVICE_ACCOUNT, Some(SYSTEM), account).await?;
    let binding = json!({
        "apiVersion": CLUSTER_ROLE_BINDING.api_version(), "kind": CLUSTER_ROLE_BINDING.kind,
        "metadata": {"name": format!("{name}-role-binding")},
        "roleRef": {"apiGroup": CLUSTER_ROLE.group, "kind": CLUSTER_ROLE.kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "namespace": SYSTEM, "name": name}],
    });
    create(member, CLUSTER_ROLE_BINDING, None, binding).await
}

async fn use_account(hub: &Cluster, member: &Cluster, name: &str) -> Result<(), FleetError> {
    let patch = json!({"stringData": {"config": config(member, name).await?}});
    let secret = secret(&member.name);
    let patched =
        SECRET.api(&hub.client, Some(NAMESPACE)).patch(&secret, &PatchParams::default(), &Patch::Merge(patch)).await;
    patched.map(drop).map_err(FleetError::api(&hub.name, format!("change Secret/{NAMESPACE}/{secret}")))
}

/// Settings by which Argo CD connects to the member, as JSON.
async fn config(member: &Cluster, account: &str) -> Result<String, FleetError> {
    let token = account_token(member, SYSTEM, account).await?;
    Ok(json!({"bearerToken": token, "tlsClientConfig": {"caData": base64(&member.ca)}}).to_string())
}

fn secret(member: &str) -> String {
    format!("cluster-{member}")
}
