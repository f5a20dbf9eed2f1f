//! Faults that keep the Pods of a workload from running: what the objects on the member say beyond a bad image.

use jiff::{SignedDuration, Timestamp};

use super::code::RuleCode;
use super::evidence_source::EvidenceSource;
use super::kubectl;
use super::pods::pods_of;
use crate::kinds::{LIMIT_RANGE, RESOURCE_QUOTA};
use crate::object::{list_field, text_at, text_field};
use crate::{ClusterSnapshot, Condition, Evidence, JsonRef, Object};

/// Time for which a Pod may be refused, have no node, lack an object or belong to a paused Deployment without counting as a failure. Pods that
/// are being deleted hold what it needs for as long as their grace period lasts, which is 30 s by default.
pub(super) const SETTLING: SignedDuration = SignedDuration::from_secs(30);

/// Number of restarts from which a container that ends again counts as crashing. A kubelet makes the third one 30 s after the
/// container's first end.
const CRASHING_RESTARTS: i64 = 3;

/// Fault of a workload, with the evidence that the state of the workload doesn't have already.
pub(super) struct WorkloadFault {
    pub kind: FaultKind,
    /// Object that shows the fault, e.g. `Pod/apps/web-1`.
    pub object: String,
    /// Fact that belongs to the kind: see there.
    pub detail: String,
    pub evidence: Vec<Evidence>,
    /// Words by which kubectl finds each quota and each limit range of the namespace, if the Pods are refused.
    pub limits: Vec<Vec<String>>,
}

/// Kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// No node has room for a Pod. Detail: what is missing, e.g. `cpu`.
    NoRoom,
    /// No node takes a Pod, for another reason. Detail: the scheduler's message.
    NoNode,
    /// A Pod uses an object that doesn't exist, or a key that the object lacks. Detail: kind and name of the object, with the key
    /// that is missing.
    MissingObject,
    /// The member's API server refuses the Pods. Detail: its message.
    Refused,
    /// A container ends again and again. Detail: how it ended, e.g. `exit code 1`.
    Crash,
    /// The Deployment is paused in the middle of a rollout.
    Paused,
    /// A Pod runs and isn't ready. Detail: names of its containers that aren't ready.
    Unready,
}

impl FaultKind {
    pub fn code(self) -> RuleCode {
        match self {
            Self::NoRoom => RuleCode::KF_AV_004,
            Self::NoNode => RuleCode::KF_AV_005,
            Self::MissingObject => RuleCode::KF_AV_006,
            Self::Refused => RuleCode::KF_AV_007,
            Self::Crash => RuleCode::KF_AV_008,
            Self::Unready => RuleCode::KF_AV_009,
            Self::Paused => RuleCode::KF_AV_010,
        }
    }

    /// True if the state is a failure only after the time that resources may take to become available: each Pod that starts
    /// is in it for a while.
    pub fn is_usual_at_first(self) -> bool {
        self == Self::Unready
    }
}

impl WorkloadFault {
    fn new(kind: FaultKind, object: Object<'_>, detail: String, evidence: Vec<Evidence>) -> Self {
        Self { kind, object: object.path().to_string(), detail, evidence, limits: Vec::new() }
    }

    /// Finds the fault of a workload on a cluster. `now` is the present time.
    pub fn find(cluster: &ClusterSnapshot, workload: Object<'_>, now: Timestamp) -> Option<Self> {
        let pods = pods_of(cluster, workload);
        let of_pods = |find: fn(EvidenceSource<'_>, Object<'_>, Timestamp) -> Option<Self>| {
            pods.iter().find_map(|pod| find(EvidenceSource::from(&cluster.name), *pod, now))
        };
        of_pods(missing_variable_source)
            .or_else(|| of_pods(unschedulable))
            .or_else(|| refused(cluster, workload, now))
            .or_else(|| of_pods(crash))
            .or_else(|| paused(workload, now))
            .or_else(|| of_pods(unready))
    }
}

/// True if a condition has had its status for longer than a healthy workload may have it.
fn is_settled(condition: &Condition, now: Timestamp) -> bool {
    condition.last_transition_time.is_some_and(|since| now.duration_since(since) >= SETTLING)
}

/// Finds a Pod for which the scheduler has found no node.
fn unschedulable(quote: EvidenceSource<'_>, pod: Object<'_>, now: Timestamp) -> Option<WorkloadFault> {
    let condition = pod.condition("PodScheduled")?;
    if condition.status != "False" || condition.reason != "Unschedulable" || !is_settled(&condition, now) {
        return None;
    }
    let fault = |kind, detail, evidence| Some(WorkloadFault::new(kind, pod, detail, evidence));
    if let Some(missing) = MissingReference::find(pod, &condition.message) {
        return fault(FaultKind::MissingObject, missing.in_words(), vec![missing.quoted(quote, pod)]);
    }
    let lacking = lacking_resources(&condition.message);
    if lacking.is_empty() {
        let fields = ["nodeSelector", "affinity", "tolerations"].map(|field| format!("spec.{field}"));
        let set = fields.iter().filter(|field| pod.at(&format!("/{}", field.replace('.', "/"))).is_some());
        let evidence = set.map(|field| quote.field(pod, field)).collect();
        return fault(FaultKind::NoNode, condition.message, evidence);
    }
    let requests = containers(pod).filter_map(|container| {
        let requests = container.pointer("/resources/requests")?;
        let path = format!("spec.containers[{}].resources.requests", text_field(container, "name"));
        Some(quote.text(pod, &path, requests.to_text(), None))
    });
    fault(FaultKind::NoRoom, lacking.join(", "), requests.collect())
}

/// Returns the resources that the nodes lack, which only the scheduler's message names: `0/3 nodes are available: 2 Insufficient cpu,
/// 1 Too many pods.` (noderesources/fit.go of Kubernetes 1.36).
fn lacking_resources(message: &str) -> Vec<String> {
    let mut lacking: Vec<String> = Vec::new();
    let words: Vec<&str> = message.split([' ', ',', ':']).filter(|word| !word.is_empty()).collect();
    for pair in words.windows(2).filter(|pair| pair[0] == "Insufficient") {
        let name = pair[1].trim_end_matches('.');
        if !lacking.iter().any(|known| known == name) {
            lacking.push(name.to_owned());
        }
    }
    if message.contains("Too many pods") {
        lacking.push("room for another Pod".to_owned());
    }
    lacking
}

/// Finds a container that can't start because an object of an environment variable, or a key of it, doesn't exist. The same
/// placement may create the object a moment after the Pod.
fn missing_variable_source(quote: EvidenceSource<'_>, pod: Object<'_>, now: Timestamp) -> Option<WorkloadFault> {
    if pod.created_at().is_some_and(|at| now.duration_since(at) < SETTLING) {
        return None;
    }
    let states = pod.list("/status/initContainerStatuses").iter().chain(pod.list("/status/containerStatuses"));
    states.into_iter().find_map(|state| {
        if text_at(state, "/state/waiting/reason") != "CreateContainerConfigError" {
            return None;
        }
        let missing = MissingReference::find(pod, text_at(state, "/state/waiting/message"))?;
        let evidence = vec![missing.quoted(quote, pod)];
        Some(WorkloadFault::new(FaultKind::MissingObject, pod, missing.in_words(), evidence))
    })
}

/// Reference of a Pod to something that doesn't exist in its namespace.
struct MissingReference<'a> {
    to: ObjectReference<'a>,
    /// Key that the object lacks; `None` if there is no such object.
    key: Option<&'a str>,
}

impl<'a> MissingReference<'a> {
    /// Finds the reference that a message of the kubelet (`CreateContainerConfigError`) or the scheduler (`Unschedulable`) is
    /// about. They write `configmap "x" not found` and `couldn't find key y in ConfigMap NAMESPACE/x`, and say it nowhere else
    /// (Kubernetes 1.36, `pkg/kubelet/kubelet_pods.go`).
    fn find(pod: Object<'a>, message: &str) -> Option<Self> {
        let namespace = pod.namespace().unwrap_or_default();
        references(pod).into_iter().find_map(|to| {
            let (kind, name) = (to.kind, to.name);
            if message.contains(&format!("{} \"{name}\" not found", kind.to_lowercase())) {
                return Some(Self { to, key: None });
            }
            let lacks = |key: &&str| message == format!("couldn't find key {key} in {kind} {namespace}/{name}");
            let key = to.key.filter(lacks)?;
            Some(Self { to, key: Some(key) })
        })
    }

    fn in_words(&self) -> String {
        let ObjectReference { kind, name, .. } = self.to;
        match self.key {
            Some(key) => format!("key {key} of {kind} {name}"),
            None => format!("{kind} {name}"),
        }
    }

    fn quoted(&self, quote: EvidenceSource<'_>, pod: Object<'_>) -> Evidence {
        let (field, value) = self.key.map_or((self.to.field, self.to.name), |key| ("key", key));
        quote.text(pod, &format!("{}.{field}", self.to.path), value.to_owned(), None)
    }
}

/// Reference of a Pod to an object of its namespace.
struct ObjectReference<'a> {
    kind: &'static str,
    name: &'a str,
    /// Key of the object that the Pod uses.
    key: Option<&'a str>,
    /// Path of the reference in the Pod.
    path: String,
    /// Field of the reference that has the object's name.
    field: &'static str,
}

/// Returns what a Pod's environment variables and volumes refer to.
fn references(pod: Object<'_>) -> Vec<ObjectReference<'_>> {
    let mut all = Vec::new();
    for container in containers(pod) {
        let place = format!("spec.containers[{}]", text_field(container, "name"));
        for variable in list_field(container, "env") {
            let variable_name = text_field(variable, "name");
            for (kind, source) in [("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")] {
                let name = text_at(variable, &format!("/valueFrom/{source}/name"));
                let key = Some(text_at(variable, &format!("/valueFrom/{source}/key")));
                let path = format!("{place}.env[{variable_name}].valueFrom.{source}");
                all.push(ObjectReference { kind, name, key, path, field: "name" });
            }
        }
        for source in list_field(container, "envFrom") {
            for (kind, field) in [("ConfigMap", "configMapRef"), ("Secret", "secretRef")] {
                let name = text_at(source, &format!("/{field}/name"));
                let path = format!("{place}.envFrom.{field}");
                all.push(ObjectReference { kind, name, key: None, path, field: "name" });
            }
        }
    }
    for volume in pod.list("/spec/volumes") {
        let name = text_at(volume, "/persistentVolumeClaim/claimName");
        let path = format!("spec.volumes[{}].persistentVolumeClaim", text_field(volume, "name"));
        all.push(ObjectReference { kind: "PersistentVolumeClaim", name, key: None, path, field: "claimName" });
    }
    all.retain(|used| !used.name.is_empty());
    all
}

/// Returns a Pod's containers and init containers.
fn containers(pod: Object<'_>) -> impl Iterator<Item = JsonRef<'_>> {
    pod.list("/spec/containers").iter().chain(pod.list("/spec/initContainers").iter())
}

/// Finds a workload whose Pods the API server refuses to create, and quotes the namespace's quotas and limits.
fn refused(cluster: &ClusterSnapshot, workload: Object<'_>, now: Timestamp) -> Option<WorkloadFault> {
    let failure = workload.condition("ReplicaFailure").filter(|c| c.status == "True" && is_settled(c, now))?;
    let quote = EvidenceSource::from(&cluster.name);
    let namespace = workload.namespace().unwrap_or_default();
    let mut fault = WorkloadFault::new(FaultKind::Refused, workload, failure.message, Vec::new());
    for quota in cluster.in_namespace(RESOURCE_QUOTA.group, RESOURCE_QUOTA.kind, namespace) {
        fault.evidence.extend(["spec.hard", "status.used"].map(|field| quote.field(quota, field)));
        fault.limits.push(kubectl::reference(quota));
    }
    for range in cluster.in_namespace(LIMIT_RANGE.group, LIMIT_RANGE.kind, namespace) {
        fault.evidence.push(quote.field(range, "spec.limits"));
        fault.limits.push(kubectl::reference(range));
    }
    Some(fault)
}

/// Finds a container that ends soon after each of its starts.
fn crash(quote: EvidenceSource<'_>, pod: Object<'_>, now: Timestamp) -> Option<WorkloadFault> {
    let states = pod.list("/status/containerStatuses").iter().chain(pod.list("/status/initContainerStatuses").iter());
    states.into_iter().find_map(|state| {
        let restarts = state.get("restartCount").and_then(JsonRef::as_i64).filter(|n| *n >= CRASHING_RESTARTS)?;
        let started = text_at(state, "/state/running/startedAt").parse::<Timestamp>().ok();
        // A container that has been running for longer crashed in the past.
        if started.is_some_and(|since| now.duration_since(since) >= SETTLING) {
            return None;
        }
        let ended = ["lastState", "state"].into_iter().find_map(|field| state.get(field)?.get("terminated"))?;
        let code = ended.get("exitCode").and_then(JsonRef::as_i64).unwrap_or_default();
        let reason = text_field(ended, "reason");
        let how =
            if reason == "OOMKilled" { format!("OOMKilled, exit code {code}") } else { format!("exit code {code}") };
        let path = format!("status.containerStatuses[{}].restartCount", text_field(state, "name"));
        let evidence = vec![quote.text(pod, &path, restarts.to_string(), None)];
        Some(WorkloadFault::new(FaultKind::Crash, pod, how, evidence))
    })
}

/// Finds a Deployment that is paused before its rollout has ended: its controller makes no Pods of the present template.
fn paused(workload: Object<'_>, now: Timestamp) -> Option<WorkloadFault> {
    let is_paused = workload.at("/spec/paused").and_then(JsonRef::as_bool) == Some(true);
    let number = |pointer| workload.at(pointer).and_then(JsonRef::as_i64);
    let wanted = number("/spec/replicas").unwrap_or(1);
    let is_unfinished = number("/status/updatedReplicas").unwrap_or_default() < wanted;
    let is_young = workload.changed_at().is_some_and(|at| now.duration_since(at) < SETTLING);
    if workload.kind() != "Deployment" || !is_paused || !is_unfinished || is_young {
        return None;
    }
    Some(WorkloadFault::new(FaultKind::Paused, workload, String::new(), Vec::new()))
}

/// Finds a Pod that runs and isn't ready, because a readiness probe fails.
fn unready(quote: EvidenceSource<'_>, pod: Object<'_>, _: Timestamp) -> Option<WorkloadFault> {
    let ready = pod.condition("Ready").filter(|c| c.status == "False")?;
    if pod.str("/status/phase") != Some("Running") || pod.deleted_at().is_some() {
        return None;
    }
    let probed: Vec<_> = containers(pod)
        .filter_map(|container| {
            let name = text_field(container, "name");
            let probe = container.get("readinessProbe").filter(|probe| !probe.is_null())?;
            let mut states = pod.list("/status/containerStatuses").iter();
            let state = states.find(|state| text_field(*state, "name") == name)?;
            let is_unready = state.get("ready").and_then(JsonRef::as_bool) == Some(false);
            (is_unready && state.pointer("/state/running").is_some()).then_some((name, probe))
        })
        .collect();
    if probed.is_empty() {
        return None;
    }
    let mut evidence = vec![quote.condition(pod, &ready)];
    evidence.extend(probed.iter().map(|(name, probe)| {
        quote.text(pod, &format!("spec.containers[{name}].readinessProbe"), probe.to_text(), None)
    }));
    let names: Vec<&str> = probed.iter().map(|(name, _)| *name).collect();
    Some(WorkloadFault::new(FaultKind::Unready, pod, names.join(", "), evidence))
}
