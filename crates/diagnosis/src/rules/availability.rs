//! Why a placement's resources aren't available on a member: from its failedPlacements to the Pods on the member.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::draft::{Draft, Topic};
use super::fleet::{Fleet, PlacedOn, Placement};
use super::kubectl;
use super::pods::{self, Image};
use super::stuck;
use crate::{ClusterSnapshot, Evidence, conditions};

/// For how long resources may be on their way before it counts as a failure: `KubeFleet`'s own limit for update runs.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(5);

pub(super) fn rule(fleet: Fleet<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        for cluster in placement.clusters() {
            drafts.extend(unavailable(fleet, placement, cluster));
        }
    }
    drafts
}

/// KF-AV-001 to 003: applied, but not available.
fn unavailable(fleet: Fleet<'_>, placement: Placement<'_>, on: PlacedOn<'_>) -> Option<Draft> {
    let condition = on.condition("Available").filter(|c| c.status == "False")?;
    let trail = Trail::of(fleet, placement, on.member);
    let long = condition.last_transition_time.is_some_and(|since| fleet.now().duration_since(since) > PATIENCE);
    let code = match &trail.image {
        Some(image) if image.reason == "InvalidImageName" => "KF-AV-001",
        Some(_) => "KF-AV-002",
        // Every rollout is unavailable at first, and a run that is stuck over it says the same and more.
        None if long && !stuck::waits(fleet, placement, on.member) => "KF-AV-003",
        None => return None,
    };
    let image = trail.image.unwrap_or_default();
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": on.member,
        "objects": trail.objects.join(", "),
        "pod": image.pod,
        "pod_look": image.look,
        "image": image.name,
        "reason": image.reason,
    });
    let draft = Draft::new(code, placement.subject(fleet, Some(on.member)), &names, trail.evidence);
    Some(draft.about(placement.on(on.member)).follows(Topic::Member(on.member.to_owned())))
}

/// What leads from a placement to the reason on the member.
#[derive(Default)]
pub(super) struct Trail {
    /// In the order in which a person would follow it.
    pub evidence: Vec<Evidence>,
    /// The objects that failed, as `Kind namespace/name`.
    pub objects: Vec<String>,
    /// A Pod that can't have its image.
    pub image: Option<Image>,
}

impl Trail {
    /// Follows a placement's failure on a member.
    pub fn of(fleet: Fleet<'_>, placement: Placement<'_>, member: &str) -> Self {
        let quote = fleet.quote();
        let mut trail = Self::default();
        let Some(on) = placement.clusters().find(|c| c.member == member) else { return trail };
        for name in ["Overridden", "WorkSynchronized", "Applied", "Available"] {
            if let Some(condition) = on.condition(name).filter(|c| c.status == "False") {
                trail.evidence.push(quote.condition_in(placement.object, &on.path(), &condition));
            }
        }
        for failed in on.failed() {
            let text = |name: &str| failed.get(name).and_then(Value::as_str).unwrap_or_default();
            let holder =
                format!("{}.failedPlacements[{} {}{}]", on.path(), text("kind"), text("name"), envelope(failed));
            let verdict = json!({"conditions": [failed.get("condition")]});
            let condition = conditions(Some(&verdict)).into_iter().next();
            trail.evidence.extend(condition.map(|c| quote.condition_in(placement.object, &holder, &c)));
            let name = super::fleet::full_name(Some(text("namespace")).filter(|n| !n.is_empty()), text("name"));
            trail.objects.push(format!("{} {name}", text("kind")));
        }
        for work in placement.works(fleet, member) {
            let failed = |c: &crate::Condition| c.status == "False" && c.observed_generation == work.generation();
            for condition in work.conditions().iter().filter(|c| failed(c)) {
                trail.evidence.push(quote.condition(work, condition));
            }
        }
        if let Some(cluster) = fleet.snapshot.member(member) {
            trail.follow(cluster, on.failed());
        }
        trail
    }

    fn follow(&mut self, cluster: &ClusterSnapshot, failed: &[Value]) {
        for failed in failed {
            let text = |name: &str| failed.get(name).and_then(Value::as_str).unwrap_or_default();
            let namespace = Some(text("namespace")).filter(|n| !n.is_empty());
            let Some(object) = cluster.object(text("group"), text("kind"), namespace, text("name")) else { continue };
            let look = pods::of_workload(cluster, object);
            self.evidence.extend(look.evidence);
            self.image = self.image.take().or(look.image);
        }
    }
}

/// `` in ResourceEnvelope namespace/name`` for what came in an envelope, and nothing for what didn't.
fn envelope(failed: &Value) -> String {
    let text = |name: &str| failed.pointer(&format!("/envelope/{name}")).and_then(Value::as_str).unwrap_or_default();
    let name = super::fleet::full_name(Some(text("namespace")).filter(|n| !n.is_empty()), text("name"));
    if name.is_empty() { name } else { format!(" in {} {name}", text("type")) }
}
