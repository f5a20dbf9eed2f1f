//! Names and commands that the texts of several codes have.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

use super::application::{Application, Outcome};
use crate::HUB;
use crate::command::{ArgocdVerb, Command, KubectlVerb, Word};
use crate::rules::kubectl;
use crate::template::before_positional;

/// How much of a message stands in a sentence; all of it is among the evidence.
const SENTENCE: usize = 300;

/// The names that all codes have, and those of one.
pub(super) fn with(application: Application<'_>, more: &Value) -> Value {
    let destination = application.destination();
    let object = application.object;
    let name = application.full_name();
    let patch = |patch: Value| kubectl::patch(application.reference(), &patch);
    let cli = |argocd: ArgocdVerb, options: &[&str]| {
        let words = before_positional(&name).into_iter().chain([name.as_str()]).chain(options.iter().copied());
        Command::Argocd { argocd, words: words.map(Word::from).collect(), repeats_kubectl: true }
    };
    let refresh = ["argocd.argoproj.io/refresh=hard", "--overwrite"].map(str::to_owned);
    let annotate = Command::kubectl(HUB, KubectlVerb::Annotate, application.reference().into_iter().chain(refresh));
    let mut names = json!({
        "app": name,
        "app_ref": application.reference(),
        "app_name": object.name(),
        "app_namespace": object.namespace().unwrap_or_default(),
        "destination": destination.name(),
        "destination_cluster": destination.cluster_name(),
        "destination_namespace": destination.namespace(),
        "revision": application.operated().join(", "),
        "source": source(application),
        "phase": application.state("phase"),
        "retrying": application.state("phase") == "Running" && application.retries() > 0,
        "sync": [patch(sync(application, |_| true)), cli(ArgocdVerb::AppSync, &[])],
        "terminate": [
            patch(json!({"status": {"operationState": {"phase": "Terminating"}}})),
            cli(ArgocdVerb::AppTerminateOp, &[]),
        ],
        "adopt": [patch(sync(application, |option| !option.starts_with("FailOnSharedResource")))],
        "hard_refresh": [annotate, cli(ArgocdVerb::AppGet, &["--hard-refresh"])],
    });
    if let (Value::Object(names), Value::Object(more)) = (&mut names, more) {
        names.extend(more.clone());
    }
    names
}

/// What asks for a sync as the API server does it: with the application's own options, those that are wanted, and with no
/// trace of the operation before, whose results would count as this one's (v3.2).
fn sync(application: Application<'_>, wanted: fn(&str) -> bool) -> Value {
    let mut sync = Map::new();
    let options = application.object.list("/spec/syncPolicy/syncOptions").iter().filter_map(Value::as_str);
    let options: Vec<&str> = options.filter(|o| wanted(o)).collect();
    if !options.is_empty() {
        sync.insert("syncOptions".to_owned(), options.into());
    }
    let operation = json!({"initiatedBy": {"username": "kubectl"}, "sync": sync});
    json!({"operation": operation, "status": {"operationState": null}})
}

/// Where its manifests come from, e.g. `https://git.example.com/web path deploy`.
fn source(application: Application<'_>) -> String {
    let one = application.object.at("/spec/source").into_iter();
    let sources = one.chain(application.object.list("/spec/sources"));
    let of = |source: &Value| {
        let text = |field: &str| source.get(field).and_then(Value::as_str).filter(|t| !t.is_empty() && *t != ".");
        let part = |word: &str, field: &str| text(field).map(|t| format!("{word} {t}"));
        let parts = [text("repoURL").map(str::to_owned), part("path", "path"), part("chart", "chart")];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    sources.map(of).collect::<Vec<_>>().join(", ")
}

/// The objects of some outcomes, for a sentence.
pub(super) fn objects(outcomes: &[Outcome<'_>]) -> String {
    outcomes.iter().map(|o| o.object()).collect::<Vec<_>>().join(", ")
}

/// A message as a part of a sentence: on one line, not too long, without a full stop, and without the file that kubectl's
/// code was given.
pub(super) fn sentence(message: &str) -> String {
    static FILE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"^error when \w+ "/[^"]*": "#).expect("a valid pattern"));
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = FILE.replace(&line, "");
    let line = line.trim_end_matches(['.', ':', ',', ';']);
    match line.char_indices().nth(SENTENCE) {
        Some((end, _)) => format!("{} ...", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn a_message_becomes_a_part_of_a_sentence() {
        assert_eq!(sentence("spec.selector: Invalid value:\n  x.\n"), "spec.selector: Invalid value: x");
        assert_eq!(
            sentence(r#"error when patching "/dev/shm/2158": Service "web" is invalid"#),
            r#"Service "web" is invalid"#
        );
        assert_eq!(sentence(&"ä".repeat(400)).chars().count(), 304);
    }
}
