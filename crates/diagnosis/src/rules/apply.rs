//! Objects of a placement that aren't applied on a member, and the reasons that the member agent reports.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::SignedDuration;
use record::{ConditionPlace, ObjectPath};
use regex::Regex;
use serde::Serialize;
use serde_json::{Value, json};

use super::apply_error::{AdmissionDenial, ApplyError, RefusedRequest};
use super::availability::{self, envelope_of};
use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::drift::both_values;
use super::evidence_source::EvidenceSource;
use super::fleet::{FleetView, MemberPlacement, PlacementView, applied, distinct, full_name, placement_of_work};
use super::index::resource_key;
use super::kubectl;
use super::message::for_sentence;
use super::missing_namespace;
use super::outcome::DELETION_LIMIT;
use super::pattern::pattern_of_any_case;
use crate::kinds::{APPLIED_WORK, NAMESPACE, WORK};
use crate::kubefleet::PLACEMENT_GROUP;
use crate::object::{list_field, text_field};
use crate::{ClusterSnapshot, Condition, Evidence, GroupKind, JsonRef, MEMBER_KINDS, Object, ObjectSelection};

/// Time for which applying may fail without counting as a failure, if the reason may pass: a missing namespace or
/// definition may be created a moment later, by the same placement even.
const TRANSIENT_LIMIT: SignedDuration = SignedDuration::from_secs(15);

/// Codes of failures that don't pass by themselves.
const LASTING: [RuleCode; 6] = [
    RuleCode::KF_AP_002,
    RuleCode::KF_AP_004,
    RuleCode::KF_AP_010,
    RuleCode::KF_AP_012,
    RuleCode::KF_AP_016,
    RuleCode::KF_AP_018,
];

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
        match self.text("name") {
            "" => format!("{} without a name", self.text("kind")),
            name => format!("{} {}", self.text("kind"), full_name(self.namespace(), name)),
        }
    }

    fn namespace(&self) -> Option<&str> {
        Some(self.text("namespace")).filter(|n| !n.is_empty())
    }

    /// Part of the placement that lists the object.
    fn place(&self, member: &str) -> ConditionPlace {
        let resource = ObjectPath::new(self.text("kind"), self.namespace(), self.text("name"));
        ConditionPlace::FailedPlacement { member: member.to_owned(), resource, envelope: self.envelope() }
    }

    /// True if the member agent's next attempt applies the object, without anybody's help.
    fn has_owner_without_uid(&self) -> bool {
        ApplyError::of(&self.condition.message) == Some(ApplyError::OwnerWithoutUid)
    }

    /// Envelope that the object came in.
    fn envelope(&self) -> Option<ObjectPath> {
        envelope_of(self.value)
    }
}

/// KF-AP-002 to 020: one finding for each reason, with all objects that fail for that reason.
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
        let object = FailedObject { value, condition };
        let code = failure_code(fleet, placement, status.member, &object);
        let since = object.condition.last_transition_time.or(applied.last_transition_time);
        let young = since.is_some_and(|s| fleet.now().duration_since(s) < TRANSIENT_LIMIT);
        if young && !LASTING.contains(&code) {
            continue;
        }
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

/// True if the member refused an object because its namespace was being deleted, and the namespace is gone or created again since, or
/// its deletion is young. The condition keeps its old transition time when its message changes (v0.1.2).
fn is_refused_by_passing_deletion(fleet: FleetView<'_>, member: &str, failed: &FailedObject<'_>) -> bool {
    let cluster = fleet.snapshot.member(member).filter(|cluster| cluster.is_complete());
    let (Some(cluster), Some(namespace)) = (cluster, failed.namespace()) else { return false };
    if ApplyError::of(&failed.condition.message) != Some(ApplyError::NamespaceDeleted) {
        return false;
    }
    let namespace = cluster.object("", NAMESPACE.kind, None, namespace);
    let deleted_at = namespace.and_then(|namespace| namespace.deleted_at());
    deleted_at.is_none_or(|at| fleet.age(at) < DELETION_LIMIT)
}

/// Returns the code for an object that isn't applied. The API server's answer tells causes apart that have the same reason.
fn failure_code(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    member: &str,
    failed: &FailedObject<'_>,
) -> RuleCode {
    let condition = &failed.condition;
    match condition.reason.as_str() {
        "FoundGenerateName" => return RuleCode::KF_AP_010,
        "Duplicated" => return RuleCode::KF_AP_011,
        "FoundDrifts" | "FoundDriftsInDegradedMode" => return RuleCode::KF_AP_004,
        "DecodingErred" => return RuleCode::KF_AP_005,
        "FailedToTakeOver" | "ManifestApplyFailed" if is_owned(condition) => {
            return owner_code(fleet, placement, member, failed);
        }
        _ => {}
    }
    match ApplyError::of(&condition.message) {
        Some(ApplyError::NoNamespace) => RuleCode::KF_AP_006,
        Some(ApplyError::NamespaceDeleted) => RuleCode::KF_AP_020,
        Some(ApplyError::Immutable) => RuleCode::KF_AP_012,
        Some(ApplyError::Quota(_)) => RuleCode::KF_AP_013,
        Some(ApplyError::Admission(AdmissionDenial::Unreachable { .. })) => RuleCode::KF_AP_019,
        Some(ApplyError::Admission(_)) => RuleCode::KF_AP_014,
        Some(ApplyError::Forbidden(_)) => RuleCode::KF_AP_015,
        Some(ApplyError::Conflict(_)) => RuleCode::KF_AP_016,
        Some(ApplyError::Invalid) => RuleCode::KF_AP_018,
        None if ["FailedToTakeOver", "NotTakenOver"].contains(&condition.reason.as_str()) => RuleCode::KF_AP_002,
        Some(ApplyError::OwnerWithoutUid) | None => RuleCode::KF_AP_009,
    }
}

/// True if an object isn't applied because of other owners in its ownerReferences (v0.1.2 to v0.3.1).
fn is_owned(condition: &Condition) -> bool {
    static OWNED: LazyLock<Regex> =
        LazyLock::new(|| pattern_of_any_case("already owned by|co-?ownership (?:is disallowed|has been disallowed)"));
    OWNED.is_match(&condition.message)
}

/// Returns the code for an object with other owners: this placement's own, another placement's, or none of the fleet's. Without the
/// Works, an owner outside the fleet isn't asserted.
fn owner_code(fleet: FleetView<'_>, placement: PlacementView<'_>, member: &str, failed: &FailedObject<'_>) -> RuleCode {
    // v0.1.2 says so where co-ownership is allowed, v0.3.1 prints the ownerReferences.
    static APPLIED_WORK_OWNER: LazyLock<Regex> = LazyLock::new(|| pattern_of_any_case("AppliedWork"));
    let owners = works_with(fleet, member, failed);
    let of_this = (placement.object.namespace(), placement.object.name());
    if owners.iter().any(|work| placement_of_work(*work) == Some(of_this)) {
        RuleCode::KF_AP_011
    } else if !owners.is_empty()
        || !placement.others_with(fleet, [resource_key(failed.value)].into_iter()).is_empty()
        || APPLIED_WORK_OWNER.is_match(&failed.condition.message)
        || fleet.hub.is_unread(PLACEMENT_GROUP, &kubectl::plural(WORK.kind))
    {
        RuleCode::KF_AP_003
    } else {
        RuleCode::KF_AP_007
    }
}

/// Returns the Works of a member that have applied an object.
fn works_with<'a>(fleet: FleetView<'a>, member: &str, failed: &FailedObject<'_>) -> Vec<Object<'a>> {
    let resource = resource_key(failed.value);
    fleet.works(member).iter().filter(|work| applied(**work, resource).is_some()).copied().collect()
}

/// True if an object isn't applied because its namespace doesn't exist on the member.
pub(super) fn lacks_namespace(condition: &Condition) -> bool {
    ApplyError::of(&condition.message) == Some(ApplyError::NoNamespace)
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
    let by_strategy =
        [RuleCode::KF_AP_002, RuleCode::KF_AP_003, RuleCode::KF_AP_004, RuleCode::KF_AP_007, RuleCode::KF_AP_016];
    if by_strategy.contains(&code) && strategy.is_some() {
        evidence.push(quote.field(placement.object, "spec.strategy.applyStrategy"));
    }
    let owners = if code == RuleCode::KF_AP_003 { owners(fleet, placement, status.member, failed) } else { Vec::new() };
    let namespaces_there = failed.iter().filter(|f| f.text("group").is_empty() && f.text("kind") == "Namespace");
    let contents = namespaces_there.map(|f| namespace_contents(fleet, status.member, f.text("name")));
    let mut hub_references: Vec<_> = failed.iter().map(|failed| availability::hub_reference(failed.value)).collect();
    hub_references.dedup();
    let first = failed.first();
    let refusal = first.map(Refusal::of).unwrap_or_default();
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": status.member,
        "objects": failed.iter().map(FailedObject::object).collect::<Vec<_>>().join(", "),
        "refs": failed.iter().map(|failed| availability::reference(failed.value)).collect::<Vec<_>>(),
        "hub_refs": hub_references,
        "is_enveloped": failed.iter().any(|f| f.envelope().is_some()),
        "quota_ref": kubectl::reference_by_name("", "ResourceQuota", first.and_then(FailedObject::namespace), refusal.quota),
        "refusal": refusal,
        "namespaces": namespaces(failed),
        "owners": owners.iter().map(|owner| owner.full_name()).collect::<Vec<_>>().join(", "),
        "owner_refs": owners.iter().map(|owner| kubectl::reference(owner.object)).collect::<Vec<_>>(),
        "contents": contents.collect::<Vec<_>>(),
        "has_definition": failed.iter().any(|f| f.text("kind") == "CustomResourceDefinition"),
        "read_kinds": namespaced_kinds().map(|kind| kind.kind).collect::<Vec<_>>().join(", "),
        "message": first.map(|f| f.condition.message.clone()).unwrap_or_default(),
        "owner_without_uid": failed.iter().all(FailedObject::has_owner_without_uid),
    });
    let draft = FindingDraft::new(code, placement.subject(fleet, Some(status.member)), &names, evidence);
    let draft =
        draft.affects(placement.part_on(status.member)).depends_on(AffectedPart::Member(status.member.to_owned()));
    let draft = draft.depends_on(placement.objects_on(status.member));
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
    for drift in list_field(object, "observedDrifts") {
        let path = format!("{path}.driftedPlacements[{name}]{}", text_field(drift, "path"));
        evidence.push(quote.text(placement.object, &path, both_values(drift), None));
    }
    evidence
}

/// Names in the answer by which a member's API server refuses an object; empty where the answer has no such name.
#[derive(Default, Serialize)]
struct Refusal<'m> {
    quota: &'m str,
    policy: &'m str,
    webhook: &'m str,
    /// Words by which policy or webhook deny, or why the webhook can't be called.
    why: String,
    user: &'m str,
    verb: &'m str,
    resource: &'m str,
    manager: &'m str,
}

impl<'m> Refusal<'m> {
    fn of(failed: &'m FailedObject<'_>) -> Self {
        let empty = Self::default();
        match ApplyError::of(&failed.condition.message) {
            Some(ApplyError::Quota(quota)) => Self { quota, ..empty },
            Some(ApplyError::Admission(AdmissionDenial::Policy { name, why, .. })) => {
                Self { policy: name, why: for_sentence(why), ..empty }
            }
            Some(ApplyError::Admission(
                AdmissionDenial::Webhook { name, why } | AdmissionDenial::Unreachable { name, why },
            )) => Self { webhook: name, why: for_sentence(why), ..empty },
            Some(ApplyError::Forbidden(RefusedRequest { user, verb, resource, .. })) => {
                Self { user, verb, resource, ..empty }
            }
            Some(ApplyError::Conflict(manager)) => Self { manager, ..empty },
            _ => empty,
        }
    }
}

/// Returns the other placements that have put one of these objects on the member, or that have selected it.
fn owners<'a>(
    fleet: FleetView<'a>,
    placement: PlacementView<'_>,
    member: &str,
    failed: &[FailedObject<'_>],
) -> Vec<PlacementView<'a>> {
    let works = failed.iter().flat_map(|failed| works_with(fleet, member, failed));
    let names: Vec<_> = works.filter_map(placement_of_work).collect();
    let has_put = |other: &PlacementView<'_>| names.contains(&(other.object.namespace(), other.object.name()));
    let mut owners = placement.others_with(fleet, failed.iter().map(|failed| resource_key(failed.value)));
    owners.extend(fleet.placements().filter(has_put).filter(|other| !other.is_same(placement)));
    distinct(owners)
}

fn namespaces(failed: &[FailedObject<'_>]) -> String {
    let mut names: Vec<&str> = failed.iter().map(|f| f.text("namespace")).filter(|n| !n.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}
