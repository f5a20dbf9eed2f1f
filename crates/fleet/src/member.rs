//! Joining and leaving.

use std::path::PathBuf;
use std::time::Duration;

use clusters::cluster::Cluster;
pub use clusters::provider::SYSTEM;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::error::FleetError;
use crate::install::FIELD_MANAGER;
use crate::kinds::{CONFIG_MAP, MEMBER_CLUSTER, NAMESPACE, ROLE_BINDING, SERVICE_ACCOUNT};
use crate::objects::{create, delete};
use crate::observe::{Observer, Verdict, Watched};

/// The label that has each MemberCluster's name as its value, from its making on. What selects members by it needs no label of
/// its own: each change of a MemberCluster's labels lets the hub-agent schedule all placements anew (v0.1.2).
pub const MEMBER_LABEL: &str = "fleetdrill.dev/member";

/// fleetdrill's own namespace on the hub. No placement selects it.
const OURS: &str = "fleetdrill";

/// How often members send heartbeats, in seconds. KubeFleet's default is 60; a member counts as lost after 5 min.
const HEARTBEAT_SECONDS: u32 = 15;

/// How long a member may take to join. It takes about a second here, and a minute or more where its agent is a Pod that is started again
/// until its node is ready.
const JOIN_LIMIT: Duration = Duration::from_secs(180);

/// How long a member may take to leave. It took 8.5 s on v0.1.2.
const LEAVE_LIMIT: Duration = Duration::from_secs(120);

/// A member cluster that has joined.
#[derive(Clone)]
pub struct Member {
    /// Its cluster; its name is the MemberCluster's.
    pub cluster: Cluster,
}

impl Member {
    /// The member's namespace on the hub.
    #[must_use]
    pub fn namespace(&self) -> String {
        member_namespace(&self.cluster.name)
    }
}

/// The namespace on the hub that holds a member's Works.
#[must_use]
pub fn member_namespace(member: &str) -> String {
    format!("fleet-member-{member}")
}

/// The `ServiceAccount` in [`SYSTEM`] on the hub that the member's agent is.
#[must_use]
pub fn identity(member: &str) -> String {
    format!("fleet-member-agent-{member}")
}

/// The file of the token with which a member's agent reaches the hub, in the fleet's directory.
pub(crate) fn token_file(dir: &std::path::Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.token"))
}

/// Makes what a member needs on the hub before its agent can start: an identity, a token for it in a file, and the
/// MemberCluster. Returns the token's file.
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

/// The namespace of KubeFleet's own objects, and one with an object that could be placed.
///
/// A hub-agent watches each ResourcePlacement only from its next look at the API's kinds on, every 30 s, after it has seen
/// an object in a namespace that may be placed; until then it misses what changes (v0.1.2, and v0.3.1 by its source). On
/// a hub in life there are such objects when it starts, and it watches at once.
pub(crate) async fn create_namespaces(hub: &Cluster) -> Result<(), FleetError> {
    for name in [SYSTEM, OURS] {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        create(hub, NAMESPACE, None, namespace).await?;
    }
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": OURS}});
    create(hub, CONFIG_MAP, Some(OURS), object).await
}

/// A token for a ServiceAccount of a cluster.
pub(crate) async fn account_token(cluster: &Cluster, namespace: &str, account: &str) -> Result<String, FleetError> {
    let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token");
    // A fleet that is kept up must not lose its members over night.
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

/// Waits until the hub-agent has granted the member's identity its rights. An agent that starts earlier is refused and
/// waits out its backoff.
pub(crate) async fn rights_granted(hub: &Cluster, observer: &Observer, name: &str) -> Result<(), FleetError> {
    let binding = format!("fleet-rolebinding-{name}");
    let watched = Watched::one(&hub.name, ROLE_BINDING, Some(&member_namespace(name)), &binding);
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
    let watched = Watched::one(&hub.name, MEMBER_CLUSTER, None, name);
    let expectation = format!("{name} joins");
    observer
        .until(hub, &watched, &expectation, JOIN_LIMIT, |objects| {
            let Some(member) = objects.get(name) else { return Verdict::Pending("no MemberCluster".into()) };
            let object = diagnosis::Object::new(member);
            let is_true = |type_: &str| object.condition(type_).is_some_and(|c| c.status == "True");
            // A heartbeat says that the agent speaks to the hub; Joined alone may be an old join's.
            if is_true("Joined")
                && is_true("ReadyToJoin")
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
        let watched = Watched::one(&hub.name, kind, None, &name);
        let expectation = format!("{}/{name} is gone", kind.kind);
        observer.until(hub, &watched, &expectation, LEAVE_LIMIT, |objects| Verdict::gone(objects, &name)).await?;
    }
    Ok(())
}

/// Sets labels on a MemberCluster; a null takes one away.
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
