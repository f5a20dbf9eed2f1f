//! Members as Argo CD's destinations, by cluster Secrets with a token each.

use clusters::cluster::Cluster;
use clusters::kubeconfig::base64;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::NAMESPACE;
use crate::error::FleetError;
use crate::kinds::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, SECRET, SERVICE_ACCOUNT};
use crate::member::account_token;
use crate::objects::{create, delete};

/// What Argo CD is on a member, as `argocd cluster add` makes it.
const MANAGER: &str = "argocd-manager";

/// What it is there when its rights are limited.
const LIMITED: &str = "argocd-limited";

/// The namespace of both.
const SYSTEM: &str = "kube-system";

/// Gives Argo CD an identity on the member that may do everything, and the hub a Secret with a token for it.
pub(super) async fn add(hub: &Cluster, member: &Cluster) -> Result<(), FleetError> {
    account(member, MANAGER, "cluster-admin").await?;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": secret(&member.name), "labels": {"argocd.argoproj.io/secret-type": "cluster"}},
        "stringData": {"name": member.name, "server": member.server, "config": config(member, MANAGER).await?},
    });
    create(hub, SECRET, Some(NAMESPACE), secret).await
}

/// Takes the Secret away; the member's cluster ends with its identity.
pub(super) async fn remove(hub: &Cluster, member: &str) -> Result<(), FleetError> {
    delete(hub, SECRET, Some(NAMESPACE), &secret(member)).await
}

/// Lets Argo CD do on a member only what these rules of a ClusterRole allow. May be called again with others, which count
/// at once.
///
/// # Errors
/// When the member or the hub refuses.
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

/// Lets Argo CD do everything on a member again.
///
/// # Errors
/// When the member or the hub refuses.
pub async fn restore_rights(hub: &Cluster, member: &Cluster) -> Result<(), FleetError> {
    use_account(hub, member, MANAGER).await
}

/// A ServiceAccount on the member, bound to a ClusterRole.
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

/// How Argo CD reaches the member.
async fn config(member: &Cluster, account: &str) -> Result<String, FleetError> {
    let token = account_token(member, SYSTEM, account).await?;
    Ok(json!({"bearerToken": token, "tlsClientConfig": {"caData": base64(&member.ca)}}).to_string())
}

fn secret(member: &str) -> String {
    format!("cluster-{member}")
}
