//! Operations that a user requests for an Application, done as the `argocd` command and Argo CD's API server do them.

use clusters::cluster::Cluster;
use kube::api::{DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};

use super::NAMESPACE;
use crate::error::FleetError;
use crate::kinds::APPLICATION;

/// Annotation that requests a comparison. The controller removes the annotation when the comparison is done.
pub const REFRESH: &str = "argocd.argoproj.io/refresh";

/// A sync that a user requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncRequest {
    /// Commit to sync.
    pub revision: String,
    /// True to delete objects that are no longer in git.
    pub prune: bool,
    /// True to change nothing.
    pub dry_run: bool,
    /// True to delete and create objects that can't be changed.
    pub force: bool,
    /// Sync options, e.g. `Replace=true`, instead of the Application's own. `None` keeps the Application's.
    pub options: Option<Vec<String>>,
    /// Number of retries, instead of the Application's own. `None` keeps the Application's.
    pub retry_limit: Option<i64>,
}

/// Requests a sync. The sync begins within a second. If another operation is in progress, that operation goes on and
/// the request is refused.
///
/// The same patch removes the result of the last operation, as Argo CD's API server does. Otherwise the old
/// `syncResult` stays, and the message of a hook in it counts for the new sync (v3.2.12).
///
/// Returns the Application with the requested sync and without the earlier result.
///
/// # Errors
/// Returns an error if there is no such Application, an operation is in progress, or the hub refuses the request.
pub async fn sync(hub: &Cluster, application: &str, request: &SyncRequest) -> Result<DynamicObject, FleetError> {
    operate(hub, application, |there| operation(request, there.data.pointer("/spec/syncPolicy"))).await
}

/// Requests the sync that ended last once more, as [`sync`] does.
///
/// # Errors
/// Returns an error if there is no such Application, an operation is in progress, or the hub refuses the request.
pub async fn sync_again(hub: &Cluster, application: &str) -> Result<DynamicObject, FleetError> {
    operate(hub, application, |there| {
        there.data.pointer("/status/operationState/operation").cloned().unwrap_or_default()
    })
    .await
}

/// Requests an operation, and removes the result of the last one.
async fn operate(
    hub: &Cluster,
    application: &str,
    operation: impl Fn(&DynamicObject) -> Value,
) -> Result<DynamicObject, FleetError> {
    change(hub, application, "sync", |there| {
        if there.data.get("operation").is_some() {
            return Err(FleetError::Busy(application.to_owned()));
        }
        let mut patch = json!({"operation": operation(there)});
        if there.data.get("status").is_some() {
            patch["status"] = json!({"operationState": null});
        }
        Ok(patch)
    })
    .await
}

/// Requests a comparison now; `hard` also renders the manifests again. The comparison is done when the annotation is
/// gone. Returns the Application with the annotation.
///
/// # Errors
/// Returns an error if there is no such Application or the hub refuses the request.
pub async fn refresh(hub: &Cluster, application: &str, hard: bool) -> Result<DynamicObject, FleetError> {
    annotate(hub, application, Some(if hard { "hard" } else { "normal" })).await
}

/// Withdraws the request for a comparison. If Argo CD has missed a request, the same annotation once more changes
/// nothing.
///
/// # Errors
/// Returns an error if there is no such Application or the hub refuses the request.
pub async fn unask(hub: &Cluster, application: &str) -> Result<DynamicObject, FleetError> {
    annotate(hub, application, None).await
}

async fn annotate(hub: &Cluster, application: &str, how: Option<&str>) -> Result<DynamicObject, FleetError> {
    let patch = json!({"metadata": {"annotations": {REFRESH: how}}});
    let api = APPLICATION.api(&hub.client, Some(NAMESPACE));
    let patched = api.patch(application, &PatchParams::default(), &Patch::Merge(patch)).await;
    let action = if how.is_some() { "refresh" } else { "take back the refresh of" };
    patched.map_err(FleetError::api(&hub.name, format!("{action} Application/{application}")))
}

/// Requests the end of the running operation. Returns the Application with this request.
///
/// # Errors
/// Returns an error if there is no such Application, none of its operations runs, or the hub refuses the request.
pub async fn terminate(hub: &Cluster, application: &str) -> Result<DynamicObject, FleetError> {
    change(hub, application, "terminate the sync of", |there| match there.data.get("operation") {
        None => Err(FleetError::Idle(application.to_owned())),
        Some(_) => Ok(json!({"status": {"operationState": {"phase": "Terminating"}}})),
    })
    .await
}

/// Reads an Application and patches it, without a write in between. After a conflict the Application is read again, as
/// Argo CD's API server does, since the controller may have changed the operation.
async fn change(
    hub: &Cluster,
    application: &str,
    action: &str,
    patch: impl Fn(&DynamicObject) -> Result<Value, FleetError>,
) -> Result<DynamicObject, FleetError> {
    let api = APPLICATION.api(&hub.client, Some(NAMESPACE));
    loop {
        let there = api.get(application).await;
        let there = there.map_err(FleetError::api(&hub.name, format!("read Application/{application}")))?;
        let mut patch = patch(&there)?;
        patch["metadata"] = json!({"resourceVersion": there.metadata.resource_version});
        match api.patch(application, &PatchParams::default(), &Patch::Merge(patch)).await {
            Err(kube::Error::Api(status)) if status.is_conflict() => {}
            patched => {
                return patched.map_err(FleetError::api(&hub.name, format!("{action} Application/{application}")));
            }
        }
    }
}

/// Builds the operation. Where the request sets nothing, the Application's own sync policy applies.
fn operation(request: &SyncRequest, policy: Option<&Value>) -> Value {
    let policy = policy.unwrap_or(&Value::Null);
    let strategy = if request.force { json!({"hook": {"force": true}}) } else { json!({"hook": {}}) };
    let mut sync = json!({"revision": request.revision, "syncStrategy": strategy});
    if request.prune {
        sync["prune"] = true.into();
    }
    if request.dry_run {
        sync["dryRun"] = true.into();
    }
    let options = request.options.as_ref().map(|o| json!(o));
    if let Some(options) = options.or_else(|| policy.get("syncOptions").cloned()) {
        sync["syncOptions"] = options;
    }
    let mut operation = json!({"initiatedBy": {"username": "fleetdrill"}, "sync": sync});
    let retry = request.retry_limit.map(|limit| json!({"limit": limit}));
    if let Some(retry) = retry.or_else(|| policy.get("retry").cloned()) {
        operation["retry"] = retry;
    }
    operation
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{SyncRequest, operation};

    #[test]
    fn the_policy_counts_where_the_request_says_nothing() {
        let policy = json!({"syncOptions": ["CreateNamespace=true"], "retry": {"limit": 2}});
        let plain = operation(&SyncRequest { revision: "abc".into(), ..SyncRequest::default() }, Some(&policy));
        assert_eq!(plain["sync"]["syncOptions"], policy["syncOptions"]);
        assert_eq!(plain["retry"], policy["retry"]);
        assert_eq!(plain["sync"]["revision"], "abc");
        assert!(plain["sync"].get("prune").is_none());
        let own =
            SyncRequest { options: Some(vec!["Replace=true".into()]), retry_limit: Some(0), ..SyncRequest::default() };
        let own = operation(&own, Some(&policy));
        assert_eq!((&own["sync"]["syncOptions"], &own["retry"]), (&json!(["Replace=true"]), &json!({"limit": 0})));
    }

    #[test]
    fn force_is_part_of_the_strategy() {
        let force = operation(&SyncRequest { force: true, prune: true, ..SyncRequest::default() }, None);
        assert_eq!(force["sync"]["syncStrategy"], json!({"hook": {"force": true}}));
        assert_eq!(force["sync"]["prune"], true);
    }
}
