//! Names and commands for the templates of several Argo CD codes.

use serde_json::{Map, Value, json};

use super::application::{ApplicationView, ResourceResult};
use crate::command::{ArgocdVerb, CommandWord, KubectlVerb, RemedyCommand};
use crate::object::text_field;
use crate::rules::kubectl;
use crate::template::option_terminator;
use crate::{HUB, JsonRef};

/// Returns the names for the templates of all Argo CD codes, together with the names of one code.
pub(super) fn with_common(application: ApplicationView<'_>, more: &Value) -> Value {
    let destination = application.destination();
    let object = application.object;
    let name = application.full_name();
    let refresh = ["argocd.argoproj.io/refresh=hard", "--overwrite"].map(str::to_owned);
    let annotate =
        RemedyCommand::kubectl(HUB, KubectlVerb::Annotate, application.reference().into_iter().chain(refresh));
    let termination = json!({"status": {"operationState": {"phase": "Terminating"}}});
    let mut names = json!({
        "app": name,
        "app_ref": application.reference(),
        "app_name": object.name(),
        "app_namespace": object.namespace().unwrap_or_default(),
        "destination": destination.name(),
        "destination_cluster": destination.cluster_name(),
        "destination_namespace": destination.namespace(),
        "revision": application.operated_commits().join(", "),
        "source": source_texts(application),
        "phase": application.operation_field("phase"),
        "retrying": application.operation_field("phase") == "Running" && application.retries() > 0,
        "sync": sync_commands(application),
        "terminate": [
            kubectl::patch_command(application.reference(), &termination),
            argocd_command(&name, ArgocdVerb::AppTerminateOp, &[]),
        ],
        "adopt": [kubectl::patch_command(
            application.reference(),
            &sync_patch(application, |option| !option.starts_with("FailOnSharedResource")),
        )],
        "hard_refresh": [annotate, argocd_command(&name, ArgocdVerb::AppGet, &["--hard-refresh"])],
    });
    if let (Value::Object(names), Value::Object(more)) = (&mut names, more) {
        names.extend(more.clone());
    }
    names
}

/// Returns the commands that request a sync.
pub(super) fn sync_commands(application: ApplicationView<'_>) -> [RemedyCommand; 2] {
    [
        kubectl::patch_command(application.reference(), &sync_patch(application, |_| true)),
        argocd_command(&application.full_name(), ArgocdVerb::AppSync, &[]),
    ]
}

/// Returns the call of the argocd CLI that repeats a kubectl command for an Application.
fn argocd_command(application: &str, argocd: ArgocdVerb, options: &[&str]) -> RemedyCommand {
    let words = option_terminator(application).into_iter().chain([application]).chain(options.iter().copied());
    RemedyCommand::Argocd { argocd, words: words.map(CommandWord::from).collect(), repeats_kubectl: true }
}

/// Returns the commands that confirm what an Application is about to delete. The time that they write has to be later than the beginning
/// of the deletion or of the operation.
pub(super) fn confirm_commands(application: ApplicationView<'_>) -> [RemedyCommand; 2] {
    let reference = application.reference().into_iter().map(CommandWord::from);
    let time = CommandWord::Timed { before: "argocd.argoproj.io/deletion-approved=".to_owned(), after: String::new() };
    let words = reference.chain([time, CommandWord::from("--overwrite")]);
    [
        RemedyCommand::kubectl(HUB, KubectlVerb::Annotate, words),
        argocd_command(&application.full_name(), ArgocdVerb::AppConfirmDeletion, &[]),
    ]
}

/// Returns the commands that request a sync with pruning.
pub(super) fn prune_commands(application: ApplicationView<'_>) -> [RemedyCommand; 2] {
    let mut patch = sync_patch(application, |_| true);
    patch["operation"]["sync"]["prune"] = true.into();
    [
        kubectl::patch_command(application.reference(), &patch),
        argocd_command(&application.full_name(), ArgocdVerb::AppSync, &["--prune"]),
    ]
}

/// Returns the patch that requests a sync in the form of Argo CD's API server: with the Application's own sync options
/// that `wanted` accepts, and without the previous operation's state, whose results would count as results of the new
/// operation (v3.2).
fn sync_patch(application: ApplicationView<'_>, wanted: fn(&str) -> bool) -> Value {
    let mut sync = Map::new();
    let options = application.object.list("/spec/syncPolicy/syncOptions").iter().filter_map(JsonRef::as_str);
    let options: Vec<&str> = options.filter(|o| wanted(o)).collect();
    if !options.is_empty() {
        sync.insert("syncOptions".to_owned(), options.into());
    }
    let operation = json!({"initiatedBy": {"username": "kubectl"}, "sync": sync});
    json!({"operation": operation, "status": {"operationState": null}})
}

/// Returns the sources of an Application's manifests, e.g. `https://git.example.com/web path deploy`.
fn source_texts(application: ApplicationView<'_>) -> String {
    let one = application.object.at("/spec/source").into_iter();
    let sources = one.chain(application.object.list("/spec/sources"));
    sources.map(source_text).collect::<Vec<_>>().join(", ")
}

/// Returns one source as `URL path PATH chart CHART`, without the parts that it doesn't have.
fn source_text(source: JsonRef<'_>) -> String {
    let mut parts = Vec::new();
    for (label, field) in [("", "repoURL"), ("path ", "path"), ("chart ", "chart")] {
        let text = text_field(source, field);
        if !text.is_empty() && text != "." {
            parts.push(format!("{label}{text}"));
        }
    }
    parts.join(" ")
}

/// Returns the names of the results' objects, for a sentence.
pub(super) fn object_names(results: &[ResourceResult<'_>]) -> String {
    results.iter().map(|r| r.object()).collect::<Vec<_>>().join(", ")
}
