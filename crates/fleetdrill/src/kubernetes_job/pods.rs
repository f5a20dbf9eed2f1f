//! What the Pods of a Job say: which can't start and why, and which ended without a result.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStatus, Pod};
use record::{PodEnd, RepeatedShard};

/// Annotation and label of a Pod of an Indexed Job with its index, from 0.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// Reasons of a waiting container that pass only if somebody does something, or a registry answers again.
const NOT_STARTED: [&str; 7] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

/// Reasons of a waiting container that never pass.
const HOPELESS: [&str; 2] = ["InvalidImageName", "ErrImageNeverPull"];

/// Reason why a Pod hasn't started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StartProblem {
    /// Reason in Kubernetes' word, e.g. `ImagePullBackOff` or `Unschedulable`.
    pub(crate) reason: String,
    /// Message of the kubelet or the scheduler.
    pub(crate) message: String,
}

impl StartProblem {
    /// True if waiting can't help.
    pub(crate) fn is_hopeless(&self) -> bool {
        HOPELESS.contains(&self.reason.as_str())
    }
}

/// State of a Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PodState {
    /// It hasn't started; with the reason, if something is wrong.
    Pending(Option<StartProblem>),
    /// It runs.
    Running,
    /// It ended with a result.
    Succeeded,
    /// It ended without a result.
    Ended(PodEnd),
}

/// A Pod of the Job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShardPod {
    /// Number of its shard, from 1.
    pub(crate) shard: usize,
    /// Name.
    pub(crate) name: String,
    /// State when it was last seen.
    pub(crate) state: PodState,
    /// Reason why Kubernetes ends it, if it does: a drained node takes the Pod away before its end is seen.
    disruption: Option<String>,
    /// Name of the container that failed; `None` if none has.
    pub(crate) failed_container: Option<String>,
}

/// All Pods that a Job has had, by UID. The Job's controller names Pods of one shard at random, so their order is that in which they were
/// seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShardPods {
    pods: BTreeMap<String, (usize, ShardPod)>,
}

impl ShardPods {
    /// Takes what the API server lists. A Pod that is gone before its end was seen was evicted, or else deleted by somebody.
    pub(crate) fn observe(&mut self, listed: &[Pod]) {
        let mut there = BTreeSet::new();
        for pod in listed {
            let (Some(uid), Some(seen)) = (pod.metadata.uid.clone(), shard_pod(pod)) else { continue };
            there.insert(uid.clone());
            let order = self.pods.len();
            match self.pods.entry(uid) {
                Entry::Occupied(mut known) => known.get_mut().1 = seen,
                Entry::Vacant(new) => {
                    new.insert((order, seen));
                }
            }
        }
        for (uid, (_, pod)) in &mut self.pods {
            let is_active = matches!(pod.state, PodState::Pending(_) | PodState::Running);
            if is_active && !there.contains(uid) {
                let disrupted = pod.disruption.clone().map(|reason| PodEnd::Disrupted { reason });
                pod.state = PodState::Ended(disrupted.unwrap_or(PodEnd::Deleted));
            }
        }
    }

    /// All Pods, in the order in which they were seen.
    pub(crate) fn all(&self) -> Vec<&ShardPod> {
        let mut all: Vec<&(usize, ShardPod)> = self.pods.values().collect();
        all.sort_by_key(|(order, _)| *order);
        all.into_iter().map(|(_, pod)| pod).collect()
    }

    /// Returns the Pods that ended without a result and were followed by another one of the same shard.
    pub(crate) fn repeated(&self) -> Vec<RepeatedShard> {
        let all = self.all();
        let mut repeated = Vec::new();
        for (at, pod) in all.iter().enumerate() {
            let PodState::Ended(end) = &pod.state else { continue };
            if all[at + 1..].iter().any(|later| later.shard == pod.shard) {
                repeated.push(RepeatedShard { shard: pod.shard, pod: pod.name.clone(), end: end.clone() });
            }
        }
        repeated.sort_by_key(|repeated| repeated.shard);
        repeated
    }

    /// Returns the last Pod of a shard.
    pub(crate) fn last_of(&self, shard: usize) -> Option<&ShardPod> {
        self.all().into_iter().rfind(|pod| pod.shard == shard)
    }

    /// Returns the progress in a few words: `3 shards: 1 done, 2 running`.
    pub(crate) fn progress(&self, shards: usize) -> String {
        let count = |is_meant: fn(&PodState) -> bool| {
            (1..=shards).filter(|shard| self.last_of(*shard).is_some_and(|pod| is_meant(&pod.state))).count()
        };
        let done = count(|state| *state == PodState::Succeeded);
        let running = count(|state| *state == PodState::Running);
        let waiting = shards - done - running;
        let counted = [(done, "done"), (running, "running"), (waiting, "waiting")].into_iter();
        let counted: Vec<_> = counted.filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        format!("{shards} {}: {}", if shards == 1 { "shard" } else { "shards" }, counted.join(", "))
    }
}

fn shard_pod(pod: &Pod) -> Option<ShardPod> {
    let metadata = &pod.metadata;
    let known = [&metadata.annotations, &metadata.labels];
    let index = known.into_iter().flatten().find_map(|map| map.get(INDEX))?;
    let shard = index.parse::<usize>().ok()? + 1;
    Some(ShardPod {
        shard,
        name: metadata.name.clone()?,
        state: state(pod),
        disruption: disruption(pod),
        failed_container: failed(pod).map(|(name, _)| name.to_owned()),
    })
}

fn state(pod: &Pod) -> PodState {
    match pod.status.as_ref().and_then(|status| status.phase.as_deref()) {
        Some("Succeeded") => PodState::Succeeded,
        Some("Failed") => PodState::Ended(end(pod)),
        Some("Running") => PodState::Running,
        _ => PodState::Pending(start_problem(pod)),
    }
}

fn containers(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    let status = pod.status.iter();
    status.flat_map(|s| s.init_container_statuses.iter().chain(&s.container_statuses)).flatten()
}

/// Returns the first container of a Pod that failed: its name, and its end.
fn failed(pod: &Pod) -> Option<(&str, &ContainerStateTerminated)> {
    let mut ended = containers(pod)
        .filter_map(|container| Some((container.name.as_str(), container.state.as_ref()?.terminated.as_ref()?)));
    ended.find(|(_, terminated)| terminated.exit_code != 0)
}

/// Returns the reason why a Pod hasn't started, if something is wrong.
fn start_problem(pod: &Pod) -> Option<StartProblem> {
    let waiting = containers(pod).filter_map(|container| container.state.as_ref()?.waiting.as_ref());
    let mut known = waiting.filter(|waiting| waiting.reason.as_deref().is_some_and(|r| NOT_STARTED.contains(&r)));
    if let Some(waiting) = known.next() {
        let (reason, message) = (waiting.reason.clone()?, waiting.message.clone().unwrap_or_default());
        return Some(StartProblem { reason, message });
    }
    let conditions = pod.status.as_ref()?.conditions.iter().flatten();
    let mut unscheduled = conditions.filter(|c| c.type_ == "PodScheduled" && c.status == "False");
    let condition = unscheduled.next()?;
    Some(StartProblem { reason: condition.reason.clone()?, message: condition.message.clone().unwrap_or_default() })
}

/// Returns the reason why Kubernetes ends a Pod, if it does.
fn disruption(pod: &Pod) -> Option<String> {
    let mut conditions = pod.status.as_ref()?.conditions.iter().flatten();
    let condition = conditions.find(|c| c.type_ == "DisruptionTarget" && c.status == "True")?;
    Some(condition.reason.clone().unwrap_or_default())
}

/// Returns how a Pod ended that failed.
fn end(pod: &Pod) -> PodEnd {
    let status = pod.status.as_ref();
    if status.is_some_and(|status| status.reason.as_deref() == Some("Evicted")) {
        return PodEnd::Evicted { message: status.and_then(|s| s.message.clone()).unwrap_or_default() };
    }
    let failed = failed(pod).map(|(_, terminated)| terminated);
    if failed.is_some_and(|terminated| terminated.reason.as_deref() == Some("OOMKilled")) {
        return PodEnd::OutOfMemory;
    }
    if let Some(reason) = disruption(pod) {
        return PodEnd::Disrupted { reason };
    }
    if pod.metadata.deletion_timestamp.is_some() {
        return PodEnd::Deleted;
    }
    // A shell's convention, which the container runtimes follow.
    match failed.map(|terminated| terminated.exit_code) {
        Some(code) if code > 130 => PodEnd::Killed { signal: code - 128 },
        Some(code) => PodEnd::Exited { code },
        None => PodEnd::Deleted,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "tests write the status in its place")]
    fn pod(name: &str, index: &str, status: Value) -> Pod {
        let metadata = json!({"name": name, "uid": format!("uid-{name}"), "annotations": {INDEX: index}});
        serde_json::from_value(json!({"metadata": metadata, "status": status})).unwrap()
    }

    fn terminated(code: i32, reason: &str) -> Value {
        in_state("Failed", &json!({"terminated": {"exitCode": code, "reason": reason}}))
    }

    fn waiting(reason: &str) -> Value {
        in_state("Pending", &json!({"waiting": {"reason": reason, "message": "why"}}))
    }

    /// Status of a Pod with one container.
    fn in_state(phase: &str, state: &Value) -> Value {
        let container = json!({"name": "fleetdrill", "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": state});
        json!({"phase": phase, "containerStatuses": [container]})
    }

    #[test]
    fn the_end_of_a_pod_is_named_by_its_cause() {
        let of = |status: Value| end(&pod("a", "0", status));
        let evicted = json!({"phase": "Failed", "reason": "Evicted", "message": "low on memory"});
        assert_eq!(of(evicted), PodEnd::Evicted { message: "low on memory".to_owned() });
        let mut drained = terminated(137, "Error");
        drained["conditions"] =
            json!([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]);
        assert_eq!(of(drained), PodEnd::Disrupted { reason: "EvictionByEvictionAPI".to_owned() });
        assert_eq!(of(terminated(137, "OOMKilled")), PodEnd::OutOfMemory);
        assert_eq!(of(terminated(137, "Error")), PodEnd::Killed { signal: 9 });
        assert_eq!(of(terminated(3, "Error")), PodEnd::Exited { code: 3 });
        let mut deleted = pod("a", "0", terminated(130, "Error"));
        deleted.metadata.deletion_timestamp = Some(serde_json::from_value(json!("2026-11-28T00:00:00Z")).unwrap());
        assert_eq!(end(&deleted), PodEnd::Deleted);
    }

    #[test]
    fn the_container_that_failed_is_known() {
        let of = |status: Value| shard_pod(&pod("a", "0", status)).unwrap().failed_container;
        let mut status = in_state("Failed", &json!({"waiting": {"reason": "PodInitializing"}}));
        status["initContainerStatuses"] = json!([{"name": "features", "image": "", "imageID": "", "ready": false,
            "restartCount": 0, "state": {"terminated": {"exitCode": 128, "reason": "Error"}}}]);
        assert_eq!(of(status).as_deref(), Some("features"));
        assert_eq!(of(terminated(3, "Error")).as_deref(), Some("fleetdrill"));
        assert_eq!(of(terminated(0, "Completed")), None);
    }

    #[test]
    fn a_pod_that_cannot_start_says_why() {
        let of = |status: Value| start_problem(&pod("a", "0", status)).map(|problem| problem.reason);
        assert_eq!(of(waiting("ImagePullBackOff")).as_deref(), Some("ImagePullBackOff"));
        assert_eq!(of(waiting("ContainerCreating")), None, "it starts");
        let condition =
            json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"});
        assert_eq!(of(json!({"phase": "Pending", "conditions": [condition]})).as_deref(), Some("Unschedulable"));
        let hopeless = |reason: &str| StartProblem { reason: reason.to_owned(), message: String::new() }.is_hopeless();
        assert!(hopeless("InvalidImageName") && !hopeless("ImagePullBackOff"), "a registry may answer again");
    }

    #[test]
    fn an_evicted_pod_that_is_gone_at_the_next_look_was_evicted() {
        let condition = json!({"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"});
        let mut pods = ShardPods::default();
        pods.observe(&[pod("x-0", "0", json!({"phase": "Running", "conditions": [condition]}))]);
        assert_eq!(pods.last_of(1).unwrap().state, PodState::Running);
        pods.observe(&[]);
        let evicted = PodEnd::Disrupted { reason: "EvictionByEvictionAPI".to_owned() };
        assert_eq!(pods.last_of(1).unwrap().state, PodState::Ended(evicted));
    }

    #[test]
    fn only_pods_that_another_one_followed_are_repeated() {
        let mut pods = ShardPods::default();
        let running = json!({"phase": "Running"});
        pods.observe(&[pod("x-0", "0", running.clone()), pod("x-1", "1", running.clone())]);
        assert_eq!(pods.progress(3), "3 shards: 2 running, 1 waiting");
        // The first one is killed and repeated, the second one is deleted.
        pods.observe(&[pod("x-0", "0", terminated(137, "Error")), pod("a-0", "0", running.clone())]);
        assert_eq!(pods.last_of(2).unwrap().state, PodState::Ended(PodEnd::Deleted));
        let killed = RepeatedShard { shard: 1, pod: "x-0".to_owned(), end: PodEnd::Killed { signal: 9 } };
        assert_eq!(pods.repeated(), std::slice::from_ref(&killed), "nothing has followed the second one yet");
        pods.observe(&[pod("a-0", "0", json!({"phase": "Succeeded"})), pod("y-1", "1", running)]);
        let deleted = RepeatedShard { shard: 2, pod: "x-1".to_owned(), end: PodEnd::Deleted };
        assert_eq!(pods.repeated(), [killed, deleted]);
        assert_eq!(pods.last_of(1).unwrap().name, "a-0");
        // A Pod that has ended and goes away stays what it was.
        pods.observe(&[]);
        assert_eq!(pods.last_of(1).unwrap().state, PodState::Succeeded);
    }
}
