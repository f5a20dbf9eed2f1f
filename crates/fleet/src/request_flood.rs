//! Requests of another user that use up the priority level of an agent at the hub's API server, so that the agent's are refused with 429.
//!
//! The priority level takes one request at a time. The flood's requests create a `ConfigMap` as a dry run, and wait in a validating webhook that
//! never answers until the API server gives it up: so one of them is being executed nearly all the time, and nothing is stored.

use std::net::SocketAddr;
use std::time::Duration;

use clusters::retry::SenderRetries;
use kube::Client;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::kinds::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, WEBHOOK_CONFIGURATION};
use crate::local_server;
use crate::objects::apply;

/// User whose requests these are, and name of the objects that it needs.
const USER: &str = "fleetdrill-flood";

/// Namespace of the `ConfigMap`, which every cluster has.
const NAMESPACE: &str = "default";

/// Number of requests at a time: one executes, and the others are refused and repeated.
const REQUESTS: usize = 4;

/// Interval at which a refused request is repeated. An agent repeats its own after as long as the API server asks, 1 s at least, and so seldom comes
/// first.
const INTERVAL: Duration = Duration::from_millis(50);

/// Number of refusals in a row which shows that one request of the flood is being executed all the time.
const REFUSALS: usize = 20;

/// Time limit for a flood to begin.
const LIMIT: Duration = Duration::from_secs(60);

/// Flood of requests that goes on until this value is dropped.
#[derive(Debug)]
pub struct RequestFlood {
    _tasks: JoinSet<()>,
}

impl Fleet {
    /// Has another user use up the priority level of a member's agent, or of the hub-agent without a member, at the hub's API server, which is
    /// restarted for it. [`Fleet::free_requests`] gives the agent its old priority level back.
    ///
    /// # Errors
    /// Returns an error if the provider can't set priorities, this machine has no port for the webhook, the hub refuses another request, or the
    /// flood's requests go on to be served.
    pub async fn flood_requests(&self, member: Option<&str>) -> Result<RequestFlood, FleetError> {
        let hub = self.hub();
        let address = SocketAddr::from((self.0.provider.machine_address(&hub.name).await?, 0));
        let (address, listener) =
            local_server::bind(address).await.map_err(|source| FleetError::Listen { address, source })?;
        let mut tasks = JoinSet::new();
        tasks.spawn(never_answer(listener));
        self.0.provider.set_priorities(&hub.name).await?;
        apply(hub, CLUSTER_ROLE, &role()).await?;
        apply(hub, CLUSTER_ROLE_BINDING, &role_binding()).await?;
        apply(hub, WEBHOOK_CONFIGURATION, &webhook(address)).await?;
        self.limit_requests_beside(member, Some(USER)).await?;
        let (refusals, mut seen) = watch::channel(0);
        for _ in 0..REQUESTS {
            tasks.spawn(repeat_request(hub.client.clone(), refusals.clone()));
        }
        // The API server takes the webhook into account after a moment. Until then the flood's requests are over at once.
        let uses_up = seen.wait_for(|refusals| *refusals >= REFUSALS);
        match tokio::time::timeout(LIMIT, uses_up).await {
            Ok(Ok(_)) => Ok(RequestFlood { _tasks: tasks }),
            _ => Err(FleetError::NoFlood { seconds: LIMIT.as_secs() }),
        }
    }
}

/// Accepts connections, and reads what clients send until they give up.
async fn never_answer(listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((mut stream, _)) = accepted {
                connections.spawn(async move { tokio::io::copy(&mut stream, &mut tokio::io::sink()).await });
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Sends the request again and again as [`USER`], and counts how often in a row it was refused.
async fn repeat_request(client: Client, refusals: watch::Sender<usize>) {
    let object = json!({"metadata": {"generateName": format!("{USER}-")}}).to_string();
    loop {
        let request = http::Request::post(format!("/api/v1/namespaces/{NAMESPACE}/configmaps?dryRun=All"))
            .header("content-type", "application/json")
            .header("impersonate-user", USER)
            .extension(SenderRetries)
            .body(object.clone().into_bytes())
            .unwrap_or_default();
        let answered = client.request::<Value>(request).await;
        let is_refused =
            matches!(&answered, Err(kube::Error::Api(status)) if status.code == http::StatusCode::TOO_MANY_REQUESTS);
        refusals.send_modify(|refusals| *refusals = if is_refused { *refusals + 1 } else { 0 });
        sleep(INTERVAL).await;
    }
}

fn role() -> Value {
    json!({
        "apiVersion": CLUSTER_ROLE.api_version(), "kind": CLUSTER_ROLE.kind, "metadata": {"name": USER},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}],
    })
}

fn role_binding() -> Value {
    let group = CLUSTER_ROLE.group;
    json!({
        "apiVersion": CLUSTER_ROLE_BINDING.api_version(), "kind": CLUSTER_ROLE_BINDING.kind, "metadata": {"name": USER},
        "roleRef": {"apiGroup": group, "kind": CLUSTER_ROLE.kind, "name": USER},
        "subjects": [{"apiGroup": group, "kind": "User", "name": USER}],
    })
}

/// Returns the configuration of the webhook at this address, which is asked about the flood's requests only.
fn webhook(address: SocketAddr) -> Value {
    json!({
        "apiVersion": WEBHOOK_CONFIGURATION.api_version(), "kind": WEBHOOK_CONFIGURATION.kind, "metadata": {"name": USER},
        "webhooks": [{
            "name": "flood.fleetdrill.example.com",
            "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore", "timeoutSeconds": 30,
            "clientConfig": {"url": format!("https://{address}/")},
            "matchConditions": [{"name": "flood", "expression": format!("request.userInfo.username == '{USER}'")}],
            "rules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"],
                "scope": "Namespaced",
            }],
        }],
    })
}
