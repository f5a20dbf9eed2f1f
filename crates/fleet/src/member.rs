//! Makes members join the fleet and leave it.

use std::path::PathBuf;
use std::time::Duration;

pub use clusters::agents::SYSTEM;
use clusters::cluster::Cluster;
pub use diagnosis::kubefleet::member_namespace;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::agent_access::AgentAccess;
use crate::error::FleetError;
use crate::install::FIELD_MANAGER;
use crate::kinds::{CONFIG_MAP, MEMBER_CLUSTER, NAMESPACE, ROLE_BINDING, SERVICE_ACCOUNT};
use crate::labels::MEMBER_LABEL;
use crate::objects::{create, delete};
use crate::observe::{Observer, Verdict, WatchSelection};

/// Namespace of fleetdrill's own objects on the hub. No placement selects it.
pub(crate) const OURS: &str = "fleetdrill";

/// Interval between a member's heartbeats, in seconds. KubeFleet's default is 60; a member counts as lost after 5 min.
const HEARTBEAT_SECONDS: u32 = 15;

/// Time limit for a join. A join takes about a second here, and a minute or more where the agent is a Pod that is
/// restarted until its node is ready.
const JOIN_LIMIT: Duration = Duration::from_secs(180);

/// Time limit for leaving. A member took 8.5 s to leave on v0.1.2.
const LEAVE_LIMIT: Duration = Duration::from_secs(120);

/// A member cluster that has joined.
#[derive(Clone)]
pub struct Member {
    /// Cluster of the member; its name is also the MemberCluster's.
    pub cluster: Cluster,
    /// How its agent reaches the hub and the cluster.
    pub(crate) access: AgentAccess,
}

impl Member {
    /// Namespace of the member on the hub.
    #[must_use]
    pub fn namespace(&self) -> String {
        member_namespace(&self.cluster.name)
    }
}

/// Name of the `ServiceAccount` in [`SYSTEM`] on the hub that the member's agent authenticates as.
#[must_use]
pub fn identity(member: &str) -> String {
    format!("fleet-member-agent-{member}")
}

/// Path of the file, in the fleet's directory, with the token by which a member's agent authenticates to the hub.
pub(crate) fn token_file(dir: &std::path::Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.token"))
}

/// Creates what a member's agent needs on the hub before it can start: an identity, a file with a token for the
/// identity, and the MemberCluster. Returns the path of the token file.
pub(crate) async fn register(
    hub: &Cluster,
    dir: &std::path::Path,
    name: &str,
    labels: &Value,
) -> Result<PathBuf, FleetError> {
    let identity = identity(name);
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": identity}});
    create(hub, SERVICE_ACCOUNT, Some(SYSTEM), account).await?;
    let token = account_token(hub, SYSTEM, &identity).await?;
    let file = token_file(dir, name);
    clusters::state_dir::write_private(&file, &token).map_err(FleetError::Cluster)?;
    let mut labels = labels.clone();
    labels[MEMBER_LABEL] = name.into();
    let member = json!({
        "apiVersion": MEMBER_CLUSTER.api_version(), "kind": "MemberCluster",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "identity": {"kind": "ServiceAccount", "name": identity, "namespace": SYSTEM, "apiGroup": ""},
            "heartbeatPeriodSeconds": HEARTBEAT_SECONDS,
        },
    });
    create(hub, MEMBER_CLUSTER, None, member).await?;
    Ok(file)
}

/// Creates the namespace of KubeFleet's own objects, and another namespace with an object that could be placed.
///
/// A hub-agent begins to watch ResourcePlacements only after it has seen such an object: see
/// [`crate::hub_probe::notices_changes`]. A hub in production has such objects when the hub-agent starts.
pub(crate) async fn create_namespaces(hub: &Cluster) -> Result<(), FleetError> {
    for name in [SYSTEM, OURS] {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        create(hub, NAMESPACE, None, namespace).await?;
    }
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": OURS}});
    create(hub, CONFIG_MAP, Some(OURS), object).await
}

/// Requests a token for a ServiceAccount of a cluster.
pub(crate) async fn account_token(cluster: &Cluster, namespace: &str, account: &str) -> Result<String, FleetError> {
    let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token");
    // 30 days: a fleet that is kept up must not lose its members overnight.
    let body = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"audiences": [], "expirationSeconds": 30 * 24 * 3600},
    });
    let request =
        http::Request::post(path).header("content-type", "application/json").body(body.to_string().into_bytes());
    let request = request.unwrap_or_default();
    let answer: Result<Value, kube::Error> = cluster.client.request(request).await;
    let answer = answer.map_err(FleetError::api(&cluster.name, format!("request a token for {account}")))?;
    Ok(answer.pointer("/status/token").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// Waits until the hub-agent has granted the rights of the member's identity. A member-agent that starts before that is
/// refused and waits for its backoff to end.
pub(crate) async fn rights_granted(hub: &Cluster, observer: &Observer, name: &str) -> Result<(), FleetError> {
    let binding = format!("fleet-rolebinding-{name}");
    let watched = WatchSelection::one(&hub.name, ROLE_BINDING, Some(&member_namespace(name)), &binding);
    let expectation = format!("the hub-agent grants {name} its rights");
    let found =
        |o: Option<&Value>| if o.is_some() { Verdict::Holds } else { Verdict::Pending("no RoleBinding".into()) };
    observer
        .until(hub, &watched, &expectation, JOIN_LIMIT, |objects| found(objects.get(&binding).map(AsRef::as_ref)))
        .await?;
    Ok(())
}

/// Waits until the member has joined.
pub(crate) async fn joined(hub: &Cluster, observer: &Observer, name: &str) -> Result<(), FleetError> {
    let watched = WatchSelection::one(&hub.name, MEMBER_CLUSTER, None, name);
    let expectation = format!("{name} joins");
    observer
        .until(hub, &watched, &expectation, JOIN_LIMIT, |objects| {
            let Some(member) = objects.get(name) else { return Verdict::Pending("no MemberCluster".into()) };
            let object = diagnosis::Object::new(member);
            let mut conditions = ["Joined", "ReadyToJoin"].iter().map(|type_| object.condition(type_));
            // A heartbeat shows that the agent reaches the hub. Joined alone may be left over from an earlier join.
            if conditions.all(|condition| condition.is_some_and(|c| c.status == "True"))
                && object.at("/status/agentStatus/0/lastReceivedHeartbeat").is_some()
            {
                Verdict::Holds
            } else {
                Verdict::Pending("not joined yet".into())
            }
        })
        .await?;
    Ok(())
}

/// Deletes the MemberCluster and waits until it and the member's namespace are gone.
pub(crate) async fn leave(hub: &Cluster, observer: &Observer, name: &str) -> Result<(), FleetError> {
    delete(hub, MEMBER_CLUSTER, None, name).await?;
    for (kind, name) in [(MEMBER_CLUSTER, name.to_owned()), (NAMESPACE, member_namespace(name))] {
        let watched = WatchSelection::one(&hub.name, kind, None, &name);
        let expectation = format!("{}/{name} is gone", kind.kind);
        observer.until(hub, &watched, &expectation, LEAVE_LIMIT, |objects| Verdict::gone(objects, &name)).await?;
    }
    Ok(())
}

/// Sets labels on a MemberCluster. A null value removes a label.
pub(crate) async fn label(hub: &Cluster, name: &str, labels: &Value) -> Result<(), FleetError> {
    let patch = json!({"metadata": {"labels": labels}});
    let api = MEMBER_CLUSTER.api(&hub.client, None);
    let patched = api
        .patch(
            name,
            &PatchParams { field_manager: Some(FIELD_MANAGER.into()), ..PatchParams::default() },
            &Patch::Merge(&patch),
        )
        .await;
    patched.map(drop).map_err(FleetError::api(&hub.name, format!("label MemberCluster/{name}")))
}
