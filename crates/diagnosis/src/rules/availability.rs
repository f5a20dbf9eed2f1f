//! Why a placement's resources aren't available on a member: from its failedPlacements to the Pods on the member.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::draft::{Draft, Topic};
use super::fleet::{Fleet, PlacedOn, Placement};
use super::kubectl;
use super::quote::Quote;
use super::stuck;
use crate::{ClusterSnapshot, Evidence, Object, conditions};

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
        "pod_ref": image.pod_ref,
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

/// A Pod that can't have its image.
#[derive(Default)]
pub(super) struct Image {
    pub pod: String,
    pub pod_ref: String,
    pub name: String,
    pub reason: String,
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
        let quote = Quote::from(&cluster.name);
        for failed in failed {
            let text = |name: &str| failed.get(name).and_then(Value::as_str).unwrap_or_default();
            let namespace = Some(text("namespace")).filter(|n| !n.is_empty());
            let Some(object) = cluster.object(text("group"), text("kind"), namespace, text("name")) else { continue };
            for condition in object.conditions().iter().filter(|c| c.type_ == "Available" && c.status == "False") {
                self.evidence.push(quote.condition(object, condition));
            }
            if text("kind") == "Deployment" {
                self.evidence.push(quote.field(object, "status.availableReplicas"));
            }
            let mut pods: Vec<_> = cluster.of_kind("", "Pod").filter(|p| belongs(*p, object)).collect();
            pods.sort_by_key(super::super::object::Object::name);
            for pod in pods {
                self.look_at(cluster, quote, pod);
            }
        }
    }

    fn look_at(&mut self, cluster: &ClusterSnapshot, quote: Quote<'_>, pod: Object<'_>) {
        for path in ["/status/initContainerStatuses", "/status/containerStatuses"] {
            for container in pod.list(path) {
                let text = |pointer: &str| container.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                let (reason, message) = (text("/state/waiting/reason"), text("/state/waiting/message"));
                if reason.is_empty() || matches!(reason, "ContainerCreating" | "PodInitializing") {
                    continue;
                }
                let place = format!("{}[{}].state.waiting", path[1..].replace('/', "."), text("/name"));
                let value = if message.is_empty() { reason.to_owned() } else { format!("{reason}: {message}") };
                self.evidence.push(quote.text(pod, &place, value, None));
                let pull =
                    matches!(reason, "InvalidImageName" | "ErrImagePull" | "ImagePullBackOff" | "ErrImageNeverPull");
                if pull && self.image.is_none() {
                    let image = [text("/image"), spec_image(pod, text("/name"))].into_iter().find(|i| !i.is_empty());
                    self.image = Some(Image {
                        pod: pod.path(),
                        pod_ref: format!("kubectl --context {} describe {}", cluster.name, kubectl::reference(pod)),
                        name: image.unwrap_or("(unknown)").to_owned(),
                        reason: reason.to_owned(),
                    });
                }
            }
        }
    }
}

/// `` in ResourceEnvelope namespace/name`` for what came in an envelope, and nothing for what didn't.
fn envelope(failed: &Value) -> String {
    let text = |name: &str| failed.pointer(&format!("/envelope/{name}")).and_then(Value::as_str).unwrap_or_default();
    let name = super::fleet::full_name(Some(text("namespace")).filter(|n| !n.is_empty()), text("name"));
    if name.is_empty() { name } else { format!(" in {} {name}", text("type")) }
}

fn spec_image<'a>(pod: Object<'a>, container: &str) -> &'a str {
    let containers = pod.list("/spec/containers").iter().chain(pod.list("/spec/initContainers"));
    let named = |c: &&Value| c.get("name").and_then(Value::as_str) == Some(container);
    containers.into_iter().find(named).and_then(|c| c.get("image")?.as_str()).unwrap_or_default()
}

/// Whether a Pod is of a workload, directly or, for a Deployment, by way of a `ReplicaSet` named after it.
fn belongs(pod: Object<'_>, workload: Object<'_>) -> bool {
    pod.namespace() == workload.namespace()
        && pod.list("/metadata/ownerReferences").iter().any(|owner| {
            let text = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
            let through = text("kind") == "ReplicaSet"
                && workload.kind() == "Deployment"
                && text("name").rsplit_once('-').is_some_and(|(stem, _)| stem == workload.name());
            through || (text("kind") == workload.kind() && text("name") == workload.name())
        })
}
