//! AR-SF-006: an operation waits for resources or hooks. The evidence shows what their Pods wait for.

use jiff::SignedDuration;
use serde_json::json;

use super::application::{ApplicationView, ResourceResult};
use super::names::object_names;
use crate::kubefleet::PLACEMENT_GROUP;
use crate::object::text_at;
use crate::rules::code::RuleCode;
use crate::rules::draft::{AffectedPart, FindingDraft};
use crate::rules::fleet::PlacementView;
use crate::rules::index::resource_key;
use crate::rules::message::for_sentence;
use crate::rules::pods::{self, WorkloadState};
use crate::rules::scope::KindScope;
use crate::{Object, PATIENCE};

/// Time for which an operation may run before its waiting counts as a failure: the same time for which resources may be
/// unavailable. Argo CD has no limit of its own (v3.2). If a Pod reports why it can't start, the operation counts as
/// stuck at once.
const OPERATION_LIMIT: SignedDuration = PATIENCE;

/// Annotation with an object's sync wave.
const WAVE: &str = "argocd.argoproj.io/sync-wave";

/// Creates the finding for resources that have become unhealthy for good.
pub(super) fn unhealthy_resources(application: ApplicationView<'_>, results: &[ResourceResult<'_>]) -> FindingDraft {
    draft(application, results, &workloads_state(application, results), false)
}

/// Creates the finding for a running operation that has run for long or will never end.
pub(super) fn waiting_operation(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let (hooks, resources): (Vec<_>, Vec<_>) =
        application.results().filter(|r| r.is_running()).partition(|r| r.is_hook());
    let is_hook = resources.is_empty();
    let results = if is_hook { hooks } else { resources };
    let first = *results.first()?;
    if health(application, first).is_some_and(|(_, status, _)| status == "Healthy") {
        return None;
    }
    let state = workloads_state(application, &results);
    let never = state.waiting_pod.is_some();
    if !is_overdue(application) && !never {
        return None;
    }
    let draft = draft(application, &results, &state, is_hook);
    // A hook may take long: a migration that runs for an hour hasn't failed.
    Some(if is_hook && !never { draft.into_notice() } else { draft })
}

/// True if the operation has run longer than resources may take to become available.
pub(super) fn is_overdue(application: ApplicationView<'_>) -> bool {
    application.started_at().is_some_and(|since| application.fleet.now().duration_since(since) > OPERATION_LIMIT)
}

fn workloads_state(application: ApplicationView<'_>, results: &[ResourceResult<'_>]) -> WorkloadState {
    let destination = application.destination();
    let mut all = WorkloadState::default();
    for result in results {
        let Some(cluster) = destination.cluster else { continue };
        let (group, kind, name) = (result.text("group"), result.text("kind"), result.text("name"));
        let Some(object) = cluster.object(group, kind, result.namespace(), name) else { continue };
        let state = pods::workload_state(cluster, object);
        all.evidence.extend(state.evidence);
        all.image = all.image.or(state.image);
        all.waiting_pod = all.waiting_pod.or(state.waiting_pod);
    }
    all
}

fn draft(
    application: ApplicationView<'_>,
    results: &[ResourceResult<'_>],
    state: &WorkloadState,
    is_hook: bool,
) -> FindingDraft {
    let destination = application.destination();
    let mut evidence = vec![application.quote_operation()];
    for result in results {
        evidence.push(application.quote_result(*result));
        evidence.extend(health(application, *result).map(|(path, status, message)| {
            let value = if message.is_empty() { status.to_owned() } else { format!("{status}: {message}") };
            application.quote().text(application.object, &path, value, None)
        }));
    }
    evidence.extend(state.evidence.iter().cloned());
    let first = results[0];
    let live = destination.object(first.text("group"), first.text("kind"), first.namespace(), first.text("name"));
    let wave = live.and_then(|live| live.annotation(WAVE));
    let image = state.image.clone().unwrap_or_default();
    let names = json!({
        "objects": object_names(results),
        "refs": results.iter().map(|r| r.reference()).collect::<Vec<_>>(),
        "ref": first.reference(),
        "kind": first.text("kind"),
        "is_hook": is_hook,
        "hook": first.text("hookType"),
        "wave": wave.unwrap_or_default(),
        "running": application.operation_field("phase") == "Running",
        "minutes": minutes(application),
        "message": for_sentence(first.message()),
        "pod": state.waiting_pod.clone().unwrap_or_default(),
        "image": image.name,
        "pod_look": image.describe,
    });
    let draft = application.draft(RuleCode::AR_SF_006, &names, evidence);
    awaited_parts(application, results).into_iter().fold(draft, FindingDraft::depends_on)
}

fn minutes(application: ApplicationView<'_>) -> i64 {
    application.started_at().map(|s| application.fleet.now().duration_since(s).as_mins()).unwrap_or_default()
}

/// Returns path, status and message of a resource's health in an Application's status.
fn health<'a>(application: ApplicationView<'a>, result: ResourceResult<'_>) -> Option<(String, &'a str, &'a str)> {
    let mut resources = application.object.list("/status/resources").iter();
    let resource = resources.find(|resource| resource_key(*resource) == result.key())?;
    let status = Some(text_at(resource, "/health/status")).filter(|s| !s.is_empty())?;
    Some((format!("status.resources[{}].health", result.object()), status, text_at(resource, "/health/message")))
}

/// Returns the parts of the placements that the operation waits for. A failure of such a placement on a member explains
/// the wait.
fn awaited_parts(application: ApplicationView<'_>, results: &[ResourceResult<'_>]) -> Vec<AffectedPart> {
    if application.destination().cluster.is_none_or(|c| c.name != application.fleet.hub.name) {
        return Vec::new();
    }
    let all = KindScope::BOTH.into_iter().flat_map(|scope| {
        let objects = application.fleet.hub.of_kind(PLACEMENT_GROUP, scope.placement());
        objects.map(move |object| PlacementView { scope, object })
    });
    all.filter(|p| results.iter().any(|r| is_about(*r, p.object))).flat_map(placement_parts).collect()
}

/// True if a result is that of an object.
fn is_about(result: ResourceResult<'_>, object: Object<'_>) -> bool {
    result.text("kind") == object.kind()
        && result.namespace() == object.namespace()
        && result.text("name") == object.name()
}

/// Returns the parts that a placement's findings affect.
pub(super) fn placement_parts(placement: PlacementView<'_>) -> Vec<AffectedPart> {
    let on_members = placement.clusters().map(|c| placement.part_on(c.member));
    on_members.chain([placement.part()]).collect()
}
