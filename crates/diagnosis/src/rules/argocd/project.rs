//! AR-PJ: what an `AppProject` forbids, and `AppProjects` that are missing.

use std::sync::LazyLock;

use glob::Pattern;
use regex::Regex;
use serde_json::{Value, json};

use super::application::{ApplicationView, ResourceResult};
use super::names::object_names;
use crate::command::{KubectlVerb, RemedyCommand};
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::fleet::FleetView;
use crate::rules::kubectl;
use crate::rules::message::for_sentence;
use crate::rules::pattern::{group, pattern};
use crate::{APP_PROJECT, Evidence, HUB, Object};

/// Refusal by a project, as Argo CD's messages tell it (v3.2 and v3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProjectRefusal<'m> {
    /// The destination isn't among the project's. `cluster` is what the Application names: a name or an address.
    Destination { cluster: &'m str, namespace: &'m str },
    /// The repository isn't among the project's.
    Source(&'m str),
    /// There is no such project, or the Application's namespace may not use it.
    Project,
}

static DESTINATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "destination server '(?<cluster>[^']*)' and namespace '(?<namespace>[^']*)' do not match any of the allowed destinations in project",
    )
});
static SOURCE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:application|sync source) repo (?<url>\S+) is not permitted in project|application repo URL is not permitted in project",
    )
});
static NO_PROJECT: LazyLock<Regex> = LazyLock::new(|| {
    pattern("referencing project .+ which does not exist|error getting app project|is not permitted to use project")
});
static MISSING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"referencing project (?<project>\S+) which does not exist"));
static KIND: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"resource (?<group>[^:\s]*):(?<kind>\S+) is not permitted in project|namespace (?<namespace>\S+) is not permitted in project",
    )
});

fn read_refusal(message: &str) -> Option<ProjectRefusal<'_>> {
    if let Some(found) = DESTINATION.captures(message) {
        let [cluster, namespace] = ["cluster", "namespace"].map(|part| group(&found, part));
        return Some(ProjectRefusal::Destination { cluster, namespace });
    }
    if let Some(found) = SOURCE.captures(message) {
        return Some(ProjectRefusal::Source(group(&found, "url")));
    }
    NO_PROJECT.is_match(message).then_some(ProjectRefusal::Project)
}

/// AR-PJ-001, 002 and 003: the comparison isn't made.
pub(super) fn failed_comparison(
    application: ApplicationView<'_>,
    message: &str,
    mut evidence: Vec<Evidence>,
) -> Option<FindingDraft> {
    let refusal = read_refusal(message)?;
    let (code, field, value) = match refusal {
        ProjectRefusal::Destination { cluster, namespace } => {
            let key = if cluster.contains("://") { "server" } else { "name" };
            (RuleCode::AR_PJ_001, "destinations", json!({key: cluster, "namespace": namespace}))
        }
        ProjectRefusal::Source(url) => {
            let own = application.object.str("/spec/source/repoURL").unwrap_or_default();
            (RuleCode::AR_PJ_002, "sourceRepos", Value::from(if url.is_empty() { own } else { url }))
        }
        ProjectRefusal::Project => (RuleCode::AR_PJ_003, "sourceNamespaces", Value::Null),
    };
    let project = project_of(application);
    evidence.extend(project.map(|project| application.quote().field(project, &format!("spec.{field}"))));
    let names = json!({
        "message": for_sentence(message),
        "project": project_name(application),
        "project_ref": project_reference(application),
        "project_exists": names_existing(application, message),
        "source_url": value.as_str(),
        "allow": (!value.is_null()).then(|| allow(application, project, field, &value)),
        "forbidden": "",
    });
    Some(application.draft(code, &names, evidence))
}

/// True if a resource was refused because the project forbids its kind or its namespace.
pub(super) fn is_forbidden(result: ResourceResult<'_>) -> bool {
    KIND.is_match(result.message())
}

/// AR-PJ-004: the project forbids kinds. Argo CD applies nothing then, not even what is allowed.
pub(super) fn failed_resources(application: ApplicationView<'_>, results: &[ResourceResult<'_>]) -> FindingDraft {
    let project = project_of(application);
    let mut evidence = vec![application.quote_operation()];
    evidence.extend(results.iter().map(|result| application.quote_result(*result)));
    let lists = [
        "clusterResourceWhitelist",
        "clusterResourceBlacklist",
        "namespaceResourceWhitelist",
        "namespaceResourceBlacklist",
    ];
    let lists = lists.map(|list| format!("spec.{list}"));
    evidence.extend(project.into_iter().flat_map(|project| {
        let present = lists.iter().filter(move |list| project.at(&format!("/{}", list.replace('.', "/"))).is_some());
        present.map(move |list| application.quote().field(project, list))
    }));
    let names = json!({
        "message": for_sentence(results.first().map_or("", |result| result.message())),
        "project": project_name(application),
        "project_ref": project_reference(application),
        "project_exists": true, "source_url": null, "allow": null,
        "forbidden": object_names(results),
    });
    application.draft(RuleCode::AR_PJ_004, &names, evidence)
}

/// AR-PJ-006: objects on the destination belong to no Application.
pub(super) fn orphans(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let warning = application.conditions("OrphanedResourceWarning").next()?;
    let mut evidence = vec![application.quote_condition(warning)];
    evidence.extend(project_of(application).map(|p| application.quote().field(p, "spec.orphanedResources")));
    let names = json!({
        "message": for_sentence(warning.message),
        "project": project_name(application), "project_ref": project_reference(application),
        "project_exists": true, "source_url": null, "allow": null, "forbidden": "",
    });
    Some(application.draft(RuleCode::AR_PJ_006, &names, evidence).into_notice())
}

/// True if Argo CD says that the application's project doesn't exist, and it does. The application controller doesn't know of
/// a project that was made within the same seconds, such as `default` of a new Argo CD (v3.2.11).
pub(super) fn names_existing(application: ApplicationView<'_>, message: &str) -> bool {
    MISSING.captures(message).is_some_and(|named| group(&named, "project") == project_name(application))
        && project_of(application).is_some()
}

/// Returns the Application's project, if it was read.
pub(super) fn project_of(application: ApplicationView<'_>) -> Option<Object<'_>> {
    project_of_object(application.fleet, application.object)
}

/// Returns the namespace of the Argo CD that compared an Application last, of which a cluster may have several (`controller/appcontroller.go`,
/// v3.5.7).
pub(super) fn controller_namespace(application: Object<'_>) -> Option<&str> {
    application.str("/status/controllerNamespace").filter(|namespace| !namespace.is_empty())
}

/// Returns the project of an Application, if it was read. It is in the namespace of the Application's Argo CD. For an Application that no Argo
/// CD has compared yet, this is the Application's own namespace, or one whose project of this name has the Application's namespace in
/// `spec.sourceNamespaces`. If none has, the only project of this name is returned.
pub(super) fn project_of_object<'a>(fleet: FleetView<'a>, application: Object<'a>) -> Option<Object<'a>> {
    let (hub, namespace) = (fleet.hub, application.namespace());
    let (group, kind, name) = (APP_PROJECT.group, APP_PROJECT.kind, named_project(application));
    if let Some(controller) = controller_namespace(application) {
        return hub.object(group, kind, Some(controller), name);
    }
    if let Some(project) = hub.object(group, kind, namespace, name) {
        return Some(project);
    }
    let named: Vec<Object<'_>> = hub.of_kind(group, kind).filter(|project| project.name() == name).collect();
    let permits = |project: &&Object<'_>| permits_namespace(**project, namespace.unwrap_or_default());
    named.iter().find(permits).copied().or_else(|| if let [only] = named[..] { Some(only) } else { None })
}

/// True if a project permits Applications of a namespace other than its own.
fn permits_namespace(project: Object<'_>, namespace: &str) -> bool {
    let mut patterns =
        project.list("/spec/sourceNamespaces").iter().filter_map(|text| Pattern::new(text.as_str()?).ok());
    patterns.any(|pattern| pattern.matches(namespace))
}

pub(super) fn project_name(application: ApplicationView<'_>) -> &str {
    named_project(application.object)
}

fn named_project(application: Object<'_>) -> &str {
    application.str("/spec/project").filter(|project| !project.is_empty()).unwrap_or("default")
}

pub(super) fn project_reference(application: ApplicationView<'_>) -> Vec<String> {
    let project = project_name(application);
    let namespace =
        project_of(application).map_or_else(|| application.object.namespace(), |project| project.namespace());
    kubectl::reference_words(format!("appprojects.argoproj.io/{project}"), namespace)
}

/// Returns the command that adds a value to a list of the project.
fn allow(application: ApplicationView<'_>, project: Option<Object<'_>>, list: &str, value: &Value) -> RemedyCommand {
    let is_there = project.is_some_and(|project| project.at(&format!("/spec/{list}")).is_some());
    let (path, value) =
        if is_there { (format!("/spec/{list}/-"), value.clone()) } else { (format!("/spec/{list}"), json!([value])) };
    let patch = json!([{"op": "add", "path": path, "value": value}]);
    let words = project_reference(application).into_iter();
    let words = words.chain(["--type=json".to_owned(), "-p".to_owned(), patch.to_string()]);
    RemedyCommand::kubectl(HUB, KubectlVerb::Patch, words)
}
