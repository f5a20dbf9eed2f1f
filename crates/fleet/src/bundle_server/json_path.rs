//! JSON paths of printer columns. Kubernetes has a dialect of its own: without the root, with dots that are escaped by a backslash, and
//! with dashes and slashes in names.

use std::fmt::Write as _;

use jsonpath_rust::JsonPath as _;
use serde_json::Value;

/// Bytes of a path that is evaluated. A bundle comes from elsewhere, and a longer path may nest deeply.
const LIMIT: usize = 512;

/// Returns the first value at a path; `None` if there is none, or the path can't be parsed.
pub(super) fn first(object: &Value, path: &str) -> Option<Value> {
    if path.len() > LIMIT {
        return None;
    }
    object.query(&standard(path)).ok()?.into_iter().next().cloned()
}

/// Translates a path into the standard syntax, in which every name is quoted.
fn standard(path: &str) -> String {
    let path = path.trim();
    let path = path.strip_prefix('{').and_then(|path| path.strip_suffix('}')).unwrap_or(path);
    let path = path.strip_prefix('$').unwrap_or(path);
    let (mut result, mut name, mut depth) = ("$".to_owned(), String::new(), 0_u32);
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        match c {
            _ if depth > 0 => {
                result.push(c);
                match c {
                    '[' => depth += 1,
                    ']' => depth -= 1,
                    _ => {}
                }
            }
            '\\' => name.extend(chars.next()),
            '.' => end_name(&mut result, &mut name),
            '[' => {
                end_name(&mut result, &mut name);
                result.push(c);
                depth = 1;
            }
            _ => name.push(c),
        }
    }
    end_name(&mut result, &mut name);
    result
}

fn end_name(result: &mut String, name: &mut String) {
    match std::mem::take(name).as_str() {
        "" => {}
        "*" => result.push_str("[*]"),
        // JSON quotes a name as a path does.
        name => {
            let _ = write!(result, "[{}]", Value::from(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_of_columns_find_their_values() {
        let object = json!({
            "metadata": {"generation": 3, "labels": {"example.com/zone": "a"}},
            "status": {
                "conditions": [{"type": "Applied", "status": "True"}, {"type": "Available", "status": "False"}],
                "properties": {"node-count": {"value": "2"}}, "addresses": [{"ip": "1"}, {"ip": "2"}],
            },
        });
        for (path, expected) in [
            (".metadata.generation", json!(3)),
            (r".metadata.labels.example\.com/zone", json!("a")),
            (r#".status.conditions[?(@.type=="Available")].status"#, json!("False")),
            (".status.conditions[?(@.type=='Applied')].status", json!("True")),
            (".status.properties.node-count.value", json!("2")),
            (".status.addresses[1].ip", json!("2")),
            (".status.addresses[*].ip", json!("1")),
            ("{.metadata.generation}", json!(3)),
        ] {
            assert_eq!(first(&object, path), Some(expected), "{path}");
        }
        for path in [".status.missing", ".status.conditions[?(", "", &format!(".{}", "a".repeat(600))] {
            assert_eq!(first(&json!({"a": 1}), path).filter(|value| !value.is_object()), None, "{path}");
        }
    }
}
