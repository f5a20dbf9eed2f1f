//! Resources of a placement that aren't available on a member. The evidence leads from failedPlacements to the Pods on
//! the member.

use jiff::SignedDuration;
use record::{ConditionPlace, ObjectPath};
use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, MemberPlacement, PlacementView, full_name};
use super::kubectl;
use super::pods::{self, ImageFailure};
use super::stuck;
use crate::object::text_field;
use crate::{ClusterSnapshot, Condition, Evidence, JsonList, JsonRef};

/// Time for which resources may be unavailable before the delay counts as a failure. `KubeFleet` has the same limit for
/// update runs.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(5);

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        for cluster in placement.clusters() {
            drafts.extend(unavailable(fleet, placement, cluster));
        }
    }
    drafts
}

/// KF-AV-001 to 003: the resources are applied but not available.
fn unavailable(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
) -> Option<FindingDraft> {
    let condition = status.condition("Available").filter(|c| c.status == "False")?;
    let trail = FailureTrail::collect(fleet, placement, status.member);
    let long = condition.last_transition_time.is_some_and(|since| fleet.now().duration_since(since) > PATIENCE);
    let code = match &trail.image {
        Some(image) if image.reason == "InvalidImageName" => RuleCode::KF_AV_001,
        Some(_) => RuleCode::KF_AV_002,
        // Every rollout is unavailable at first. If an update run is stuck on the member, the run's finding says more.
        None if long && !stuck::is_stuck_on(fleet, placement, status.member) => RuleCode::KF_AV_003,
        None => return None,
    };
    let has_image = trail.image.is_some();
    let image = trail.image.unwrap_or_default();
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": status.member,
        "objects": trail.objects.join(", "),
        "pod": image.pod,
        "pod_look": image.describe,
        "image": image.name,
        "reason": image.reason,
        "why": trail.reason,
    });
    let draft = FindingDraft::new(code, placement.subject(fleet, Some(status.member)), &names, trail.evidence);
    let draft = if has_image { draft.common_cause(image.name) } else { draft };
    Some(draft.affects(placement.part_on(status.member)).depends_on(AffectedPart::Member(status.member.to_owned())))
}

/// Evidence that leads from a placement to the reason on the member.
#[derive(Default)]
pub(super) struct FailureTrail {
    /// Evidence in the order in which a person would follow it.
    pub evidence: Vec<Evidence>,
    /// Failed objects, as `Kind namespace/name`.
    pub objects: Vec<String>,
    /// Pod whose image can't be pulled.
    pub image: Option<ImageFailure>,
    /// Reason why the first workload isn't available, if its objects tell.
    pub reason: Option<String>,
}

impl FailureTrail {
    /// Collects the evidence of a placement's failure on a member.
    pub fn collect(fleet: FleetView<'_>, placement: PlacementView<'_>, member: &str) -> Self {
        let quote = fleet.quote();
        let mut trail = Self::default();
        let Some(status) = placement.clusters().find(|c| c.member == member) else { return trail };
        for name in ["Overridden", "WorkSynchronized", "Applied", "Available"] {
            if let Some(condition) = status.condition(name).filter(|c| c.status == "False") {
                trail.evidence.push(quote.condition_in(placement.object, status.place(), &condition));
            }
        }
        for failed in status.failed() {
            let (kind, name) = (text_field(failed, "kind"), text_field(failed, "name"));
            let resource = ObjectPath::new(kind, None, name);
            let envelope = envelope_of(failed);
            let place = ConditionPlace::FailedPlacement { member: member.to_owned(), resource, envelope };
            let condition = failed.get("condition").and_then(Condition::read);
            trail.evidence.extend(condition.map(|c| quote.condition_in(placement.object, place, &c)));
            trail.objects.push(format!("{kind} {}", full_name(namespace_of(failed), name)));
        }
        for work in placement.works(fleet, member) {
            let conditions = work.conditions();
            let current = conditions.iter().filter(|c| c.observed_generation == work.generation());
            trail.evidence.extend(current.filter(|c| c.status == "False").map(|c| quote.condition(work, c)));
        }
        if let Some(cluster) = fleet.snapshot.member(member) {
            trail.add_workloads(cluster, status.failed());
        }
        trail
    }

    fn add_workloads(&mut self, cluster: &ClusterSnapshot, failed: JsonList<'_>) {
        for failed in failed {
            let [group, kind, name] = ["group", "kind", "name"].map(|field| text_field(failed, field));
            let Some(object) = cluster.object(group, kind, namespace_of(failed), name) else { continue };
            let state = pods::workload_state(cluster, object);
            self.reason = self.reason.take().or_else(|| state.reason());
            self.evidence.extend(state.evidence);
            self.image = self.image.take().or(state.image);
        }
    }
}

/// Returns the envelope that an object came in; `None` for an object that is wrapped by none.
fn envelope_of(failed: JsonRef<'_>) -> Option<ObjectPath> {
    let envelope = failed.get("envelope")?;
    let name = Some(text_field(envelope, "name")).filter(|name| !name.is_empty())?;
    Some(ObjectPath::new(text_field(envelope, "type"), namespace_of(envelope), name))
}

/// Returns the namespace in a reference to an object; `None` if it is empty or absent.
fn namespace_of(reference: JsonRef<'_>) -> Option<&str> {
    Some(text_field(reference, "namespace")).filter(|namespace| !namespace.is_empty())
}
