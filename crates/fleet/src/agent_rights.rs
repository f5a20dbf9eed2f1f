//! Rights of a member's agent on the member's own cluster.
//!
//! KubeFleet's chart binds the agent's ServiceAccount to `cluster-admin` (v0.1.2 to v0.3.1); administrators replace that by
//! a ClusterRole with fewer rights.

use clusters::cluster::Cluster;
use clusters::kubeconfig;
use clusters::state_dir::write_private;
use kube::api::{Patch, PatchParams};
use kube::config::{AuthInfo, Context, Kubeconfig, NamedAuthInfo, NamedCluster, NamedContext};
use serde_json::{Value, json};

use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::kinds::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, NAMESPACE, SERVICE_ACCOUNT};
use crate::member::{SYSTEM, account_token};
use crate::objects::create;

/// `ServiceAccount`, `ClusterRole` and `ClusterRoleBinding` of an agent whose rights are limited, in namespace [`SYSTEM`] of the member.
pub const LIMITED_AGENT: &str = "member-agent-sa";

/// Replaces a member's agent with one that is a ServiceAccount on its own cluster and may do there only what these rules of a
/// ClusterRole allow. Another call with other rules replaces the rules, with effect at once.
///
/// # Errors
/// Returns an error if the member refuses a request, or the agent can't be replaced.
pub async fn limit_agent(fleet: &Fleet, name: &str, rules: &Value) -> Result<(), FleetError> {
    let member = fleet.member(name).await?.cluster;
    let role = json!({
        "apiVersion": CLUSTER_ROLE.api_version(), "kind": CLUSTER_ROLE.kind,
        "metadata": {"name": LIMITED_AGENT}, "rules": rules,
    });
    let applied = CLUSTER_ROLE
        .api(&member.client, None)
        .patch(LIMITED_AGENT, &PatchParams::apply(crate::install::FIELD_MANAGER).force(), &Patch::Apply(role))
        .await;
    applied.map_err(FleetError::api(name, format!("apply ClusterRole/{LIMITED_AGENT}")))?;
    create_account(&member).await?;
    let file = fleet.supervisor().dir().join(format!("{name}-limited-agent.kubeconfig"));
    let token = account_token(&member, SYSTEM, LIMITED_AGENT).await?;
    write_private(&file, &kubeconfig::text(&access(&member, token))).map_err(FleetError::Cluster)?;
    fleet.change_agent_access(name, |access| access.kubeconfig = Some(file)).await
}

/// Creates the ServiceAccount and binds it to the ClusterRole.
async fn create_account(member: &Cluster) -> Result<(), FleetError> {
    let metadata = json!({"name": LIMITED_AGENT});
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}});
    create(member, NAMESPACE, None, namespace).await?;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata});
    create(member, SERVICE_ACCOUNT, Some(SYSTEM), account).await?;
    let binding = json!({
        "apiVersion": CLUSTER_ROLE_BINDING.api_version(), "kind": CLUSTER_ROLE_BINDING.kind, "metadata": metadata,
        "roleRef": {"apiGroup": CLUSTER_ROLE.group, "kind": CLUSTER_ROLE.kind, "name": LIMITED_AGENT},
        "subjects": [{"kind": "ServiceAccount", "namespace": SYSTEM, "name": LIMITED_AGENT}],
    });
    create(member, CLUSTER_ROLE_BINDING, None, binding).await
}

/// Kubeconfig with a token.
fn access(member: &Cluster, token: String) -> Kubeconfig {
    let name = LIMITED_AGENT.to_owned();
    let cluster = kube::config::Cluster {
        server: Some(member.inner_server.clone()),
        certificate_authority_data: Some(kubeconfig::base64(&member.ca)),
        ..kube::config::Cluster::default()
    };
    let user = AuthInfo { token: Some(token.into()), ..AuthInfo::default() };
    let context = Context { cluster: name.clone(), user: Some(name.clone()), ..Context::default() };
    Kubeconfig {
        kind: Some("Config".into()),
        api_version: Some("v1".into()),
        current_context: Some(name.clone()),
        clusters: vec![NamedCluster { name: name.clone(), cluster: Some(cluster), ..NamedCluster::default() }],
        auth_infos: vec![NamedAuthInfo { name: name.clone(), auth_info: Some(user), ..NamedAuthInfo::default() }],
        contexts: vec![NamedContext { name, context: Some(context), ..NamedContext::default() }],
        ..Kubeconfig::default()
    }
}
