//! Secrets in objects, by where they stand: data of Secrets and `ConfigMaps`, pairs of a name and a value, command
//! lines, Helm's values, drifts, and fields with a secret's name.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{REMOVED, Redactor, arguments, names};

/// Fields of a Secret or a `ConfigMap` that hold data.
const DATA: &[&str] = &["data", "stringData", "binaryData"];

/// Fields whose values are environment variables: lists of pairs, lists of `NAME=value`, or objects.
const ENVIRONMENT: &[&str] = &["env", "environment", "extraEnv", "extraEnvVars", "httpHeaders"];

/// Lists of pairs whose names say nothing about their values: parameters of Helm charts and of plugins.
const PARAMETERS: &[&str] = &["parameters", "params"];

/// Fields that hold the values of a Helm chart, as an object or as YAML.
const HELM_VALUES: &[&str] = &["values", "valuesContent", "valuesObject"];

/// Fields that name a value beside them.
const LABELS: &[&str] =
    &["name", "key", "id", "field", "header", "option", "param", "parameter", "property", "setting", "variable"];

/// Fields that hold the value with a name beside it.
const VALUES: &[&str] =
    &["array", "content", "default", "defaultValue", "map", "string", "stringValue", "text", "val", "value", "values"];

/// Values of a field that differs between hub and member, in drifts and in differences.
const DRIFT_VALUES: &[&str] = &["valueInHub", "valueInMember"];

/// Goes through an object and its parts. Copied for each part, with what is known about the part.
#[derive(Clone, Copy)]
pub(super) struct Walk<'a> {
    redactor: &'a Redactor,
    /// True within an entry about a Secret: its drifts, for example.
    in_secret: bool,
    /// True within a field with a secret's name: `credentials`, `passwords`.
    in_credentials: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(redactor: &'a Redactor) -> Self {
        Self { redactor, in_secret: false, in_credentials: false }
    }

    pub(super) fn value(self, value: &mut Value) {
        match value {
            Value::Object(fields) => self.fields(fields),
            Value::Array(items) => {
                arguments::remove_from_list(items);
                for item in items {
                    self.item(item);
                }
            }
            Value::String(text) => {
                if let Cow::Owned(changed) = self.redactor.string(text) {
                    *text = changed;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn item(self, item: &mut Value) {
        if self.in_credentials && !item.is_object() && !item.is_array() { remove(item) } else { self.value(item) }
    }

    fn fields(self, fields: &mut Map<String, Value>) {
        let walk = Self { in_secret: self.in_secret || is_about_secret(fields), ..self };
        if holds_data(fields) {
            change(fields, DATA, remove_all);
        }
        remove_pair(fields);
        remove_patch(fields);
        walk.remove_drift(fields);
        if fields.values().any(Value::is_array) {
            arguments::remove_from_fields(fields);
        }
        let is_helm = has_any(fields, HELM_VALUES) && is_helm(fields);
        let is_reference = self.in_credentials && is_reference(fields);
        for (name, value) in fields.iter_mut() {
            let is_credential = self.in_credentials && !names::is_reference(name) && !(name == "key" && is_reference);
            if ENVIRONMENT.contains(&name.as_str()) {
                remove_environment(value);
            } else if PARAMETERS.contains(&name.as_str()) {
                value.as_array_mut().into_iter().flatten().for_each(remove_parameter);
            } else if HELM_VALUES.contains(&name.as_str()) && (is_helm || value.is_object()) {
                remove_helm_values(value);
            }
            walk.field(name, value, is_credential);
        }
    }

    fn field(self, name: &str, value: &mut Value, is_credential: bool) {
        let is_secret = is_credential || names::is_secret(name);
        match value {
            Value::String(text) if is_secret && !text.is_empty() => *value = REMOVED.into(),
            Value::String(text) if is_encoded_kubeconfig(name, text) => *value = REMOVED.into(),
            Value::Number(_) if is_credential || names::is_password(name) => *value = REMOVED.into(),
            Value::Object(fields) => {
                // A manifest may have any name within an envelope, `secret.yaml` for example.
                let is_object = fields.contains_key("kind") || fields.contains_key("apiVersion");
                let in_credentials = (is_secret || self.in_credentials) && !is_object;
                Self { in_credentials, ..self }.value(value);
            }
            Value::Array(_) => {
                let in_credentials = is_secret || (self.in_credentials && !names::is_reference(name));
                Self { in_credentials, ..self }.value(value);
            }
            _ => Self { in_credentials: false, ..self }.value(value),
        }
    }

    /// Removes the values of a drift or a difference, and keeps its path.
    fn remove_drift(self, fields: &mut Map<String, Value>) {
        let path = fields.get("path").and_then(Value::as_str).unwrap_or_default();
        if self.redactor.keeps_drift_values && !self.in_secret && !names::is_secret_path(path) {
            return;
        }
        change(fields, DRIFT_VALUES, remove);
    }
}

/// True for a reference to a key of a Secret or of a file: `{name: db, key: password}`.
fn is_reference(fields: &Map<String, Value>) -> bool {
    fields.keys().any(|name| name == "path" || name.to_ascii_lowercase().ends_with("name"))
}

/// True if one of these fields is there. Compares names, since most objects have few fields.
fn has_any(fields: &Map<String, Value>, names: &[&str]) -> bool {
    fields.keys().any(|name| names.contains(&name.as_str()))
}

/// True if these fields may belong to a Secret or a `ConfigMap`. Items of a list, and wrong contents of an envelope, may
/// have no `kind`.
fn holds_data(fields: &Map<String, Value>) -> bool {
    match fields.get("kind").and_then(Value::as_str) {
        Some(kind) => kind == "Secret" || kind == "ConfigMap",
        None => fields.contains_key("apiVersion") || fields.contains_key("metadata"),
    }
}

/// True for a kubeconfig in base64. One in YAML is parsed, and the path of one isn't secret.
fn is_encoded_kubeconfig(name: &str, text: &str) -> bool {
    const SHORTEST: usize = 100;
    name.to_ascii_lowercase().ends_with("kubeconfig")
        && text.len() >= SHORTEST
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"+/=\n".contains(&c))
}

/// True for an entry about a Secret: a drifted object, or the condition of a manifest.
fn is_about_secret(fields: &Map<String, Value>) -> bool {
    let kind = |fields: &Map<String, Value>| fields.get("kind").and_then(Value::as_str) == Some("Secret");
    kind(fields) || fields.get("identifier").and_then(Value::as_object).is_some_and(kind)
}

/// True for the part of an Application that describes a Helm chart, and for resources of Helm controllers.
fn is_helm(fields: &Map<String, Value>) -> bool {
    ["chart", "fileParameters", "releaseName", "skipCrds", "valueFiles", "valuesObject", "valuesContent"]
        .iter()
        .any(|field| fields.contains_key(*field))
        || fields.get("values").is_some_and(|values| values.as_str().is_some_and(|text| text.contains(':')))
}

/// Removes the value of a pair: always beside `name`, whose values are environment variables, parameters and headers;
/// beside other labels, such as the `key` of a taint, if the label is a secret's name.
fn remove_pair(fields: &mut Map<String, Value>) {
    if !has_any(fields, VALUES) {
        return;
    }
    let is_pair = fields.get("name").is_some_and(Value::is_string);
    if is_pair && let Some(value) = fields.get_mut("value") {
        remove_leaves(value);
    }
    let is_secret = |field: &&str| fields.get(*field).and_then(Value::as_str).is_some_and(names::is_secret);
    // The `key` of a selector is a label's, and rules read its values.
    if LABELS.iter().any(is_secret) && !fields.contains_key("operator") {
        // A reference (`{kind: Secret, name: db-password}`) has none of these fields.
        change(fields, VALUES, remove_leaves);
    }
}

/// Removes the value of a JSON patch or an override that sets a secret or data.
fn remove_patch(fields: &mut Map<String, Value>) {
    let Some(path) = fields.get("path").and_then(Value::as_str).filter(|_| fields.contains_key("op")) else { return };
    let sets_data = DATA.iter().any(|field| path.trim_start_matches('/').split('/').next() == Some(field));
    if (sets_data || names::is_secret_path(path))
        && let Some(value) = fields.get_mut("value")
    {
        remove_leaves(value);
    }
}

/// Removes the values of environment variables, and keeps their names.
fn remove_environment(value: &mut Value) {
    match value {
        Value::Object(variables) => variables.values_mut().filter(|value| !value.is_object()).for_each(remove_leaves),
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::Object(pair) => pair.get_mut("value").into_iter().for_each(remove_leaves),
                    Value::String(text) => {
                        if let Some((name, _)) = text.split_once('=') {
                            *text = format!("{name}={REMOVED}");
                        }
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn remove_parameter(parameter: &mut Value) {
    if let Value::Object(fields) = parameter {
        change(fields, VALUES, remove_leaves);
    }
}

/// Removes Helm's values and keeps their keys, if they can be parsed. Their names are up to the chart.
fn remove_helm_values(value: &mut Value) {
    if let Value::String(text) = value {
        let parsed = serde_saphyr::from_str::<Value>(text).ok().filter(Value::is_object);
        let written = parsed.and_then(|mut values| {
            remove_leaves(&mut values);
            serde_saphyr::to_string(&values).ok()
        });
        *text = written.unwrap_or_else(|| if text.is_empty() { String::new() } else { REMOVED.to_owned() });
    } else {
        remove_leaves(value);
    }
}

/// Changes those of some fields that are there and not null.
fn change(fields: &mut Map<String, Value>, names: &[&str], change: fn(&mut Value)) {
    for name in names {
        fields.get_mut(*name).filter(|value| !value.is_null()).into_iter().for_each(change);
    }
}

/// Removes values and keeps their keys: a failure is often about which keys a Secret has.
fn remove_all(data: &mut Value) {
    match data {
        Value::Object(entries) => entries.values_mut().for_each(remove),
        Value::Null => {}
        other => remove(other),
    }
}

/// Removes all texts and numbers of a value, and keeps its shape.
fn remove_leaves(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(remove_leaves),
        Value::Array(items) => items.iter_mut().for_each(remove_leaves),
        Value::String(text) if text.is_empty() => {}
        Value::String(_) | Value::Number(_) => remove(value),
        Value::Null | Value::Bool(_) => {}
    }
}

fn remove(value: &mut Value) {
    *value = REMOVED.into();
}
