//! Objects of a placement that aren't applied on a member, and the reasons that the member agent reports.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::SignedDuration;
use record::{ConditionPlace, ObjectPath};
use regex::Regex;
use serde_json::{Value, json};

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::drift::both_values;
use super::evidence_source::EvidenceSource;
use super::fleet::{FleetView, MemberPlacement, PlacementView, full_name};
use super::kubectl;
use super::missing_namespace;
use super::outcome::DELETION_LIMIT;
use super::pattern::pattern_of_any_case;
use crate::kinds::{APPLIED_WORK, NAMESPACE};
use crate::object::text_field;
use crate::{ClusterSnapshot, Condition, Evidence, GroupKind, JsonRef, MEMBER_KINDS, Object, ObjectSelection};

/// Time for which applying may fail without counting as a failure, if the reason may pass: a missing namespace or
/// definition may be created a moment later, by the same placement even.
const TRANSIENT_LIMIT: SignedDuration = SignedDuration::from_secs(15);

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        for status in placement.clusters() {
            let Some(applied) = status.condition("Applied").filter(|c| c.status == "False") else { continue };
            drafts.extend(not_applied(fleet, placement, status, &applied));
        }
    }
    drafts
}

/// Object that isn't applied, as the placement's status lists it.
struct FailedObject<'a> {
    /// Entry of the object in failedPlacements.
    value: JsonRef<'a>,
    condition: Condition,
}

impl FailedObject<'_> {
    fn text(&self, field: &str) -> &str {
        text_field(self.value, field)
    }

    /// Kind and name: `Kind name` or `Kind namespace/name`.
    fn object(&self) -> String {
        format!("{} {}", self.text("kind"), full_name(self.namespace(), self.text("name")))
    }

    fn namespace(&self) -> Option<&str> {
        Some(self.text("namespace")).filter(|n| !n.is_empty())
    }

    /// Part of the placement that lists the object.
    fn place(&self, member: &str) -> ConditionPlace {
        let resource = ObjectPath::new(self.text("kind"), self.namespace(), self.text("name"));
        ConditionPlace::FailedPlacement { member: member.to_owned(), resource, envelope: None }
    }

    /// Words by which kubectl finds the object.
    fn reference(&self) -> Vec<String> {
        kubectl::reference_by_name(self.text("group"), self.text("kind"), self.namespace(), self.text("name"))
    }
}

/// KF-AP-002 to 009: one finding for each reason, with all objects that fail for that reason.
fn not_applied(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    applied: &Condition,
) -> Vec<FindingDraft> {
    let mut by_code: BTreeMap<RuleCode, Vec<FailedObject<'_>>> = BTreeMap::new();
    for value in status.failed() {
        let condition = value.get("condition").and_then(Condition::read);
        let condition = condition.filter(|c| c.type_ == "Applied" && c.status == "False");
        let Some(condition) = condition else { continue };
        let code = failure_code(&condition);
        let since = condition.last_transition_time.or(applied.last_transition_time);
        let young = since.is_some_and(|s| fleet.now().duration_since(s) < TRANSIENT_LIMIT);
        if young && !matches!(code, RuleCode::KF_AP_002 | RuleCode::KF_AP_004) {
            continue;
        }
        let object = FailedObject { value, condition };
        // The member agent's next attempt applies it.
        let has_namespace_now =
            || object.namespace().is_some_and(|n| missing_namespace::is_there(fleet, n, status.member));
        if code == RuleCode::KF_AP_006 && has_namespace_now() {
            continue;
        }
        if is_refused_by_passing_deletion(fleet, status.member, &object) {
            continue;
        }
        by_code.entry(code).or_default().push(object);
    }
    by_code.into_iter().map(|(code, failed)| apply_failure(fleet, placement, status, applied, code, &failed)).collect()
}

/// True if the member refused an object because its namespace was being deleted, and the namespace is gone since, or its deletion
/// is young. The condition keeps its old transition time when its message changes (v0.1.2).
fn is_refused_by_passing_deletion(fleet: FleetView<'_>, member: &str, failed: &FailedObject<'_>) -> bool {
    static TERMINATING: LazyLock<Regex> = LazyLock::new(|| pattern_of_any_case("because it is being terminated"));
    let cluster = fleet.snapshot.member(member).filter(|cluster| cluster.is_complete());
    let (Some(cluster), Some(namespace)) = (cluster, failed.namespace()) else { return false };
    if !TERMINATING.is_match(&failed.condition.message) {
        return false;
    }
    let namespace = cluster.object("", NAMESPACE.kind, None, namespace);
    let deleted_at = namespace.and_then(|namespace| namespace.deleted_at());
    namespace.is_none() || deleted_at.is_some_and(|at| fleet.age(at) < DELETION_LIMIT)
}

/// Returns the code for an Applied condition of the member agent. Messages tell causes apart that have the same reason.
fn failure_code(condition: &Condition) -> RuleCode {
    static OWNED: LazyLock<Regex> =
        LazyLock::new(|| pattern_of_any_case("already owned by|co-?ownership is disallowed"));
    match condition.reason.as_str() {
        "FailedToTakeOver" if OWNED.is_match(&condition.message) => RuleCode::KF_AP_003,
        "FailedToTakeOver" | "NotTakenOver" => RuleCode::KF_AP_002,
        "FoundDrifts" | "FoundDriftsInDegradedMode" => RuleCode::KF_AP_004,
        "DecodingErred" => RuleCode::KF_AP_005,
        _ if lacks_namespace(condition) => RuleCode::KF_AP_006,
        _ => RuleCode::KF_AP_009,
    }
}

/// True if an object isn't applied because its namespace doesn't exist on the member.
pub(super) fn lacks_namespace(condition: &Condition) -> bool {
    static NO_NAMESPACE: LazyLock<Regex> = LazyLock::new(|| pattern_of_any_case(r#"\bnamespaces? "[^"]+" not found"#));
    NO_NAMESPACE.is_match(&condition.message)
}

fn apply_failure(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    applied: &Condition,
    code: RuleCode,
    failed: &[FailedObject<'_>],
) -> FindingDraft {
    let quote = fleet.quote();
    let mut evidence = vec![quote.condition_in(placement.object, status.place(), applied)];
    for object in failed {
        evidence.push(quote.condition_in(placement.object, object.place(status.member), &object.condition));
    }
    if code == RuleCode::KF_AP_004 {
        let path = status.place().field_path();
        evidence
            .extend(status.list("driftedPlacements").iter().flat_map(|object| drifts(quote, placement, &path, object)));
    }
    let strategy = placement.object.at("/spec/strategy/applyStrategy");
    if matches!(code, RuleCode::KF_AP_002 | RuleCode::KF_AP_003 | RuleCode::KF_AP_004) && strategy.is_some() {
        evidence.push(quote.field(placement.object, "spec.strategy.applyStrategy"));
    }
    let owners = if code == RuleCode::KF_AP_003 { other_placements_of(fleet, placement, failed) } else { Vec::new() };
    let namespaces_there = failed.iter().filter(|f| f.text("group").is_empty() && f.text("kind") == "Namespace");
    let contents = namespaces_there.map(|f| namespace_contents(fleet, status.member, f.text("name")));
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": status.member,
        "objects": failed.iter().map(FailedObject::object).collect::<Vec<_>>().join(", "),
        "refs": failed.iter().map(FailedObject::reference).collect::<Vec<_>>(),
        "namespaces": namespaces(failed),
        "owners": owners.iter().map(|owner| owner.full_name()).collect::<Vec<_>>().join(", "),
        "owner_refs": owners.iter().map(|owner| kubectl::reference(owner.object)).collect::<Vec<_>>(),
        "contents": contents.collect::<Vec<_>>(),
        "has_definition": failed.iter().any(|f| f.text("kind") == "CustomResourceDefinition"),
        "read_kinds": namespaced_kinds().map(|kind| kind.kind).collect::<Vec<_>>().join(", "),
        "message": failed.first().map(|f| f.condition.message.clone()).unwrap_or_default(),
    });
    let draft = FindingDraft::new(code, placement.subject(fleet, Some(status.member)), &names, evidence);
    let draft =
        draft.affects(placement.part_on(status.member)).depends_on(AffectedPart::Member(status.member.to_owned()));
    let mut namespaces = failed.iter().filter(|_| code == RuleCode::KF_AP_006).filter_map(FailedObject::namespace);
    match namespaces.find_map(|name| missing_namespace::placement_on_its_way(fleet, name, status.member)) {
        // Nothing has failed while the namespace is on its way.
        Some(other) => draft.depends_on(other.part_on(status.member)).depends_on(other.part()).only_as_consequence(),
        None => draft,
    }
}

/// Returns the kinds of namespaced objects that are read from members.
fn namespaced_kinds() -> impl Iterator<Item = &'static GroupKind> {
    MEMBER_KINDS.iter().filter(|kind| ![NAMESPACE, APPLIED_WORK].contains(kind))
}

/// Returns the objects that the snapshot has in a namespace of a member. Pods are left out, because they come and go
/// with their workloads.
fn namespace_contents(fleet: FleetView<'_>, member: &str, namespace: &str) -> Value {
    let cluster = fleet.snapshot.member(member).filter(|cluster| cluster.unreachable.is_none());
    let objects = cluster.into_iter().flat_map(|cluster| contents(cluster, namespace));
    let there = objects.filter(|o| o.kind() != "Pod");
    let mut names: Vec<String> = there.map(|o| format!("{} {}", o.kind(), o.name())).collect();
    names.sort();
    json!({"namespace": namespace, "is_read": cluster.is_some(), "objects": names.join(", ")})
}

/// Returns the objects in a namespace of a member, of the kinds that are read from members.
fn contents<'a>(cluster: &'a ClusterSnapshot, namespace: &str) -> Vec<Object<'a>> {
    for kind in namespaced_kinds() {
        cluster.ask(kind.group, kind.kind, || ObjectSelection::InNamespace(namespace.to_owned()));
    }
    cluster.objects.in_namespace(namespace).collect()
}

/// Returns evidence of an object's drift, one item for each field that differs.
fn drifts(quote: EvidenceSource<'_>, placement: PlacementView<'_>, path: &str, object: JsonRef<'_>) -> Vec<Evidence> {
    let name = text_field(object, "name");
    let mut evidence = Vec::new();
    for drift in object.get("observedDrifts").and_then(JsonRef::as_array).into_iter().flatten() {
        let path = format!("{path}.driftedPlacements[{name}]{}", text_field(drift, "path"));
        evidence.push(quote.text(placement.object, &path, both_values(drift), None));
    }
    evidence
}

/// Returns the other placements that have selected one of these objects.
fn other_placements_of<'a>(
    fleet: FleetView<'a>,
    placement: PlacementView<'_>,
    failed: &[FailedObject<'_>],
) -> Vec<PlacementView<'a>> {
    let resources = failed.iter().map(|failed| ["group", "kind", "namespace", "name"].map(|field| failed.text(field)));
    let placements = resources.flat_map(|resource| fleet.placements_of_resource(resource));
    let mut others: Vec<_> = placements.filter(|other| !is_same_placement(*other, placement)).collect();
    others.sort_by_key(|other| (other.scope, other.full_name()));
    others.dedup_by_key(|other| (other.scope, other.full_name()));
    others
}

fn is_same_placement(a: PlacementView<'_>, b: PlacementView<'_>) -> bool {
    a.scope == b.scope && a.full_name() == b.full_name()
}

fn namespaces(failed: &[FailedObject<'_>]) -> String {
    let mut names: Vec<&str> = failed.iter().map(|f| f.text("namespace")).filter(|n| !n.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}
