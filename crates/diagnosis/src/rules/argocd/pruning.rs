//! Resources that git doesn't have any more and that stay on the destination: a sync hasn't pruned them (AR-DL-006), or waits for a
//! person to confirm it (AR-DL-007).

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::application::{ApplicationView, OperationState, ResourceResult};
use super::destination::named_cluster;
use super::live_objects::{ManagedResource, object_names};
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::pattern::{group, pattern_of_any_case};
use crate::{APPLICATION, JsonRef};

/// Annotation of an object with its sync options.
const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";

/// Message of an operation that waits for a confirmation. v3.2 writes `Waiting for pruning confirmation of v1/ConfigMap/old`, v3.5 writes
/// `waiting for pruning confirmation of /ConfigMap/old and 2 more resources`. No other field has it.
static CONFIRMATION: LazyLock<Regex> =
    LazyLock::new(|| pattern_of_any_case(r"waiting for pruning confirmation of \S*/(?<kind>[^/\s]+)/(?<name>[^/\s]+)"));

pub(super) fn rule(application: ApplicationView<'_>) -> Option<FindingDraft> {
    unconfirmed(application).or_else(|| not_pruned(application))
}

/// AR-DL-007: the operation waits for a confirmation, and applies nothing else of its wave before (v3.2 and v3.5).
fn unconfirmed(application: ApplicationView<'_>) -> Option<FindingDraft> {
    if application.operation_state() != OperationState::Running {
        return None;
    }
    let captures = CONFIRMATION.captures(application.operation_field("message"))?;
    let (kind, name) = (group(&captures, "kind"), group(&captures, "name"));
    // An operation may be newer than the comparison that requiresPruning comes from.
    let pruned: Vec<ManagedResource<'_>> = ManagedResource::all(application.object)
        .filter(|resource| {
            resource.requires_pruning() || (resource.text("kind"), resource.text("name")) == (kind, name)
        })
        .collect();
    let mut evidence = vec![application.quote_operation()];
    let marked = pruned.iter().filter(|resource| resource.requires_pruning());
    evidence.extend(marked.map(|resource| quote_pruning(application, *resource)));
    let names = json!({
        "objects": if pruned.is_empty() { format!("{kind} {name}") } else { object_names(&pruned) },
        "confirm": super::names::confirm_commands(application),
    });
    Some(application.draft_beside_sync(RuleCode::AR_DL_007, &names, evidence))
}

/// AR-DL-006: the last operation has synced the present commit and has left resources that git doesn't have any more.
fn not_pruned(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let is_out_of_sync = application.object.str("/status/sync/status") == Some("OutOfSync");
    if !is_out_of_sync || application.operation_field("phase") != "Succeeded" {
        return None;
    }
    let left: Vec<ManagedResource<'_>> = ManagedResource::all(application.object)
        .filter(|resource| resource.requires_pruning() && resource.is_out_of_sync() && !resource.is_hook())
        // Pruning would delete what another Application wants.
        .filter(|resource| !is_wanted_by_another(application, *resource))
        .collect();
    let skipped: Vec<ResourceResult<'_>> = application
        .results()
        .filter(|result| {
            result.text("status") == "PruneSkipped" && left.iter().any(|resource| resource.key() == result.key())
        })
        .collect();
    // Automated sync without pruning doesn't sync a commit that only removes resources, so there is no result.
    let syncs_without_pruning = application.is_automated() && application.automation("prune") != Some(true);
    let never_synced = skipped.is_empty() && syncs_without_pruning && has_nothing_else(application);
    if left.is_empty() || (skipped.is_empty() && !never_synced) {
        return None;
    }
    let kept: Vec<ManagedResource<'_>> =
        left.iter().copied().filter(|resource| is_kept(application, *resource)).collect();
    let mut evidence: Vec<_> = left.iter().map(|resource| quote_pruning(application, *resource)).collect();
    evidence.extend(skipped.iter().map(|result| application.quote_result(*result)));
    if never_synced {
        evidence.push(application.quote().field(application.object, "spec.syncPolicy.automated"));
    }
    let destination = application.destination();
    evidence.extend(kept.iter().filter_map(|resource| {
        let live = resource.live(application)?;
        let path = format!("metadata.annotations[{SYNC_OPTIONS}]");
        Some(destination.quote().text(live, &path, sync_options(live.value())?.to_owned(), None))
    }));
    let names = json!({
        "objects": object_names(&left),
        "refs": left.iter().map(|resource| resource.reference()).collect::<Vec<_>>(),
        "kept": object_names(&kept),
        "kept_refs": kept.iter().map(|resource| resource.reference()).collect::<Vec<_>>(),
        "all_kept": kept.len() == left.len(),
        "never_synced": never_synced,
        "prune": super::names::prune_commands(application),
    });
    Some(application.draft_beside_sync(RuleCode::AR_DL_006, &names, evidence))
}

/// True if git has a resource for another Application with the same destination.
fn is_wanted_by_another(application: ApplicationView<'_>, resource: ManagedResource<'_>) -> bool {
    let fleet = application.fleet;
    let cluster = |object| named_cluster(fleet, object).map(|cluster| cluster.name.as_str());
    let own = cluster(application.object);
    let all = fleet.hub.of_kind(APPLICATION.group, APPLICATION.kind);
    let others = all.filter(|other| *other != application.object && cluster(*other) == own);
    others.flat_map(ManagedResource::all).any(|other| !other.requires_pruning() && other.key() == resource.key())
}

fn quote_pruning(application: ApplicationView<'_>, resource: ManagedResource<'_>) -> crate::Evidence {
    let path = format!("status.resources[{}].requiresPruning", resource.object());
    application.quote().text(application.object, &path, "true".to_owned(), None)
}

/// True if no resource is out of sync besides those that git doesn't have any more.
fn has_nothing_else(application: ApplicationView<'_>) -> bool {
    ManagedResource::all(application.object).all(|resource| !resource.is_out_of_sync() || resource.requires_pruning())
}

/// True if an object is to stay by its own sync options, whatever a sync is asked for.
fn is_kept(application: ApplicationView<'_>, resource: ManagedResource<'_>) -> bool {
    let live = resource.live(application);
    live.and_then(|live| sync_options(live.value()))
        .is_some_and(|options| options.split(',').any(|option| option.trim() == "Prune=false"))
}

fn sync_options(object: JsonRef<'_>) -> Option<&str> {
    object.pointer("/metadata/annotations")?.get(SYNC_OPTIONS)?.as_str()
}
