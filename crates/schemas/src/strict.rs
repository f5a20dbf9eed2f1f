//! Schemas for tests: they forbid fields that they don't name, which published schemas allow, so that a document may get new fields.

use serde_json::{Map, Value, json};

/// Keywords with a schema that applies to a part of the document: an element of a list, or the value of a field.
const OF_PART: [&str; 2] = ["items", "additionalProperties"];

/// Keywords with a list of schemas that apply to the same part as their own schema.
const OF_SAME: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Forbids fields that a schema doesn't name, in all parts of the document.
///
/// `unevaluatedProperties` stands where a part of the document begins, and not in the definitions: several of them may
/// describe one part together.
#[must_use]
pub fn without_unknown_fields(mut schema: Value) -> Value {
    if let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        definitions.values_mut().for_each(forbid_in_parts);
    }
    forbid(&mut schema);
    schema
}

/// Forbids unknown fields in the part of the document that a schema describes, and in its parts.
fn forbid(schema: &mut Value) {
    forbid_in_parts(schema);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("unevaluatedProperties".to_owned(), json!(false));
    }
}

/// Forbids unknown fields in the parts of what a schema describes.
fn forbid_in_parts(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    fields.into_iter().flat_map(Map::values_mut).for_each(forbid);
    for keyword in OF_PART {
        schema.get_mut(keyword).into_iter().for_each(forbid);
    }
    for keyword in OF_SAME {
        let same = schema.get_mut(keyword).and_then(Value::as_array_mut);
        same.into_iter().flatten().for_each(forbid_in_parts);
    }
}
