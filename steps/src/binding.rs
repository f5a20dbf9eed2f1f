//! A placement's bindings, as a scenario prepares them.

use diagnosis::kubefleet::{PARENT_PLACEMENT, WORK_CLEANUP_FINALIZER};
use fleet::{FIELD_MANAGER, FleetError};
use futures::future::try_join_all;
use kube::ResourceExt as _;
use kube::api::{DynamicObject, ListParams, Patch, PatchParams};
use record::ControllerRace;
use serde_json::{Value, json};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::finalizer::FINALIZER;
use crate::objects::Placement;

/// Gives the placement's bindings the finalizer that the hub-agent otherwise gives them in the moment in which a first
/// update run begins with them.
///
/// These two writes conflict now and then. When the run's status conflicts too, at the next look, the run has no record that it
/// began with the cluster, and where the resources don't become available it never gets stuck and never ends (KF-UR-008).
/// On a busy machine that happened to one of some hundred runs (v0.1.2). A scenario that isn't about it must not depend on it.
pub(crate) async fn hold(context: &ScenarioContext, placement: &str) -> Result<(), StepError> {
    let p = context.placement(placement)?;
    let (kind, hub) = (p.scope.binding(), context.hub());
    let api = kind.api(&hub.client, p.scope.namespace());
    let params = ListParams::default().labels(&format!("{PARENT_PLACEMENT}={}", p.name));
    let bindings =
        api.list_metadata(&params).await.map_err(FleetError::api("hub", format!("list the bindings of {}", p.name)))?;
    // Applied, so that the finalizers of others stay and no other write is in its way.
    let manager = PatchParams::apply(FIELD_MANAGER);
    let holds = bindings.items.iter().filter_map(|b| b.metadata.name.as_deref()).map(|name| {
        let (api, manager) = (&api, &manager);
        let metadata = json!({"name": name, "finalizers": [WORK_CLEANUP_FINALIZER]});
        let held = json!({"apiVersion": kind.api_version(), "kind": kind.kind, "metadata": metadata});
        async move { api.patch(name, manager, &Patch::Apply(held)).await }
    });
    try_join_all(holds).await.map_err(FleetError::api("hub", format!("hold the bindings of {}", p.name)))?;
    let sentence =
        format!("the bindings of {} got the finalizer {WORK_CLEANUP_FINALIZER} before an update run", p.name);
    context.worked_around(ControllerRace::BindingFinalizer, sentence);
    Ok(())
}

/// Returns the name of the placement's binding for a member; of several, that of the one which somebody's finalizer holds.
pub(crate) async fn named(context: &ScenarioContext, p: &Placement, member: &str) -> Result<String, StepError> {
    let params = ListParams::default().labels(&format!("{PARENT_PLACEMENT}={}", p.name));
    let api = p.scope.binding().api(&context.hub().client, p.scope.namespace());
    let bindings =
        api.list(&params).await.map_err(FleetError::api("hub", format!("list the bindings of {}", p.name)))?;
    let of_member =
        |binding: &&DynamicObject| binding.data.pointer("/spec/targetCluster").and_then(Value::as_str) == Some(member);
    let found = bindings.items.iter().filter(of_member).max_by_key(|b| b.finalizers().iter().any(|f| f == FINALIZER));
    let found = found.ok_or_else(|| StepError::Differs(format!("{} has no binding for {member}", p.name)))?;
    Ok(found.name_any())
}
