//! Selectors of lists and watches: `labelSelector` and `fieldSelector`.

use std::collections::{BTreeMap, BTreeSet};

use kube::core::{Expression, Selector, SelectorExt as _};
use serde_json::Value;

use super::request::ApiQuery;
use super::status::ApiError;

/// Selection of objects by labels and fields.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectSelector {
    labels: Selector,
    fields: Vec<FieldRequirement>,
}

/// Value that a field must have, or mustn't have.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldRequirement {
    pointer: String,
    value: String,
    is_equal: bool,
}

impl ObjectSelector {
    /// Parses the selectors of a request.
    pub(super) fn parse(query: &ApiQuery) -> Result<Self, ApiError> {
        let labels = query.get("labelSelector").map(label_selector).transpose()?.unwrap_or_default();
        let fields = query.get("fieldSelector").map(field_requirements).transpose()?.unwrap_or_default();
        Ok(Self { labels, fields })
    }

    pub(super) fn matches(&self, object: &Value) -> bool {
        self.fields.iter().all(|field| field.matches(object)) && self.matches_labels(object)
    }

    fn matches_labels(&self, object: &Value) -> bool {
        if self.labels.selects_all() {
            return true;
        }
        let labels = object["metadata"]["labels"].as_object().into_iter().flatten();
        let labels = labels.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()));
        self.labels.matches(&labels.collect::<BTreeMap<_, _>>())
    }
}

impl FieldRequirement {
    /// Compares the text of the field; an absent field is an empty text, as for an API server.
    fn matches(&self, object: &Value) -> bool {
        let text = match object.pointer(&self.pointer) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        (text == self.value) == self.is_equal
    }
}

/// Parses `a.b=c,d!=e`.
fn field_requirements(text: &str) -> Result<Vec<FieldRequirement>, ApiError> {
    text.split(',').filter(|part| !part.trim().is_empty()).map(field_requirement).collect()
}

fn field_requirement(text: &str) -> Result<FieldRequirement, ApiError> {
    let refused = || ApiError::BadRequest(format!("the field selector `{text}` has no = or !="));
    let equal = || text.split_once("==").or_else(|| text.split_once('=')).map(|parts| (parts, true));
    let parts = text.split_once("!=").map(|parts| (parts, false)).or_else(equal);
    let ((field, value), is_equal) = parts.ok_or_else(refused)?;
    let pointer = format!("/{}", field.trim().replace('.', "/"));
    Ok(FieldRequirement { pointer, value: value.trim().to_owned(), is_equal })
}

/// Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k`.
fn label_selector(text: &str) -> Result<Selector, ApiError> {
    let requirements = split_outside_brackets(text).into_iter().map(str::trim).filter(|part| !part.is_empty());
    requirements.map(label_expression).collect::<Result<Vec<_>, _>>().map(Selector::from_iter)
}

fn label_expression(text: &str) -> Result<Expression, ApiError> {
    let refused = || ApiError::BadRequest(format!("the label selector `{text}` can't be parsed"));
    let key = |key: &str| {
        let key = key.trim();
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
        if is_key { Ok(key.to_owned()) } else { Err(refused()) }
    };
    if let Some(set) = text.strip_suffix(')') {
        let (left, values) = set.split_once('(').ok_or_else(refused)?;
        let values: BTreeSet<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        let (name, operator) = left.trim_end().rsplit_once(char::is_whitespace).ok_or_else(refused)?;
        return match operator {
            "in" => Ok(Expression::In(key(name)?, values)),
            "notin" => Ok(Expression::NotIn(key(name)?, values)),
            _ => Err(refused()),
        };
    }
    if let Some((name, value)) = text.split_once("!=") {
        return Ok(Expression::NotEqual(key(name)?, value.trim().to_owned()));
    }
    if let Some((name, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return Ok(Expression::Equal(key(name)?, value.trim().to_owned()));
    }
    match text.strip_prefix('!') {
        Some(name) => Ok(Expression::DoesNotExist(key(name)?)),
        None => Ok(Expression::Exists(key(text)?)),
    }
}

/// Splits at commas that aren't inside of brackets.
fn split_outside_brackets(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let is_separator = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    text.split(is_separator).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(query: &str) -> Result<ObjectSelector, ApiError> {
        ObjectSelector::parse(&ApiQuery::parse(query))
    }

    #[test]
    fn labels_are_compared_as_kubectl_writes_them() {
        let object = json!({"metadata": {"labels": {"app": "web", "tier": "1", "example.com/x": ""}}});
        for (selector, expected) in [
            ("app=web", true),
            ("app==web,tier!=2", true),
            ("app in (api, web),tier notin (2,3)", true),
            ("app in (api,db)", false),
            ("example.com/x,!missing", true),
            ("!app", false),
            ("missing", false),
            ("missing!=a", true),
        ] {
            let selector: String = form_urlencoded::byte_serialize(selector.as_bytes()).collect();
            let parsed = parsed(&format!("labelSelector={selector}")).expect("a selector");
            assert_eq!(parsed.matches(&object), expected, "{selector}");
        }
        assert!(parsed("labelSelector=a+in+b)").is_err() && parsed("labelSelector=a+like+(b)").is_err());
    }

    #[test]
    fn fields_are_compared_as_texts() {
        let event = json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "a"}, "count": 3});
        for (selector, expected) in [
            ("metadata.name%3De", true),
            ("involvedObject.kind%3DPod,involvedObject.name%3Da", true),
            ("involvedObject.name!%3Da", false),
            ("involvedObject.uid%3D", true),
            ("count%3D%3D3", true),
        ] {
            let parsed = parsed(&format!("fieldSelector={selector}")).expect("a selector");
            assert_eq!(parsed.matches(&event), expected, "{selector}");
        }
        assert!(parsed("fieldSelector=metadata.name").is_err());
    }
}
