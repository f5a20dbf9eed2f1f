//! Tests of the checks themselves, on a small document.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::DocumentSchema;
use crate::document_schema::errors;
use crate::strict::without_unknown_fields;

#[derive(JsonSchema, Serialize)]
#[serde(tag = "what", rename_all = "lowercase")]
enum Event {
    Step { text: String },
    Did(Action),
}

#[derive(JsonSchema, Serialize)]
struct Action {
    action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<String>,
}

#[derive(JsonSchema, Serialize)]
struct Entry {
    at: u32,
    #[serde(flatten)]
    event: Event,
    labels: std::collections::BTreeMap<String, Action>,
}

fn document() -> Value {
    let action = || Action { action: "deleted".to_owned(), on: None };
    let labels = [("a".to_owned(), action())].into();
    let step = Entry { at: 2, event: Event::Step { text: "x".to_owned() }, labels: [].into() };
    json!([Entry { at: 1, event: Event::Did(action()), labels }, step])
}

fn refused(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Vec<Entry>>().to_value();
    let mut document = document();
    change(&mut document);
    errors(&without_unknown_fields(schema), &document)
}

#[test]
fn a_document_of_the_type_is_allowed() {
    assert_eq!(refused(|_| ()), [""; 0]);
}

#[test]
fn unknown_fields_are_errors_wherever_they_are() {
    for place in ["/0", "/1", "/0/labels/a"] {
        let errors = refused(|document| document.pointer_mut(place).expect("the place")["more"] = json!(1));
        // Around a part that is refused, the validator knows no field any more. So the innermost error comes first, and others follow.
        assert_eq!(errors.first(), Some(&format!("at `{place}/more`: the schema has no such field")));
    }
}

#[test]
fn missing_fields_and_other_types_are_errors() {
    assert!(!refused(|document| document[0]["action"] = json!(1)).is_empty());
    assert!(!refused(|document| drop(document[0].as_object_mut().map(|all| all.shift_remove("action")))).is_empty());
    assert!(!refused(|document| document[1]["what"] = json!("other")).is_empty());
    assert!(!refused(|document| document[0]["labels"]["a"]["on"] = json!(7)).is_empty());
}

/// Document with a number, for the changes that make a schema readable.
#[derive(JsonSchema, Serialize)]
struct Numbered {
    schema: u32,
    /// Cause; `None` if there
    /// is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    /// Action; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<Action>,
    /// Time; `None` if nobody knows it.
    at: Option<u32>,
}

#[test]
fn a_schema_has_its_number_and_says_what_may_be_absent_or_null() {
    let schema = DocumentSchema { document: "numbered", number: 7 }.schema_of::<Numbered>("A document").to_value();
    assert!(schema["$id"].as_str().is_some_and(|id| id.ends_with("/docs/schemas/numbered-7.schema.json")), "{schema}");
    assert_eq!(schema["required"], json!(["schema", "at"]));
    assert_eq!(
        schema["properties"],
        json!({
            "schema": {"const": 7},
            "cause": {"description": "Cause; absent if there is none.", "type": "string"},
            "first": {"description": "Action; absent if there is none.", "$ref": "#/$defs/Action"},
            "at": {"description": "Time; `null` if nobody knows it.", "type": ["integer", "null"], "minimum": 0},
        })
    );
}
