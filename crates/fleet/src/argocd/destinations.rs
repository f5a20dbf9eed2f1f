//! Members as Argo CD's destinations: one cluster Secret on the hub for each member, with a token.

use std::time::{Duration, Instant};

use clusters::cluster::Cluster;
use clusters::kubeconfig::base64;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use record::{FailedWait, Observation, WaitEnd};
use serde_json::{Value, json};

use super::NAMESPACE;
use super::accounts::{cluster_role_binding, service_account};
use crate::error::FleetError;
use crate::kinds::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, SECRET, SERVICE_ACCOUNT};
use crate::member::account_token;
use crate::objects::{apply, create, delete};

/// ServiceAccount of Argo CD on a member, with the name that `argocd cluster add` gives it.
const MANAGER: &str = "argocd-manager";

/// ServiceAccount of Argo CD on a member while its rights are limited.
const LIMITED: &str = "argocd-limited";

/// Namespace of both accounts.
const SYSTEM: &str = "kube-system";

/// Label of the Secrets that Argo CD reads its clusters from.
const SECRET_TYPE: &str = "argocd.argoproj.io/secret-type";

/// Value of [`SECRET_TYPE`] for a cluster.
const CLUSTER: &str = "cluster";

/// Creates a ServiceAccount with all rights on the member, and a Secret on the hub with a token for the ServiceAccount.
pub(super) async fn add(hub: &Cluster, member: &Cluster) -> Result<(), FleetError> {
    account(member, MANAGER, "cluster-admin").await?;
    create(hub, SECRET, Some(NAMESPACE), cluster_secret(member, &secret(&member.name)).await?).await
}

/// Builds the Secret by which Argo CD knows the member.
async fn cluster_secret(member: &Cluster, name: &str) -> Result<Value, FleetError> {
    Ok(json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "labels": {SECRET_TYPE: CLUSTER}},
        "stringData": {"name": member.name, "server": member.server, "config": config(member, MANAGER).await?},
    }))
}

/// Fault of what Argo CD knows of a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DestinationFault {
    /// The member no longer accepts the token in the Secret, because its ServiceAccount is gone.
    CredentialsRevoked,
    /// The Secret has another CA than that of the member's API server.
    OtherCa,
    /// The Secret is gone.
    SecretDeleted,
    /// A second Secret has the same name for a cluster.
    SecretTwice,
    /// The Secret lacks the label by which Argo CD finds clusters.
    LabelMissing,
}

/// Brings a fault upon a destination. `other_ca` is a certificate that hasn't issued the member's, PEM.
pub(crate) async fn break_destination(
    hub: &Cluster,
    member: &Cluster,
    fault: DestinationFault,
    other_ca: &str,
) -> Result<(), FleetError> {
    match fault {
        DestinationFault::CredentialsRevoked => {
            let token = token_of(hub, &member.name).await?;
            delete(member, SERVICE_ACCOUNT, Some(SYSTEM), MANAGER).await?;
            refused(member, &token).await
        }
        DestinationFault::OtherCa => {
            let config = config_with_ca(member, MANAGER, other_ca).await?;
            patch_secret(hub, &member.name, &json!({"stringData": {"config": config}})).await
        }
        DestinationFault::SecretDeleted => delete(hub, SECRET, Some(NAMESPACE), &secret(&member.name)).await,
        DestinationFault::SecretTwice => {
            let secret = cluster_secret(member, &second_secret(&member.name)).await?;
            create(hub, SECRET, Some(NAMESPACE), secret).await
        }
        DestinationFault::LabelMissing => patch_secret(hub, &member.name, &label(&Value::Null)).await,
    }
}

/// Builds a patch of the label by which Argo CD finds clusters.
fn label(value: &Value) -> Value {
    json!({"metadata": {"labels": {SECRET_TYPE: value}}})
}

/// Returns the token in the member's Secret.
async fn token_of(hub: &Cluster, member: &str) -> Result<String, FleetError> {
    let (secrets, name) = (Api::<Secret>::namespaced(hub.client.clone(), NAMESPACE), secret(member));
    let read = secrets.get(&name).await.map_err(FleetError::api(&hub.name, format!("read Secret/{name}")))?;
    let config = read.data.and_then(|mut data| data.remove("config")).unwrap_or_default().0;
    let config: Value = serde_json::from_slice(&config).unwrap_or_default();
    Ok(config["bearerToken"].as_str().unwrap_or_default().to_owned())
}

/// Time limit until a member no longer accepts a token. An API server remembers for 10 s that it has accepted one.
const REFUSED_LIMIT: Duration = Duration::from_secs(60);

/// Waits until a member no longer accepts a token.
async fn refused(member: &Cluster, token: &str) -> Result<(), FleetError> {
    let reviews: Api<TokenReview> = Api::all(member.client.clone());
    let review = TokenReview {
        spec: TokenReviewSpec { token: token.to_owned(), ..TokenReviewSpec::default() },
        ..TokenReview::default()
    };
    let started = Instant::now();
    loop {
        let answer = reviews.create(&PostParams::default(), &review).await;
        let answer = answer.map_err(FleetError::api(&member.name, "review a token"))?;
        if answer.status.and_then(|status| status.authenticated) != Some(true) {
            return Ok(());
        }
        if started.elapsed() > REFUSED_LIMIT {
            let expectation = format!("{} no longer accepts Argo CD's token", member.name);
            let (seconds, end) = (REFUSED_LIMIT.as_secs_f64(), WaitEnd::TimedOut { pending: None });
            return Err(FailedWait { expectation, seconds, end, last: Observation::NoObjects }.into());
        }
        // A token that is forgotten can't be watched for, so poll.
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Undoes all faults of a destination: Argo CD gets a new token and the member's CA, in one Secret.
pub(crate) async fn restore_destination(hub: &Cluster, member: &Cluster) -> Result<(), FleetError> {
    delete(hub, SECRET, Some(NAMESPACE), &second_secret(&member.name)).await?;
    account(member, MANAGER, "cluster-admin").await?;
    create(hub, SECRET, Some(NAMESPACE), cluster_secret(member, &secret(&member.name)).await?).await?;
    patch_secret(hub, &member.name, &label(&json!(CLUSTER))).await?;
    use_account(hub, member, MANAGER).await
}

/// Changes the address by which Argo CD reaches a member.
pub(crate) async fn move_destination(hub: &Cluster, member: &str, server: &str) -> Result<(), FleetError> {
    patch_secret(hub, member, &json!({"stringData": {"server": server}})).await
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
    apply(member, CLUSTER_ROLE, &role).await?;
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
    create(member, SERVICE_ACCOUNT, Some(SYSTEM), service_account(name)).await?;
    let binding = cluster_role_binding(&format!("{name}-role-binding"), role, (SYSTEM, name));
    create(member, CLUSTER_ROLE_BINDING, None, binding).await
}

async fn use_account(hub: &Cluster, member: &Cluster, name: &str) -> Result<(), FleetError> {
    patch_secret(hub, &member.name, &json!({"stringData": {"config": config(member, name).await?}})).await
}

async fn patch_secret(hub: &Cluster, member: &str, patch: &Value) -> Result<(), FleetError> {
    let secret = secret(member);
    let patched =
        SECRET.api(&hub.client, Some(NAMESPACE)).patch(&secret, &PatchParams::default(), &Patch::Merge(patch)).await;
    patched.map(drop).map_err(FleetError::api(&hub.name, format!("change Secret/{NAMESPACE}/{secret}")))
}

/// Settings by which Argo CD connects to the member, as JSON.
async fn config(member: &Cluster, account: &str) -> Result<String, FleetError> {
    config_with_ca(member, account, &member.ca).await
}

async fn config_with_ca(member: &Cluster, account: &str, ca: &str) -> Result<String, FleetError> {
    let token = account_token(member, SYSTEM, account).await?;
    Ok(json!({"bearerToken": token, "tlsClientConfig": {"caData": base64(ca)}}).to_string())
}

fn second_secret(member: &str) -> String {
    format!("cluster-{member}-again")
}

fn secret(member: &str) -> String {
    format!("cluster-{member}")
}
