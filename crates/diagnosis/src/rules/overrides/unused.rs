//! Overrides that have no effect, which the controllers report nowhere: notices about the override.

use jiff::SignedDuration;
use record::ConditionPlace;
use serde_json::json;

use super::{APPLICABLE, OverrideView};
use crate::kinds::{CLUSTER_ENVELOPE, ENVELOPE};
use crate::object::{text_at, text_field};
use crate::rules::availability::PATIENCE;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::fleet::{FleetView, PlacementView, full_name, subject};
use crate::rules::kubectl;
use crate::rules::scope::KindScope;
use crate::{JsonFields, JsonRef, Object};

/// Time in which an override gets its snapshot, and a placement lists what it selects.
const SETTLE_LIMIT: SignedDuration = SignedDuration::from_secs(15);

/// Number of resources and members that a finding names.
const MAX_NAMED: usize = 3;

pub(super) fn findings(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    OverrideView::all(fleet).filter_map(|it| without_effect(fleet, it)).collect()
}

fn without_effect(fleet: FleetView<'_>, it: OverrideView<'_>) -> Option<FindingDraft> {
    if fleet.age(it.object.changed_at()?) < SETTLE_LIMIT {
        return None;
    }
    if let Some(named) = it.placement() {
        let object = fleet.placement_object(named.scope.placement(), named.namespace, named.name);
        let placement = object.map(|object| PlacementView { scope: named.scope, object });
        match placement {
            None => return no_placement(fleet, it),
            Some(placement) if !has_selected(placement) => return None,
            Some(_) => {}
        }
    }
    let placements = it.placements(fleet);
    if placements.is_empty() {
        return enveloped(fleet, it).or_else(|| nothing_selected(fleet, it));
    }
    if placements.iter().any(|placement| is_applied(*placement, it)) {
        return None;
    }
    no_cluster(fleet, it, &placements).or_else(|| placements.iter().find_map(|p| ignored_by_run(fleet, it, *p)))
}

/// True if a placement's status lists what the placement selects at present.
fn has_selected(placement: PlacementView<'_>) -> bool {
    let scheduled = placement.condition("Scheduled");
    let has_valid_selectors = scheduled.is_some_and(|c| c.reason != "InvalidResourceSelectors");
    // With strategy External, the status lists no resources while members have different snapshots (v0.1.2).
    let is_known = !placement.is_external() || !placement.object.list("/status/selectedResources").is_empty();
    has_valid_selectors && is_known && placement.object.deleted_at().is_none()
}

/// True if a placement's status names a snapshot of the override as one that applies to a member.
fn is_applied(placement: PlacementView<'_>, it: OverrideView<'_>) -> bool {
    placement.clusters().any(|status| APPLICABLE.iter().any(|field| it.is_listed_in(status.list(field).iter())))
}

/// KF-OV-003, for an override that names a placement which doesn't exist: often a `ResourcePlacement` without `scope: Namespaced`.
fn no_placement(fleet: FleetView<'_>, it: OverrideView<'_>) -> Option<FindingDraft> {
    let named = it.placement()?;
    let namespace = it.object.namespace().filter(|_| named.scope == KindScope::Cluster);
    let namesake = namespace.and_then(|n| fleet.placement_object("ResourcePlacement", Some(n), named.name));
    // An override may be created some time before its placement.
    if namesake.is_none() && fleet.age(it.object.created_at()?) < PATIENCE {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence = vec![
        quote.field(it.object, "spec.placement"),
        quote.absent(named.scope.placement(), named.namespace, named.name),
    ];
    evidence.extend(namesake.map(|placement| quote.field(placement, "metadata.name")));
    Some(unselected(fleet, it, evidence, &[], namesake.is_some(), true))
}

/// KF-OV-003: no placement that the override is for places a resource that it selects.
fn nothing_selected(fleet: FleetView<'_>, it: OverrideView<'_>) -> Option<FindingDraft> {
    let quote = fleet.quote();
    let mut evidence = vec![quote.field(it.object, &format!("spec.{}", it.selectors_field()))];
    let Some(named) = it.placement() else {
        // What it selects may be placed later.
        let is_old = fleet.age(it.object.created_at()?) > PATIENCE;
        return is_old.then(|| unselected(fleet, it, evidence, &[], false, false));
    };
    let placement = fleet.placement_object(named.scope.placement(), named.namespace, named.name)?;
    evidence.push(quote.field(placement, "status.selectedResources"));
    let selected = placement.list("/status/selectedResources").iter();
    let is_near = |resource: &JsonRef<'_>| {
        it.selectors().iter().any(|s| ["kind", "name"].iter().any(|f| text_field(s, f) == text_field(*resource, f)))
    };
    let near: Vec<_> = selected.filter(is_near).map(describe).take(MAX_NAMED).collect();
    Some(unselected(fleet, it, evidence, &near, false, false))
}

fn unselected(
    fleet: FleetView<'_>,
    it: OverrideView<'_>,
    evidence: Vec<crate::Evidence>,
    near: &[String],
    is_wrong_scope: bool,
    is_placement_missing: bool,
) -> FindingDraft {
    let named = it.placement();
    let placement = named.as_ref().map(|p| format!("{} {}", p.scope.placement(), full_name(p.namespace, p.name)));
    let names = json!({
        "override": it.object.path().to_string(),
        "override_ref": kubectl::reference(it.object),
        "selected": it.selectors().iter().map(describe).collect::<Vec<_>>(),
        "placement": placement.unwrap_or_default(),
        "near": near,
        "is_wrong_scope": is_wrong_scope,
        "is_placement_missing": is_placement_missing,
    });
    FindingDraft::new(RuleCode::KF_OV_003, subject(fleet, it.object, None, None), &names, evidence)
}

/// Returns `Kind name` of a resource, with group and version.
fn describe(resource: JsonRef<'_>) -> String {
    let [group, version, kind, name] = ["group", "version", "kind", "name"].map(|field| text_field(resource, field));
    let slash = if group.is_empty() { "" } else { "/" };
    format!("{kind} {name} ({group}{slash}{version})")
}

/// KF-OV-005: the override selects an object that is wrapped in an envelope (without effect up to v0.3.1).
fn enveloped(fleet: FleetView<'_>, it: OverrideView<'_>) -> Option<FindingDraft> {
    let kind = if it.object.namespace().is_some() { ENVELOPE } else { CLUSTER_ENVELOPE };
    let mut envelopes = fleet.hub.of_kind(kind.group, kind.kind).filter(|e| e.namespace() == it.object.namespace());
    let wraps = |envelope: &Object<'_>| {
        it.selectors()
            .iter()
            .find(|selector| wrapped_objects(*envelope).any(|(_, object)| is_selected(*selector, object)))
    };
    let (envelope, selector) = envelopes.find_map(|envelope| Some((envelope, wraps(&envelope)?)))?;
    let key = [kind.group, kind.kind, it.object.namespace().unwrap_or_default(), envelope.name()];
    let placement = fleet.placements_of_resource(key).find(|placement| it.is_for(*placement))?;
    let (entry, _) = wrapped_objects(envelope).find(|(_, object)| is_selected(selector, *object))?;
    let quote = fleet.quote();
    let evidence = vec![
        quote.field(it.object, &format!("spec.{}", it.selectors_field())),
        quote.text(envelope, &format!("data[{entry}]"), describe(selector), None),
        quote.field(placement.object, "status.selectedResources"),
    ];
    let names = json!({
        "override": it.object.path().to_string(),
        "override_ref": kubectl::reference(it.object),
        "selected": describe(selector),
        "envelope": envelope.path().to_string(),
        "envelope_ref": kubectl::reference(envelope),
        "placement": placement.full_name(),
    });
    Some(FindingDraft::new(RuleCode::KF_OV_005, subject(fleet, it.object, None, None), &names, evidence))
}

/// Returns the objects that an envelope wraps, by the names of their entries.
fn wrapped_objects(envelope: Object<'_>) -> impl Iterator<Item = (&str, JsonRef<'_>)> {
    envelope.at("/data").and_then(JsonRef::as_object).map(JsonFields::iter).into_iter().flatten()
}

/// True if a selector of an override is for a wrapped object.
fn is_selected(selector: JsonRef<'_>, object: JsonRef<'_>) -> bool {
    let [group, version, kind, name] = ["group", "version", "kind", "name"].map(|field| text_field(selector, field));
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    (text_field(object, "apiVersion"), text_field(object, "kind"), text_at(object, "/metadata/name"))
        == (api_version.as_str(), kind, name)
}

/// KF-OV-004: none of the members that the placements have chosen matches a rule.
fn no_cluster(fleet: FleetView<'_>, it: OverrideView<'_>, placements: &[PlacementView<'_>]) -> Option<FindingDraft> {
    let mut members: Vec<&str> = placements.iter().flat_map(|p| p.clusters()).map(|status| status.member).collect();
    members.sort_unstable();
    members.dedup();
    // A selector that can't be parsed stops the rollout, which is another failure.
    let is_for_any = members.iter().any(|member| it.matches(fleet, member));
    if members.is_empty() || is_for_any || it.invalid_selector().is_some() {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence = vec![quote.field(it.object, "spec.policy.overrideRules")];
    let clusters = members
        .iter()
        .take(MAX_NAMED)
        .filter_map(|member| fleet.hub.object(crate::kubefleet::CLUSTER_GROUP, "MemberCluster", None, member));
    evidence.extend(clusters.map(|cluster| quote.field(cluster, "metadata.labels")));
    let mut named: Vec<String> = members.iter().take(MAX_NAMED).map(|&member| member.to_owned()).collect();
    if members.len() > MAX_NAMED {
        named.push(format!("{} more", members.len() - MAX_NAMED));
    }
    let names = json!({
        "override": it.object.path().to_string(),
        "override_ref": kubectl::reference(it.object),
        "placements": placements.iter().take(MAX_NAMED).map(|p| p.full_name()).collect::<Vec<_>>(),
        "members": named,
        "has_selector": it.rules().iter().any(|rule| rule.get("clusterSelector").is_some_and(|s| !s.is_null())),
    });
    Some(FindingDraft::new(RuleCode::KF_OV_004, subject(fleet, it.object, None, None), &names, evidence))
}

/// KF-OV-008: the newest update run of a `ResourcePlacement` has left out an override that names the placement. The controller compares
/// the placement's name with its namespace against the name without it (`recordOverrideSnapshots` in `pkg/controllers/updaterun`, v0.1.2,
/// v0.3.1).
fn ignored_by_run(fleet: FleetView<'_>, it: OverrideView<'_>, placement: PlacementView<'_>) -> Option<FindingDraft> {
    let named = it.placement().filter(|named| named.scope == KindScope::Namespaced)?;
    if !placement.is_external() {
        return None;
    }
    let run = placement.runs(fleet).max_by_key(|run| run.object.created_at())?;
    let is_initialized = run.condition("Initialized").is_some_and(|c| c.status == "True");
    if !is_initialized || run.object.created_at()? < it.object.changed_at()? {
        return None;
    }
    let clusters: Vec<_> = run.stages().flat_map(|stage| stage.clusters().collect::<Vec<_>>()).collect();
    let left_out = clusters.iter().find(|cluster| it.matches(fleet, cluster.member))?;
    if clusters.iter().any(|cluster| it.is_listed_in(cluster.list("resourceOverrideSnapshots").iter())) {
        return None;
    }
    let quote = fleet.quote();
    let place = ConditionPlace::StageMember { stage: left_out.stage.to_owned(), member: left_out.member.to_owned() };
    let path = format!("{}.resourceOverrideSnapshots", place.field_path());
    let evidence = vec![
        quote.field(it.object, "spec.placement"),
        quote.text(run.object, &path, "(absent)".to_owned(), run.object.created_at()),
    ];
    let names = json!({
        "override": it.object.path().to_string(),
        "override_ref": kubectl::reference(it.object),
        "placement": full_name(named.namespace, named.name),
        "run": run.full_name(),
        "run_kind": placement.scope.run(),
    });
    Some(FindingDraft::new(RuleCode::KF_OV_008, subject(fleet, it.object, None, None), &names, evidence))
}
