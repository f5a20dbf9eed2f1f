//! What a user asks of an Application, as the `argocd` command and Argo CD's API server do it.

use clusters::cluster::Cluster;
use kube::api::{DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};

use super::NAMESPACE;
use crate::error::FleetError;
use crate::kinds::APPLICATION;

/// The annotation that asks for a comparison. The controller takes it away when that is done.
pub const REFRESH: &str = "argocd.argoproj.io/refresh";

/// A sync that a user asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The commit.
    pub revision: String,
    /// Whether what is no longer in git is deleted.
    pub prune: bool,
    /// Whether nothing is changed.
    pub dry_run: bool,
    /// Whether objects that can't be changed are deleted and created.
    pub force: bool,
    /// Sync options, e.g. `Replace=true`, in place of the Application's own; none leaves those.
    pub options: Option<Vec<String>>,
    /// How often it is tried again, in place of the Application's own number.
    pub retry_limit: Option<i64>,
}

/// Asks for a sync. It begins within a second; an operation that runs already goes on, and this one is refused.
///
/// The result of the last one is taken away in the same change, as Argo CD's API server does. Without that the old
/// `syncResult` stays, and what a hook said then counts for this run (v3.2.12).
///
/// Returns the Application as it is with this sync and no earlier one.
///
/// # Errors
/// When there is no such Application, an operation is in progress, or the hub refuses.
pub async fn sync(hub: &Cluster, application: &str, request: &Request) -> Result<DynamicObject, FleetError> {
    operate(hub, application, |there| operation(request, there.data.pointer("/spec/syncPolicy"))).await
}

/// Asks for the sync that ended last once more, as [`sync`] does.
///
/// # Errors
/// When there is no such Application, an operation is in progress, or the hub refuses.
pub async fn sync_again(hub: &Cluster, application: &str) -> Result<DynamicObject, FleetError> {
    let last = |there: &DynamicObject| there.data.pointer("/status/operationState/operation").cloned();
    operate(hub, application, |there| last(there).unwrap_or_default()).await
}

/// Asks for an operation, and takes the result of the last one away.
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

/// Asks for a comparison now: `hard` renders the manifests anew as well. It is done when the annotation is gone. Returns the
/// Application as it is with the annotation.
///
/// # Errors
/// When there is no such Application or the hub refuses.
pub async fn refresh(hub: &Cluster, application: &str, hard: bool) -> Result<DynamicObject, FleetError> {
    annotate(hub, application, Some(if hard { "hard" } else { "normal" })).await
}

/// Takes the wish for a comparison back. Argo CD may have missed it, and the same wish once more would be no change.
///
/// # Errors
/// When there is no such Application or the hub refuses.
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

/// Asks that the operation that runs be ended. Returns the Application as it is with that.
///
/// # Errors
/// When there is no such Application, no operation of it runs, or the hub refuses.
pub async fn terminate(hub: &Cluster, application: &str) -> Result<DynamicObject, FleetError> {
    change(hub, application, "terminate the sync of", |there| match there.data.get("operation") {
        None => Err(FleetError::Idle(application.to_owned())),
        Some(_) => Ok(json!({"status": {"operationState": {"phase": "Terminating"}}})),
    })
    .await
}

/// Reads an Application and changes it, as one. When the controller has written its status in between, its operation may be
/// another one: it is looked at again, as Argo CD's API server does.
async fn change(
    hub: &Cluster,
    application: &str,
    action: &str,
    patch: impl Fn(&DynamicObject) -> Result<Value, FleetError>,
) -> Result<DynamicObject, FleetError> {
    let api = APPLICATION.api(&hub.client, Some(NAMESPACE));
    let failed = |action: &str| FleetError::api(&hub.name, format!("{action} Application/{application}"));
    loop {
        let there = api.get(application).await.map_err(failed("read"))?;
        let mut patch = patch(&there)?;
        patch["metadata"] = json!({"resourceVersion": there.metadata.resource_version});
        match api.patch(application, &PatchParams::default(), &Patch::Merge(patch)).await {
            Err(kube::Error::Api(status)) if status.is_conflict() => {}
            patched => return patched.map_err(failed(action)),
        }
    }
}

/// The operation, with what the Application's own sync policy says where the request says nothing.
fn operation(request: &Request, policy: Option<&Value>) -> Value {
    let of_policy = |key: &str| policy.and_then(|p| p.get(key)).cloned();
    let strategy = if request.force { json!({"hook": {"force": true}}) } else { json!({"hook": {}}) };
    let mut sync = json!({"revision": request.revision, "syncStrategy": strategy});
    if request.prune {
        sync["prune"] = true.into();
    }
    if request.dry_run {
        sync["dryRun"] = true.into();
    }
    if let Some(options) = request.options.as_ref().map(|o| json!(o)).or_else(|| of_policy("syncOptions")) {
        sync["syncOptions"] = options;
    }
    let mut operation = json!({"initiatedBy": {"username": "fleetdrill"}, "sync": sync});
    let retry = request.retry_limit.map(|limit| json!({"limit": limit}));
    if let Some(retry) = retry.or_else(|| of_policy("retry")) {
        operation["retry"] = retry;
    }
    operation
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Request, operation};

    #[test]
    fn the_policy_counts_where_the_request_says_nothing() {
        let policy = json!({"syncOptions": ["CreateNamespace=true"], "retry": {"limit": 2}});
        let plain = operation(&Request { revision: "abc".into(), ..Request::default() }, Some(&policy));
        assert_eq!(plain["sync"]["syncOptions"], policy["syncOptions"]);
        assert_eq!(plain["retry"], policy["retry"]);
        assert_eq!(plain["sync"]["revision"], "abc");
        assert!(plain["sync"].get("prune").is_none());
        let own = Request { options: Some(vec!["Replace=true".into()]), retry_limit: Some(0), ..Request::default() };
        let own = operation(&own, Some(&policy));
        assert_eq!((&own["sync"]["syncOptions"], &own["retry"]), (&json!(["Replace=true"]), &json!({"limit": 0})));
    }

    #[test]
    fn force_is_part_of_the_strategy() {
        let force = operation(&Request { force: true, prune: true, ..Request::default() }, None);
        assert_eq!(force["sync"]["syncStrategy"], json!({"hook": {"force": true}}));
        assert_eq!(force["sync"]["prune"], true);
    }
}
