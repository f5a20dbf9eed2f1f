//! Changes to schemas that were made of types, for readers who don't know the types.

use schemars::Schema;
use serde_json::{Map, Value, json};

/// Removes `null` from fields that a document leaves out where they have no value, and writes `None` in descriptions as the document has it.
pub fn omit_null(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_else(|| json!([]));
    let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    let is_required = |name: &str| required.as_array().is_some_and(|all| all.iter().any(|field| field == name));
    for (name, field) in fields.iter_mut().filter_map(|(name, field)| Some((name, field.as_object_mut()?))) {
        let none = if is_required(name) { "`null`" } else { "absent" };
        if let Some(Value::String(description)) = field.get_mut("description") {
            *description = description.replace("`None`", none);
        }
        if !is_required(name) {
            without_null(field);
        }
    }
}

fn without_null(field: &mut Map<String, Value>) {
    if field.get("default").is_some_and(Value::is_null) {
        field.shift_remove("default");
    }
    if let Some(Value::Array(types)) = field.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            field["type"] = only;
        }
    }
    if let Some(Value::Array(choices)) = field.get_mut("anyOf") {
        choices.retain(|choice| *choice != json!({"type": "null"}));
        if let [Value::Object(only)] = &choices[..] {
            let only = only.clone();
            field.shift_remove("anyOf");
            field.extend(only);
        }
    }
}

/// Removes formats of numbers, e.g. `uint32`: JSON Schema has none, and some validators refuse formats that they don't know.
pub fn omit_number_format(schema: &mut Schema) {
    let is_number = ["int", "uint", "double", "float"]
        .iter()
        .any(|prefix| schema.get("format").and_then(Value::as_str).is_some_and(|format| format.starts_with(prefix)));
    if is_number {
        schema.remove("format");
    }
}

/// Joins the lines of each paragraph of a description.
pub fn join_lines(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        let paragraphs: Vec<String> = description.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
        *description = paragraphs.join("\n\n");
    }
}
