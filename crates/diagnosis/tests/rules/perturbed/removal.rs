//! Snapshots without some objects and fields.

use proptest::prelude::*;
use proptest::sample::subsequence;
use proptest::test_runner::TestCaseError;
use serde_json::Value;

use super::{clusters, evidence, objects, read};

/// Fields without which there is no object.
const IDENTITY: [&str; 5] = ["apiVersion", "kind", "metadata", "metadata/name", "metadata/namespace"];

/// Number of fields that are removed at most.
const FIELDS: usize = 4;

/// JSON pointers of what is removed from a snapshot: objects, fields, and elements of lists.
pub fn removals(fleet: &Value) -> impl Strategy<Value = Vec<String>> + use<> {
    let (mut whole, mut fields) = (Vec::new(), Vec::new());
    for (number, cluster) in clusters(fleet).iter().enumerate() {
        for (position, object) in objects(cluster).iter().enumerate() {
            let at = format!("/clusters/{number}/objects/{position}");
            let mut within = Vec::new();
            pointers(object, "", &mut within);
            within.retain(|pointer| !IDENTITY.contains(&pointer.trim_start_matches('/')) && !is_required(pointer));
            fields.extend(within.into_iter().map(|pointer| format!("{at}{pointer}")));
            whole.push(at);
        }
    }
    let (objects, most) = (whole.len(), fields.len().min(FIELDS));
    (subsequence(whole, 0..=objects), subsequence(fields, 0..=most))
        .prop_map(|(objects, fields)| fields.into_iter().chain(objects).collect())
}

/// True for a field that an API server or a controller never leaves out: those that tell the elements of a list apart, and those of a
/// condition that the rules go by.
fn is_required(pointer: &str) -> bool {
    let field = pointer.rsplit('/').next().unwrap_or_default();
    ["type", "name", "group", "generation", "observedGeneration"].contains(&field)
        || (field == "status" && pointer.contains("ondition"))
}

/// Adds the JSON pointers of all values in a value, in their order, each before those in it.
fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, v)| (key.replace('~', "~0").replace('/', "~1"), v)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(index, v)| (index.to_string(), v)).collect(),
        _ => Vec::new(),
    };
    for (name, child) in children {
        let pointer = format!("{at}/{name}");
        all.push(pointer.clone());
        pointers(child, &pointer, all);
    }
}

/// Checks that what is said of the rest rests on what is there.
pub fn nothing_wrong_without(fleet: &Value, removed: &[String]) -> Result<(), TestCaseError> {
    let mut rest = fleet.clone();
    // Fields stand before the objects, and each value before those in it: from the end, no place changes before it is used.
    for pointer in removed.iter().filter(|pointer| pointer.split('/').count() > 5).rev() {
        remove(&mut rest, pointer);
    }
    for pointer in removed.iter().filter(|pointer| pointer.split('/').count() == 5).rev() {
        remove(&mut rest, pointer);
    }
    evidence::check(&read(&rest)).map_err(TestCaseError::fail)
}

fn remove(fleet: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    match fleet.pointer_mut(parent) {
        Some(Value::Object(fields)) => drop(fields.shift_remove(&name.replace("~1", "/").replace("~0", "~"))),
        Some(Value::Array(list)) => drop(name.parse().map(|index: usize| list.remove(index))),
        _ => {}
    }
}
