//! Namespaces that a namespaced placement needs on a member, and that another placement puts there.

use jiff::SignedDuration;

use super::apply::lacks_namespace;
use super::fleet::{FleetView, MemberPlacement, PlacementView};
use crate::kinds::NAMESPACE;
use crate::object::text_field;
use crate::{Condition, JsonRef};

/// Longest time between two attempts of the member agent to apply a Work (v0.1.2).
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_mins(15);
/// Time that an attempt takes until its result is in the placement's status.
const ATTEMPT: SignedDuration = SignedDuration::from_secs(30);

/// Returns the placement that puts a namespace on a member and hasn't applied it there yet; `None` if no placement does.
pub(super) fn placement_on_its_way<'a>(
    fleet: FleetView<'a>,
    namespace: &str,
    member: &str,
) -> Option<PlacementView<'a>> {
    let mut placements = fleet.placements_of_resource(["", NAMESPACE.kind, "", namespace]);
    placements.find(|placement| {
        let status = placement.clusters().find(|status| status.member == member);
        let is_applied = status.and_then(|status| status.condition("Applied")).is_some_and(|c| c.status == "True");
        !is_applied && (status.is_some() || placement.binding(fleet, member).is_some())
    })
}

/// True if a member was read and has a namespace that isn't being deleted.
pub(super) fn is_there(fleet: FleetView<'_>, namespace: &str, member: &str) -> bool {
    created_at(fleet, namespace, member).is_some()
}

/// Returns for how long objects may fail to be applied, from the condition's last change, because their namespaces came later
/// than they did. The member agent's next attempt comes after at most as long again as the failure had lasted. Returns
/// `None` if an object fails for another reason, or its namespace isn't there.
pub(super) fn time_after_namespace(
    fleet: FleetView<'_>,
    status: MemberPlacement<'_>,
    applied: &Condition,
) -> Option<SignedDuration> {
    let since = applied.last_transition_time?;
    let mut last = None;
    for failed in status.failed() {
        let waits = failed.get("condition").and_then(Condition::read).is_some_and(|c| lacks_namespace(&c));
        let namespace = Some(failed).filter(|_| waits).map(namespace_of)?;
        last = last.max(Some(created_at(fleet, namespace, status.member)?));
    }
    let lasted = last?.duration_since(since);
    lasted.is_positive().then(|| lasted + lasted.min(LONGEST_PAUSE) + ATTEMPT)
}

fn namespace_of(failed: JsonRef<'_>) -> &str {
    text_field(failed, "namespace")
}

fn created_at(fleet: FleetView<'_>, namespace: &str, member: &str) -> Option<jiff::Timestamp> {
    let cluster = fleet.snapshot.member(member).filter(|cluster| cluster.unreachable.is_none())?;
    let namespace = cluster.object("", NAMESPACE.kind, None, namespace)?;
    namespace.created_at().filter(|_| namespace.deleted_at().is_none())
}
