//! Objects of `KubeFleet` on the hub that are being deleted and that somebody else's finalizer holds, and what waits for them.

use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, MemberPlacement, PlacementView, placement_of_work, subject};
use super::kubectl;
use super::outcome::DELETION_LIMIT;
use crate::Object;
use crate::kubefleet::{CLUSTER_GROUP, MEMBER_NAMESPACE_PREFIX, PARENT_PLACEMENT};

/// Part of the names of `KubeFleet`'s finalizers: `kubernetes-fleet.io/work-cleanup`.
const KUBEFLEET: &str = "kubernetes-fleet.io/";

/// Finalizers of Kubernetes' garbage collector.
const GARBAGE_COLLECTOR: [&str; 2] = ["foregroundDeletion", "orphan"];

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let placements = fleet.all_placements().map(|placement| (placement.object, Some(placement.part())));
    let runs = fleet.all_runs().map(|run| (run.object, None));
    let members = fleet.hub.of_kind(CLUSTER_GROUP, "MemberCluster");
    let members = members.map(|member| (member, Some(AffectedPart::Member(member.name().to_owned()))));
    let bindings = fleet.deleted_bindings().into_iter().map(|binding| (binding, Some(part_of_binding(binding))));
    let works = fleet.deleted_works().into_iter().map(|work| (work, part_of_work(work)));
    let objects = placements.chain(runs).chain(members).chain(bindings).chain(works);
    objects.filter_map(|(object, part)| held(fleet, object, part)).collect()
}

/// KF-DL-002: an object of the hub is being deleted, and somebody else's finalizer holds it.
fn held(fleet: FleetView<'_>, object: Object<'_>, part: Option<AffectedPart>) -> Option<FindingDraft> {
    if fleet.age(object.deleted_at()?) < DELETION_LIMIT {
        return None;
    }
    let (foreign, own): (Vec<_>, Vec<_>) = object.finalizers().partition(|finalizer| is_foreign(finalizer));
    if foreign.is_empty() {
        return None;
    }
    let quote = fleet.quote();
    let evidence = vec![quote.deletion(object), quote.field(object, "metadata.finalizers")];
    let member = member_of(object);
    let names = json!({
        "object": object.path().to_string(),
        "object_ref": kubectl::reference(object),
        "finalizers": foreign,
        "member": member.unwrap_or_default(),
        "patch": json!({"metadata": {"finalizers": own}}).to_string(),
    });
    let draft = FindingDraft::new(RuleCode::KF_DL_002, subject(fleet, object, None, member), &names, evidence);
    Some(part.into_iter().fold(draft, FindingDraft::affects))
}

/// True if an object has a finalizer that neither `KubeFleet` nor the garbage collector removes.
pub(super) fn is_held_by_others(object: Object<'_>) -> bool {
    object.finalizers().any(is_foreign)
}

/// True for a finalizer that neither `KubeFleet` nor the garbage collector removes.
fn is_foreign(finalizer: &str) -> bool {
    !finalizer.contains(KUBEFLEET) && !GARBAGE_COLLECTOR.contains(&finalizer)
}

/// Returns the member that a binding or a Work is for.
fn member_of(object: Object<'_>) -> Option<&str> {
    match object.kind() {
        "Work" => object.namespace()?.strip_prefix(MEMBER_NAMESPACE_PREFIX),
        _ => object.str("/spec/targetCluster"),
    }
}

/// Returns the placement on one member, of which a binding is a part.
pub(super) fn part_of_binding(binding: Object<'_>) -> AffectedPart {
    AffectedPart::PlacementOn {
        namespace: binding.namespace().map(str::to_owned),
        name: binding.label(PARENT_PLACEMENT).unwrap_or_default().to_owned(),
        member: member_of(binding).unwrap_or_default().to_owned(),
    }
}

/// Returns a placement's Works for one member, of which a Work is one.
fn part_of_work(work: Object<'_>) -> Option<AffectedPart> {
    let (namespace, name) = placement_of_work(work)?;
    Some(AffectedPart::WorkOn {
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
        member: member_of(work)?.to_owned(),
    })
}

/// Returns the binding of a placement that is being deleted on a member for which the placement has another binding. The hub-agent rolls
/// nothing out to a member while there are two (`waitForResourcesToCleanUp`, v0.1.2 and v0.3.1).
pub(super) fn predecessor<'a>(
    fleet: FleetView<'a>,
    placement: PlacementView<'a>,
    status: MemberPlacement<'a>,
) -> Option<Object<'a>> {
    let bindings = fleet.index.bindings(placement.key(), status.member);
    let has_new = bindings.iter().any(|binding| binding.deleted_at().is_none());
    bindings.into_iter().find(|binding| has_new && binding.deleted_at().is_some())
}
