//! Objects as `kubectl get` prints them. The API server makes the columns.

use clusters::cluster::Cluster;
use kube::Client;
use serde::Deserialize;
use serde_json::Value;

use crate::error::FleetError;
use crate::kinds::ResourceKind;

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
}

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
    let called = resources.into_iter().find(|r| {
        let short = r.short_names.iter().flatten().any(|s| s == word);
        (r.name == word || r.singular_name == word || short) && !r.name.contains('/')
    });
    Ok(called.map(|r| r.kind))
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
    let definitions = answer.column_definitions;
    let columns: Vec<usize> = (0..definitions.len()).filter(|n| definitions[*n].priority == 0).collect();
    Ok(Table {
        columns: columns.iter().map(|n| definitions[*n].name.to_uppercase()).collect(),
        rows: answer.rows.iter().map(|row| cells(row, &columns)).collect(),
    })
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
    use super::path;
    use crate::kinds;

    #[test]
    fn paths_are_those_of_the_api() {
        assert_eq!(path(kinds::POD, Some("web"), None), "/api/v1/namespaces/web/pods");
        assert_eq!(
            path(kinds::CLUSTER_RUN, None, Some("r")),
            "/apis/placement.kubernetes-fleet.io/v1beta1/clusterstagedupdateruns/r"
        );
    }
}
