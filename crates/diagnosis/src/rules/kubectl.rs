//! Words and commands of kubectl that several rules need.

use serde_json::{Value, json};

use super::fleet::{Fleet, Run};
use crate::command::{Command, KubectlVerb};
use crate::template::before_positional;
use crate::{HUB, Object};

/// The words by which kubectl finds an object: `kind.group/name -n namespace`. The group is always there, because kind names
/// repeat across groups in v0.14.0.
pub(super) fn reference(object: Object<'_>) -> Vec<String> {
    resource(object.group(), object.kind(), object.namespace(), object.name())
}

/// As [`reference`], for an object that need not exist.
pub(super) fn resource(group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Vec<String> {
    let kind = kind.to_lowercase();
    let plural = kind.strip_suffix('y').map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies"));
    let dot = if group.is_empty() { "" } else { "." };
    named(format!("{plural}{dot}{group}/{name}"), namespace)
}

/// The words for an object that is called `resource` in a namespace, where it has one.
pub(super) fn named(resource: String, namespace: Option<&str>) -> Vec<String> {
    let before = before_positional(&resource).map(str::to_owned);
    let mut words: Vec<_> = before.into_iter().chain([resource]).collect();
    words.extend(namespace.into_iter().flat_map(|namespace| ["-n".to_owned(), namespace.to_owned()]));
    words
}

/// The command that changes an object on the hub by a merge patch.
pub(super) fn patch(reference: Vec<String>, patch: &Value) -> Command {
    let options = ["--type=merge".to_owned(), "-p".to_owned(), patch.to_string()];
    Command::kubectl(HUB, KubectlVerb::Patch, reference.into_iter().chain(options))
}

/// The command that creates an object on the hub.
pub(super) fn create(object: Value) -> Command {
    let words = ["-f".into(), "-".into()].into();
    Command::Kubectl { cluster: Some(HUB.to_owned()), kubectl: KubectlVerb::Create, words, input: Some(object) }
}

/// The command that makes a new run like this one; `index` replaces the index, an empty one leaves it out.
pub(super) fn again(fleet: Fleet<'_>, run: Run<'_>, index: Option<&str>) -> Command {
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
    create(json!({
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
        assert_eq!(strategy, ["stagedupdatestrategies.placement.kubernetes-fleet.io/canary", "-n", "apps"]);
        assert_eq!(resource("", "Namespace", None, "x"), ["namespaces/x"]);
    }

    #[test]
    fn a_kind_is_never_an_option() {
        assert_eq!(resource("", "--Server", None, "x"), ["--", "--servers/x"]);
    }
}
