//! What a workload's Pods wait for, and why those of a Job have failed.

use serde_json::Value;

use super::kubectl;
use super::quote::Quote;
use crate::command::{Command, KubectlVerb};
use crate::{ClusterSnapshot, Evidence, Object};

/// Reasons of every container that is about to start.
const STARTING: [&str; 2] = ["ContainerCreating", "PodInitializing"];
/// Reasons of a container that can't have its image.
const NO_IMAGE: [&str; 4] = ["InvalidImageName", "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull"];

/// What was seen of a workload and its Pods.
#[derive(Default)]
pub(super) struct Look {
    /// In the order in which a person would follow it.
    pub evidence: Vec<Evidence>,
    /// A Pod that can't have its image.
    pub image: Option<Image>,
    /// What the first container that can't start says, e.g. `Pod/apps/web-1 (CrashLoopBackOff)`.
    pub waiting: Option<String>,
    /// How the first container that has failed ended, e.g. `Pod/apps/job-1 ended with exit code 1`.
    pub ended: Option<String>,
    /// The last line of a log among the evidence.
    pub said: Option<String>,
}

/// A Pod that can't have its image.
#[derive(Clone, Default)]
pub(super) struct Image {
    pub pod: String,
    /// The command that describes the Pod.
    pub look: Option<Command>,
    pub name: String,
    pub reason: String,
}

/// Looks at a workload's conditions and at its Pods.
pub(super) fn of_workload(cluster: &ClusterSnapshot, workload: Object<'_>) -> Look {
    let quote = Quote::from(&cluster.name);
    let mut look = Look::default();
    let is_failed = |type_: &str, status: &str| match type_ {
        "Available" | "Progressing" => status == "False",
        "Failed" => status == "True",
        _ => false,
    };
    for condition in workload.conditions().iter().filter(|c| is_failed(&c.type_, &c.status)) {
        look.evidence.push(quote.condition(workload, condition));
    }
    if workload.kind() == "Deployment" {
        look.evidence.push(quote.field(workload, "status.availableReplicas"));
    }
    for pod in pods(cluster, workload) {
        look.at(cluster, pod);
    }
    look
}

/// A workload's Pods by name; a Pod is its own.
pub(super) fn pods<'a>(cluster: &'a ClusterSnapshot, workload: Object<'_>) -> Vec<Object<'a>> {
    let of_it = |pod: &Object<'_>| {
        let itself =
            workload.kind() == "Pod" && (pod.namespace(), pod.name()) == (workload.namespace(), workload.name());
        itself || belongs(*pod, workload)
    };
    let mut pods: Vec<_> = cluster.of_kind("", "Pod").filter(of_it).collect();
    pods.sort_by_key(Object::name);
    pods
}

/// A container that ended with something else than 0.
pub(super) struct Ended<'a> {
    pub container: &'a str,
    /// Its exit code.
    pub code: i64,
    /// Where the code stands.
    path: String,
}

/// The containers of a Pod that ended with something else than 0, this time or the time before.
pub(super) fn failed_containers(pod: Object<'_>) -> Vec<Ended<'_>> {
    let mut all = Vec::new();
    for list in ["initContainerStatuses", "containerStatuses"] {
        for status in pod.list(&format!("/status/{list}")) {
            let Some(container) = status.get("name").and_then(Value::as_str) else { continue };
            let ended = ["state", "lastState"].into_iter().find_map(|state| {
                let code =
                    status.pointer(&format!("/{state}/terminated/exitCode"))?.as_i64().filter(|code| *code != 0)?;
                Some(Ended { container, code, path: format!("status.{list}[{container}].{state}.terminated.exitCode") })
            });
            all.extend(ended);
        }
    }
    all
}

impl Look {
    fn at(&mut self, cluster: &ClusterSnapshot, pod: Object<'_>) {
        let quote = Quote::from(&cluster.name);
        for condition in pod.conditions().iter().filter(|c| c.type_ == "PodScheduled" && c.status == "False") {
            self.evidence.push(quote.condition(pod, condition));
        }
        for path in ["/status/initContainerStatuses", "/status/containerStatuses"] {
            for container in pod.list(path) {
                self.at_container(cluster, pod, path, container);
            }
        }
        for Ended { container, code, path } in failed_containers(pod) {
            self.evidence.push(quote.text(pod, &path, code.to_string(), None));
            self.ended.get_or_insert_with(|| format!("{} ended with exit code {code}", pod.path()));
            self.log(cluster, pod, container);
        }
    }

    fn at_container(&mut self, cluster: &ClusterSnapshot, pod: Object<'_>, path: &str, container: &Value) {
        let text = |pointer: &str| container.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (reason, message) = (text("/state/waiting/reason"), text("/state/waiting/message"));
        if reason.is_empty() || STARTING.contains(&reason) {
            return;
        }
        let place = format!("{}[{}].state.waiting", path[1..].replace('/', "."), text("/name"));
        let value = if message.is_empty() { reason.to_owned() } else { format!("{reason}: {message}") };
        self.evidence.push(Quote::from(&cluster.name).text(pod, &place, value, None));
        self.waiting.get_or_insert_with(|| format!("{} ({reason})", pod.path()));
        if NO_IMAGE.contains(&reason) && self.image.is_none() {
            let image = [text("/image"), spec_image(pod, text("/name"))].into_iter().find(|i| !i.is_empty());
            self.image = Some(Image {
                pod: pod.path(),
                look: Some(Command::kubectl(cluster.name.as_str(), KubectlVerb::Describe, kubectl::reference(pod))),
                name: image.unwrap_or("(unknown)").to_owned(),
                reason: reason.to_owned(),
            });
        }
    }

    fn log(&mut self, cluster: &ClusterSnapshot, pod: Object<'_>, container: &str) {
        let of_it = |l: &&crate::PodLog| {
            Some(l.namespace.as_str()) == pod.namespace() && l.pod == pod.name() && l.container == container
        };
        let Some(log) = cluster.logs.iter().find(of_it) else { return };
        let text = log.text.trim_end();
        let Some(last) = text.lines().next_back() else { return };
        let path = format!("the last lines of container {container}");
        self.evidence.push(Quote::from(&cluster.name).text(pod, &path, text.to_owned(), None));
        self.said.get_or_insert_with(|| last.trim().to_owned());
    }
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
