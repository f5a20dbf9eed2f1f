//! Faults, induced as they happen in production, and how to undo them. No fault writes a condition that a controller
//! would write.

use clusters::agents::{HUB_AGENT, SYSTEM};
use clusters::cluster::Cluster;
use futures::future::try_join_all;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::kinds::{CLUSTER_ROLE_BINDING, MEMBER_CLUSTER, NAMESPACE, ResourceKind, WORK};
use crate::member::member_namespace;
use crate::objects::create;

/// Deletes a member's namespace on the hub, as a mistaken `kubectl delete namespace` would.
///
/// # Errors
/// Returns an error if the hub refuses the request.
pub async fn delete_member_namespace(hub: &Cluster, member: &str) -> Result<(), FleetError> {
    let name = member_namespace(member);
    let deleted = NAMESPACE.api(&hub.client, None).delete(&name, &DeleteParams::default()).await;
    deleted.map(drop).map_err(FleetError::api(&hub.name, format!("delete Namespace/{name}")))
}

/// Deletes a member's namespace on the hub as a popular script for stuck namespaces does: delete the namespace, then
/// empty `spec.finalizers`. Nothing has deleted the namespace's objects then; they stay stored without their namespace.
///
/// # Errors
/// Returns an error if the hub refuses the request.
pub async fn delete_member_namespace_by_force(hub: &Cluster, member: &str) -> Result<(), FleetError> {
    delete_member_namespace(hub, member).await?;
    let name = member_namespace(member);
    let body = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {"finalizers": []},
    });
    let request = http::Request::put(format!("/api/v1/namespaces/{name}/finalize"))
        .header("content-type", "application/json")
        .body(body.to_string().into_bytes())
        .unwrap_or_default();
    let done: Result<Value, kube::Error> = hub.client.request(request).await;
    done.map(drop).map_err(FleetError::api(&hub.name, format!("finalize Namespace/{name}")))
}

/// Removes the finalizers from all Works in a member's namespace that are being deleted. Returns the number of these
/// Works.
///
/// # Errors
/// Returns an error if the hub refuses the request.
pub async fn release_works(hub: &Cluster, member: &str) -> Result<usize, FleetError> {
    let namespace = member_namespace(member);
    let api = WORK.api(&hub.client, Some(&namespace));
    let works = api.list(&ListParams::default()).await;
    let works = works.map_err(FleetError::api(&hub.name, format!("list Works in {namespace}")))?;
    let held: Vec<String> = works
        .items
        .into_iter()
        .filter(|w| w.metadata.deletion_timestamp.is_some() && w.metadata.finalizers.is_some())
        .filter_map(|w| w.metadata.name)
        .collect();
    let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    try_join_all(held.iter().map(|name| {
        let (api, patch, namespace) = (&api, &patch, &namespace);
        async move {
            let patched = api.patch(name, &PatchParams::default(), patch).await;
            patched.map(drop).map_err(FleetError::api(&hub.name, format!("release Work/{namespace}/{name}")))
        }
    }))
    .await?;
    Ok(held.len())
}

/// Answer of a person or a script to an approval request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Approved, with this observedGeneration. Only the request's own generation is right: the hub-agent silently
    /// ignores an answer with any other generation (all versions).
    Approved(i64),
    /// Not approved, with this observedGeneration. KubeFleet has no such answer and continues to wait (v0.1.2).
    Refused(i64),
}

/// Answers an approval request.
///
/// # Errors
/// Returns an error if the hub refuses the request.
pub async fn answer(
    hub: &Cluster,
    kind: ResourceKind,
    namespace: Option<&str>,
    name: &str,
    answer: ApprovalAnswer,
) -> Result<(), FleetError> {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let (status, reason, generation) = match answer {
        ApprovalAnswer::Approved(generation) => ("True", "approved", generation),
        ApprovalAnswer::Refused(generation) => ("False", "refused", generation),
    };
    let patch = json!({"status": {"conditions": [{
        "type": "Approved", "status": status, "reason": reason, "message": reason,
        "observedGeneration": generation, "lastTransitionTime": now,
    }]}});
    let api = kind.api(&hub.client, namespace);
    let patched = api.patch_status(name, &PatchParams::default(), &Patch::Merge(&patch)).await;
    patched.map(drop).map_err(FleetError::api(&hub.name, format!("answer {}/{name}", kind.kind)))
}

/// Moves the start of a member's update in a run six minutes into the past: `lastTransitionTime` of the member's
/// condition Started, which the controller doesn't overwrite (v0.1.2).
///
/// # Errors
/// Returns an error if the hub refuses the request.
pub async fn update_began_earlier(
    hub: &Cluster,
    kind: ResourceKind,
    namespace: Option<&str>,
    name: &str,
    member: &str,
) -> Result<(), FleetError> {
    change_status(hub, kind, namespace, name, "stagesStatus", |stages| {
        for stage in stages {
            earlier(items_mut(stage, "clusters"), member, "Started");
        }
    })
    .await
}

/// Moves the time since which a placement isn't available on a member six minutes into the past: `lastTransitionTime`
/// of the placement's condition Available for the member, which the controller doesn't overwrite (v0.1.2).
///
/// # Errors
/// Returns an error if the hub refuses the request.
pub async fn was_unavailable_earlier(
    hub: &Cluster,
    kind: ResourceKind,
    namespace: Option<&str>,
    name: &str,
    member: &str,
) -> Result<(), FleetError> {
    change_status(hub, kind, namespace, name, "placementStatuses", |clusters| earlier(clusters, member, "Available"))
        .await
}

/// Moves a member's last heartbeat six minutes into the past, in the `MemberCluster`, where the scheduler reads it. The hub-agent
/// doesn't overwrite it until the member's agent sends another (v0.1.2).
///
/// # Errors
/// Returns an error if the hub refuses the request.
pub async fn was_heard_earlier(hub: &Cluster, member: &str) -> Result<(), FleetError> {
    let past = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(6);
    let past = past.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    change_status(hub, MEMBER_CLUSTER, None, member, "agentStatus", |agents| {
        for agent in agents {
            agent["lastReceivedHeartbeat"] = past.clone().into();
        }
    })
    .await
}

/// Removes the start of a member's update from a run's status: the conditions of the member, and the conditions and
/// `startTime` of its stage. The same state is left when the controller's own write of the start has failed.
///
/// # Errors
/// Returns an error if the hub refuses the request.
pub async fn lose_start(
    hub: &Cluster,
    kind: ResourceKind,
    namespace: Option<&str>,
    name: &str,
    member: &str,
) -> Result<(), FleetError> {
    change_status(hub, kind, namespace, name, "stagesStatus", |stages| {
        for stage in stages {
            let entries = of_member(items_mut(stage, "clusters"), member);
            let there: Vec<_> = entries.filter_map(|c| c.as_object_mut()?.remove("conditions")).collect();
            if let (Some(stage), false) = (stage.as_object_mut(), there.is_empty()) {
                stage.remove("conditions");
                stage.remove("startTime");
            }
        }
    })
    .await
}

/// Changes a list in an object's status.
async fn change_status(
    hub: &Cluster,
    kind: ResourceKind,
    namespace: Option<&str>,
    name: &str,
    list: &str,
    change: impl Fn(&mut [Value]),
) -> Result<(), FleetError> {
    let api = kind.api(&hub.client, namespace);
    let action = format!("change the status of {}/{name}", kind.kind);
    loop {
        let object = api.get(name).await.map_err(FleetError::api(&hub.name, &action))?;
        let values = object.data.pointer("/status").and_then(|s| s.get(list)).and_then(Value::as_array);
        let mut values = values.cloned().unwrap_or_default();
        change(&mut values);
        // The patch has the object's resourceVersion, so that no write of the controller is lost: after a conflict, the
        // object is read again.
        let version = object.metadata.resource_version;
        let patch = json!({"metadata": {"resourceVersion": version}, "status": {list: values}});
        match api.patch_status(name, &PatchParams::default(), &Patch::Merge(&patch)).await {
            Err(kube::Error::Api(status)) if status.is_conflict() => {}
            patched => return patched.map(drop).map_err(FleetError::api(&hub.name, &action)),
        }
    }
}

/// Moves `lastTransitionTime` of one member's condition six minutes into the past.
fn earlier<'a>(clusters: impl IntoIterator<Item = &'a mut Value>, member: &str, type_: &str) {
    let past = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(6);
    let past = past.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    for cluster in of_member(clusters, member) {
        let conditions = items_mut(cluster, "conditions");
        for condition in conditions.filter(|c| c.get("type").and_then(Value::as_str) == Some(type_)) {
            condition["lastTransitionTime"] = past.clone().into();
        }
    }
}

/// Items of a list in a JSON object; none if the object has no such list.
fn items_mut<'a>(object: &'a mut Value, list: &'static str) -> impl Iterator<Item = &'a mut Value> {
    object.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Filters the entries of a status's list of clusters for one member.
fn of_member<'a>(
    clusters: impl IntoIterator<Item = &'a mut Value>,
    member: &str,
) -> impl Iterator<Item = &'a mut Value> {
    clusters.into_iter().filter(move |c| c.get("clusterName").and_then(Value::as_str) == Some(member))
}

/// Deletes the `ClusterRoleBinding`s that grant the hub-agent its rights. Returns their names.
///
/// # Errors
/// Returns an error if the hub refuses a request.
pub async fn take_hub_agent_rights(hub: &Cluster) -> Result<Vec<String>, FleetError> {
    let api = CLUSTER_ROLE_BINDING.api(&hub.client, None);
    let all = api.list(&ListParams::default()).await;
    let all = all.map_err(FleetError::api(&hub.name, "list ClusterRoleBindings"))?;
    let is_of_hub_agent = |subject: &Value| {
        let text = |field: &str| subject[field].as_str().unwrap_or_default();
        text("kind") == "ServiceAccount" && text("namespace") == SYSTEM && text("name").starts_with(HUB_AGENT)
    };
    let of_hub_agent = all.items.into_iter().filter(|binding| {
        let subjects = binding.data["subjects"].as_array();
        subjects.is_some_and(|subjects| subjects.iter().any(is_of_hub_agent))
    });
    let names: Vec<String> = of_hub_agent.filter_map(|binding| binding.metadata.name).collect();
    for name in &names {
        let deleted = api.delete(name, &DeleteParams::default()).await;
        deleted.map_err(FleetError::api(&hub.name, format!("delete ClusterRoleBinding/{name}")))?;
    }
    Ok(names)
}

/// Names of the hub-agent's `ServiceAccount`: in fleetdrill's own fleets, and in those of KubeFleet's chart.
pub(crate) const HUB_AGENT_ACCOUNTS: [&str; 2] = [HUB_AGENT, "hub-agent-sa"];

/// Grants the hub-agent its rights again: those of `cluster-admin`, as KubeFleet's chart does.
///
/// # Errors
/// Returns an error if the hub refuses the request.
pub async fn give_hub_agent_rights(hub: &Cluster) -> Result<(), FleetError> {
    let account = |name: &str| json!({"kind": "ServiceAccount", "name": name, "namespace": SYSTEM});
    let binding = json!({
        "apiVersion": CLUSTER_ROLE_BINDING.api_version(), "kind": "ClusterRoleBinding",
        "metadata": {"name": HUB_AGENT},
        "roleRef": {"apiGroup": CLUSTER_ROLE_BINDING.group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": HUB_AGENT_ACCOUNTS.map(account),
    });
    create(hub, CLUSTER_ROLE_BINDING, None, binding).await
}

/// Kills a member's agent. [`start_member_agent`] starts the agent again.
///
/// # Errors
/// Returns an error if the member has no agent.
pub async fn stop_member_agent(fleet: &Fleet, member: &str) -> Result<(), FleetError> {
    Ok(fleet.0.provider.stop_agent(&clusters::agents::member_agent_name(member)).await?)
}

/// Starts a member's agent again.
///
/// # Errors
/// Returns an error if the agent runs already.
pub async fn start_member_agent(fleet: &Fleet, member: &str) -> Result<(), FleetError> {
    Ok(fleet.0.provider.start_agent_again(&clusters::agents::member_agent_name(member)).await?)
}
