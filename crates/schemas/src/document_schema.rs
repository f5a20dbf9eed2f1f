//! Published schema of a document: its file, made of a type, and the check of documents against it.

use std::fs;
use std::path::{Path, PathBuf};

use boon::{Compiler, ErrorKind, Schemas, ValidationError};
use expect_test::expect_file;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::strict::without_unknown_fields;
use crate::tidy::{join_lines, omit_null, omit_number_format};

/// Directory of the published files, as an address. The `$id` of each schema begins with it.
const ADDRESS: &str = "https://raw.githubusercontent.com/fleetdrill/fleetdrill/main/docs/schemas";

/// Field of a document that has the number of its schema.
const NUMBER: &str = "schema";

/// Schema of a kind of documents, by the name of its file.
#[derive(Clone, Copy, Debug)]
pub struct DocumentSchema {
    /// Name of the document, e.g. `run`.
    pub document: &'static str,
    /// Number of the schema.
    pub number: u32,
}

impl DocumentSchema {
    /// Compares the published file with the schema of a type. With `UPDATE_EXPECT=1` it writes the file. If the type has a field
    /// `schema`, the number is its only value.
    ///
    /// # Panics
    /// Panics if the file has another schema, or a description has a link to code.
    pub fn publish<T: JsonSchema>(self, title: &str) {
        let mut text = serde_json::to_string_pretty(&self.schema_of::<T>(title)).expect("a schema is JSON");
        text.push('\n');
        assert!(
            !text.contains("[`"),
            "{}: a doc comment has a link to code, which says nothing to readers of the schema",
            self.file()
        );
        expect_file![self.path()].assert_eq(&text);
    }

    /// Checks a document against the published file. Fields that the schema doesn't have are errors.
    ///
    /// # Panics
    /// Panics if the document has another form; the message names the places and the reasons.
    pub fn check(self, document: &Value) {
        let errors = self.errors(document);
        assert!(errors.is_empty(), "not as {} says:\n{}", self.file(), errors.join("\n"));
    }

    /// Checks that the schema forbids what a document mustn't be: another number, a field at the top that it doesn't have, and a
    /// document without one of its fields, for each field at the top that is required.
    ///
    /// # Panics
    /// Panics if the document is no example of the schema, or the schema allows one of these changes.
    pub fn check_that_changes_are_noticed(self, document: &Value) {
        self.check(document);
        let refused = |change: &dyn Fn(&mut Value)| {
            let mut changed = document.clone();
            change(&mut changed);
            !self.errors(&changed).is_empty()
        };
        assert!(refused(&|changed| changed[NUMBER] = json!(self.number + 1)), "another number is allowed");
        assert!(refused(&|changed| changed["unheard-of"] = json!(1)), "an unknown field is allowed");
        let required = self.published()["required"].as_array().cloned().unwrap_or_default();
        assert!(!required.is_empty(), "{} requires no field", self.file());
        for field in required.iter().filter_map(Value::as_str) {
            let without = |changed: &mut Value| drop(changed.as_object_mut().and_then(|all| all.shift_remove(field)));
            assert!(refused(&without), "a document without `{field}` is allowed");
        }
    }

    /// Checks a part of a document against a definition of the published file, e.g. `Finding`.
    ///
    /// # Panics
    /// Panics if the part has another form, or there is no such definition.
    pub fn check_part(self, definition: &str, part: &Value) {
        let published = self.published();
        let definitions = &published["$defs"];
        assert!(definitions.get(definition).is_some(), "{} has no definition {definition}", self.file());
        let schema =
            json!({"$schema": published["$schema"], "$defs": definitions, "$ref": format!("#/$defs/{definition}")});
        let errors = errors(&without_unknown_fields(schema), part);
        assert!(errors.is_empty(), "no {definition} as {} has it:\n{}", self.file(), errors.join("\n"));
    }

    fn errors(self, document: &Value) -> Vec<String> {
        errors(&without_unknown_fields(self.published()), document)
    }

    /// Makes the schema of a type, as it is serialized.
    pub(crate) fn schema_of<T: JsonSchema>(self, title: &str) -> Schema {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        let mut schema = settings
            .with_transform(RecursiveTransform(omit_null))
            .with_transform(RecursiveTransform(omit_number_format))
            .with_transform(RecursiveTransform(join_lines))
            .into_generator()
            .into_root_schema_for::<T>();
        schema.insert("$id".to_owned(), json!(format!("{ADDRESS}/{}", self.file())));
        schema.insert("title".to_owned(), json!(title));
        if let Some(number) = schema.pointer_mut(&format!("/properties/{NUMBER}")).and_then(Value::as_object_mut) {
            number.retain(|keyword, _| keyword == "description");
            number.insert("const".to_owned(), json!(self.number));
        }
        schema
    }

    fn published(self) -> Value {
        let path = self.path();
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn path(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas").join(self.file())
    }

    fn file(self) -> String {
        format!("{}-{}.schema.json", self.document, self.number)
    }
}

/// Returns what of a document isn't as a schema says: place and reason.
pub(crate) fn errors(schema: &Value, document: &Value) -> Vec<String> {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.enable_format_assertions();
    compiler.add_resource("strict.json", schema.clone()).unwrap_or_else(|error| panic!("this is no schema: {error}"));
    let compiled = compiler.compile("strict.json", &mut schemas);
    let compiled = compiled.unwrap_or_else(|error| panic!("this is no schema: {error:#}"));
    let mut errors = Vec::new();
    if let Err(error) = schemas.validate(document, compiled) {
        collect(&error, &mut errors);
    }
    errors
}

/// Adds the errors that an error is made of.
fn collect(error: &ValidationError<'_, '_>, errors: &mut Vec<String>) {
    if error.causes.is_empty() {
        let reason = match &error.kind {
            ErrorKind::FalseSchema => "the schema has no such field".to_owned(),
            other => other.to_string(),
        };
        errors.push(format!("at `{}`: {reason}", error.instance_location));
    }
    error.causes.iter().for_each(|cause| collect(cause, errors));
}
