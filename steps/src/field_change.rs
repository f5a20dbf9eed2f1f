//! Fields in which two versions of an object differ.

use json_patch::{PatchOperation, jsonptr::Pointer};
use serde_json::Value;

/// The most characters of a value that are shown.
const VALUE_WIDTH: usize = 60;

/// A field with its values at two moments.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// The path, e.g. `spec.strategy.type` or `spec.tolerations[0].key`.
    pub path: String,
    /// The value at the first moment; none where the field was absent.
    pub before: Option<Value>,
    /// The value at the second moment; none where the field is absent.
    pub after: Option<Value>,
}

impl std::fmt::Display for FieldChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} -> {}", self.path, shown(self.before.as_ref()), shown(self.after.as_ref()))
    }
}

fn shown(value: Option<&Value>) -> String {
    let text = match value {
        None => return "absent".into(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    match text.char_indices().nth(VALUE_WIDTH) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// The fields that differ: a changed leaf is named, not the object around it.
#[must_use]
pub fn field_changes(before: &Value, after: &Value) -> Vec<FieldChange> {
    // Each operation of a patch speaks of the object that the operations before it leave.
    let mut current = before.clone();
    let mut changes = Vec::new();
    for operation in json_patch::diff(before, after).0 {
        let (pointer, value) = match &operation {
            PatchOperation::Add(add) => (&add.path, Some(add.value.clone())),
            PatchOperation::Replace(replace) => (&replace.path, Some(replace.value.clone())),
            PatchOperation::Remove(remove) => (&remove.path, None),
            // A diff has no other operations.
            PatchOperation::Move(_) | PatchOperation::Copy(_) | PatchOperation::Test(_) => continue,
        };
        let was = match operation {
            PatchOperation::Add(_) => None,
            _ => pointer.resolve(&current).ok().cloned(),
        };
        changes.push(FieldChange { path: dotted(pointer, &current), before: was, after: value });
        if json_patch::patch(&mut current, &[operation]).is_err() {
            break;
        }
    }
    changes
}

/// A JSON pointer as people write a field path.
fn dotted(pointer: &Pointer, of: &Value) -> String {
    let mut path = String::new();
    let mut here = Some(of);
    for token in pointer.tokens() {
        let name = token.decoded();
        if here.is_some_and(Value::is_array) {
            path.extend(["[", name.as_ref(), "]"]);
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&name);
        }
        here = here.and_then(|value| match value {
            Value::Array(items) => items.get(name.parse::<usize>().ok()?),
            value => value.get(name.as_ref()),
        });
    }
    path
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::field_changes;

    fn told(before: &Value, after: &Value) -> String {
        field_changes(before, after).iter().fold(String::new(), |text, change| text + &change.to_string() + "\n")
    }

    #[test]
    fn each_changed_field_has_both_values() {
        let before = json!({"spec": {
            "strategy": {"type": "External"}, "clusters": ["a", "b", "c"], "same": 1,
        }});
        let after = json!({"spec": {
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%"}},
            "clusters": ["a"], "same": 1,
        }});
        let told = told(&before, &after);
        for line in [
            "spec.strategy.type: External -> RollingUpdate\n",
            "spec.strategy.rollingUpdate: absent -> {\"maxUnavailable\":\"25%\"}\n",
            ": b -> absent\n",
            ": c -> absent\n",
        ] {
            assert!(told.contains(line), "{told}");
        }
        assert_eq!(told.lines().count(), 4, "{told}");
    }

    #[test]
    fn a_long_value_is_cut() {
        let change = told(&json!({"data": "short"}), &json!({"data": "x".repeat(100)}));
        assert_eq!(change, format!("data: short -> {}...\n", "x".repeat(60)));
    }
}
