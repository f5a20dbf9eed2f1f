//! Commands that can be pasted.

use serde_json::{Value, json};

use super::fleet::{Fleet, Run};
use crate::Object;

/// How kubectl is told of an object: `kind.group/name -n namespace`. The group is always there, because kind names
/// repeat across groups in v0.14.0.
pub(super) fn reference(object: Object<'_>) -> String {
    resource(object.group(), object.kind(), object.namespace(), object.name())
}

/// As [`reference`], for an object that need not exist.
pub(super) fn resource(group: &str, kind: &str, namespace: Option<&str>, name: &str) -> String {
    let kind = kind.to_lowercase();
    let plural = kind.strip_suffix('y').map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies"));
    let dot = if group.is_empty() { "" } else { "." };
    let namespace = namespace.map(|n| format!(" -n {n}")).unwrap_or_default();
    format!("{plural}{dot}{group}/{name}{namespace}")
}

/// Creates an object on the hub.
pub(super) fn create(object: &Value) -> String {
    format!("echo {} | kubectl --context hub create -f -", quoted(object))
}

/// A JSON value as one word for a shell.
pub(super) fn quoted(value: &Value) -> String {
    format!("'{}'", value.to_string().replace('\'', r"'\''"))
}

/// The command that makes a new run like this one; `index` replaces the index, an empty one leaves it out.
pub(super) fn again(fleet: Fleet<'_>, run: Run<'_>, index: Option<&str>) -> String {
    let mut spec = run.object.at("/spec").cloned().unwrap_or_else(|| json!({}));
    if let (Some(index), Some(spec)) = (index, spec.as_object_mut()) {
        spec.remove("resourceSnapshotIndex");
        if !index.is_empty() {
            spec.insert("resourceSnapshotIndex".to_owned(), Value::from(index));
        }
    }
    let mut metadata = json!({"name": fresh_name(fleet, run)});
    if let (Some(namespace), Some(metadata)) = (run.object.namespace(), metadata.as_object_mut()) {
        metadata.insert("namespace".to_owned(), Value::from(namespace));
    }
    create(&json!({
        "apiVersion": run.object.at("/apiVersion"),
        "kind": run.object.kind(),
        "metadata": metadata,
        "spec": spec,
    }))
}

/// A name that no run has yet, short enough for v0.2 and later, which want less than 64 characters.
fn fresh_name(fleet: Fleet<'_>, run: Run<'_>) -> String {
    let name = run.object.name();
    let stem: String = name.chars().take(58).collect();
    let taken = |n: &str| fleet.runs().any(|r| r.object.namespace() == run.object.namespace() && r.object.name() == n);
    (2..u32::MAX).map(|i| format!("{stem}-{i}")).find(|n| !taken(n)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_name_the_group_and_the_namespace() {
        let strategy = resource("placement.kubernetes-fleet.io", "StagedUpdateStrategy", Some("apps"), "canary");
        assert_eq!(strategy, "stagedupdatestrategies.placement.kubernetes-fleet.io/canary -n apps");
        assert_eq!(resource("", "Namespace", None, "x"), "namespaces/x");
    }

    #[test]
    fn a_quote_in_a_value_does_not_end_the_word() {
        assert_eq!(quoted(&json!({"a": "it's"})), r#"'{"a":"it'\''s"}'"#);
    }
}
