//! Tables, the form in which `kubectl get` asks for objects.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::columns::{self, Column};
use super::request::ApiRequest;
use super::resource::ServedResource;

/// Maker of tables with the columns of one resource.
pub(super) struct TableMaker {
    columns: Vec<Column>,
    row_object: RowObject,
    now: Timestamp,
}

/// Part of its object that a row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowObject {
    Nothing,
    Metadata,
    Everything,
}

impl TableMaker {
    pub(super) fn new(resource: &ServedResource, request: &ApiRequest, now: Timestamp) -> Self {
        let row_object = match request.query.get("includeObject") {
            Some("None") => RowObject::Nothing,
            Some("Object") => RowObject::Everything,
            _ => RowObject::Metadata,
        };
        Self { columns: columns::of_resource(resource), row_object, now }
    }

    /// Makes a table of objects; a list has a version.
    pub(super) fn table(&self, objects: &[Value], resource_version: Option<&str>) -> Value {
        let definitions: Vec<Value> = self.columns.iter().map(Column::definition).collect();
        let rows: Vec<Value> = objects.iter().map(|object| self.row(object)).collect();
        let version = resource_version.or_else(|| match objects {
            [object] => object["metadata"]["resourceVersion"].as_str(),
            _ => None,
        });
        json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1",
            "metadata": {"resourceVersion": version.unwrap_or_default()},
            "columnDefinitions": definitions, "rows": rows,
        })
    }

    fn row(&self, object: &Value) -> Value {
        let cells: Vec<Value> = self.columns.iter().map(|column| column.cell(object, self.now)).collect();
        match self.row_object {
            RowObject::Nothing => json!({"cells": cells}),
            RowObject::Everything => json!({"cells": cells, "object": object}),
            RowObject::Metadata => json!({"cells": cells, "object": {
                "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"],
            }}),
        }
    }
}
