//! State of a workload's Pods: why containers can't start, and how the containers of a Job have failed.

use super::evidence_source::EvidenceSource;
use super::kubectl;
use crate::command::{KubectlVerb, RemedyCommand};
use crate::object::{text_at, text_field};
use crate::{ClusterSnapshot, Condition, Evidence, JsonRef, Object};

/// Waiting reasons that every container has before it starts.
const STARTING: [&str; 2] = ["ContainerCreating", "PodInitializing"];
/// Waiting reasons of a container whose image can't be pulled.
const NO_IMAGE: [&str; 4] = ["InvalidImageName", "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull"];

/// Condition of a workload that quotes the quota or the admission which refuses its Pods.
const REPLICA_FAILURE: &str = "ReplicaFailure";

/// Observed state of a workload and its Pods.
#[derive(Default)]
pub(super) struct WorkloadState {
    /// Evidence in the order in which a person would follow it.
    pub evidence: Vec<Evidence>,
    /// Pod whose image can't be pulled.
    pub image: Option<ImageFailure>,
    /// Pod and waiting reason of the first container that can't start, e.g. `Pod/apps/web-1 (CrashLoopBackOff)`.
    pub waiting_pod: Option<String>,
    /// Pod and exit code of the first container that has failed, e.g. `Pod/apps/job-1 ended with exit code 1`.
    pub failed_container: Option<String>,
    /// Last line of the first log among the evidence.
    pub last_log_line: Option<String>,
    /// Reason why there is no Pod, or why a Pod has no node: what the API server or the scheduler says.
    pub refusal: Option<String>,
    /// Workload that is paused.
    pub paused: Option<String>,
}

impl WorkloadState {
    /// Returns the reason why the workload isn't available, if its objects tell.
    pub fn reason(&self) -> Option<String> {
        let paused = || self.paused.as_ref().map(|workload| format!("{workload} is paused"));
        let waiting = || self.waiting_pod.as_ref().map(|pod| format!("{pod} can't start"));
        self.refusal.clone().or_else(paused).or_else(waiting).or_else(|| self.failed_container.clone())
    }
}

/// Pod whose image can't be pulled.
#[derive(Clone, Default)]
pub(super) struct ImageFailure {
    pub pod: String,
    /// Command that describes the Pod.
    pub describe: Option<RemedyCommand>,
    pub name: String,
    pub reason: String,
}

/// Collects a workload's conditions and the state of its Pods.
pub(super) fn workload_state(cluster: &ClusterSnapshot, workload: Object<'_>) -> WorkloadState {
    let quote = EvidenceSource::from(&cluster.name);
    let mut state = WorkloadState::default();
    for condition in workload.conditions().iter().filter(|c| is_failure(c)) {
        state.evidence.push(quote.condition(workload, condition));
        if condition.type_ == REPLICA_FAILURE {
            state.refusal.get_or_insert_with(|| condition.message.clone());
        }
    }
    if workload.kind() == "Deployment" {
        // A paused Deployment creates no Pods for its present template, and no condition is False.
        if workload.at("/spec/paused").and_then(JsonRef::as_bool) == Some(true) {
            state.evidence.push(quote.field(workload, "spec.paused"));
            state.paused = Some(workload.path().to_string());
        }
        state.evidence.push(quote.field(workload, "status.availableReplicas"));
    }
    for pod in pods_of(cluster, workload) {
        state.add_pod(cluster, pod);
    }
    state
}

/// True if a condition of a workload shows a failure.
fn is_failure(condition: &Condition) -> bool {
    match condition.type_.as_str() {
        "Available" | "Progressing" => condition.status == "False",
        "Failed" | REPLICA_FAILURE => condition.status == "True",
        _ => false,
    }
}

/// Labels by which a workload's controller tells apart the Pods of its templates.
const TEMPLATE_LABELS: [&str; 2] = ["pod-template-hash", "controller-revision-hash"];

/// Returns the Pods of a workload's newest template, sorted by name: those of an older one stay only until they are replaced.
/// A Pod that is a workload itself counts as its own Pod.
pub(super) fn pods_of<'a>(cluster: &'a ClusterSnapshot, workload: Object<'_>) -> Vec<Object<'a>> {
    let mut pods: Vec<_> = cluster
        .in_namespace("", "Pod", workload.namespace().unwrap_or_default())
        .filter(|pod| belongs(*pod, workload))
        .collect();
    let newest = pods.iter().max_by_key(|pod| pod.created_at()).and_then(|pod| template_of(*pod));
    pods.retain(|pod| template_of(*pod) == newest);
    pods.sort_by_key(Object::name);
    pods
}

/// Returns the name of the template that a Pod was made from; `None` if its controller has only one.
fn template_of(pod: Object<'_>) -> Option<&str> {
    TEMPLATE_LABELS.iter().find_map(|label| pod.label(label))
}

/// Container that ended with an exit code other than 0.
pub(super) struct FailedContainer<'a> {
    pub container: &'a str,
    /// Exit code of the container.
    pub code: i64,
    /// Path of the exit code in the Pod.
    path: String,
}

/// Returns the containers of a Pod whose present or previous run ended with an exit code other than 0.
pub(super) fn failed_containers(pod: Object<'_>) -> Vec<FailedContainer<'_>> {
    let mut all = Vec::new();
    for list in ["initContainerStatuses", "containerStatuses"] {
        for status in pod.list(&format!("/status/{list}")) {
            let Some(container) = status.get("name").and_then(JsonRef::as_str) else { continue };
            let ended = ["state", "lastState"].into_iter().find_map(|state| {
                let code =
                    status.pointer(&format!("/{state}/terminated/exitCode"))?.as_i64().filter(|code| *code != 0)?;
                Some(FailedContainer {
                    container,
                    code,
                    path: format!("status.{list}[{container}].{state}.terminated.exitCode"),
                })
            });
            all.extend(ended);
        }
    }
    all
}

impl WorkloadState {
    fn add_pod(&mut self, cluster: &ClusterSnapshot, pod: Object<'_>) {
        let quote = EvidenceSource::from(&cluster.name);
        for condition in pod.conditions().iter().filter(|c| c.type_ == "PodScheduled" && c.status == "False") {
            self.evidence.push(quote.condition(pod, condition));
            self.refusal.get_or_insert_with(|| format!("{} has no node: {}", pod.path(), condition.message));
        }
        for path in ["/status/initContainerStatuses", "/status/containerStatuses"] {
            for container in pod.list(path) {
                self.add_waiting_container(cluster, pod, path, container);
            }
        }
        for FailedContainer { container, code, path } in failed_containers(pod) {
            self.evidence.push(quote.text(pod, &path, code.to_string(), None));
            self.failed_container.get_or_insert_with(|| format!("{} ended with exit code {code}", pod.path()));
            self.add_log(cluster, pod, container);
        }
    }

    fn add_waiting_container(
        &mut self,
        cluster: &ClusterSnapshot,
        pod: Object<'_>,
        path: &str,
        container: JsonRef<'_>,
    ) {
        let name = text_field(container, "name");
        let (reason, message) =
            (text_at(container, "/state/waiting/reason"), text_at(container, "/state/waiting/message"));
        if reason.is_empty() || STARTING.contains(&reason) {
            return;
        }
        let place = format!("{}[{name}].state.waiting", path[1..].replace('/', "."));
        let value = if message.is_empty() { reason.to_owned() } else { format!("{reason}: {message}") };
        self.evidence.push(EvidenceSource::from(&cluster.name).text(pod, &place, value, None));
        self.waiting_pod.get_or_insert_with(|| format!("{} ({reason})", pod.path()));
        if NO_IMAGE.contains(&reason) && self.image.is_none() {
            let image = [text_field(container, "image"), spec_image(pod, name)].into_iter().find(|i| !i.is_empty());
            self.image = Some(ImageFailure {
                pod: pod.path().to_string(),
                describe: Some(RemedyCommand::kubectl(
                    cluster.name.as_str(),
                    KubectlVerb::Describe,
                    kubectl::reference(pod),
                )),
                name: image.unwrap_or("(unknown)").to_owned(),
                reason: reason.to_owned(),
            });
        }
    }

    fn add_log(&mut self, cluster: &ClusterSnapshot, pod: Object<'_>, container: &str) {
        let log = cluster.logs.iter().find(|log| {
            Some(log.namespace.as_str()) == pod.namespace() && log.pod == pod.name() && log.container == container
        });
        let Some(log) = log else { return };
        let text = log.text.trim_end();
        let Some(last) = text.lines().next_back() else { return };
        let path = format!("the last lines of container {container}");
        self.evidence.push(EvidenceSource::from(&cluster.name).text(pod, &path, text.to_owned(), None));
        self.last_log_line.get_or_insert_with(|| last.trim().to_owned());
    }
}

fn spec_image<'a>(pod: Object<'a>, container: &str) -> &'a str {
    let mut containers = pod.list("/spec/containers").iter().chain(pod.list("/spec/initContainers"));
    let named = containers.find(|c| c.get("name").and_then(JsonRef::as_str) == Some(container));
    named.map_or("", |c| text_field(c, "image"))
}

/// True if a Pod is the workload itself or belongs to it. A Deployment's Pods belong to a `ReplicaSet` named after the
/// Deployment.
fn belongs(pod: Object<'_>, workload: Object<'_>) -> bool {
    if pod.namespace() != workload.namespace() {
        return false;
    }
    if workload.kind() == "Pod" && pod.name() == workload.name() {
        return true;
    }
    pod.list("/metadata/ownerReferences").iter().any(|owner| {
        let (kind, name) = (text_field(owner, "kind"), text_field(owner, "name"));
        let is_its_replica_set = kind == "ReplicaSet"
            && workload.kind() == "Deployment"
            && name.rsplit_once('-').is_some_and(|(stem, _)| stem == workload.name());
        is_its_replica_set || (kind == workload.kind() && name == workload.name())
    })
}
