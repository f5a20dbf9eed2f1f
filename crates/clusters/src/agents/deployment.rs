//! Deployment of an agent in the cluster that the agent serves, with the rights that KubeFleet's own charts grant
//! (v0.1.2: cluster-admin).

use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ContainerStatus, Namespace, Pod, Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::api::{Api, DeleteParams, DynamicObject, GroupVersionKind, ListParams, LogParams, Patch, PatchParams};
use kube::discovery::{self, Scope};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Agent, SYSTEM};
use crate::cluster::Cluster;
use crate::error::ClusterError;

/// Field manager of the objects that are applied here.
const MANAGER: &str = "fleetdrill";

/// Time limit for an agent's pod to run, or to be gone.
const LIMIT: Duration = Duration::from_secs(90);

/// Interval at which the pods are listed during a wait.
const INTERVAL: Duration = Duration::from_millis(200);

/// Waiting reasons of a container that isn't expected to start any more.
const IN_VAIN: [&str; 6] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "CreateContainerError",
    "CrashLoopBackOff",
];

/// Directory and file name of the token for the hub in an agent's pod. The file name is also the key in the Secret.
const TOKEN: (&str, &str) = ("/hub", "token");

/// An agent's Deployment.
pub(crate) struct AgentDeployment {
    pub(crate) cluster: Cluster,
    /// Name of the Deployment and of the agent.
    pub(crate) agent: String,
}

impl AgentDeployment {
    /// Applies the Deployment with this number of pods, and the objects that the agent needs.
    pub(crate) async fn make(&self, agent: &Agent, image: &str, replicas: i32) -> Result<(), ClusterError> {
        let name = &self.agent;
        self.prepare(agent).await?;
        self.grant().await?;
        self.apply(&self.namespaced::<Deployment>(), name, json!({"spec": spec(agent, image, replicas)})).await
    }

    /// Applies the agent's `ServiceAccount`, and the `ClusterRoleBinding` that grants it its rights.
    pub(crate) async fn grant(&self) -> Result<(), ClusterError> {
        let name = &self.agent;
        self.apply(&self.namespaced::<ServiceAccount>(), name, json!({})).await?;
        let binding = json!({
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": SYSTEM}],
        });
        self.apply(&Api::<ClusterRoleBinding>::all(self.cluster.client.clone()), name, binding).await
    }

    /// Applies the objects that an agent needs with and without a chart: the namespace, and the Secret with a member's
    /// token for the hub.
    pub(crate) async fn prepare(&self, agent: &Agent) -> Result<(), ClusterError> {
        self.apply(&Api::<Namespace>::all(self.cluster.client.clone()), SYSTEM, json!({})).await?;
        match &agent.hub {
            Some(hub) => self.hand_over(&hub.token).await,
            None => Ok(()),
        }
    }

    /// Applies the Secret with a member's token for the hub.
    pub(crate) async fn hand_over(&self, token: &Path) -> Result<(), ClusterError> {
        let read = tokio::fs::read_to_string(token).await;
        let token = read.map_err(ClusterError::io("read", token))?;
        self.apply(&self.namespaced::<Secret>(), &self.agent, json!({"stringData": {TOKEN.1: token}})).await
    }

    /// Applies the Deployment and the other objects of a chart.
    pub(crate) async fn make_of(&self, agent: &Agent, objects: Vec<Value>) -> Result<(), ClusterError> {
        self.prepare(agent).await?;
        for object in objects {
            let object: DynamicObject = serde_json::from_value(object)
                .map_err(|e| self.not_running(format!("its chart has an object that isn't one: {e}")))?;
            let kind = object.types.as_ref().and_then(|types| GroupVersionKind::try_from(types).ok());
            let kind = kind.ok_or_else(|| self.not_running("its chart has an object without a kind".into()))?;
            let (kind, capabilities) =
                discovery::pinned_kind(&self.cluster.client, &kind).await.map_err(|e| self.refused(e))?;
            let client = self.cluster.client.clone();
            let api: Api<DynamicObject> = if capabilities.scope == Scope::Cluster {
                Api::all_with(client, &kind)
            } else {
                Api::namespaced_with(client, object.metadata.namespace.as_deref().unwrap_or(SYSTEM), &kind)
            };
            let name = object.metadata.name.clone().unwrap_or_default();
            let params = PatchParams::apply(MANAGER).force();
            api.patch(&name, &params, &Patch::Apply(object)).await.map_err(|e| self.refused(e))?;
        }
        Ok(())
    }

    /// Waits until the agent's pod runs.
    pub(crate) async fn runs(&self) -> Result<(), ClusterError> {
        let started = Instant::now();
        loop {
            let pods = self.pods().await?;
            let why = match pods.iter().find(|pod| pod.metadata.deletion_timestamp.is_none()).map(state) {
                Some(AgentPodState::Runs) => return Ok(()),
                Some(AgentPodState::InVain(why)) => return Err(self.not_running(why)),
                Some(AgentPodState::Waits(why)) => why,
                None => "it has no pod".to_owned(),
            };
            if started.elapsed() > LIMIT {
                return Err(self.not_running(format!("after {} s {why}", LIMIT.as_secs())));
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Scales the Deployment to zero and waits until its pod is gone, and the agent's processes with it. Deleting the
    /// pod without a grace period isn't enough: the API server forgets the pod at once, but the agent runs until the
    /// kubelet kills it (on a busy machine, long enough to apply a Work).
    pub(crate) async fn stop(&self) -> Result<(), ClusterError> {
        self.scale(0).await?;
        let started = Instant::now();
        while !self.pods().await?.is_empty() {
            if started.elapsed() > LIMIT {
                return Err(self.not_running(format!("its pod isn't gone after {} s", LIMIT.as_secs())));
            }
            tokio::time::sleep(INTERVAL).await;
        }
        Ok(())
    }

    /// Sets the number of pods.
    pub(crate) async fn scale(&self, replicas: u8) -> Result<(), ClusterError> {
        let patch = Patch::Merge(json!({"spec": {"replicas": replicas}}));
        let patched = self.namespaced::<Deployment>().patch(&self.agent, &PatchParams::default(), &patch).await;
        patched.map(drop).map_err(|e| self.refused(e))
    }

    /// Returns the number of pods that the Deployment requests.
    pub(crate) async fn replicas(&self) -> Result<i32, ClusterError> {
        let there = self.namespaced::<Deployment>().get(&self.agent).await.map_err(|e| self.refused(e))?;
        Ok(there.spec.and_then(|spec| spec.replicas).unwrap_or(1))
    }

    /// Deletes it.
    pub(crate) async fn delete(&self) -> Result<(), ClusterError> {
        let deleted = self.namespaced::<Deployment>().delete(&self.agent, &DeleteParams::default()).await;
        deleted.map(drop).map_err(|e| self.refused(e))
    }

    /// Returns the log of the agent's pod; empty if there is no pod.
    pub(crate) async fn log(&self) -> Result<String, ClusterError> {
        let Some(pod) = self.pods().await?.into_iter().find_map(|pod| pod.metadata.name) else {
            return Ok(String::new());
        };
        // The pod of a chart's member-agent has a second container, which refreshes the token.
        let of_agent = LogParams { container: Some(self.agent.clone()), ..LogParams::default() };
        self.namespaced::<Pod>().logs(&pod, &of_agent).await.map_err(|e| self.refused(e))
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

/// Label that identifies an agent's pods.
const LABEL: &str = "app.kubernetes.io/name";

fn spec(agent: &Agent, image: &str, replicas: i32) -> Value {
    let name = &agent.name;
    let mut container = json!({
        "name": name, "image": image, "imagePullPolicy": "IfNotPresent", "args": agent.flags,
        "securityContext": {
            "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
        },
    });
    let mut pod = json!({
        "serviceAccountName": name,
        // An agent uses its whole grace period (v0.1.2).
        "terminationGracePeriodSeconds": 2,
        "securityContext": {"runAsNonRoot": true, "runAsUser": 65532},
    });
    if let Some(hub) = &agent.hub {
        let environment = hub.environment(&agent.cluster.name, &Path::new(TOKEN.0).join(TOKEN.1));
        container["env"] = environment.map(|(name, value)| json!({"name": name, "value": value})).into_iter().collect();
        container["volumeMounts"] = json!([{"name": "hub", "mountPath": TOKEN.0, "readOnly": true}]);
        pod["volumes"] = json!([{"name": "hub", "secret": {"secretName": name}}]);
        if let Some((host, address)) = hub.host_entry() {
            pod["hostAliases"] = host_aliases(&host, address);
        }
    }
    pod["containers"] = json!([container]);
    json!({
        "replicas": replicas,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": {LABEL: name}},
        "template": {"metadata": {"labels": {LABEL: name}}, "spec": pod},
    })
}

/// Lines of the `/etc/hosts` of an agent's pod.
pub(super) fn host_aliases(host: &str, address: IpAddr) -> Value {
    json!([{"ip": address, "hostnames": [host]}])
}

/// State of a pod whose start is being waited for.
#[derive(Debug, PartialEq, Eq)]
enum AgentPodState {
    Runs,
    Waits(String),
    InVain(String),
}

fn state(pod: &Pod) -> AgentPodState {
    let status = pod.status.clone().unwrap_or_default();
    let mut states: Vec<AgentPodState> = status.container_statuses.iter().flatten().map(of_container).collect();
    if states.is_empty() {
        let scheduled =
            status.conditions.into_iter().flatten().find(|c| c.type_ == "PodScheduled" && c.status != "True");
        let why = scheduled.and_then(|c| c.message).unwrap_or_else(|| "its pod has not begun".to_owned());
        return AgentPodState::Waits(why);
    }
    // The container that is furthest from running comes first.
    states.sort_by_key(|state| match state {
        AgentPodState::InVain(_) => 0,
        AgentPodState::Waits(_) => 1,
        AgentPodState::Runs => 2,
    });
    states.swap_remove(0)
}

fn of_container(container: &ContainerStatus) -> AgentPodState {
    let state = container.state.clone().unwrap_or_default();
    if state.running.is_some() {
        return AgentPodState::Runs;
    }
    if let Some(waiting) = state.waiting {
        let reason = waiting.reason.unwrap_or_default();
        let why = format!("{reason} {}", waiting.message.unwrap_or_default()).trim_end().to_owned();
        return if IN_VAIN.contains(&reason.as_str()) { AgentPodState::InVain(why) } else { AgentPodState::Waits(why) };
    }
    let ended = state.terminated.unwrap_or_default();
    AgentPodState::Waits(format!("its container ended with {} {}", ended.exit_code, ended.reason.unwrap_or_default()))
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
        assert_eq!(state(&pod(&json!({"running": {}}))), AgentPodState::Runs);
        let waiting = |reason: &str| pod(&json!({"waiting": {"reason": reason, "message": "no such image"}}));
        assert_eq!(
            state(&waiting("ContainerCreating")),
            AgentPodState::Waits("ContainerCreating no such image".into())
        );
        assert_eq!(state(&waiting("ErrImagePull")), AgentPodState::InVain("ErrImagePull no such image".into()));
        assert!(matches!(state(&Pod::default()), AgentPodState::Waits(_)));
        let container = |name: &str, state: Value| json!({"name": name, "image": "i", "imageID": "", "ready": false, "restartCount": 0, "state": state});
        let waiting = json!({"waiting": {"reason": "ImagePullBackOff"}});
        let two = json!({"status": {"containerStatuses": [
            container("a", json!({"running": {}})), container("b", waiting),
        ]}});
        let two: Pod = serde_json::from_value(two).expect("a pod");
        assert_eq!(state(&two), AgentPodState::InVain("ImagePullBackOff".into()));
    }
}
