//! Tests that a finding's commands reach the reader's clusters, and that no object's name can make a shell run anything
//! else.

use std::process::Command;

use diagnosis::{Finding, KubectlAccess, Snapshot, diagnose_with};
use serde_json::{Value, json};

use crate::argocd;
use crate::availability::pods;
use crate::robustness::troubled;
use crate::shapes::{condition, green, hub, hub_and_member, with};

/// Names that would do harm if a shell took them for more than one word.
const HOSTILE: [&str; 7] = [
    "inv; touch pwned #$(touch pwned)",
    "it's `touch pwned`",
    "a\nb\" && touch pwned",
    "--server=https://evil.example.com",
    "*",
    "$HOME\\",
    "a\u{1b}]0;it's; touch pwned #",
];

/// Stub for kubectl and argocd: prints each call as its arguments, each ended by a NUL byte, and a mark for the end of
/// the call.
const STUBS: &str = r#"
kubectl() { printf 'kubectl\000'; printf '%s\000' ${1+"$@"}; printf '\001'; }
argocd() { printf 'argocd\000'; printf '%s\000' ${1+"$@"}; printf '\001'; }
date() { printf 2026-01-08T12:00:00Z; }
"#;

/// Returns the object with a text replaced in all of its values; keys and kinds stay.
fn renamed(value: &Value, from: &str, to: &str) -> Value {
    match value {
        Value::String(text) => text.replace(from, to).into(),
        Value::Array(list) => list.iter().map(|item| renamed(item, from, to)).collect(),
        Value::Object(map) => map.iter().map(|(key, item)| (key.clone(), renamed(item, from, to))).collect(),
        other => other.clone(),
    }
}

/// Placements with objects that aren't applied, one for each reason.
fn not_applied() -> Vec<Value> {
    let reasons = ["NotTakenOver", "FailedToTakeOver", "FoundDrifts", "DecodingErred", "ManifestApplyFailed"];
    let of = |reason: &&str| {
        let mut placement = with(green("web", &["member-1"]), "/metadata/name", format!("web-{reason}"));
        let there = condition("Applied", "False", "NotAllWorkHaveBeenApplied", "");
        placement["status"]["placementStatuses"][0]["conditions"] = json!([there]);
        placement["status"]["placementStatuses"][0]["failedPlacements"] = json!([
            {"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "web",
             "condition": condition("Applied", "False", reason, "namespaces \"web\" not found")},
            {"version": "v1", "kind": "Namespace", "name": "web",
             "condition": condition("Applied", "False", reason, "")},
        ]);
        placement
    };
    reasons.iter().map(of).collect()
}

/// Fleet with many failures, with `name` in place of all names of placements, applications and members.
fn fleet(name: &str) -> Snapshot {
    let objects = [troubled(), not_applied(), argocd::troubled()].concat();
    let rename = |object: &Value| renamed(&renamed(object, "web", name), "member-1", name);
    let member = pods("ErrImagePull").iter().map(rename).collect();
    hub_and_member(objects.iter().map(rename).collect(), name, member)
}

fn commands(findings: &[Finding]) -> Vec<String> {
    let all = findings.iter().flat_map(Finding::flatten).flat_map(|finding| &finding.remedies);
    all.flat_map(|remedy| remedy.commands.clone()).collect()
}

/// Returns the calls that a shell makes when it runs a script. kubectl and argocd are stubs, and no other program can
/// be found.
fn calls(commands: &[String]) -> Vec<Vec<String>> {
    let script = format!("{STUBS}{}", commands.join("\n"));
    let output = Command::new("/bin/sh").args(["-c", &script]).env_clear().env("PATH", "").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}\n{}", commands.join("\n"));
    let text = String::from_utf8(output.stdout).unwrap();
    let calls = text.split_terminator('\u{1}');
    calls.map(|call| call.split_terminator('\0').map(str::to_owned).collect()).collect()
}

#[test]
fn a_shell_runs_the_commands_and_nothing_else() {
    for name in HOSTILE {
        let commands = commands(&diagnose_with(&fleet(name), &KubectlAccess::same_names()));
        assert!(commands.len() > 50, "{}", commands.len());
        let calls = calls(&commands);
        let comments = commands.iter().filter(|command| command.starts_with("# ")).count();
        assert!(comments > 0, "{name}");
        assert_eq!(calls.len(), commands.len() - comments, "{name}");
        assert!(commands.iter().all(|command| !command.contains('\u{1b}')), "{name}");
        let written = Value::from(name).to_string();
        let in_json = &written[1..written.len() - 1];
        for argument in calls.iter().flatten().filter(|argument| argument.contains("pwned")) {
            let name = name.replace('\u{1b}', "\u{fffd}");
            assert!(argument.contains(&name) || argument.contains(in_json), "{name} was cut: {argument}");
        }
    }
}

#[test]
fn commands_name_the_contexts_and_the_kubeconfig_of_the_reader() {
    let contexts = [("hub", "prod-hub"), ("member-1", "prod member")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    let access = KubectlAccess::named(Some("a b.yaml".to_owned()), contexts.into());
    let commands = commands(&diagnose_with(&fleet("member-1"), &access));
    let mut seen = std::collections::BTreeSet::new();
    for call in calls(&commands).iter().filter(|call| call[0] == "kubectl") {
        assert_eq!(call[1..4], ["--kubeconfig", "a b.yaml", "--context"], "{call:?}");
        seen.insert(call[4].clone());
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["prod member", "prod-hub"]);
}

#[test]
fn commands_for_unknown_contexts_are_refused_by_the_shell() {
    for command in commands(&diagnose_with(&fleet("member-1"), &KubectlAccess::unknown())) {
        if command.starts_with("argocd ") || command.starts_with("# ") {
            continue;
        }
        let script = format!("{STUBS}{command}");
        let output = Command::new("/bin/sh").args(["-c", &script]).env_clear().env("PATH", "").output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{command}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("_CONTEXT"), "{command}");
    }
}

#[test]
fn a_destination_outside_of_the_fleet_has_no_context_that_could_exist() {
    let application = argocd::troubled().remove(0);
    let elsewhere = with(application, "/spec/destination", json!({"server": "https://192.0.2.1"}));
    let commands = commands(&diagnose_with(&hub(vec![elsewhere]), &KubectlAccess::same_names()));
    assert!(commands.iter().all(|c| !c.contains("--context DESTINATION")), "{commands:?}");
}
