//! Faults as they happen in life, and how to undo them. None writes a condition that a controller would write.

use clusters::cluster::Cluster;
use futures::future::try_join_all;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::kinds::{Kind, NAMESPACE, WORK};
use crate::member::member_namespace;

/// The finalizer that a member-agent takes off a Work once it has deleted the workload. v0.1.2: it holds the member's
/// namespace when that is deleted, since the agent loses its rights with the namespace's contents.
pub const WORK_FINALIZER: &str = "kubernetes-fleet.io/work-cleanup";

/// Deletes a member's namespace on the hub, as a mistaken `kubectl delete namespace` would.
///
/// # Errors
/// When the hub refuses.
pub async fn delete_member_namespace(hub: &Cluster, member: &str) -> Result<(), FleetError> {
    let name = member_namespace(member);
    let deleted = NAMESPACE.api(&hub.client, None).delete(&name, &DeleteParams::default()).await;
    deleted.map(drop).map_err(FleetError::api(&hub.name, format!("delete Namespace/{name}")))
}

/// Deletes a member's namespace on the hub as the script does that many use on namespaces which don't go away: delete, then
/// empty `spec.finalizers`. Nothing has emptied the namespace then; what was in it stays stored without it.
///
/// # Errors
/// When the hub refuses.
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

/// Takes the finalizers off all Works in a member's namespace that are being deleted. Returns how many there were.
///
/// # Errors
/// When the hub refuses.
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

/// What a person or a script answers to a request for approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Approved, as of this generation: the request's own generation is right, anything else is stale and ignored by the
    /// hub-agent without a sign (all versions).
    Approved(i64),
    /// Not approved, as of this generation. `KubeFleet` has no such answer and goes on waiting (v0.1.2).
    Refused(i64),
}

/// Answers a request for approval.
///
/// # Errors
/// When the hub refuses.
pub async fn answer(
    hub: &Cluster,
    kind: Kind,
    namespace: Option<&str>,
    name: &str,
    answer: Answer,
) -> Result<(), FleetError> {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let (status, reason, generation) = match answer {
        Answer::Approved(generation) => ("True", "approved", generation),
        Answer::Refused(generation) => ("False", "refused", generation),
    };
    let patch = json!({"status": {"conditions": [{
        "type": "Approved", "status": status, "reason": reason, "message": reason,
        "observedGeneration": generation, "lastTransitionTime": now,
    }]}});
    let api = kind.api(&hub.client, namespace);
    let patched = api.patch_status(name, &PatchParams::default(), &Patch::Merge(&patch)).await;
    patched.map(drop).map_err(FleetError::api(&hub.name, format!("answer {}/{name}", kind.kind)))
}

/// Moves the start of a member's update by a run six minutes into the past: `lastTransitionTime` of its condition Started,
/// which the controller keeps (v0.1.2).
///
/// # Errors
/// When the hub refuses.
pub async fn update_began_earlier(
    hub: &Cluster,
    kind: Kind,
    namespace: Option<&str>,
    name: &str,
    member: &str,
) -> Result<(), FleetError> {
    change_status(hub, kind, namespace, name, "stagesStatus", |stages| {
        for stage in stages {
            let clusters = stage.get_mut("clusters").and_then(Value::as_array_mut).into_iter().flatten();
            earlier(clusters, member, "Started");
        }
    })
    .await
}

/// Moves the time since which a placement isn't available on a member six minutes into the past: `lastTransitionTime` of the
/// condition Available that it has for it, which the controller keeps (v0.1.2).
///
/// # Errors
/// When the hub refuses.
pub async fn was_unavailable_earlier(
    hub: &Cluster,
    kind: Kind,
    namespace: Option<&str>,
    name: &str,
    member: &str,
) -> Result<(), FleetError> {
    change_status(hub, kind, namespace, name, "placementStatuses", |clusters| earlier(clusters, member, "Available"))
        .await
}

/// Takes away what a run has written of its beginning with a member, and with the member's stage: what is left when the
/// controller's own write of it has failed.
///
/// # Errors
/// When the hub refuses.
pub async fn lose_start(
    hub: &Cluster,
    kind: Kind,
    namespace: Option<&str>,
    name: &str,
    member: &str,
) -> Result<(), FleetError> {
    change_status(hub, kind, namespace, name, "stagesStatus", |stages| {
        for stage in stages {
            let clusters = stage.get_mut("clusters").and_then(Value::as_array_mut).into_iter().flatten();
            let there: Vec<_> =
                of_member(clusters, member).filter_map(|c| c.as_object_mut()?.remove("conditions")).collect();
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
    kind: Kind,
    namespace: Option<&str>,
    name: &str,
    list: &str,
    change: impl Fn(&mut [Value]),
) -> Result<(), FleetError> {
    let api = kind.api(&hub.client, namespace);
    let failed = |error| FleetError::api(&hub.name, format!("change the status of {}/{name}", kind.kind))(error);
    loop {
        let object = api.get(name).await.map_err(failed)?;
        let values = object.data.pointer("/status").and_then(|s| s.get(list)).and_then(Value::as_array);
        let mut values = values.cloned().unwrap_or_default();
        change(&mut values);
        // With its resourceVersion: what the controller writes in between must not be lost, so then it is read again.
        let version = object.metadata.resource_version;
        let patch = json!({"metadata": {"resourceVersion": version}, "status": {list: values}});
        match api.patch_status(name, &PatchParams::default(), &Patch::Merge(&patch)).await {
            Err(kube::Error::Api(status)) if status.is_conflict() => {}
            patched => return patched.map(drop).map_err(failed),
        }
    }
}

/// Lets a condition that clusters have count as six minutes old on one of them.
fn earlier<'a>(clusters: impl IntoIterator<Item = &'a mut Value>, member: &str, type_: &str) {
    let past = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(6);
    let past = past.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    for cluster in of_member(clusters, member) {
        let conditions = cluster.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten();
        for condition in conditions.filter(|c| c.get("type").and_then(Value::as_str) == Some(type_)) {
            condition["lastTransitionTime"] = past.clone().into();
        }
    }
}

/// Those of a status's clusters that are the member.
fn of_member<'a>(
    clusters: impl IntoIterator<Item = &'a mut Value>,
    member: &str,
) -> impl Iterator<Item = &'a mut Value> {
    clusters.into_iter().filter(move |c| c.get("clusterName").and_then(Value::as_str) == Some(member))
}

/// Kills a member's agent; [`start_member_agent`] undoes it.
///
/// # Errors
/// When the member has none.
pub async fn stop_member_agent(fleet: &Fleet, member: &str) -> Result<(), FleetError> {
    Ok(fleet.0.provider.stop_agent(&clusters::provider::member_agent_name(member)).await?)
}

/// Starts a member's agent again.
///
/// # Errors
/// When it runs.
pub async fn start_member_agent(fleet: &Fleet, member: &str) -> Result<(), FleetError> {
    Ok(fleet.0.provider.start_agent_again(&clusters::provider::member_agent_name(member)).await?)
}
