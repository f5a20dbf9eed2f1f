//! Objects that stay on a member although the hub has forgotten them.

use serde_json::json;

use super::code::RuleCode;
use super::deletion::{held_objects, holders, holding_evidence, references};
use super::draft::FindingDraft;
use super::evidence_source::EvidenceSource;
use super::fleet::FleetView;
use super::outcome::DELETION_LIMIT;
use crate::kinds::{APPLIED_WORK, WORK};
use crate::kubefleet::{PLACEMENT_GROUP, member_namespace};
use crate::{ClusterSnapshot, Object, SnapshotRole, Subject};

/// Looks at members from which the `AppliedWork`s were read. Nothing on the hub tells which members have any, so that a live fleet isn't asked
/// for them.
pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let clusters = fleet.snapshot.clusters.iter();
    let members = clusters.filter(|cluster| cluster.role == SnapshotRole::Member && cluster.unreachable.is_none());
    members.flat_map(|member| deleted(member).filter_map(move |applied| leftover(fleet, member, applied))).collect()
}

/// Returns the `AppliedWork`s of a member that are being deleted.
pub(super) fn deleted(member: &ClusterSnapshot) -> impl Iterator<Item = Object<'_>> {
    let applied = member.objects.of_kind(PLACEMENT_GROUP, APPLIED_WORK.kind);
    applied.filter(|applied| applied.deleted_at().is_some())
}

/// KF-DL-005: an `AppliedWork` is being deleted, an object that it has placed can't be deleted, and the Work on the hub is gone.
fn leftover(fleet: FleetView<'_>, member: &ClusterSnapshot, applied: Object<'_>) -> Option<FindingDraft> {
    let age = member.time.unwrap_or(fleet.snapshot.taken_at).duration_since(applied.deleted_at()?);
    let namespace = member_namespace(&member.name);
    let work = fleet.hub.object(PLACEMENT_GROUP, WORK.kind, Some(&namespace), applied.name());
    // Of a Work that is still on the hub, another rule tells.
    if age < DELETION_LIMIT || work.is_some() || fleet.hub.is_unread(PLACEMENT_GROUP, "works") {
        return None;
    }
    let held = held_objects(member, applied);
    let first = held.first()?;
    let quote = EvidenceSource::from(&member.name);
    let mut evidence = vec![
        quote.deletion(applied),
        quote.field(applied, "metadata.finalizers"),
        fleet.quote().absent(WORK.kind, Some(&namespace), applied.name()),
    ];
    evidence.extend(held.iter().flat_map(|object| holding_evidence(quote, *object)));
    let names = json!({
        "work": applied.name(),
        "member": member.name,
        "namespace": namespace,
        "object": first.path().to_string(),
        "holders": holders(&held),
        "holder_refs": references(&held),
        "is_namespace": held.iter().any(|object| object.kind() == "Namespace"),
    });
    let about = Subject {
        cluster: member.name.clone(),
        kind: applied.kind().to_owned(),
        namespace: None,
        name: applied.name().to_owned(),
        stage: None,
        member: Some(member.name.clone()),
    };
    Some(FindingDraft::new(RuleCode::KF_DL_005, about, &names, evidence))
}
