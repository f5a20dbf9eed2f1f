//! Placements that report no failure and place nothing: their policy selects no member, or their selectors
//! select no object.

use jiff::Timestamp;
use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, PlacementView};
use super::hub_agent::REACTION_LIMIT;
use super::kubectl;
use super::not_taken::{Group, by_code};
use super::shortage::Shortage;
use crate::kinds::NAMESPACE;
use crate::object::text_field;
use crate::{Condition, Evidence, JsonRef};

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    // An update run says itself that there is no member, and decides which resources are placed.
    for placement in fleet.placements().filter(|placement| !placement.is_external()) {
        let Some(scheduled) = placement.condition("Scheduled").filter(|c| c.status == "True") else { continue };
        if placement.clusters().next().is_none() {
            // The hub-agent writes the transition time again at each reconcile, together with the empty list (v0.1.2).
            if is_older(fleet, placement.object.changed_at()) {
                drafts.extend(no_member(fleet, placement, &scheduled));
            }
        } else if is_older(fleet, scheduled.last_transition_time.max(placement.object.changed_at())) {
            drafts.extend(no_object(fleet, placement, &scheduled));
        }
    }
    drafts
}

/// True if a time is longer ago than the hub-agent takes to react.
fn is_older(fleet: FleetView<'_>, time: Option<Timestamp>) -> bool {
    time.is_some_and(|time| fleet.age(time) > REACTION_LIMIT)
}

/// KF-SC-010: a policy without a number selects no member, which counts as scheduled.
fn no_member(fleet: FleetView<'_>, placement: PlacementView<'_>, scheduled: &Condition) -> Option<FindingDraft> {
    let object = placement.object;
    let type_ = object.str("/spec/policy/placementType").unwrap_or("PickAll");
    if type_ != "PickAll" {
        return None;
    }
    let shortage = Shortage::of(fleet, placement);
    // The scheduler will take a member that fits when it looks again. A hub without members is rather one whose members couldn't
    // be read.
    if shortage.fleet_size == 0 || shortage.waits(fleet).is_some() {
        return None;
    }
    let group = by_code(&shortage, 1).into_iter().next();
    let quote = fleet.quote();
    let mut evidence = vec![quote.condition(object, scheduled), quote.field(object, "spec.policy")];
    let mut names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(object),
        "reasons": "",
        "members": "",
        "member_refs": [],
        "without": [],
        "remedy": [],
        "untaint": [],
    });
    if let Some(group) = &group {
        evidence.extend(group.evidence(fleet, placement));
        group.add_names(placement, &mut names);
    }
    let draft = FindingDraft::new(RuleCode::KF_SC_010, placement.subject(fleet, None), &names, evidence);
    let parts = group.iter().flat_map(Group::parts);
    Some(parts.fold(draft.depends_on(AffectedPart::HubAgentClock), FindingDraft::depends_on))
}

/// KF-SC-011: no resource selector selects anything. One of several may well be for an object that isn't always there.
fn no_object(fleet: FleetView<'_>, placement: PlacementView<'_>, scheduled: &Condition) -> Option<FindingDraft> {
    let object = placement.object;
    let selectors = object.list("/spec/resourceSelectors");
    if selectors.is_empty() || !object.list("/status/selectedResources").is_empty() {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence = vec![quote.condition(object, scheduled)];
    for (position, selector) in selectors.iter().enumerate() {
        let path = format!("spec.resourceSelectors[{position}]");
        evidence.push(quote.text(object, &path, selector.to_text(), None));
        evidence.extend(absent_namespace(fleet, selector));
    }
    evidence.push(quote.field(object, "status.selectedResources"));
    let texts: Vec<_> = selectors.iter().map(selector_text).collect();
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(object),
        "selectors": texts.join(", no "),
    });
    Some(FindingDraft::new(RuleCode::KF_SC_011, placement.subject(fleet, None), &names, evidence))
}

/// Quotes the absence of the namespace that a selector names.
fn absent_namespace(fleet: FleetView<'_>, selector: JsonRef<'_>) -> Option<Evidence> {
    let [group, kind, name] = ["group", "kind", "name"].map(|field| text_field(selector, field));
    let is_namespace = (group, kind) == (NAMESPACE.group, NAMESPACE.kind) && !name.is_empty();
    let is_absent = is_namespace && fleet.hub.object(group, kind, None, name).is_none();
    is_absent.then(|| fleet.quote().absent(kind, None, name))
}

/// Returns a selector in words: `Namespace web`, or `ConfigMap by label`.
fn selector_text(selector: JsonRef<'_>) -> String {
    let [kind, name] = ["kind", "name"].map(|field| text_field(selector, field));
    if name.is_empty() { format!("{kind} by label") } else { format!("{kind} {name}") }
}
