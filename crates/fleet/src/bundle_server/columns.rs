//! Columns of tables.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::resource::{PrinterColumn, ServedResource};
use super::well_known_columns;
use super::{age, json_path};

/// Column of a table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    name: String,
    type_: String,
    format: String,
    description: String,
    /// Above 0 for columns that only `-o wide` shows.
    priority: i32,
    source: CellSource,
}

/// Where the cells of a column come from.
#[derive(Clone, Debug)]
pub(super) enum CellSource {
    /// Value at a JSON path.
    Path(String),
    /// Age of the first time at one of these JSON paths.
    Age(Vec<String>),
    /// Value that a function makes of the object.
    Computed(fn(&Value) -> Value),
}

impl Column {
    /// Column that `kubectl get` shows.
    pub(super) fn new(name: &str, source: CellSource) -> Self {
        Self {
            name: name.to_owned(),
            type_: "string".to_owned(),
            format: String::new(),
            description: String::new(),
            priority: 0,
            source,
        }
    }

    /// Column with the value at a JSON path.
    pub(super) fn path(name: &str, path: &str) -> Self {
        Self::new(name, CellSource::Path(path.to_owned()))
    }

    fn of_definition(column: &PrinterColumn) -> Self {
        let PrinterColumn { name, type_, format, description, priority, json_path } = column.clone();
        let is_date = type_ == "date";
        let source = if is_date { CellSource::Age(vec![json_path]) } else { CellSource::Path(json_path) };
        Self { name, type_, format, description, priority, source }
    }

    /// Returns the column's definition in a table.
    pub(super) fn definition(&self) -> Value {
        let Self { name, type_, format, description, priority, .. } = self;
        json!({"name": name, "type": type_, "format": format, "description": description, "priority": priority})
    }

    /// Returns the cell of an object.
    pub(super) fn cell(&self, object: &Value, now: Timestamp) -> Value {
        match &self.source {
            CellSource::Path(path) => text(json_path::first(object, path)),
            CellSource::Age(paths) => {
                let mut times = paths.iter().filter_map(|path| json_path::first(object, path));
                age::age(&times.find(|time| !time.is_null()).unwrap_or_default(), now).into()
            }
            CellSource::Computed(compute) => compute(object),
        }
    }
}

/// Returns a value as a cell. Clients print lists and objects as JSON.
fn text(value: Option<Value>) -> Value {
    match value {
        None | Some(Value::Null) => "".into(),
        Some(value @ (Value::Array(_) | Value::Object(_))) => value.to_string().into(),
        Some(value) => value,
    }
}

/// Returns the columns of a resource: those of its definition if the bundle has it, otherwise those of well-known kinds; name and age at
/// least.
pub(super) fn of_resource(resource: &ServedResource) -> Vec<Column> {
    let ServedResource { version, kind, columns, .. } = resource;
    let name = Column { format: "name".to_owned(), ..Column::path("Name", ".metadata.name") };
    let age = Column::new("Age", CellSource::Age(vec![".metadata.creationTimestamp".to_owned()]));
    if let Some(defined) = columns.as_ref().filter(|columns| !columns.is_empty()) {
        return std::iter::once(name).chain(defined.iter().map(Column::of_definition)).collect();
    }
    if let Some(columns) = well_known_columns::without_name_and_age(&version.group, kind) {
        return columns;
    }
    let between = well_known_columns::between_name_and_age(&version.group, kind);
    std::iter::once(name).chain(between).chain([age]).collect()
}
