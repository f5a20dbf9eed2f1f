//! Steps about the clusters that Applications deploy to.

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use fleet::argocd;
use fleet::kinds::{self, Kind};
use fleet::objects;
use fleet::observe::{Verdict, Watched};
use fleet::{FIELD_MANAGER, FleetError};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams, LogParams, Patch, PatchParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use crate::error::StepError;
use crate::limits;
use crate::repository::document;
use crate::scene::Scene;
use crate::world::World;

/// What a scenario calls its own namespace on members.
pub(crate) const NAMESPACE: &str = "apps";

/// Applies manifests, the step's text (several: with `---` between them), to a member, as its administrator does with `kubectl apply
/// --server-side`; in the namespace `{apps}` where they name none. They go at the end of the scenario: give those without a
/// namespace a name with `{suffix}` in it.
#[given(expr = "the administrator of {string} applies")]
#[when(expr = "the administrator of {string} applies")]
async fn applies(world: &mut World, member: String, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    let text = document(scene, step)?;
    let member = scene.names.get(&member)?;
    let manifests: Vec<Value> = serde_saphyr::from_multiple(&text)
        .map_err(|e| StepError::Feature(format!("these manifests are no YAML: {e}")))?;
    for manifest in manifests {
        let what = apply(scene, &member, manifest).await?;
        scene.did(format!("{what} applied to {member}"));
    }
    Ok(())
}

/// Deletes an object (`Kind/name`; in the namespace `{apps}`, unless it is of a kind that has none) on a member, as its
/// administrator does, and waits until it is gone.
#[when(expr = "the administrator of {string} deletes {string}")]
async fn deletes(world: &mut World, member: String, object: String) -> Result<(), StepError> {
    let scene = world.scene();
    let (cluster, kind, name) = known(scene, &member, &object).await?;
    let namespace = scene.names.get(NAMESPACE)?;
    let namespace = Some(namespace.as_str()).filter(|_| kind.namespaced);
    objects::delete(&cluster, kind, namespace, &name).await?;
    scene.remedied(format!("{}/{name} deleted on {}", kind.kind, cluster.name));
    let watched = Watched::one(&cluster.name, kind, namespace, &name);
    let expectation = format!("{}/{name} is gone from {}", kind.kind, cluster.name);
    scene.wait(&cluster, &watched, &expectation, limits::REPORTED, |objects| Verdict::gone(objects, &name)).await?;
    Ok(())
}

/// Waits until the object (`Kind/name`, in the namespace `{apps}`) is there.
#[given(expr = "{string} is on {string}")]
#[then(expr = "{string} is on {string}")]
async fn is_there(world: &mut World, object: String, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let (cluster, kind, name) = known(scene, &member, &object).await?;
    let namespace = scene.names.get(NAMESPACE)?;
    let watched = Watched::one(&cluster.name, kind, Some(&namespace), &name);
    let expectation = format!("{}/{name} is on {}", kind.kind, cluster.name);
    scene
        .wait(&cluster, &watched, &expectation, limits::REPORTED, |objects| {
            if objects.contains_key(&name) { Verdict::Holds } else { Verdict::Pending("it isn't there".into()) }
        })
        .await?;
    Ok(())
}

/// The object (`Kind/name`, in the namespace `{apps}`) isn't there now.
#[then(expr = "{string} is not on {string}")]
async fn is_not_there(world: &mut World, object: String, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let (cluster, kind, name) = known(scene, &member, &object).await?;
    let namespace = scene.names.get(NAMESPACE)?;
    let failed = FleetError::api(&cluster.name, format!("read {object}"));
    match kind.api(&cluster.client, Some(&namespace)).get_opt(&name).await.map_err(failed)? {
        None => Ok(()),
        Some(_) => Err(StepError::Differs(format!("{object} is in namespace {namespace} of {}", cluster.name))),
    }
}

/// What `kubectl logs job/NAME`, in the namespace `{apps}` of a member, prints has this text. The pod's kubelet is asked,
/// which is simulated: it has logs for containers named `migrate` and `smoke-test`.
#[then(expr = "{string} on {string} prints {string}")]
async fn prints(world: &mut World, command: String, member: String, text: String) -> Result<(), StepError> {
    let scene = world.scene();
    let job = command.strip_prefix("kubectl logs job/");
    let job =
        job.ok_or_else(|| StepError::Feature(format!("`{command}` is not a command like `kubectl logs job/x`")))?;
    let cluster = scene.fleet.member(&scene.names.get(&member)?).await?.cluster;
    let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), &scene.names.get(NAMESPACE)?);
    let failed = || FleetError::api(&cluster.name, format!("read the logs of Job/{job}"));
    let labels = ListParams::default().labels(&format!("batch.kubernetes.io/job-name={job}"));
    let list = pods.list(&labels).await.map_err(failed())?;
    let name = list.items.into_iter().find_map(|pod| pod.metadata.name);
    let name = name.ok_or_else(|| StepError::Differs(format!("Job/{job} has no pod on {}", cluster.name)))?;
    let log = pods.logs(&name, &LogParams::default()).await.map_err(failed())?;
    scene.did(format!("{command} on {}: {}", cluster.name, log.trim().replace('\n', "; ")));
    if log.contains(&text) { Ok(()) } else { Err(StepError::Differs(format!("`{command}` prints: {log}"))) }
}

/// Gives Argo CD an identity on the member that may do only what the step's text allows (a list of rules, as in a ClusterRole), in place of
/// the one that may do everything: `system:serviceaccount:kube-system:argocd-limited`. Only on a member of the scenario's own.
#[given(expr = "Argo CD has only these rights on {string}")]
#[when(expr = "Argo CD has only these rights on {string}")]
async fn has_only(world: &mut World, member: String, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    let text = document(scene, step)?;
    let rules: Value =
        serde_saphyr::from_str(&text).map_err(|e| StepError::Feature(format!("these rules are no YAML: {e}")))?;
    let real = scene.names.get(&member)?;
    if real == member {
        return Err(StepError::Feature(format!("{member} is everybody's: take a member of its own")));
    }
    let cluster = scene.fleet.member(&real).await?.cluster;
    argocd::limit_rights(&scene.hub(), &cluster, &rules).await?;
    scene.induced(format!("Argo CD may do little on {real}"));
    Ok(())
}

/// Gives Argo CD the identity on the member back that may do everything.
#[when(expr = "Argo CD has all rights on {string} again")]
async fn has_all(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let cluster = scene.fleet.member(&scene.names.get(&member)?).await?.cluster;
    argocd::restore_rights(&scene.hub(), &cluster).await?;
    scene.remedied(format!("Argo CD may do everything on {} again", cluster.name));
    Ok(())
}

/// Between two tries: an API server takes a policy or a webhook into account within a second or two and says so nowhere.
const PAUSE: Duration = Duration::from_millis(250);

/// Waits until the member's API server refuses to create the manifest in the step's text, with this in what it says. Nothing is created.
#[given(expr = "{string} refuses with {string} to create")]
async fn refuses(world: &mut World, member: String, why: String, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    let (member, why) = (scene.names.get(&member)?, scene.names.fill(&why));
    let manifest: Value = serde_saphyr::from_str(&document(scene, step)?)
        .map_err(|e| StepError::Feature(format!("this manifest is not YAML: {e}")))?;
    let target = target(scene, &member, &manifest).await?;
    let params = PatchParams { dry_run: true, ..PatchParams::apply(FIELD_MANAGER) };
    let deadline = Instant::now() + limits::REPORTED;
    loop {
        let last = match target.api.patch(&target.name, &params, &Patch::Apply(&manifest)).await {
            Err(kube::Error::Api(status)) if status.message.contains(&why) => return Ok(()),
            Err(error) => error.to_string(),
            Ok(_) => "it would create it".into(),
        };
        if Instant::now() > deadline {
            return Err(StepError::Differs(format!("{member} doesn't refuse with `{why}`: {last}")));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The scenario's own namespace on a member, made when it isn't there.
pub(crate) async fn namespace_on(scene: &mut Scene, member: &str) -> Result<String, StepError> {
    let real = scene.names.get(NAMESPACE).unwrap_or_else(|_| scene.names.make(NAMESPACE));
    let cluster = scene.fleet.member(member).await?.cluster;
    let failed = FleetError::api(member, format!("read Namespace/{real}"));
    if kinds::NAMESPACE.api(&cluster.client, None).get_opt(&real).await.map_err(failed)?.is_none() {
        scene.make_on(&cluster, kinds::NAMESPACE, None, json!({"metadata": {"name": real}})).await?;
    }
    Ok(real)
}

/// Where a manifest goes.
struct Target {
    api: Api<DynamicObject>,
    resource: ApiResource,
    namespace: Option<String>,
    name: String,
}

async fn target(scene: &mut Scene, member: &str, manifest: &Value) -> Result<Target, StepError> {
    let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = text("/apiVersion").split_once('/').unwrap_or(("", text("/apiVersion")));
    let gvk = GroupVersionKind::gvk(group, version, text("/kind"));
    let (name, namespace) = (text("/metadata/name").to_owned(), text("/metadata/namespace"));
    let cluster = scene.fleet.member(member).await?.cluster;
    let failed = FleetError::api(member, format!("look up the kind {}", gvk.kind));
    let (resource, capabilities) = kube::discovery::pinned_kind(&cluster.client, &gvk).await.map_err(failed)?;
    if capabilities.scope == kube::discovery::Scope::Cluster {
        let api = Api::all_with(cluster.client.clone(), &resource);
        return Ok(Target { api, resource, namespace: None, name });
    }
    let namespace = if namespace.is_empty() { namespace_on(scene, member).await? } else { namespace.to_owned() };
    let api = Api::namespaced_with(cluster.client.clone(), &namespace, &resource);
    Ok(Target { api, resource, namespace: Some(namespace), name })
}

/// Applies one manifest. What has no namespace of the scenario's own is remembered: the namespace takes the rest with it.
async fn apply(scene: &mut Scene, member: &str, manifest: Value) -> Result<String, StepError> {
    let target = target(scene, member, &manifest).await?;
    let what = format!("{}/{}", target.resource.kind, target.name);
    let suffix = scene.names.suffix().to_owned();
    let ours = |name: &str| name.contains(&suffix);
    if !target.namespace.as_deref().map_or_else(|| ours(&target.name), ours) {
        let text = format!("{what} would be everybody's: put {{suffix}} into its name");
        return Err(StepError::Feature(text));
    }
    let cluster = scene.fleet.member(member).await?.cluster;
    if target.resource.kind == kinds::CRD.kind {
        // Argo CD looks kinds up as others do, and one that was just made isn't known at once.
        fleet::apply_crds(&cluster, [&manifest]).await?;
    } else {
        let params = PatchParams::apply(FIELD_MANAGER).force();
        let applied = target.api.patch(&target.name, &params, &Patch::Apply(manifest)).await;
        applied.map_err(FleetError::api(member, format!("apply {what}")))?;
    }
    if target.namespace.is_none() {
        let kind = kinds::find(&target.resource.group, &target.resource.kind);
        let kind = kind.ok_or_else(|| StepError::Feature(format!("{what} can't be deleted at the end")))?;
        scene.remember(&cluster, kind, None, target.name);
    }
    Ok(what)
}

/// A member, and an object there of a kind that is known here.
pub(crate) async fn known(
    scene: &Scene,
    member: &str,
    object: &str,
) -> Result<(clusters::cluster::Cluster, Kind, String), StepError> {
    let cluster = scene.fleet.member(&scene.names.get(member)?).await?.cluster;
    let wrong = || StepError::Feature(format!("`{object}` does not name an object like `ConfigMap/settings`"));
    let (kind, name) = object.split_once('/').ok_or_else(wrong)?;
    let kind = *kinds::ALL.iter().find(|k| k.kind == kind).ok_or_else(wrong)?;
    Ok((cluster, kind, scene.names.fill(name)))
}
