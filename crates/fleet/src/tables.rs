//! Objects as `kubectl get` prints them: the API server itself makes the columns.

use clusters::cluster::Cluster;
use kube::Client;
use serde::Deserialize;
use serde_json::Value;

use crate::error::FleetError;
use crate::kinds::Kind;

/// What `kubectl get` asks for.
const ACCEPT: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// What `kubectl get` prints without `-o wide`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The headings, in upper case as kubectl prints them.
    pub columns: Vec<String>,
    /// A row for each object.
    pub rows: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    column_definitions: Vec<Column>,
    #[serde(default)]
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Column {
    name: String,
    /// More than 0 for what only `-o wide` shows.
    #[serde(default)]
    priority: i32,
}

#[derive(Deserialize)]
struct Row {
    cells: Vec<Value>,
}

/// The kind that `kubectl get WORD` means in a kind's group: a plural, a singular or a short name.
///
/// # Errors
/// When the API server can't be asked.
pub async fn kind_called(cluster: &Cluster, group_of: Kind, word: &str) -> Result<Option<String>, FleetError> {
    let asked = FleetError::api(&cluster.name, "list the API's resources");
    let resources = if group_of.group.is_empty() {
        cluster.client.list_core_api_resources(group_of.version).await
    } else {
        cluster.client.list_api_group_resources(&group_of.api_version()).await
    };
    let is_called = |r: &&k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResource| {
        let short = r.short_names.iter().flatten().any(|s| s == word);
        (r.name == word || r.singular_name == word || short) && !r.name.contains('/')
    };
    Ok(resources.map_err(asked)?.resources.iter().find(is_called).map(|r| r.kind.clone()))
}

/// All objects of a kind in a namespace, or one of them, as a table.
///
/// # Errors
/// When the API server refuses or can't be asked.
pub async fn get(
    cluster: &Cluster,
    kind: Kind,
    namespace: Option<&str>,
    name: Option<&str>,
) -> Result<Table, FleetError> {
    let path = path(kind, namespace, name);
    let asked = FleetError::api(&cluster.name, format!("get {path} as a table"));
    let answer = ask(&cluster.client, &path).await.map_err(asked)?;
    let shown = |n: &usize| answer.column_definitions[*n].priority == 0;
    let columns: Vec<usize> = (0..answer.column_definitions.len()).filter(shown).collect();
    let cell = |row: &Row, n: usize| row.cells.get(n).map(text).unwrap_or_default();
    Ok(Table {
        columns: columns.iter().map(|n| answer.column_definitions[*n].name.to_uppercase()).collect(),
        rows: answer.rows.iter().map(|row| columns.iter().map(|n| cell(row, *n)).collect()).collect(),
    })
}

async fn ask(client: &Client, path: &str) -> Result<Answer, kube::Error> {
    let request = http::Request::get(path).header(http::header::ACCEPT, ACCEPT).body(Vec::new());
    client.request(request.map_err(kube::Error::HttpError)?).await
}

fn path(kind: Kind, namespace: Option<&str>, name: Option<&str>) -> String {
    let root = if kind.group.is_empty() { "/api" } else { "/apis" };
    let namespace = namespace.filter(|_| kind.namespaced).map(|n| format!("/namespaces/{n}")).unwrap_or_default();
    let name = name.map(|n| format!("/{n}")).unwrap_or_default();
    format!("{root}/{}{namespace}/{}{name}", kind.api_version(), kind.plural)
}

/// A cell as it is printed: nothing for nothing.
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
