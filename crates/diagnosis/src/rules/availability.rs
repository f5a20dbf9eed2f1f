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
use super::workload_fault::WorkloadFault;
use crate::kubefleet::PLACEMENT_GROUP;
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

/// KF-AV-001 to 010: the resources are applied but not available.
fn unavailable(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
) -> Option<FindingDraft> {
    let condition = status.condition("Available").filter(|c| c.status == "False")?;
    let trail = FailureTrail::collect(fleet, placement, status.member);
    let long = condition.last_transition_time.is_some_and(|since| fleet.now().duration_since(since) > PATIENCE);
    let is_stuck = || stuck::is_stuck_on(fleet, placement, status.member);
    let code = match (&trail.image, &trail.fault) {
        (Some(image), _) if image.reason == "InvalidImageName" => RuleCode::KF_AV_001,
        (Some(_), _) => RuleCode::KF_AV_002,
        (None, Some(fault)) if !fault.kind.is_usual_at_first() || long || is_stuck() => fault.kind.code(),
        // Every rollout is unavailable at first. If an update run is stuck on the member, the run's finding says more.
        (None, _) if long && !is_stuck() => RuleCode::KF_AV_003,
        (None, _) => return None,
    };
    let has_image = trail.image.is_some();
    let image = trail.image.unwrap_or_default();
    let fault = trail.fault.as_ref();
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
        "object": fault.map(|fault| fault.object.as_str()),
        "detail": fault.map(|fault| fault.detail.as_str()),
        "namespace": trail.namespace,
        "workload": trail.workload_ref.iter().find(|word| word.contains('/')),
        "workload_ref": trail.workload_ref,
        "limit_refs": fault.map(|fault| fault.limits.as_slice()).unwrap_or_default(),
        "hub_ref": trail.hub_ref,
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
    /// First fault that keeps the Pods of a workload from running, beyond a bad image.
    pub fault: Option<WorkloadFault>,
    /// Namespace of the workload with the fault, or of the first one.
    namespace: String,
    /// Words by which kubectl finds that workload on the member.
    workload_ref: Vec<String>,
    /// Words by which kubectl finds its manifest on the hub: the workload itself, or the envelope that it comes in.
    hub_ref: Vec<String>,
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
            let resource = ObjectPath::new(kind, namespace_of(failed), name);
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
            trail.add_workloads(fleet, cluster, status.failed());
        }
        trail
    }

    fn add_workloads(&mut self, fleet: FleetView<'_>, cluster: &ClusterSnapshot, failed: JsonList<'_>) {
        for failed in failed {
            if self.workload_ref.is_empty() {
                self.name_workload(failed);
            }
            let [group, kind, name] = ["group", "kind", "name"].map(|field| text_field(failed, field));
            let Some(object) = cluster.object(group, kind, namespace_of(failed), name) else { continue };
            let state = pods::workload_state(cluster, object);
            self.reason = self.reason.take().or_else(|| state.reason());
            self.evidence.extend(state.evidence);
            if self.image.is_none() && state.image.is_some() {
                self.name_workload(failed);
                self.image = state.image;
            }
            if self.fault.is_none()
                && let Some(mut fault) = WorkloadFault::find(cluster, object, fleet.now())
            {
                self.name_workload(failed);
                self.evidence.append(&mut fault.evidence);
                self.fault = Some(fault);
            }
        }
    }

    /// Sets the names of the workload that the remedies are about.
    fn name_workload(&mut self, failed: JsonRef<'_>) {
        namespace_of(failed).unwrap_or_default().clone_into(&mut self.namespace);
        self.workload_ref = reference(failed);
        self.hub_ref = hub_reference(failed);
    }
}

/// Returns the envelope that an object came in; `None` for an object that is wrapped by none.
pub(super) fn envelope_of(failed: JsonRef<'_>) -> Option<ObjectPath> {
    let envelope = failed.get("envelope")?;
    let name = Some(text_field(envelope, "name")).filter(|name| !name.is_empty())?;
    Some(ObjectPath::new(text_field(envelope, "type"), namespace_of(envelope), name))
}

/// Returns the words by which kubectl finds an object on the member.
pub(super) fn reference(failed: JsonRef<'_>) -> Vec<String> {
    let [group, kind, name] = ["group", "kind", "name"].map(|field| text_field(failed, field));
    kubectl::reference_by_name(group, kind, namespace_of(failed), name)
}

/// Returns the words by which kubectl finds what has an object on the hub: its envelope, or the object itself.
pub(super) fn hub_reference(failed: JsonRef<'_>) -> Vec<String> {
    let Some(envelope) = envelope_of(failed) else { return reference(failed) };
    // v0.14.0 takes a ConfigMap for an envelope.
    let group = if envelope.kind == "ConfigMap" { "" } else { PLACEMENT_GROUP };
    kubectl::reference_by_name(group, &envelope.kind, envelope.namespace.as_deref(), &envelope.name)
}

/// Returns the namespace in a reference to an object; `None` if it is empty or absent.
fn namespace_of(reference: JsonRef<'_>) -> Option<&str> {
    Some(text_field(reference, "namespace")).filter(|namespace| !namespace.is_empty())
}
