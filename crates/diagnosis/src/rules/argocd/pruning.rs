//! Resources that git doesn't have any more and that stay on the destination: a sync hasn't pruned them (AR-DL-006), or waits for a
//! person to confirm it (AR-DL-007). If they are placements on the hub, or what placements have selected there, pruning deletes them from
//! members, too (AR-KF-006).

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::application::{ApplicationView, OperationState, ResourceResult};
use super::destination::{TRACKING_ID, named_cluster, tracking_id};
use super::live_objects::{ManagedResource, object_names};
use super::tracking_label::LabelledObject;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::fleet::{PlacementView, distinct};
use crate::rules::index::resource_name;
use crate::rules::kubectl;
use crate::rules::pattern::{group, pattern_of_any_case};
use crate::{APPLICATION, Object};

/// Number of objects of a placement that a finding names.
const MOST_NAMED: usize = 5;

/// Annotation of an object with its sync options.
const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";

/// Message of an operation that waits for a confirmation. v3.2 writes `Waiting for pruning confirmation of v1/ConfigMap/old`, v3.5 writes
/// `waiting for pruning confirmation of /ConfigMap/old and 2 more resources`. No other field has it.
static CONFIRMATION: LazyLock<Regex> =
    LazyLock::new(|| pattern_of_any_case(r"waiting for pruning confirmation of \S*/(?<kind>[^/\s]+)/(?<name>[^/\s]+)"));

pub(super) fn rule(application: ApplicationView<'_>) -> Vec<FindingDraft> {
    let placed: Vec<_> = ManagedResource::all(application.object)
        .filter_map(|resource| PlacedResource::read(application, resource))
        .collect();
    let held_back = unconfirmed(application).or_else(|| not_pruned(application, &placed));
    held_back.into_iter().chain(takes_from_members(application, &placed)).collect()
}

/// Resource on the hub whose end is the end of what a placement has put on members.
struct PlacedResource<'a> {
    resource: ManagedResource<'a>,
    live: Object<'a>,
    placement: PlacementView<'a>,
}

impl<'a> PlacedResource<'a> {
    /// Reads a resource that git doesn't have any more; `None` if pruning it takes nothing from a member.
    fn read(application: ApplicationView<'a>, resource: ManagedResource<'a>) -> Option<Self> {
        let fleet = application.fleet;
        let is_on_hub = application.destination().cluster.is_some_and(|cluster| cluster.name == fleet.hub.name);
        if !is_on_hub || !resource.requires_pruning() || !resource.is_out_of_sync() || resource.is_hook() {
            return None;
        }
        let live = resource.live(application).filter(|live| live.deleted_at().is_none())?;
        // What several placements have selected goes from the members of all of them; the first stands for them.
        let selecting = fleet.placements_of_resource(resource.key());
        let itself = fleet.placements().filter(|placement| placement.object.path() == live.path());
        let placement = itself.chain(selecting).find(|placement| placement.clusters().next().is_some())?;
        (!is_kept(live)).then_some(Self { resource, live, placement })
    }
}

/// AR-KF-006: the next sync with pruning deletes something from members.
fn takes_from_members(application: ApplicationView<'_>, all: &[PlacedResource<'_>]) -> Option<FindingDraft> {
    let first = all.first()?;
    let mut evidence: Vec<_> = all.iter().map(|placed| quote_pruning(application, placed.resource)).collect();
    let quote = application.quote();
    for placed in all {
        let tracking = format!("metadata.annotations[{TRACKING_ID}]");
        evidence.extend(tracking_id(placed.live).map(|id| quote.text(placed.live, &tracking, id.to_owned(), None)));
    }
    let placements = distinct(all.iter().map(|placed| placed.placement).collect());
    let mut members = Vec::new();
    let mut lost = Vec::new();
    for placement in &placements {
        for status in placement.clusters() {
            members.push(status.member);
            let available = status.condition("Available").or(status.condition("Applied"));
            evidence.extend(available.map(|c| quote.condition_in(placement.object, status.place(), &c)));
        }
        let selected = placement.object.list("/status/selectedResources").iter();
        lost.extend(selected.take(MOST_NAMED).map(resource_name));
    }
    members.sort_unstable();
    members.dedup();
    let is_placement = first.placement.object.path() == first.live.path();
    let resources: Vec<_> = all.iter().map(|placed| placed.resource).collect();
    let names = json!({
        "objects": object_names(&resources),
        "refs": resources.iter().map(|resource| resource.reference()).collect::<Vec<_>>(),
        "placements": placements.iter().map(|placement| placement.full_name()).collect::<Vec<_>>().join(", "),
        "placement_refs": placements.iter().map(|p| kubectl::reference(p.object)).collect::<Vec<_>>(),
        "members": members.join(", "),
        "lost": if is_placement { lost.join(", ") } else { object_names(&resources) },
        "prunes_itself": application.is_automated() && application.automation("prune") == Some(true),
        "prune": super::names::prune_commands(application),
    });
    Some(application.draft_beside_sync(RuleCode::AR_KF_006, &names, evidence))
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
fn not_pruned(application: ApplicationView<'_>, placed: &[PlacedResource<'_>]) -> Option<FindingDraft> {
    let is_out_of_sync = application.object.str("/status/sync/status") == Some("OutOfSync");
    if !is_out_of_sync || application.operation_field("phase") != "Succeeded" {
        return None;
    }
    let left: Vec<ManagedResource<'_>> = ManagedResource::all(application.object)
        .filter(|resource| resource.requires_pruning() && resource.is_out_of_sync() && !resource.is_hook())
        // Of those whose end members would feel, AR-KF-006 tells.
        .filter(|resource| !placed.iter().any(|placed| placed.resource.key() == resource.key()))
        // Pruning would delete what another Application wants.
        .filter(|resource| !is_wanted_by_another(application, *resource))
        // Or what isn't this Application's own.
        .filter(|resource| LabelledObject::read(application, *resource).is_none())
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
        left.iter().copied().filter(|resource| resource.live(application).is_some_and(is_kept)).collect();
    let mut evidence: Vec<_> = left.iter().map(|resource| quote_pruning(application, *resource)).collect();
    evidence.extend(skipped.iter().map(|result| application.quote_result(*result)));
    if never_synced {
        evidence.push(application.quote().field(application.object, "spec.syncPolicy.automated"));
    }
    let destination = application.destination();
    evidence.extend(kept.iter().filter_map(|resource| {
        let live = resource.live(application)?;
        let path = format!("metadata.annotations[{SYNC_OPTIONS}]");
        Some(destination.quote().text(live, &path, live.annotation(SYNC_OPTIONS)?.to_owned(), None))
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
pub(super) fn is_wanted_by_another(application: ApplicationView<'_>, resource: ManagedResource<'_>) -> bool {
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
fn is_kept(live: Object<'_>) -> bool {
    live.annotation(SYNC_OPTIONS).is_some_and(|options| options.split(',').any(|option| option.trim() == "Prune=false"))
}
