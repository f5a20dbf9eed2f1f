use serde_json::{Value, json};

use super::shapes::{OLD, alone, application, cause, commands, evidence, object, operated, operation, saying};
use crate::shapes::{BEFORE, found, hub, with};

const LOAD: &str =
    "Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = ";
const KUSTOMIZE: &str = "`kustomize build /tmp/_argocd-repo/x/deploy` failed exit status 1: Error: accumulating resources: open deployment.yaml: no such file";
const NO_TOOL: &str = r#"failed to get kustomize version: exec: "kustomize": executable file not found in $PATH"#;

/// Application whose sync was tried while the comparison failed.
fn broken(error: &str) -> Value {
    let text = format!("{LOAD}{error}");
    let operation = operation("Error", &format!("ComparisonError: {text}"), json!([]));
    let application = saying(operated(application("web"), operation), "ComparisonError", &text);
    with(application, "/status/sync/status", "Unknown")
}

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    vec![broken(KUSTOMIZE)]
}

#[test]
fn the_repo_servers_own_words_are_the_cause() {
    let snapshot = alone(broken(KUSTOMIZE));
    assert_eq!(found(&snapshot), ["AR-SF-001 Application/argocd/web"]);
    assert_eq!(
        cause(&snapshot),
        format!(
            "The manifests could not be generated: nothing was applied. For application argocd/web the repo-server says of \
             https://git.example.com/web.git path deploy: {KUSTOMIZE}."
        )
    );
    let evidence = evidence(&snapshot);
    assert!(evidence[0].starts_with("hub Application/argocd/web status.conditions[ComparisonError]: Failed to load"));
    assert!(evidence[1].ends_with("status.sync.status: Unknown"), "{}", evidence[1]);
    assert!(evidence[2].contains("status.operationState: Error: ComparisonError: "), "{}", evidence[2]);
}

#[test]
fn what_git_is_at_fault_for_stays_so_when_it_is_told_from_memory() {
    let snapshot = alone(broken(&format!("Manifest generation error (cached): {KUSTOMIZE}")));
    assert_eq!(found(&snapshot), ["AR-SF-001 Application/argocd/web"]);
    assert!(cause(&snapshot).contains("This is the cached error of an earlier attempt"), "{}", cause(&snapshot));
}

#[test]
fn what_no_commit_mends_needs_a_hard_refresh_once_it_is_told_from_memory() {
    let first = alone(broken(NO_TOOL));
    assert_eq!(found(&first), ["AR-SF-001 Application/argocd/web"]);
    let cached = alone(broken(&format!("Manifest generation error (cached): {NO_TOOL}")));
    assert_eq!(found(&cached), ["AR-SF-010 Application/argocd/web"]);
    assert!(commands(&cached)[0].contains("argocd.argoproj.io/refresh=hard"), "{}", commands(&cached)[0]);
}

#[test]
fn a_render_that_takes_too_long_is_nothing_that_a_commit_mends_however_it_is_told() {
    for words in ["context deadline exceeded", "stream terminated by RST_STREAM with error code: CANCEL"] {
        let late = format!("rpc error: code = DeadlineExceeded desc = {words}");
        let cached = alone(broken(&format!("Manifest generation error (cached): {late}")));
        assert_eq!(found(&cached), ["AR-SF-010 Application/argocd/web"], "{words}");
    }
}

#[test]
fn a_sync_tells_before_the_condition_does() {
    let text = format!("ComparisonError: {LOAD}{KUSTOMIZE}");
    let late = operated(application("web"), operation("Error", &text, json!([])));
    assert_eq!(found(&alone(late.clone())), ["AR-SF-001 Application/argocd/web"]);
    assert!(cause(&alone(late.clone())).ends_with("the application has no ComparisonError now."));
    // The failure is repaired in git, and the application is healthy at the new commit without a sync.
    let late = with(late, "/status/operationState/syncResult/revision", OLD);
    assert_eq!(found(&alone(with(late, "/status/sync/status", "Synced"))), [""; 0]);
    let retrying = with(operation("Running", &text, json!([])), "/finishedAt", crate::shapes::BEFORE);
    assert_eq!(found(&alone(operated(application("web"), retrying))), ["AR-SF-001 Application/argocd/web"]);
}

#[test]
fn a_sync_that_goes_on_compares_once_more() {
    let error = "ComparisonError: Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: \
                 code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial tcp \
                 127.0.0.1:40575: connect: connection refused\"";
    let applied = json!([{
        "group": "apps", "kind": "Deployment", "name": "web", "namespace": "web", "version": "v1",
        "status": "Synced", "hookPhase": "Running", "message": "deployment.apps/web created",
    }]);
    let snapshot = alone(operated(application("web"), operation("Error", error, applied)));
    assert_eq!(found(&snapshot), ["AR-RP-005 Application/argocd/web"]);
    let cause = cause(&snapshot);
    assert!(cause.contains("repo-server can't be reached") && cause.contains("at the last sync"), "{cause}");
}

#[test]
fn a_project_that_argo_cd_does_not_know_yet_has_a_minute() {
    let text = "Application referencing project default which does not exist";
    let web = |since: &str| {
        let web = saying(application("web"), "InvalidSpecError", text);
        with(web, "/status/conditions/0/lastTransitionTime", since)
    };
    let project = object("argoproj.io/v1alpha1", "AppProject", Some("argocd"), "default");
    let found_with = |web: Value, project: Option<&Value>| {
        let snapshot = hub(std::iter::once(web).chain(project.cloned()).collect());
        (found(&snapshot), snapshot)
    };
    let young = "2026-01-08T11:59:55Z";
    assert_eq!(found_with(web(young), Some(&project)).0, [""; 0]);
    assert_eq!(found_with(web(young), None).0, ["AR-PJ-003 Application/argocd/web"], "nobody has made it");
    let (old, snapshot) = found_with(web(BEFORE), Some(&project));
    assert_eq!(old, ["AR-PJ-003 Application/argocd/web"]);
    assert!(cause(&snapshot).ends_with("That project exists by now."), "{}", cause(&snapshot));
    assert!(commands(&snapshot)[0].contains("argocd.argoproj.io/refresh=hard"), "{:?}", commands(&snapshot));
}

#[test]
fn a_comparison_that_fails_otherwise_is_quoted() {
    let text = "application destination can't have both name and server defined: member-1 https://10.0.0.7:6443";
    for type_ in ["InvalidSpecError", "ComparisonError", "UnknownError"] {
        let snapshot = alone(saying(application("web"), type_, text));
        assert_eq!(found(&snapshot), ["AR-SF-012 Application/argocd/web"]);
        assert!(cause(&snapshot).starts_with("The comparison failed: nothing was applied."), "{}", cause(&snapshot));
    }
}

#[test]
fn the_healthy_twin_is_silent() {
    assert_eq!(found(&alone(application("web"))), [""; 0]);
    let warned =
        saying(application("web"), "ExcludedResourceWarning", "Resource /Event web is excluded in the settings");
    assert_eq!(found(&alone(warned)), [""; 0]);
    let deleted = crate::shapes::deleted(broken(KUSTOMIZE));
    assert_eq!(found(&alone(deleted)), [""; 0]);
}
