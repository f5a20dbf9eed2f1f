//! Objects as `kubectl get` prints them. The API server makes the columns.

use std::collections::BTreeMap;

use clusters::cluster::Cluster;
use kube::Client;
use serde::Deserialize;
use serde_json::Value;

use crate::error::FleetError;
use crate::kinds::{ResourceKind, is_called};

/// `Accept` header with which `kubectl get` asks for a table.
const ACCEPT: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// Table that `kubectl get` prints without `-o wide`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Headings, in upper case as kubectl prints them.
    pub columns: Vec<String>,
    /// Rows, one for each object.
    pub rows: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TableResponse {
    column_definitions: Vec<TableColumn>,
    #[serde(default)]
    rows: Vec<TableRow>,
}

#[derive(Deserialize)]
struct TableColumn {
    name: String,
    /// Priority above 0 means that only `-o wide` shows the column.
    #[serde(default)]
    priority: i32,
}

#[derive(Deserialize)]
struct TableRow {
    cells: Vec<Value>,
    #[serde(default)]
    object: RowObject,
}

/// Object of a row, of which the API server sends the metadata.
#[derive(Default, Deserialize)]
struct RowObject {
    #[serde(default)]
    metadata: RowMetadata,
}

#[derive(Default, Deserialize)]
struct RowMetadata {
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

/// Resource of KubeFleet that a word in `kubectl get WORD` means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalledResource {
    /// Group and the version that kubectl asks for: the group's preferred version, if it has the resource.
    pub api_version: String,
    /// Plural name, as in URLs.
    pub plural: String,
    /// True if the objects live in namespaces.
    pub namespaced: bool,
}

/// Objects that a `kubectl get` command asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GetRequest {
    /// `-n NAMESPACE`.
    pub namespace: Option<String>,
    /// Name of a single object.
    pub name: Option<String>,
    /// `-l SELECTOR`.
    pub selector: Option<String>,
    /// `--show-labels`: a last column LABELS.
    pub labels: bool,
}

/// Ending of the names of KubeFleet's API groups.
const GROUPS: &str = "kubernetes-fleet.io";

/// Returns the kind that `kubectl get WORD` means, in the API group of `group_of`. `word` is a plural, singular or
/// short name.
///
/// # Errors
/// Returns an error if the API server doesn't answer.
pub async fn kind_called(cluster: &Cluster, group_of: ResourceKind, word: &str) -> Result<Option<String>, FleetError> {
    let asked = FleetError::api(&cluster.name, "list the API's resources");
    let resources = if group_of.group.is_empty() {
        cluster.client.list_core_api_resources(group_of.version).await
    } else {
        cluster.client.list_api_group_resources(&group_of.api_version()).await
    };
    let resources = resources.map_err(asked)?.resources;
    let called = resources.into_iter().find(|resource| is_called(resource, word));
    Ok(called.map(|r| r.kind))
}

/// Returns the resource of KubeFleet that `kubectl get WORD` means. `word` is a plural, singular or short name.
///
/// # Errors
/// Returns an error if the API server doesn't answer.
pub async fn resource_called(cluster: &Cluster, word: &str) -> Result<Option<CalledResource>, FleetError> {
    let asked = || FleetError::api(&cluster.name, "list the API's groups and resources");
    let groups = cluster.client.list_api_groups().await.map_err(asked())?.groups;
    for group in groups.into_iter().filter(|group| group.name.ends_with(GROUPS)) {
        let preferred = group.preferred_version.map(|version| version.group_version);
        let versions = group.versions.into_iter().map(|version| version.group_version);
        let rest: Vec<String> = versions.filter(|version| Some(version) != preferred.as_ref()).collect();
        for api_version in preferred.into_iter().chain(rest) {
            let resources = cluster.client.list_api_group_resources(&api_version).await.map_err(asked())?.resources;
            let called = resources.into_iter().find(|resource| is_called(resource, word));
            if let Some(called) = called {
                return Ok(Some(CalledResource { api_version, plural: called.name, namespaced: called.namespaced }));
            }
        }
    }
    Ok(None)
}

/// Returns what `kubectl get` prints for a request, as a table.
///
/// # Errors
/// Returns an error if the API server refuses the request or doesn't answer.
pub async fn request(cluster: &Cluster, resource: &CalledResource, request: &GetRequest) -> Result<Table, FleetError> {
    let namespace = request.namespace.as_ref().filter(|_| resource.namespaced);
    let namespace = namespace.map(|n| format!("/namespaces/{n}")).unwrap_or_default();
    let name = request.name.as_ref().map(|n| format!("/{n}")).unwrap_or_default();
    let selector = request.selector.as_ref().map(|s| format!("?labelSelector={s}")).unwrap_or_default();
    let path = format!("/apis/{}{namespace}/{}{name}{selector}", resource.api_version, resource.plural);
    let asked = FleetError::api(&cluster.name, format!("get {path} as a table"));
    let answer = ask(&cluster.client, &path).await.map_err(asked)?;
    Ok(table(answer, request.labels))
}

/// Returns all objects of a kind in a namespace, or one of them, as a table.
///
/// # Errors
/// Returns an error if the API server refuses the request or doesn't answer.
pub async fn get(
    cluster: &Cluster,
    kind: ResourceKind,
    namespace: Option<&str>,
    name: Option<&str>,
) -> Result<Table, FleetError> {
    let path = path(kind, namespace, name);
    let asked = FleetError::api(&cluster.name, format!("get {path} as a table"));
    let answer = ask(&cluster.client, &path).await.map_err(asked)?;
    Ok(table(answer, false))
}

/// Columns that are printed without `-o wide`, and a last one with the labels if they are asked for.
fn table(answer: TableResponse, labels: bool) -> Table {
    let definitions = answer.column_definitions;
    let shown: Vec<usize> = (0..definitions.len()).filter(|n| definitions[*n].priority == 0).collect();
    let mut table = Table {
        columns: shown.iter().map(|n| definitions[*n].name.to_uppercase()).collect(),
        rows: answer.rows.iter().map(|row| cells(row, &shown)).collect(),
    };
    if labels {
        table.columns.push("LABELS".into());
        for (cells, row) in table.rows.iter_mut().zip(answer.rows) {
            let labels: Vec<String> =
                row.object.metadata.labels.into_iter().map(|(key, value)| format!("{key}={value}")).collect();
            cells.push(if labels.is_empty() { "<none>".into() } else { labels.join(",") });
        }
    }
    table
}

/// Texts of a row in these columns.
fn cells(row: &TableRow, columns: &[usize]) -> Vec<String> {
    columns.iter().map(|n| row.cells.get(*n).map(text).unwrap_or_default()).collect()
}

async fn ask(client: &Client, path: &str) -> Result<TableResponse, kube::Error> {
    let request = http::Request::get(path).header(http::header::ACCEPT, ACCEPT).body(Vec::new());
    client.request(request.map_err(kube::Error::HttpError)?).await
}

fn path(kind: ResourceKind, namespace: Option<&str>, name: Option<&str>) -> String {
    let root = if kind.group.is_empty() { "/api" } else { "/apis" };
    let namespace = namespace.filter(|_| kind.namespaced).map(|n| format!("/namespaces/{n}")).unwrap_or_default();
    let name = name.map(|n| format!("/{n}")).unwrap_or_default();
    format!("{root}/{}{namespace}/{}{name}", kind.api_version(), kind.plural)
}

/// Text of a cell as it is printed; empty for null.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{path, table};
    use crate::kinds;

    #[test]
    fn labels_are_a_column_if_asked_for() {
        let answer = || {
            serde_json::from_value(json!({
                "columnDefinitions": [{"name": "Name"}, {"name": "CPU", "priority": 1}, {"name": "Age"}],
                "rows": [
                    {"cells": ["a", 2, null], "object": {"metadata": {"labels": {"b": "2", "a": "1"}}}},
                    {"cells": ["b", 2, "3s"], "object": {"metadata": {}}},
                ],
            }))
            .expect("a table")
        };
        let with = table(answer(), true);
        assert_eq!(with.columns, ["NAME", "AGE", "LABELS"]);
        assert_eq!(with.rows, [["a", "", "a=1,b=2"], ["b", "3s", "<none>"]]);
        assert_eq!(table(answer(), false).rows, [["a", ""], ["b", "3s"]]);
    }

    #[test]
    fn paths_are_those_of_the_api() {
        assert_eq!(path(kinds::POD, Some("web"), None), "/api/v1/namespaces/web/pods");
        assert_eq!(
            path(kinds::CLUSTER_RUN, None, Some("r")),
            "/apis/placement.kubernetes-fleet.io/v1beta1/clusterstagedupdateruns/r"
        );
    }
}
