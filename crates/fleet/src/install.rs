//! Installs a version's CRDs on a cluster.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clusters::cluster::Cluster;
use futures::future::try_join_all;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams};
use record::{FailedWait, Observation, WaitEnd};
use serde_json::Value;

use crate::error::FleetError;
use crate::kinds::CRD;

/// Field manager of fleetdrill's writes.
pub const FIELD_MANAGER: &str = "fleetdrill";

/// `Accept` header for aggregated discovery: all groups with their versions and kinds in one response.
const AGGREGATED_DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Time limit until CRDs are served. It takes about a second here.
const SERVED_LIMIT: Duration = Duration::from_secs(60);

/// Interval between two checks whether CRDs are served.
const SERVED_INTERVAL: Duration = Duration::from_millis(50);

/// Reads CRDs from their files. Reading takes longer than applying the CRDs, so do it while clusters start.
pub(crate) async fn read_crds(files: Vec<PathBuf>) -> Result<Vec<Value>, FleetError> {
    let joined = tokio::task::spawn_blocking(move || files.iter().map(|file| read_crd(file)).collect()).await;
    joined.unwrap_or_else(|e| Err(FleetError::unreadable("the CRDs", e.to_string())))
}

fn read_crd(file: &Path) -> Result<Value, FleetError> {
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string());
    let crd = text.and_then(|text| serde_saphyr::from_str(&text).map_err(|e| e.to_string()));
    crd.map_err(|why| FleetError::unreadable(file.display().to_string(), why))
}

/// Applies CRDs and waits until all of them are served, and discovery names them.
///
/// # Errors
/// Returns an error if the cluster refuses a CRD, or a CRD isn't served after a minute.
pub async fn apply_crds(cluster: &Cluster, crds: impl IntoIterator<Item = &Value>) -> Result<(), FleetError> {
    put(cluster, crds, apply).await
}

/// Replaces CRDs with those of another version, and waits until the new ones are served. CRDs that the cluster doesn't
/// have are created. CRDs that the other version doesn't have stay: no operator deletes them in an upgrade, since all
/// their objects would go with them.
///
/// # Errors
/// Returns an error if the API server refuses a CRD, e.g. because it no longer serves a version in which objects are
/// stored.
pub(crate) async fn replace_crds(cluster: &Cluster, crds: impl IntoIterator<Item = &Value>) -> Result<(), FleetError> {
    put(cluster, crds, replace).await
}

/// Writes CRDs to a cluster with `one` (apply or replace), and waits until all of them are served and discovery names
/// them.
async fn put<'a>(
    cluster: &Cluster,
    crds: impl IntoIterator<Item = &'a Value>,
    one: impl AsyncFn(&Cluster, &Value) -> Result<(), FleetError>,
) -> Result<(), FleetError> {
    let crds: Vec<&Value> = crds.into_iter().collect();
    let install = async |crd: &&Value| {
        one(cluster, crd).await?;
        served(cluster, crd).await
    };
    try_join_all(crds.iter().map(install)).await?;
    discovered(cluster, &crds).await
}

async fn replace(cluster: &Cluster, crd: &Value) -> Result<(), FleetError> {
    let (api, name) = (CRD.api(&cluster.client, None), name(crd));
    let action = format!("replace CustomResourceDefinition/{name}");
    loop {
        let there = api.get_opt(name).await.map_err(FleetError::api(&cluster.name, &action))?;
        let Some(mut object) = there else { return apply(cluster, crd).await };
        object.data["spec"] = crd["spec"].clone();
        match api.replace(name, &PostParams::default(), &object).await {
            // Conflict: a controller has written the CRD's status meanwhile. Read the CRD again.
            Err(kube::Error::Api(status)) if status.is_conflict() => {}
            replaced => return replaced.map(drop).map_err(FleetError::api(&cluster.name, &action)),
        }
    }
}

/// Waits until discovery names the kinds of the CRDs. Agents find kinds by discovery, which is a little behind: a
/// hub-agent that was started at once exited because it couldn't find ClusterResourcePlacement (1 of some 40 starts,
/// v0.1.2).
async fn discovered(cluster: &Cluster, crds: &[&Value]) -> Result<(), FleetError> {
    until(format!("{} knows the kinds of its CRDs", cluster.name), async || {
        let request = http::Request::get("/apis").header("accept", AGGREGATED_DISCOVERY).body(Vec::new());
        let answer: Result<Value, kube::Error> = cluster.client.request(request.unwrap_or_default()).await;
        let groups = answer.map_err(FleetError::api(&cluster.name, "ask for the kinds that it knows"))?;
        let missing = crds.iter().find(|crd| !names(&groups, crd));
        Ok(missing.map(|crd| format!("it doesn't name {}", name(crd))))
    })
    .await
}

/// Polls until nothing is missing any more.
async fn until(
    expectation: String,
    find_missing: impl AsyncFn() -> Result<Option<String>, FleetError>,
) -> Result<(), FleetError> {
    let started = Instant::now();
    while let Some(missing) = find_missing().await? {
        if started.elapsed() > SERVED_LIMIT {
            let (seconds, end) = (SERVED_LIMIT.as_secs_f64(), WaitEnd::TimedOut { pending: Some(missing) });
            return Err(FailedWait { expectation, seconds, end, last: Observation::NoObjects }.into());
        }
        tokio::time::sleep(SERVED_INTERVAL).await;
    }
    Ok(())
}

/// True if an `APIGroupDiscoveryList` names all served versions of a CRD.
fn names(groups: &Value, crd: &Value) -> bool {
    let mut all = list(groups, "/items").iter();
    let group = all.find(|g| g.pointer("/metadata/name") == crd.pointer("/spec/group"));
    let known = group.map(|g| list(g, "/versions")).unwrap_or_default();
    served_versions(crd).all(|version| {
        let version = known.iter().find(|v| v.get("version") == version.get("name"));
        let resources = version.map(|v| list(v, "/resources")).unwrap_or_default();
        resources.iter().any(|r| r.get("resource") == crd.pointer("/spec/names/plural"))
    })
}

fn served_versions(crd: &Value) -> impl Iterator<Item = &Value> {
    list(crd, "/spec/versions").iter().filter(|v| v["served"] == true)
}

fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    value.pointer(path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

async fn apply(cluster: &Cluster, crd: &Value) -> Result<(), FleetError> {
    let (api, name) = (CRD.api(&cluster.client, None), name(crd));
    let failed = FleetError::api(&cluster.name, format!("apply CustomResourceDefinition/{name}"));
    let object = serde_json::from_value(crd.clone())
        .map_err(|e| FleetError::Unreadable { what: name.to_owned(), why: e.to_string() })?;
    // A create costs the API server much less than an apply.
    match api.create(&PostParams::default(), &object).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let params = PatchParams::apply(FIELD_MANAGER).force();
            api.patch(name, &params, &Patch::Apply(crd)).await.map(drop).map_err(failed)
        }
        created => created.map(drop).map_err(failed),
    }
}

fn text_at<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Waits until a CRD's objects can be listed. The first list of each kind is expensive, and an API server answers the
/// first lists of different kinds one after another. Here they overlap with the creation of other CRDs, and the agents,
/// which list all kinds when they start, don't have to wait for them.
async fn served(cluster: &Cluster, crd: &Value) -> Result<(), FleetError> {
    let name = name(crd);
    let Some(version) = served_versions(crd).find_map(|v| v["name"].as_str()) else { return Ok(()) };
    let kind = GroupVersionKind::gvk(text_at(crd, "/spec/group"), version, text_at(crd, "/spec/names/kind"));
    let kind = ApiResource::from_gvk_with_plural(&kind, text_at(crd, "/spec/names/plural"));
    let objects: Api<DynamicObject> = Api::all_with(cluster.client.clone(), &kind);
    until(format!("{name} are served by {}", cluster.name), async || {
        match objects.list_metadata(&ListParams::default().limit(1)).await {
            Ok(_) => Ok(None),
            // The server answers with plain text, not with a Status, on a path that it doesn't know.
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(Some("the CRD isn't established".to_owned())),
            Err(error) => Err(FleetError::api(&cluster.name, format!("list {name}"))(error)),
        }
    })
    .await
}

pub(crate) fn name(object: &Value) -> &str {
    object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::names;

    #[test]
    fn a_crd_is_known_when_discovery_names_all_of_its_served_versions() {
        let version = |name: &str, served: bool| json!({"name": name, "served": served});
        let versions = [version("v1", true), version("v1beta1", true), version("v1alpha1", false)];
        let crd = json!({"spec": {"group": "g.io", "names": {"plural": "things"}, "versions": versions}});
        let groups = |versions: &[&str]| {
            let versions: Vec<_> =
                versions.iter().map(|v| json!({"version": v, "resources": [{"resource": "things"}]})).collect();
            json!({"items": [{"metadata": {"name": "other.io"}}, {"metadata": {"name": "g.io"}, "versions": versions}]})
        };
        assert!(names(&groups(&["v1", "v1beta1"]), &crd));
        assert!(!names(&groups(&["v1beta1"]), &crd));
        assert!(!names(&json!({"items": []}), &crd));
    }
}
