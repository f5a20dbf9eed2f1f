//! Objects that Argo CD needs on the hub before it can start.

use clusters::cluster::Cluster;
use futures::future::try_join_all;
use kube::api::{DynamicObject, PostParams};
use rand::distr::{Alphanumeric, SampleString as _};
use serde_json::{Value, json};

use super::ArgoCdPrograms;
use super::accounts::{cluster_role_binding, service_account};
use crate::error::FleetError;
use crate::install::{apply_crds, name, read_crds, replace_crds};
use crate::kinds::{
    APP_PROJECT, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, CONFIG_MAP, NAMESPACE as NAMESPACE_KIND, ResourceKind, SECRET,
    SERVICE_ACCOUNT,
};
use crate::member::account_token;
use crate::objects::{apply, create};

/// The namespace of Argo CD and of its Applications.
pub const NAMESPACE: &str = "argocd";

/// The application-controller's ServiceAccount, and the name of its ClusterRole.
const CONTROLLER: &str = "argocd-application-controller";

/// Binding that gives the application-controller of an own build all rights. A binding's role can't be changed, so that the binding of a
/// version with rights of its own needs another name.
const ADMINISTRATOR: &str = "argocd-application-controller-administrator";

/// Label of the namespace that marks fleetdrill's own Argo CD.
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "fleetdrill");

/// Settings that Argo CD expects to exist, as a `ConfigMap` each, all at their defaults.
const CONFIG_MAPS: [&str; 6] = [
    "argocd-cm",
    "argocd-rbac-cm",
    "argocd-cmd-params-cm",
    "argocd-tls-certs-cm",
    "argocd-ssh-known-hosts-cm",
    "argocd-gpg-keys-cm",
];

/// Secret with Argo CD's own secrets.
pub(super) const SECRET_NAME: &str = "argocd-secret";

/// Key with which the API server signs sessions. The other components read it, too.
pub(super) const SECRET_KEY: &str = "server.secretkey";

/// Argo CD's CRDs.
const CRDS: [&str; 3] = ["applications.argoproj.io", "applicationsets.argoproj.io", "appprojects.argoproj.io"];

/// Creates the namespace. An existing namespace must be fleetdrill's own: the Argo CD of somebody else isn't touched.
pub(super) async fn namespace(hub: &Cluster) -> Result<(), FleetError> {
    let object = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": NAMESPACE, "labels": {MANAGED_BY.0: MANAGED_BY.1}},
    });
    let object: DynamicObject = serde_json::from_value(object)
        .map_err(|e| FleetError::Unreadable { what: NAMESPACE.into(), why: e.to_string() })?;
    let api = NAMESPACE_KIND.api(&hub.client, None);
    match api.create(&PostParams::default(), &object).await {
        Ok(_) => return Ok(()),
        Err(kube::Error::Api(status)) if status.is_already_exists() => {}
        Err(error) => return Err(FleetError::api(&hub.name, format!("create Namespace/{NAMESPACE}"))(error)),
    }
    let there = api.get(NAMESPACE).await.map_err(FleetError::api(&hub.name, format!("read Namespace/{NAMESPACE}")))?;
    let labels = there.metadata.labels.unwrap_or_default();
    if labels.get(MANAGED_BY.0).is_some_and(|by| by == MANAGED_BY.1) { Ok(()) } else { Err(FleetError::OtherArgoCd) }
}

/// Applies CRDs, settings and rights.
pub(super) async fn install(hub: &Cluster, programs: &ArgoCdPrograms) -> Result<(), FleetError> {
    apply_crds(hub, &crds(programs).await?).await?;
    try_join_all(CONFIG_MAPS.map(|name| create(hub, CONFIG_MAP, Some(NAMESPACE), config_map(name)))).await?;
    create(hub, SECRET, Some(NAMESPACE), secret()).await?;
    create(hub, SERVICE_ACCOUNT, Some(NAMESPACE), service_account(CONTROLLER)).await?;
    for rights in rights(programs).await? {
        create(hub, kind_of_rights(&rights), None, rights).await?;
    }
    create(hub, APP_PROJECT, Some(NAMESPACE), project()).await
}

/// Replaces CRDs and rights with those of another version. The settings stay: fleetdrill has them at their defaults, in each version.
pub(super) async fn replace(hub: &Cluster, programs: &ArgoCdPrograms) -> Result<(), FleetError> {
    replace_crds(hub, &crds(programs).await?).await?;
    for rights in rights(programs).await? {
        apply(hub, kind_of_rights(&rights), &rights).await?;
    }
    Ok(())
}

/// Reads the version's CRDs.
async fn crds(programs: &ArgoCdPrograms) -> Result<Vec<Value>, FleetError> {
    let mut crds = read_crds(programs.crds.clone()).await?;
    crds.retain(|crd| CRDS.contains(&name(crd)));
    if let Some(missing) = CRDS.iter().find(|wanted| !crds.iter().any(|crd| name(crd) == **wanted)) {
        let what = format!("the CRDs of Argo CD {}", programs.version);
        return Err(FleetError::Unreadable { what, why: format!("{missing} isn't among them") });
    }
    Ok(crds)
}

/// Requests a token with which the application-controller acts on the hub.
pub(super) async fn token(hub: &Cluster) -> Result<String, FleetError> {
    account_token(hub, NAMESPACE, CONTROLLER).await
}

/// Random text that nobody can guess.
pub(super) fn random() -> String {
    Alphanumeric.sample_string(&mut rand::rng(), 43)
}

/// Builds an empty ConfigMap with settings.
pub(super) fn config_map(name: &str) -> Value {
    let labels = json!({"app.kubernetes.io/part-of": "argocd"});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}})
}

/// Builds the Secret with Argo CD's own secrets.
pub(super) fn secret() -> Value {
    let labels = json!({"app.kubernetes.io/part-of": "argocd"});
    json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET_NAME, "labels": labels},
        "stringData": {SECRET_KEY: random()},
    })
}

/// The version's own ClusterRole and binding. An own build comes without them, and gets `cluster-admin` instead.
async fn rights(programs: &ArgoCdPrograms) -> Result<Vec<Value>, FleetError> {
    let of_module = read_crds(programs.rights.clone()).await?;
    let of_module: Vec<Value> = of_module.into_iter().filter(|o| is_role(o) || is_binding(o)).collect();
    if of_module.iter().any(is_role) && of_module.iter().any(is_binding) {
        return Ok(of_module);
    }
    Ok(vec![cluster_role_binding(ADMINISTRATOR, "cluster-admin", (NAMESPACE, CONTROLLER))])
}

fn kind_of_rights(rights: &Value) -> ResourceKind {
    if is_role(rights) { CLUSTER_ROLE } else { CLUSTER_ROLE_BINDING }
}

fn is_role(object: &Value) -> bool {
    object["kind"] == CLUSTER_ROLE.kind
}

fn is_binding(object: &Value) -> bool {
    object["kind"] == CLUSTER_ROLE_BINDING.kind
}

/// Default AppProject: every source and destination is allowed, as in a new installation.
pub(super) fn project() -> Value {
    json!({
        "apiVersion": APP_PROJECT.api_version(), "kind": "AppProject", "metadata": {"name": "default"},
        "spec": {
            "sourceRepos": ["*"],
            "destinations": [{"namespace": "*", "server": "*"}],
            "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
        },
    })
}
