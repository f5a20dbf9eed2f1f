//! Overrides that fail: one that can't be applied on a member, and one that stops whole rollouts.

use std::sync::LazyLock;

use jiff::SignedDuration;
use regex::Regex;
use serde_json::{Value, json};

use super::{APPLICABLE, OverrideView, find, override_kinds, snapshot_parent, snapshot_reference};
use crate::kubefleet::{CLUSTER_GROUP, PLACEMENT_GROUP};
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::fleet::{FleetView, MemberPlacement, PlacementView, full_name};
use crate::rules::pattern::{group, pattern_of_any_case};
use crate::rules::{kubectl, resource_snapshot};
use crate::{Condition, Evidence, JsonRef, Object};

/// Time for which a rollout may be undecided without counting as a failure.
const DECISION_LIMIT: SignedDuration = SignedDuration::from_secs(15);

pub(super) fn findings(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        drafts.extend(placement.clusters().filter_map(|status| not_applied(fleet, placement, status)));
    }
    let invalid = OverrideView::all(fleet).filter_map(|it| Some((it, it.invalid_selector()?)));
    drafts.extend(invalid.flat_map(|(it, selector)| stopped_rollouts(fleet, it, selector)));
    drafts
}

/// Snapshot of an override that a member's resources are overridden by.
struct AppliedSnapshot<'a> {
    field: &'static str,
    namespace: Option<&'a str>,
    name: &'a str,
}

impl<'a> AppliedSnapshot<'a> {
    fn all(status: MemberPlacement<'a>) -> Vec<Self> {
        let of_field = |field| {
            status.list(field).iter().map(move |snapshot| {
                let (namespace, name) = snapshot_reference(snapshot);
                Self { field, namespace, name }
            })
        };
        APPLICABLE.into_iter().flat_map(of_field).collect()
    }

    fn object(&self, fleet: FleetView<'a>) -> Option<Object<'a>> {
        fleet.placement_object(override_kinds(self.namespace).1, self.namespace, self.name)
    }

    /// Kind, namespace and name of the override.
    fn override_path(&self) -> String {
        format!("{}/{}", override_kinds(self.namespace).0, full_name(self.namespace, snapshot_parent(self.name)))
    }

    /// Words by which kubectl finds the override.
    fn override_reference(&self) -> Vec<String> {
        let (kind, _) = override_kinds(self.namespace);
        kubectl::reference_by_name(PLACEMENT_GROUP, kind, self.namespace, snapshot_parent(self.name))
    }
}

/// KF-OV-001, 002 and 006: the overrides for a member can't be applied.
fn not_applied(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
) -> Option<FindingDraft> {
    let failed = status.condition("Overridden").filter(|c| c.status == "False")?;
    // The condition also stands for a resource snapshot that is gone (v0.1.2).
    if resource_snapshot::missing_snapshot(fleet, placement, status.member).is_some() {
        return None;
    }
    let snapshots = AppliedSnapshot::all(status);
    let mut evidence = placement.symptom(fleet, status, &failed);
    evidence.extend(snapshots.iter().map(|snapshot| {
        let path = format!("{}.{}", status.place().field_path(), snapshot.field);
        fleet.quote().text(placement.object, &path, snapshot.name.to_owned(), None)
    }));
    let (code, details) = missing_snapshot(fleet, placement, &failed, &snapshots)
        .or_else(|| missing_label(fleet, status.member, &failed, &snapshots))
        .unwrap_or((RuleCode::KF_OV_001, FailureDetails::default()));
    evidence.extend(details.evidence);
    let mut names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": status.member,
        "message": failed.message,
        "overrides": snapshots.iter().map(AppliedSnapshot::override_reference).collect::<Vec<_>>(),
        "detached": detached(fleet, &snapshots),
    });
    if let (Some(names), Some(more)) = (names.as_object_mut(), details.names.as_object()) {
        names.extend(more.clone());
    }
    let draft = FindingDraft::new(code, placement.subject(fleet, Some(status.member)), &names, evidence);
    Some(draft.affects(placement.part_on(status.member)))
}

/// What is known of a failure beyond its condition.
#[derive(Default)]
struct FailureDetails {
    evidence: Vec<Evidence>,
    names: Value,
}

/// Returns the names of the overrides that name no placement. A change of these starts no rollout.
fn detached(fleet: FleetView<'_>, snapshots: &[AppliedSnapshot<'_>]) -> Vec<String> {
    let overrides = snapshots.iter().filter_map(|s| find(fleet, s.namespace, snapshot_parent(s.name)));
    let mut names: Vec<_> =
        overrides.filter(|it| it.placement().is_none()).map(|it| it.object.path().to_string()).collect();
    names.sort();
    names.dedup();
    names
}

/// KF-OV-002: a snapshot of an override that the binding names is gone. Only the condition's message tells that the controller has looked
/// for it (`fetchResourceOverrideSnapshots` in `pkg/controllers/workgenerator/override.go`, v0.1.2).
fn missing_snapshot(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    failed: &Condition,
    snapshots: &[AppliedSnapshot<'_>],
) -> Option<(RuleCode, FailureDetails)> {
    static NOT_FOUND: LazyLock<Regex> =
        LazyLock::new(|| pattern_of_any_case("ResourceOverrideSnapshot .+ is not found"));
    if !NOT_FOUND.is_match(&failed.message) {
        return None;
    }
    let missing: Vec<_> = snapshots.iter().filter(|snapshot| snapshot.object(fleet).is_none()).collect();
    let first = missing.first()?;
    let (kind, snapshot_kind) = override_kinds(first.namespace);
    let parent = snapshot_parent(first.name);
    let quote = fleet.quote();
    let mut evidence = vec![quote.absent(snapshot_kind, first.namespace, first.name)];
    let is_deleted = find(fleet, first.namespace, parent).is_none();
    if is_deleted {
        evidence.push(quote.absent(kind, first.namespace, parent));
    }
    let names = json!({
        "snapshot": format!("{snapshot_kind}/{}", full_name(first.namespace, first.name)),
        "override": first.override_path(),
        "is_deleted": is_deleted,
        "is_external": placement.is_external(),
        "run_kind": placement.scope.run(),
        "stuck_run_refs": resource_snapshot::stuck_run_references(fleet, placement),
        "again": resource_snapshot::new_run(fleet, placement),
    });
    Some((RuleCode::KF_OV_002, FailureDetails { evidence, names }))
}

/// KF-OV-006: an override's value has a variable for a label that the member doesn't have. Snapshots are read without such values, so only the
/// condition's message tells the label (`replaceClusterLabelKeyVariables` in `pkg/controllers/workgenerator/override.go`, v0.1.2).
fn missing_label(
    fleet: FleetView<'_>,
    member: &str,
    failed: &Condition,
    snapshots: &[AppliedSnapshot<'_>],
) -> Option<(RuleCode, FailureDetails)> {
    static UNKNOWN: LazyLock<Regex> =
        LazyLock::new(|| pattern_of_any_case(r"label key (?P<label>\S+) not found on cluster"));
    let found = UNKNOWN.captures(&failed.message)?;
    let label = group(&found, "label");
    let cluster = fleet.hub.object(CLUSTER_GROUP, "MemberCluster", None, member)?;
    if cluster.label(label).is_some() {
        return None;
    }
    let quote = fleet.quote();
    let objects = snapshots.iter().filter_map(|snapshot| snapshot.object(fleet));
    let mut evidence: Vec<_> =
        objects.map(|object| quote.field(object, "spec.overrideSpec.policy.overrideRules")).collect();
    evidence.push(quote.field(cluster, "metadata.labels"));
    let overrides: Vec<String> = snapshots.iter().map(AppliedSnapshot::override_path).collect();
    let names = json!({
        "override": overrides.join(", "),
        "label": label,
        "member_ref": kubectl::reference(cluster),
    });
    Some((RuleCode::KF_OV_006, FailureDetails { evidence, names }))
}

/// KF-OV-007: the rollout controller can't parse an override's cluster selector, and decides nothing for any placement that places what
/// the override selects.
fn stopped_rollouts<'a>(
    fleet: FleetView<'a>,
    invalid: OverrideView<'a>,
    selector: JsonRef<'a>,
) -> impl Iterator<Item = FindingDraft> {
    let placements = invalid.placements(fleet).into_iter().filter(|placement| !placement.is_external());
    placements.filter_map(move |placement| {
        let undecided = placement.condition("RolloutStarted").filter(|c| c.status == "Unknown")?;
        if fleet.age(undecided.last_transition_time?) < DECISION_LIMIT {
            return None;
        }
        let quote = fleet.quote();
        let evidence = vec![
            quote.condition(placement.object, &undecided),
            quote.field(invalid.object, "spec.policy.overrideRules"),
        ];
        let names = json!({
            "placement": placement.full_name(),
            "override": invalid.object.path().to_string(),
            "override_ref": kubectl::reference(invalid.object),
            "selector": selector.to_text(),
        });
        let draft = FindingDraft::new(RuleCode::KF_OV_007, placement.subject(fleet, None), &names, evidence);
        let draft = placement.parts().fold(draft, FindingDraft::affects);
        Some(draft.common_cause(invalid.object.path().to_string()))
    })
}
