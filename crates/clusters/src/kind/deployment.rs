//! An agent as a Deployment in the cluster that it serves, with the rights that KubeFleet's own charts give it (v0.1.2:
//! cluster-admin).

use std::path::Path;
use std::time::{Duration, Instant};

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Namespace, Pod, Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::api::{Api, DeleteParams, ListParams, LogParams, Patch, PatchParams};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::error::ClusterError;
use crate::provider::{Agent, SYSTEM};

/// Who applies what is made here.
const MANAGER: &str = "fleetdrill";

/// How long an agent's pod may take until it runs, or until it is gone.
const LIMIT: Duration = Duration::from_secs(90);

/// How often it is looked.
const INTERVAL: Duration = Duration::from_millis(200);

/// Reasons for which a container waits in vain.
const IN_VAIN: [&str; 6] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "CreateContainerError",
    "CrashLoopBackOff",
];

/// Where an agent has the token for its hub.
const TOKEN: (&str, &str) = ("/hub", "token");

/// An agent's Deployment.
pub(super) struct Deployed {
    pub(super) cluster: Cluster,
    /// Its name, and the agent's.
    pub(super) agent: String,
}

impl Deployed {
    /// Makes it, or changes it into this one.
    pub(super) async fn make(&self, agent: &Agent, image: &str) -> Result<(), ClusterError> {
        let name = &self.agent;
        self.apply(&Api::<Namespace>::all(self.cluster.client.clone()), SYSTEM, json!({})).await?;
        self.apply(&self.namespaced::<ServiceAccount>(), name, json!({})).await?;
        let binding = json!({
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": SYSTEM}],
        });
        self.apply(&Api::<ClusterRoleBinding>::all(self.cluster.client.clone()), name, binding).await?;
        if let Some(hub) = &agent.hub {
            let read = tokio::fs::read_to_string(&hub.token).await;
            let token = read.map_err(ClusterError::io("read", &hub.token))?;
            self.apply(&self.namespaced::<Secret>(), name, json!({"stringData": {TOKEN.1: token}})).await?;
        }
        self.apply(&self.namespaced::<Deployment>(), name, json!({"spec": spec(agent, image)})).await
    }

    /// Waits until its pod runs.
    pub(super) async fn runs(&self) -> Result<(), ClusterError> {
        let started = Instant::now();
        loop {
            let pods = self.pods().await?;
            let why = match pods.iter().find(|pod| pod.metadata.deletion_timestamp.is_none()).map(state) {
                Some(State::Runs) => return Ok(()),
                Some(State::InVain(why)) => return Err(self.not_running(why)),
                Some(State::Waits(why)) => why,
                None => "it has no pod".to_owned(),
            };
            if started.elapsed() > LIMIT {
                return Err(self.not_running(format!("after {} s {why}", LIMIT.as_secs())));
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Ends its pod as a crash does, and has no other made.
    pub(super) async fn stop(&self) -> Result<(), ClusterError> {
        self.scale(0).await?;
        let at_once = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
        let started = Instant::now();
        loop {
            let pods = self.pods().await?;
            if pods.is_empty() {
                return Ok(());
            }
            if started.elapsed() > LIMIT {
                return Err(self.not_running(format!("its pod isn't gone after {} s", LIMIT.as_secs())));
            }
            for pod in pods.into_iter().filter_map(|pod| pod.metadata.name) {
                match self.namespaced::<Pod>().delete(&pod, &at_once).await {
                    Err(kube::Error::Api(status)) if status.is_not_found() => {}
                    deleted => deleted.map(drop).map_err(|e| self.refused(e))?,
                }
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Asks for so many pods.
    pub(super) async fn scale(&self, replicas: u8) -> Result<(), ClusterError> {
        let patch = Patch::Merge(json!({"spec": {"replicas": replicas}}));
        let patched = self.namespaced::<Deployment>().patch(&self.agent, &PatchParams::default(), &patch).await;
        patched.map(drop).map_err(|e| self.refused(e))
    }

    /// How many pods it asks for.
    pub(super) async fn replicas(&self) -> Result<i32, ClusterError> {
        let there = self.namespaced::<Deployment>().get(&self.agent).await.map_err(|e| self.refused(e))?;
        Ok(there.spec.and_then(|spec| spec.replicas).unwrap_or(1))
    }

    /// Deletes it.
    pub(super) async fn delete(&self) -> Result<(), ClusterError> {
        let deleted = self.namespaced::<Deployment>().delete(&self.agent, &DeleteParams::default()).await;
        deleted.map(drop).map_err(|e| self.refused(e))
    }

    /// What its pod has logged.
    pub(super) async fn log(&self) -> Result<String, ClusterError> {
        let Some(pod) = self.pods().await?.into_iter().find_map(|pod| pod.metadata.name) else {
            return Ok(String::new());
        };
        self.namespaced::<Pod>().logs(&pod, &LogParams::default()).await.map_err(|e| self.refused(e))
    }

    async fn pods(&self) -> Result<Vec<Pod>, ClusterError> {
        let params = ListParams::default().labels(&format!("{LABEL}={}", self.agent));
        let pods = self.namespaced::<Pod>().list(&params).await.map_err(|e| self.refused(e))?;
        Ok(pods.items)
    }

    fn namespaced<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.cluster.client.clone(), SYSTEM)
    }

    async fn apply<K>(&self, api: &Api<K>, name: &str, mut object: Value) -> Result<(), ClusterError>
    where
        K: kube::Resource<DynamicType = ()> + Clone + DeserializeOwned + Serialize + std::fmt::Debug,
    {
        object["apiVersion"] = K::api_version(&()).into();
        object["kind"] = K::kind(&()).into();
        object["metadata"] = json!({"name": name});
        let params = PatchParams::apply(MANAGER).force();
        let applied = api.patch(name, &params, &Patch::Apply(object)).await;
        applied.map(drop).map_err(|e| self.refused(e))
    }

    fn refused(&self, error: kube::Error) -> ClusterError {
        ClusterError::Api { cluster: self.cluster.name.clone(), source: Box::new(error) }
    }

    fn not_running(&self, why: String) -> ClusterError {
        ClusterError::AgentNotRunning { agent: self.agent.clone(), cluster: self.cluster.name.clone(), why }
    }
}

/// The label by which an agent's pods are found.
const LABEL: &str = "app.kubernetes.io/name";

fn spec(agent: &Agent, image: &str) -> Value {
    let name = &agent.name;
    let mut container = json!({
        "name": name, "image": image, "imagePullPolicy": "IfNotPresent", "args": agent.flags,
        "securityContext": {
            "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
        },
    });
    let mut pod = json!({
        "serviceAccountName": name,
        // An agent uses up all of its grace (v0.1.2).
        "terminationGracePeriodSeconds": 2,
        "securityContext": {"runAsNonRoot": true, "runAsUser": 65532},
    });
    if let Some(hub) = &agent.hub {
        let environment = hub.environment(&agent.cluster.name, &Path::new(TOKEN.0).join(TOKEN.1));
        container["env"] = environment.map(|(name, value)| json!({"name": name, "value": value})).into_iter().collect();
        container["volumeMounts"] = json!([{"name": "hub", "mountPath": TOKEN.0, "readOnly": true}]);
        pod["volumes"] = json!([{"name": "hub", "secret": {"secretName": name}}]);
    }
    pod["containers"] = json!([container]);
    json!({
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": {LABEL: name}},
        "template": {"metadata": {"labels": {LABEL: name}}, "spec": pod},
    })
}

/// How far a pod is.
#[derive(Debug, PartialEq, Eq)]
enum State {
    Runs,
    Waits(String),
    InVain(String),
}

fn state(pod: &Pod) -> State {
    let status = pod.status.clone().unwrap_or_default();
    let container = status.container_statuses.into_iter().flatten().next().and_then(|container| container.state);
    let Some(container) = container else {
        let scheduled =
            status.conditions.into_iter().flatten().find(|c| c.type_ == "PodScheduled" && c.status != "True");
        let why = scheduled.and_then(|c| c.message).unwrap_or_else(|| "its pod has not begun".to_owned());
        return State::Waits(why);
    };
    if container.running.is_some() {
        return State::Runs;
    }
    if let Some(waiting) = container.waiting {
        let reason = waiting.reason.unwrap_or_default();
        let why = format!("{reason} {}", waiting.message.unwrap_or_default()).trim_end().to_owned();
        return if IN_VAIN.contains(&reason.as_str()) { State::InVain(why) } else { State::Waits(why) };
    }
    let ended = container.terminated.unwrap_or_default();
    State::Waits(format!("its container ended with {} {}", ended.exit_code, ended.reason.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(state: &Value) -> Pod {
        serde_json::from_value(json!({"status": {"containerStatuses": [{
            "name": "a", "image": "i", "imageID": "", "ready": false, "restartCount": 0, "state": state,
        }]}}))
        .expect("a pod")
    }

    #[test]
    fn an_image_that_can_not_be_had_is_not_waited_for() {
        assert_eq!(state(&pod(&json!({"running": {}}))), State::Runs);
        let waiting = |reason: &str| pod(&json!({"waiting": {"reason": reason, "message": "no such image"}}));
        assert_eq!(state(&waiting("ContainerCreating")), State::Waits("ContainerCreating no such image".into()));
        assert_eq!(state(&waiting("ErrImagePull")), State::InVain("ErrImagePull no such image".into()));
        assert!(matches!(state(&Pod::default()), State::Waits(_)));
    }
}
