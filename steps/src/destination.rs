//! Steps about the clusters that Applications deploy to.

use clusters::cluster::Cluster;
use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use diagnosis::Object;
use fleet::argocd;
use fleet::kinds::{self, ResourceKind};
use fleet::objects;
use fleet::observe::{Verdict, WatchSelection};
use fleet::{FIELD_MANAGER, FleetError};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams, LogParams, Patch, PatchParams};
use kube::core::GroupVersionKind;
use record::{Action, ObjectPath};
use serde_json::{Value, json};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::limits;
use crate::pauses::read_until_as_expected;
use crate::phrases::{DestinationRef, IsOrNot, Rights};
use crate::repository::document;
use crate::world::World;

/// Name by which a scenario calls its own namespace on members.
pub(crate) const NAMESPACE: &str = "apps";

/// Applies manifests, the step's text (several: with `---` between them), to a member or to the hub, as its administrator does with
/// `kubectl apply --server-side`; in the namespace `{apps}` where they name none. They go at the end of the scenario: give those without a
/// namespace a name with `{suffix}` in it.
#[given(expr = "the administrator of {destination} applies")]
#[when(expr = "the administrator of {destination} applies")]
async fn applies(world: &mut World, destination: DestinationRef, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let cluster = cluster_of(context, destination).await?;
    for manifest in manifests(&document(context, step)?)? {
        let (action, _) = apply(context, &cluster, None, manifest).await?;
        context.did(action);
    }
    Ok(())
}

/// Returns the member, or the hub.
async fn cluster_of(context: &ScenarioContext, destination: DestinationRef) -> Result<Cluster, StepError> {
    match destination.member {
        Some(member) => Ok(context.fleet.member(&context.ledger.names.get(&member)?).await?.cluster),
        None => Ok(context.hub()),
    }
}

/// Reads the manifests in a step's text.
pub(crate) fn manifests(text: &str) -> Result<Vec<Value>, StepError> {
    serde_saphyr::from_multiple(text).map_err(|e| StepError::Feature(format!("these manifests are no YAML: {e}")))
}

/// Deletes an object on a member or on the hub, as its administrator does, and waits until it is gone: `Kind/namespace/name`, or
/// `Kind/name` for one in the namespace `{apps}` or of a kind that has no namespaces.
#[when(expr = "the administrator of {destination} deletes {string}")]
async fn deletes(world: &mut World, destination: DestinationRef, object: String) -> Result<(), StepError> {
    let context = world.context();
    let cluster = cluster_of(context, destination).await?;
    let (kind, path) = kind_and_name(&object)?;
    let (namespace, name) = match path.split_once('/') {
        Some((namespace, name)) => (Some(context.ledger.names.fill(namespace)), name),
        None if kind.namespaced => (Some(context.ledger.names.get(NAMESPACE)?), path),
        None => (None, path),
    };
    let (namespace, name) = (namespace.as_deref(), context.ledger.names.fill(name));
    check_own(context, &format!("{}/{name}", kind.kind), namespace.unwrap_or(&name))?;
    objects::delete(&cluster, kind, namespace, &name).await?;
    let path = ObjectPath::new(kind.kind, namespace, &name);
    context.remedied(Action::new(format!("{}/{name} deleted on {}", kind.kind, cluster.name)).on(path));
    let watched = WatchSelection::one(&cluster.name, kind, namespace, &name);
    let expectation = format!("{}/{name} is gone from {}", kind.kind, cluster.name);
    context.wait(&cluster, &watched, &expectation, limits::REPORTED, |objects| Verdict::gone(objects, &name)).await?;
    Ok(())
}

/// `is`: waits until the object (`Kind/name`, in the namespace `{apps}`) is there. `is not`: the object isn't there now.
#[given(expr = "{string} {is or is not} on {string}")]
#[then(expr = "{string} {is or is not} on {string}")]
async fn is_on(world: &mut World, object: String, is: IsOrNot, member: String) -> Result<(), StepError> {
    let context = world.context();
    let (cluster, kind, name) = known(context, &member, &object).await?;
    let namespace = context.ledger.names.get(NAMESPACE)?;
    if !is.0 {
        let failed = FleetError::api(&cluster.name, format!("read {object}"));
        return match kind.api(&cluster.client, Some(&namespace)).get_opt(&name).await.map_err(failed)? {
            None => Ok(()),
            Some(_) => Err(StepError::Differs(format!("{object} is in namespace {namespace} of {}", cluster.name))),
        };
    }
    let watched = WatchSelection::one(&cluster.name, kind, Some(&namespace), &name);
    let expectation = format!("{}/{name} is on {}", kind.kind, cluster.name);
    context
        .wait(&cluster, &watched, &expectation, limits::REPORTED, |objects| {
            if objects.contains_key(&name) { Verdict::Holds } else { Verdict::Pending("it isn't there".into()) }
        })
        .await?;
    Ok(())
}

/// Checks that `kubectl logs job/NAME`, in the namespace `{apps}` of a member, prints this text. The logs come from the pod's
/// kubelet, which is simulated: it has logs for containers named `migrate` and `smoke-test`.
#[then(expr = "{string} on {string} prints {string}")]
async fn prints(world: &mut World, command: String, member: String, text: String) -> Result<(), StepError> {
    let context = world.context();
    let job = command.strip_prefix("kubectl logs job/");
    let job =
        job.ok_or_else(|| StepError::Feature(format!("`{command}` is not a command like `kubectl logs job/x`")))?;
    let cluster = context.fleet.member(&context.ledger.names.get(&member)?).await?.cluster;
    let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), &context.ledger.names.get(NAMESPACE)?);
    let action = format!("read the logs of Job/{job}");
    let labels = ListParams::default().labels(&format!("batch.kubernetes.io/job-name={job}"));
    let list = pods.list(&labels).await.map_err(FleetError::api(&cluster.name, &action))?;
    let name = list.items.into_iter().find_map(|pod| pod.metadata.name);
    let name = name.ok_or_else(|| StepError::Differs(format!("Job/{job} has no pod on {}", cluster.name)))?;
    let log = pods.logs(&name, &LogParams::default()).await.map_err(FleetError::api(&cluster.name, &action))?;
    context.did(format!("{command} on {}: {}", cluster.name, log.trim().replace('\n', "; ")));
    if log.contains(&text) { Ok(()) } else { Err(StepError::Differs(format!("`{command}` prints: {log}"))) }
}

/// `only these rights`: gives Argo CD an identity on the member that may do only what the step's text allows (a list of rules, as in a
/// ClusterRole), in place of the one that may do everything: `system:serviceaccount:kube-system:argocd-limited`. Only on a member of the
/// scenario's own. `all rights`: gives the identity back that may do everything.
#[given(expr = "Argo CD has {rights} on {string}")]
#[when(expr = "Argo CD has {rights} on {string}")]
async fn has_rights(world: &mut World, rights: Rights, member: String, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let real = context.ledger.names.get(&member)?;
    let cluster = context.fleet.member(&real).await?.cluster;
    if rights.all {
        argocd::restore_rights(&context.hub(), &cluster).await?;
        context.remedied(format!("Argo CD may do everything on {} again", cluster.name));
        return Ok(());
    }
    let text = document(context, step)?;
    let rules: Value =
        serde_saphyr::from_str(&text).map_err(|e| StepError::Feature(format!("these rules are no YAML: {e}")))?;
    if real == member {
        return Err(StepError::Feature(format!("{member} is everybody's: take a member of its own")));
    }
    argocd::limit_rights(&context.hub(), &cluster, &rules).await?;
    context.induced(format!("Argo CD may do little on {real}"));
    Ok(())
}

/// Waits until the API server of a member, or of the hub, refuses to create the manifest in the step's text, with this in what it says.
/// Nothing is created.
#[given(expr = "{destination} refuses with {string} to create")]
#[when(expr = "{destination} refuses with {string} to create")]
#[then(expr = "{destination} refuses with {string} to create")]
async fn refuses(world: &mut World, destination: DestinationRef, why: String, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let why = context.ledger.names.fill(&why);
    let cluster = cluster_of(context, destination).await?;
    let (target, manifest) = manifest_to_try(context, &cluster, step).await?;
    read_until_as_expected(limits::REPORTED, async || {
        let last = match target.try_to_create(&manifest).await {
            Err(kube::Error::Api(status)) if status.message.contains(&why) => return Ok(()),
            Err(error) => error.to_string(),
            Ok(()) => "it would create it".into(),
        };
        Err(StepError::Differs(format!("{} doesn't refuse with `{why}`: {last}", cluster.name)))
    })
    .await
}

/// Reads the manifest in a step's text, and finds where it would be created.
pub(crate) async fn manifest_to_try(
    context: &mut ScenarioContext,
    cluster: &Cluster,
    step: &Step,
) -> Result<(ManifestTarget, Value), StepError> {
    let manifest: Value = serde_saphyr::from_str(&document(context, step)?)
        .map_err(|e| StepError::Feature(format!("this manifest is not YAML: {e}")))?;
    Ok((target(context, cluster, None, &manifest).await?, manifest))
}

/// Returns the scenario's own namespace on a member, and creates it if it doesn't exist.
pub(crate) async fn namespace_on(context: &mut ScenarioContext, member: &str) -> Result<String, StepError> {
    let cluster = context.fleet.member(member).await?.cluster;
    own_namespace(context, &cluster).await
}

async fn own_namespace(context: &mut ScenarioContext, cluster: &Cluster) -> Result<String, StepError> {
    let real = context.ledger.names.get(NAMESPACE).unwrap_or_else(|_| context.ledger.names.make(NAMESPACE));
    let failed = FleetError::api(&cluster.name, format!("read Namespace/{real}"));
    if kinds::NAMESPACE.api(&cluster.client, None).get_opt(&real).await.map_err(failed)?.is_none() {
        context.make_on(cluster, kinds::NAMESPACE, None, json!({"metadata": {"name": real}})).await?;
    }
    Ok(real)
}

/// Object to which a manifest is applied.
pub(crate) struct ManifestTarget {
    api: Api<DynamicObject>,
    pub resource: ApiResource,
    pub namespace: Option<String>,
    pub name: String,
}

impl ManifestTarget {
    /// Asks the API server to create the object. Nothing is created (`--dry-run=server`).
    pub async fn try_to_create(&self, manifest: &Value) -> Result<(), kube::Error> {
        let params = PatchParams { dry_run: true, ..PatchParams::apply(FIELD_MANAGER) };
        self.api.patch(&self.name, &params, &Patch::Apply(manifest)).await.map(drop)
    }
}

/// Finds where a manifest is applied: in its own namespace, in the given one, or in the scenario's own one on this cluster.
async fn target(
    context: &mut ScenarioContext,
    cluster: &Cluster,
    namespace: Option<&str>,
    manifest: &Value,
) -> Result<ManifestTarget, StepError> {
    let object = Object::new(manifest);
    let api_version = object.str("/apiVersion").unwrap_or_default();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let gvk = GroupVersionKind::gvk(group, version, object.kind());
    let name = object.name().to_owned();
    let failed = FleetError::api(&cluster.name, format!("look up the kind {}", gvk.kind));
    let (resource, capabilities) = kube::discovery::pinned_kind(&cluster.client, &gvk).await.map_err(failed)?;
    if capabilities.scope == kube::discovery::Scope::Cluster {
        let api = Api::all_with(cluster.client.clone(), &resource);
        return Ok(ManifestTarget { api, resource, namespace: None, name });
    }
    let namespace = match object.namespace().or(namespace) {
        Some(namespace) => namespace.to_owned(),
        None => own_namespace(context, cluster).await?,
    };
    let api = Api::namespaced_with(cluster.client.clone(), &namespace, &resource);
    Ok(ManifestTarget { api, resource, namespace: Some(namespace), name })
}

/// Checks that an object is the scenario's own, by its namespace's name, or its own if it has none. On a fleet of the scenario's own, all are.
fn check_own(context: &ScenarioContext, what: &str, own_name: &str) -> Result<(), StepError> {
    if context.owns_fleet() || own_name.contains(context.ledger.names.suffix()) {
        return Ok(());
    }
    Err(StepError::Feature(format!("{what} would be everybody's: put {{suffix}} into its name")))
}

/// Applies one manifest, and returns the action and where it went. A cluster-scoped object is remembered for the cleanup; other objects
/// are deleted with their namespace.
pub(crate) async fn apply(
    context: &mut ScenarioContext,
    cluster: &Cluster,
    namespace: Option<&str>,
    manifest: Value,
) -> Result<(Action, ManifestTarget), StepError> {
    let target = target(context, cluster, namespace, &manifest).await?;
    let path = ObjectPath::new(&target.resource.kind, target.namespace.as_deref(), &target.name);
    let what = format!("{}/{}", target.resource.kind, target.name);
    check_own(context, &what, target.namespace.as_deref().unwrap_or(&target.name))?;
    if target.resource.kind == kinds::CRD.kind {
        // Argo CD discovers kinds as other clients do, and a kind that was just created isn't known at once.
        fleet::apply_crds(cluster, [&manifest]).await?;
    } else {
        let params = PatchParams::apply(FIELD_MANAGER).force();
        let applied = target.api.patch(&target.name, &params, &Patch::Apply(manifest)).await;
        applied.map_err(FleetError::api(&cluster.name, format!("apply {what}")))?;
    }
    // A fleet of the scenario's own goes with all its objects.
    if target.namespace.is_none() && !context.owns_fleet() {
        let kind = kinds::find(&target.resource.group, &target.resource.kind);
        let kind = kind.ok_or_else(|| StepError::Feature(format!("{what} can't be deleted at the end")))?;
        context.remember(cluster, kind, None, target.name.clone());
    }
    Ok((Action::new(format!("{what} applied to {}", cluster.name)).on(path), target))
}

/// Returns a member, and the kind and name of an object there. The kind has to be in [`kinds::ALL`].
pub(crate) async fn known(
    context: &ScenarioContext,
    member: &str,
    object: &str,
) -> Result<(Cluster, ResourceKind, String), StepError> {
    let cluster = context.fleet.member(&context.ledger.names.get(member)?).await?.cluster;
    let (kind, name) = kind_and_name(object)?;
    Ok((cluster, kind, context.ledger.names.fill(name)))
}

/// Reads `Kind/name`.
fn kind_and_name(object: &str) -> Result<(ResourceKind, &str), StepError> {
    object
        .split_once('/')
        .and_then(|(kind, name)| Some((*kinds::ALL.iter().find(|k| k.kind == kind)?, name)))
        .ok_or_else(|| StepError::Feature(format!("`{object}` does not name an object like `ConfigMap/settings`")))
}
