//! Works whose placement the hub has forgotten, and that nobody deletes.

use serde_json::json;

use super::code::RuleCode;
use super::draft::FindingDraft;
use super::fleet::{FleetView, full_name, placement_of_work, subject};
use super::kubectl;
use super::outcome::DELETION_LIMIT;
use super::scope::KindScope;
use crate::Object;
use crate::kinds::WORK;
use crate::kubefleet::{MEMBER_NAMESPACE_PREFIX, PARENT_BINDING, PLACEMENT_GROUP};

/// Looks at Works that were read. Nothing else on the hub tells that there is such a Work, so that a live fleet isn't asked for them.
pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let works = fleet.hub.objects.of_kind(PLACEMENT_GROUP, WORK.kind);
    works.filter_map(|work| orphaned(fleet, work)).collect()
}

/// KF-DL-006: the placement and the binding of a Work are gone. A binding goes only when the hub-agent has deleted its Works, unless
/// somebody has taken its finalizer off, or has taken it away in the store.
fn orphaned(fleet: FleetView<'_>, work: Object<'_>) -> Option<FindingDraft> {
    let member = work.namespace()?.strip_prefix(MEMBER_NAMESPACE_PREFIX)?;
    let (namespace, name) = placement_of_work(work)?;
    let binding = work.label(PARENT_BINDING)?;
    let is_young = fleet.age(work.created_at()?) < DELETION_LIMIT;
    // With its namespace, the Work goes, too.
    let is_going = work.deleted_at().is_some() || fleet.member_namespace(member)?.deleted_at().is_some();
    if is_young || is_going {
        return None;
    }
    let scope = KindScope::of_namespace(namespace);
    let is_there = |kind, name| fleet.hub.object(PLACEMENT_GROUP, kind, namespace, name).is_some();
    if is_there(scope.placement(), name) || is_there(scope.binding(), binding) {
        return None;
    }
    let quote = fleet.quote();
    let evidence = vec![
        quote.field(work, "metadata.creationTimestamp"),
        quote.absent(scope.placement(), namespace, name),
        quote.absent(scope.binding(), namespace, binding),
    ];
    let names = json!({
        "work": work.name(),
        "work_ref": kubectl::reference(work),
        "member": member,
        "kind": scope.placement(),
        "placement": full_name(namespace, name),
    });
    Some(FindingDraft::new(RuleCode::KF_DL_006, subject(fleet, work, None, Some(member)), &names, evidence))
}
