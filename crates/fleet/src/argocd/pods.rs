//! Argo CD in Pods on the hub, from manifests as its users install them.
//!
//! The manifests are applied as they are, with two exceptions: images are taken from the node, which fleetdrill loads them into, and
//! progressive syncs of ApplicationSets are on, as they are where Argo CD runs as processes. What Argo CD's API server makes at its first
//! start is made here, because manifests may lack that server.

use std::collections::HashMap;
use std::time::Duration;

use clusters::cluster::Cluster;
use clusters::provider::Provider;
use futures::future::{try_join, try_join_all};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, LogParams, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::discovery::{self, ApiCapabilities, Scope};
use serde_json::{Value, json};

use super::manifests::{ArgoCdManifests, images, is_workload};
use super::processes::ArgoCdComponent;
use super::{NAMESPACE, install};
use crate::error::FleetError;
use crate::install::{FIELD_MANAGER, apply_crds, name};
use crate::kinds::{APP_PROJECT, CRD, DEPLOYMENT, POD, ResourceKind, STATEFUL_SET};
use crate::objects::create;
use crate::observe::{Observer, Verdict, WatchSelection, WatchedObjects};

/// Time limit until a component's Pods are ready, or gone. All of them together took 70 s on two processors (v3.5.7, kind v0.33.0).
const LIMIT: Duration = Duration::from_secs(300);

/// ConfigMap with settings of the components, and the setting for progressive syncs.
const PARAMETERS: (&str, &str) = ("argocd-cmd-params-cm", "applicationsetcontroller.enable.progressive.syncs");

/// Installs manifests on the hub, and waits until all Pods are ready.
pub(super) async fn start(
    hub: &Cluster,
    provider: &dyn Provider,
    manifests: &ArgoCdManifests,
    observer: &Observer,
) -> Result<(), FleetError> {
    let objects = manifests.objects()?;
    let (crds, others): (Vec<Value>, Vec<Value>) = objects.into_iter().partition(|object| object["kind"] == CRD.kind);
    let (workloads, others): (Vec<Value>, Vec<Value>) = others.into_iter().partition(is_workload);
    let load = async {
        for image in images(&workloads) {
            provider.load_image(&hub.name, &image).await?;
        }
        Ok::<_, FleetError>(())
    };
    let apply = async {
        apply_crds(hub, &crds).await?;
        apply_all(hub, &completed(others)).await?;
        create(hub, APP_PROJECT, Some(NAMESPACE), install::project()).await
    };
    try_join(load, apply).await?;
    apply_all(hub, &workloads.iter().cloned().map(with_images_of_the_node).collect::<Vec<_>>()).await?;
    try_join_all(workloads.iter().map(|workload| ready(hub, observer, kind_of(workload), name(workload))))
        .await
        .map(drop)
}

/// Component of Argo CD that runs in Pods.
pub(crate) struct ComponentPods<'a> {
    hub: &'a Cluster,
    component: ArgoCdComponent,
    kind: ResourceKind,
    workload: DynamicObject,
}

impl<'a> ComponentPods<'a> {
    /// Finds a component on the hub.
    pub(crate) async fn find(hub: &'a Cluster, component: ArgoCdComponent) -> Result<Self, FleetError> {
        let name = component.process();
        for kind in [DEPLOYMENT, STATEFUL_SET] {
            let read = kind.api(&hub.client, Some(NAMESPACE)).get_opt(name).await;
            let read = read.map_err(FleetError::api(&hub.name, format!("read {}/{NAMESPACE}/{name}", kind.kind)))?;
            if let Some(workload) = read {
                return Ok(Self { hub, component, kind, workload });
            }
        }
        let why = format!("namespace {NAMESPACE} has no Deployment and no StatefulSet of this name");
        Err(FleetError::unreadable(name, why))
    }

    /// Scales the component to no Pod, and waits until its Pods are gone.
    pub(crate) async fn stop(&self, observer: &Observer) -> Result<(), FleetError> {
        self.patch(json!({"spec": {"replicas": 0}})).await?;
        let watched = WatchSelection::labelled(&self.hub.name, POD, Some(NAMESPACE), &self.selector());
        let expectation = format!("{} has no Pod", self.component.process());
        let none = |objects: &WatchedObjects| match objects.len() {
            0 => Verdict::Holds,
            count => Verdict::Pending(format!("{count} are there")),
        };
        observer.until(self.hub, &watched, &expectation, LIMIT, none).await.map(drop)
    }

    /// Scales the component to one Pod, and waits until it is ready.
    pub(crate) async fn start_again(&self, observer: &Observer) -> Result<(), FleetError> {
        self.patch(json!({"spec": {"replicas": 1}})).await?;
        self.ready(observer).await
    }

    /// Gives the component these flags after its own, and waits until its new Pod is ready.
    pub(crate) async fn restart_with(&self, flags: &[String], observer: &Observer) -> Result<(), FleetError> {
        let mut containers = self.workload.data["spec"]["template"]["spec"]["containers"].clone();
        let before = containers[0]["args"].as_array().cloned().unwrap_or_default();
        containers[0]["args"] = before.into_iter().chain(flags.iter().cloned().map(Value::from)).collect();
        self.patch(json!({"spec": {"template": {"spec": {"containers": containers}}}})).await?;
        self.ready(observer).await
    }

    async fn ready(&self, observer: &Observer) -> Result<(), FleetError> {
        ready(self.hub, observer, self.kind, self.component.process()).await
    }

    /// Returns the logs of the component's Pods.
    pub(crate) async fn log(&self) -> Result<String, FleetError> {
        let api: Api<Pod> = Api::namespaced(self.hub.client.clone(), NAMESPACE);
        let failed = || FleetError::api(&self.hub.name, format!("read the log of {}", self.component.process()));
        let pods = api.list(&ListParams::default().labels(&self.selector())).await.map_err(failed())?;
        let mut logs = String::new();
        for pod in pods.items {
            logs += &api.logs(&pod.metadata.name.unwrap_or_default(), &LogParams::default()).await.map_err(failed())?;
        }
        Ok(logs)
    }

    async fn patch(&self, patch: Value) -> Result<(), FleetError> {
        let (name, kind) = (self.component.process(), self.kind);
        let api = kind.api(&self.hub.client, Some(NAMESPACE));
        let patched = api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
        patched.map(drop).map_err(FleetError::api(&self.hub.name, format!("change {}/{NAMESPACE}/{name}", kind.kind)))
    }

    /// Label selector of the component's Pods.
    fn selector(&self) -> String {
        let labels = self.workload.data["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten();
        labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect::<Vec<_>>().join(",")
    }
}

fn kind_of(workload: &Value) -> ResourceKind {
    if workload["kind"] == STATEFUL_SET.kind { STATEFUL_SET } else { DEPLOYMENT }
}

/// Waits until a workload has all its Pods, of its present template, and all are ready.
async fn ready(hub: &Cluster, observer: &Observer, kind: ResourceKind, name: &str) -> Result<(), FleetError> {
    let watched = WatchSelection::one(&hub.name, kind, Some(NAMESPACE), name);
    let expectation = format!("{}/{name} is ready", kind.kind);
    let check = |objects: &WatchedObjects| match objects.get(name) {
        Some(object) => readiness(object),
        None => Verdict::Pending("it isn't there".into()),
    };
    observer.until(hub, &watched, &expectation, LIMIT, check).await.map(drop)
}

/// Tells whether a workload has all its Pods, of its present template, ready.
fn readiness(object: &Value) -> Verdict {
    let number = |path: &str| object.pointer(path).and_then(Value::as_i64);
    let wanted = number("/spec/replicas").unwrap_or(1);
    if number("/status/observedGeneration") < number("/metadata/generation") {
        return Verdict::Pending("its controller hasn't seen its latest change".into());
    }
    let [updated, ready] = ["updatedReplicas", "readyReplicas"].map(|field| number(&format!("/status/{field}")));
    let (updated, ready) = (updated.unwrap_or_default(), ready.unwrap_or_default());
    let all = number("/status/replicas").unwrap_or_default();
    if updated == wanted && ready == wanted && all == wanted {
        return Verdict::Holds;
    }
    Verdict::Pending(format!("{updated} of {wanted} Pods are new, {ready} ready, {all} there"))
}

/// Lets a workload's containers take their images from the node: Argo CD's manifests pull them always.
fn with_images_of_the_node(mut workload: Value) -> Value {
    for field in ["containers", "initContainers"] {
        let containers = workload.pointer_mut(&format!("/spec/template/spec/{field}")).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            container["imagePullPolicy"] = "IfNotPresent".into();
        }
    }
    workload
}

/// Applies objects of any kind, those without a namespace in Argo CD's. A Namespace of its name exists already.
async fn apply_all(hub: &Cluster, objects: &[Value]) -> Result<(), FleetError> {
    let mut kinds: HashMap<GroupVersionKind, (ApiResource, ApiCapabilities)> = HashMap::new();
    for value in objects.iter().filter(|object| object["kind"] != "Namespace") {
        let path = format!("{}/{}", value["kind"].as_str().unwrap_or_default(), name(value));
        let object: DynamicObject =
            serde_json::from_value(value.clone()).map_err(|e| FleetError::unreadable(&path, e.to_string()))?;
        let failed = || FleetError::api(&hub.name, format!("apply {path}"));
        let types = object.types.clone().unwrap_or_default();
        let kind = GroupVersionKind::try_from(types).map_err(|e| FleetError::unreadable(&path, e.to_string()))?;
        if !kinds.contains_key(&kind) {
            let found = discovery::pinned_kind(&hub.client, &kind).await.map_err(failed())?;
            kinds.insert(kind.clone(), found);
        }
        let (resource, capabilities) = &kinds[&kind];
        let api: Api<DynamicObject> = if capabilities.scope == Scope::Cluster {
            Api::all_with(hub.client.clone(), resource)
        } else {
            let namespace = object.metadata.namespace.as_deref().unwrap_or(NAMESPACE);
            Api::namespaced_with(hub.client.clone(), namespace, resource)
        };
        let params = PatchParams::apply(FIELD_MANAGER).force();
        api.patch(name(value), &params, &Patch::Apply(value)).await.map_err(failed())?;
    }
    Ok(())
}

/// Adds to manifests what Argo CD's API server makes at its first start and what scenarios need, where it isn't there: progressive syncs of
/// ApplicationSets, and the key without which the controller takes no change of its settings over: `Unable to parse updated settings:
/// server.secretkey is missing` (v3.5.7, core-install.yaml).
fn completed(mut objects: Vec<Value>) -> Vec<Value> {
    let (config_map, key) = PARAMETERS;
    of_name(&mut objects, "ConfigMap", config_map, || install::config_map(config_map))["data"][key] = "true".into();
    let secret = of_name(&mut objects, "Secret", install::SECRET_NAME, install::secret);
    if ["data", "stringData"].iter().all(|field| secret[field][install::SECRET_KEY].is_null()) {
        secret["stringData"][install::SECRET_KEY] = install::random().into();
    }
    objects
}

/// Returns the object of a kind and name; a new one if there is none.
fn of_name<'a>(objects: &'a mut Vec<Value>, kind: &str, of_name: &str, new: impl FnOnce() -> Value) -> &'a mut Value {
    let found = objects.iter().position(|object| object["kind"] == kind && name(object) == of_name);
    let index = found.unwrap_or_else(|| {
        objects.push(new());
        objects.len() - 1
    });
    &mut objects[index]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_is_ready_when_all_its_pods_are_new_and_ready() {
        let of = |generation: i64, updated: i64, ready: i64, replicas: i64| {
            let status = json!({
                "observedGeneration": 2, "updatedReplicas": updated, "readyReplicas": ready, "replicas": replicas,
            });
            readiness(&json!({"metadata": {"generation": generation}, "spec": {"replicas": 1}, "status": status}))
        };
        assert_eq!(of(2, 1, 1, 1), Verdict::Holds);
        assert!(matches!(of(3, 1, 1, 1), Verdict::Pending(_)), "the change isn't seen");
        assert!(matches!(of(2, 0, 1, 1), Verdict::Pending(_)), "the Pod is of the old template");
        assert!(matches!(of(2, 1, 1, 2), Verdict::Pending(_)), "the old Pod is there, too");
    }

    #[test]
    fn manifests_get_a_key_and_progressive_syncs() {
        let of = |objects: Vec<Value>, kind: &str| {
            let completed = completed(objects);
            let found: Vec<Value> = completed.into_iter().filter(|object| object["kind"] == kind).collect();
            assert_eq!(found.len(), 1, "{kind}");
            found[0].clone()
        };
        let parameters = json!({"kind": "ConfigMap", "metadata": {"name": PARAMETERS.0}, "data": {"a": "b"}});
        for objects in [Vec::new(), vec![parameters.clone()]] {
            assert_eq!(of(objects, "ConfigMap")["data"][PARAMETERS.1], "true");
        }
        assert_eq!(of(vec![parameters], "ConfigMap")["data"]["a"], "b");
        let secret = json!({"kind": "Secret", "metadata": {"name": install::SECRET_NAME}});
        for objects in [Vec::new(), vec![secret.clone()]] {
            assert!(of(objects, "Secret")["stringData"][install::SECRET_KEY].is_string());
        }
        let mut with_key = secret;
        with_key["data"] = json!({install::SECRET_KEY: "a2V5"});
        assert_eq!(of(vec![with_key.clone()], "Secret"), with_key);
    }

    #[test]
    fn images_are_not_pulled() {
        let pod =
            json!({"containers": [{"image": "a", "imagePullPolicy": "Always"}], "initContainers": [{"image": "b"}]});
        let workload = with_images_of_the_node(json!({"spec": {"template": {"spec": pod}}}));
        for path in ["containers", "initContainers"] {
            let policy = workload.pointer(&format!("/spec/template/spec/{path}/0/imagePullPolicy"));
            assert_eq!(policy, Some(&json!("IfNotPresent")));
        }
    }
}
