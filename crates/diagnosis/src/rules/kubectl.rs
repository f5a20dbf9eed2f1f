//! Arguments and commands of kubectl that several rules need.

use serde_json::{Value, json};

use super::fleet::{FleetView, PlacementView, UpdateRunView};
use super::index::resource_namespace;
use crate::command::{KubectlVerb, RemedyCommand};
use crate::kubefleet::PLACEMENT_GROUP;
use crate::object::text_field;
use crate::template::option_terminator;
use crate::{HUB, JsonRef, Object};

/// Returns the words by which kubectl finds an object: `kind.group/name -n namespace`. The group is always given,
/// because in v0.14.0 several groups have kinds of the same name.
pub(super) fn reference(object: Object<'_>) -> Vec<String> {
    reference_by_name(object.group(), object.kind(), object.namespace(), object.name())
}

/// Returns the words by which kubectl finds the resource that a reference in a status or a spec is to.
pub(super) fn reference_of(reference: JsonRef<'_>) -> Vec<String> {
    let [group, kind, name] = ["group", "kind", "name"].map(|field| text_field(reference, field));
    reference_by_name(group, kind, resource_namespace(reference), name)
}

/// Returns the same words as [`reference()`], for an object that may not exist.
pub(super) fn reference_by_name(group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Vec<String> {
    let dot = if group.is_empty() { "" } else { "." };
    reference_words(format!("{}{dot}{group}/{name}", plural(kind)), namespace)
}

/// Returns a kind's name in the API's paths, e.g. `pods`.
pub(super) fn plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    kind.strip_suffix('y').map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies"))
}

/// Returns the words by which kubectl lists the objects of a kind of KubeFleet's placement group.
pub(super) fn kind_reference(kind: &str, namespace: Option<&str>) -> Vec<String> {
    reference_words(format!("{}.{PLACEMENT_GROUP}", plural(kind)), namespace)
}

/// Returns the words for a placement in the version that knows strategy External. The API server prefers v1, which refuses it
/// (measured on v0.1.2).
pub(super) fn placement_reference(kind: &str, namespace: Option<&str>, name: &str) -> Vec<String> {
    reference_by_name(&format!("v1beta1.{PLACEMENT_GROUP}"), kind, namespace, name)
}

/// Returns the words for `resource`, e.g. `pods/web`, with a namespace if there is one.
pub(super) fn reference_words(resource: String, namespace: Option<&str>) -> Vec<String> {
    let before = option_terminator(&resource).map(str::to_owned);
    let mut words: Vec<_> = before.into_iter().chain([resource]).collect();
    words.extend(namespace.into_iter().flat_map(|namespace| ["-n".to_owned(), namespace.to_owned()]));
    words
}

/// Returns the command that changes an object on the hub by a merge patch.
pub(super) fn patch_command(reference: Vec<String>, patch: &Value) -> RemedyCommand {
    let options = ["--type=merge".to_owned(), "-p".to_owned(), patch.to_string()];
    RemedyCommand::kubectl(HUB, KubectlVerb::Patch, reference.into_iter().chain(options))
}

/// Returns the command that creates an object on the hub.
pub(super) fn create_command(object: Value) -> RemedyCommand {
    let words = ["-f".into(), "-".into()].into();
    RemedyCommand::Kubectl { cluster: Some(HUB.to_owned()), kubectl: KubectlVerb::Create, words, input: Some(object) }
}

/// Returns the command that creates a placement's first run. A person replaces the word STRATEGY in it.
pub(super) fn first_run_command(placement: PlacementView<'_>) -> RemedyCommand {
    let name = format!("{}-1", placement.object.name());
    create_command(json!({
        "apiVersion": placement.object.at("/apiVersion"),
        "kind": placement.scope.run(),
        "metadata": match placement.object.namespace() {
            Some(namespace) => json!({"name": name, "namespace": namespace}),
            None => json!({"name": name}),
        },
        "spec": {
            "placementName": placement.object.name(),
            "stagedRolloutStrategyName": "STRATEGY",
        },
    }))
}

/// Returns the command that creates a new run with the spec of this one. `index` replaces the resource snapshot index;
/// an empty index leaves the field out.
pub(super) fn rerun_command(fleet: FleetView<'_>, run: UpdateRunView<'_>, index: Option<&str>) -> RemedyCommand {
    let mut spec = run.object.at("/spec").map_or_else(|| json!({}), JsonRef::to_value);
    if let (Some(index), Some(spec)) = (index, spec.as_object_mut()) {
        spec.remove("resourceSnapshotIndex");
        if !index.is_empty() {
            spec.insert("resourceSnapshotIndex".to_owned(), Value::from(index));
        }
    }
    let mut metadata = json!({"name": unused_run_name(fleet, run)});
    if let (Some(namespace), Some(metadata)) = (run.object.namespace(), metadata.as_object_mut()) {
        metadata.insert("namespace".to_owned(), Value::from(namespace));
    }
    create_command(json!({
        "apiVersion": run.object.at("/apiVersion"),
        "kind": run.object.kind(),
        "metadata": metadata,
        "spec": spec,
    }))
}

/// Returns a name that no run has yet. v0.2 and later need fewer than 64 characters.
fn unused_run_name(fleet: FleetView<'_>, run: UpdateRunView<'_>) -> String {
    let name = run.object.name();
    let stem: String = name.chars().take(58).collect();
    let mut names = (2..u32::MAX).map(|i| format!("{stem}-{i}"));
    let unused =
        names.find(|name| fleet.placement_object(run.scope.run(), run.object.namespace(), name.as_str()).is_none());
    unused.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_name_the_group_and_the_namespace() {
        let strategy =
            reference_by_name("placement.kubernetes-fleet.io", "StagedUpdateStrategy", Some("apps"), "canary");
        assert_eq!(strategy, ["stagedupdatestrategies.placement.kubernetes-fleet.io/canary", "-n", "apps"]);
        assert_eq!(reference_by_name("", "Namespace", None, "x"), ["namespaces/x"]);
    }

    #[test]
    fn a_placement_s_version_stands_before_its_group() {
        let words = placement_reference("ResourcePlacement", Some("apps"), "web");
        assert_eq!(words, ["resourceplacements.v1beta1.placement.kubernetes-fleet.io/web", "-n", "apps"]);
    }

    #[test]
    fn a_kind_is_never_an_option() {
        assert_eq!(reference_by_name("", "--Server", None, "x"), ["--", "--servers/x"]);
    }
}
