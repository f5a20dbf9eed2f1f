use serde_json::{Value, json};

use super::shapes::{alone, application, by_cause, cause, evidence, operated, operation, saying};
use crate::shapes::{found, hub, with};

const UNKNOWN: &str = "rpc error: code = Unknown desc = ";
const DIAL: &str = "dial tcp 10.0.0.9:443: connect: connection refused";

/// Application whose comparison fails, with an error of the call of the repo-server.
fn unread(name: &str, error: &str) -> Value {
    let text = format!("Failed to load target state: failed to generate manifest for source 1 of 1: {error}");
    with(saying(application(name), "ComparisonError", &text), "/status/sync/status", "Unknown")
}

fn unknown(error: &str) -> Value {
    unread("web", &format!("{UNKNOWN}{error}"))
}

fn down() -> String {
    format!("rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: {DIAL}\"")
}

/// Findings as `fleetdrill diagnose` prints them: one for each cause.
/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    vec![unknown("deploy: app path does not exist"), unread("shop", &down())]
}

#[test]
fn each_reason_has_its_code() {
    let repository = "https://git.example.com/web.git";
    let cases = [
        ("AR-RP-001", "failed to list refs: authentication required: ".to_owned()),
        ("AR-RP-001", "failed to list refs: authorization failed: no".to_owned()),
        ("AR-RP-001", "failed to list refs: ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain".to_owned()),
        ("AR-RP-001", format!("failed to initialize repository resources: rpc error: code = Internal desc = Failed to fetch default: `git fetch origin` failed exit status 128: fatal: Authentication failed for '{repository}'")),
        ("AR-RP-002", "unable to resolve 'release-2' to a commit SHA".to_owned()),
        ("AR-RP-002", "failed to initialize repository resources: rpc error: code = Internal desc = Failed to checkout revision deadbeef: `git fetch origin deadbeef --tags --force --prune` failed exit status 128: fatal: couldn't find remote ref deadbeef".to_owned()),
        ("AR-RP-002", "failed to initialize repository resources: rpc error: code = Internal desc = Failed to checkout revision deadbeef: `git fetch` failed exit status 128: fatal: remote error: upload-pack: not our ref deadbeef".to_owned()),
        ("AR-RP-003", "deploy: app path does not exist".to_owned()),
        ("AR-RP-003", "Manifest generation error (cached): deploy: app path does not exist".to_owned()),
        ("AR-RP-004", format!("failed to list refs: Get \"{repository}/info/refs?service=git-upload-pack\": {DIAL}")),
        ("AR-RP-008", format!("failed to list refs: Get \"{repository}\": tls: failed to verify certificate: x509: certificate signed by unknown authority")),
        ("AR-RP-008", format!("failed to initialize repository resources: rpc error: code = Internal desc = Failed to fetch default: `git fetch origin` failed exit status 128: fatal: unable to access '{repository}/': SSL certificate problem: unable to get local issuer certificate")),
        ("AR-RP-008", "failed to initialize repository resources: rpc error: code = Internal desc = Failed to fetch default: `git fetch origin` failed exit status 128: Host key verification failed.".to_owned()),
        ("AR-RP-004", format!("failed to list refs: Get \"{repository}\": tls: first record does not look like a TLS handshake")),
        ("AR-RP-004", "failed to list refs: repository not found".to_owned()),
        ("AR-RP-008", "failed to list refs: ssh: handshake failed: knownhosts: key mismatch".to_owned()),
        ("AR-RP-004", "failed to initialize repository resources: rpc error: code = Internal desc = Failed to fetch default: `git fetch origin` failed timeout after 1m30s".to_owned()),
        ("AR-RP-006", "`kustomize build <path to cached source>` failed signal: killed".to_owned()),
        ("AR-RP-006", "Manifest generation error (cached): `helm template . --name-template web` failed signal: killed".to_owned()),
        ("AR-RP-007", format!("error building helm chart dependencies: failed to add helm repository https://charts.example.com: Error: looks like \"https://charts.example.com\" is not a valid chart repository or cannot be reached: {DIAL}")),
        ("AR-RP-007", format!("failed to resolve revision \"1.0.0\": cannot get digest for revision 1.0.0: Head \"https://charts.example.com/v2\": {DIAL}")),
    ];
    for (code, error) in cases {
        assert_eq!(found(&alone(unknown(&error))), [format!("{code} Application/argocd/web")], "{error}");
    }
}

#[test]
fn what_a_tool_reads_itself_is_about_manifests() {
    for error in [
        "`kustomize build` failed exit status 1: Error: accumulating resources: `git fetch origin` failed: fatal: Authentication failed for 'https://git.example.com/base'",
        "error building helm chart dependencies: failed to build dependencies: `helm dependency build` failed exit status 1: Error: the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml)",
        "failed to initialize repository resources: rpc error: code = Internal desc = Failed to fetch default: fatal: write error: No space left on device",
    ] {
        assert_eq!(found(&alone(unknown(error))), ["AR-SF-001 Application/argocd/web"], "{error}");
    }
}

#[test]
fn applications_of_one_repository_are_one_finding() {
    let refused = format!("{UNKNOWN}failed to list refs: authentication required: ");
    let snapshot = hub(vec![unread("web", &refused), unread("shop", &refused)]);
    let findings = by_cause(&snapshot);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].other_subjects.len(), 1);
    let other = with(unread("shop", &refused), "/spec/source/repoURL", "https://git.example.com/shop.git");
    assert_eq!(by_cause(&hub(vec![unread("web", &refused), other])).len(), 2);
}

#[test]
fn what_is_not_trusted_is_a_certificate_or_a_host_key() {
    let told = |why: &str| cause(&alone(unknown(&format!("failed to list refs: {why}"))));
    let certificate = told("Get \"https://git.example.com/web.git\": x509: certificate signed by unknown authority");
    assert!(certificate.contains("doesn't trust the certificate of git.example.com"), "{certificate}");
    let key = told("ssh: handshake failed: knownhosts: key is unknown");
    assert!(key.contains("doesn't trust the SSH host key of git.example.com"), "{key}");
}

#[test]
fn a_repo_server_that_does_not_answer_is_down_for_all() {
    let other = with(unread("shop", &down()), "/spec/source/repoURL", "https://git.example.com/shop.git");
    let snapshot = hub(vec![unread("web", &down()), other]);
    assert_eq!(by_cause(&snapshot).len(), 1);
    assert!(cause(&snapshot).contains("whatever the repository"), "{}", cause(&snapshot));
    let slow = alone(unread("web", "rpc error: code = DeadlineExceeded desc = context deadline exceeded"));
    assert_eq!(found(&slow), ["AR-RP-005 Application/argocd/web"]);
    assert!(cause(&slow).contains("--repo-server-timeout-seconds"), "{}", cause(&slow));
}

#[test]
fn a_repo_server_that_goes_away_during_a_request_is_told() {
    let lost = "rpc error: code = Unavailable desc = error reading from server: EOF";
    let snapshot = hub(vec![unread("web", lost), unread("shop", &down())]);
    assert_eq!(by_cause(&snapshot).len(), 2);
    let lost = alone(unread("web", lost));
    assert_eq!(found(&lost), ["AR-RP-005 Application/argocd/web"]);
    assert!(cause(&lost).contains("went away while it worked on the request"), "{}", cause(&lost));
}

#[test]
fn the_source_that_fails_is_named() {
    let text = format!(
        "Failed to load target state: failed to generate manifest for source 2 of 2: {UNKNOWN}unable to resolve 'release-2' to a commit SHA"
    );
    let sources = json!([
        {"repoURL": "https://git.example.com/web.git", "targetRevision": "main"},
        {"repoURL": "https://git.example.com/shop.git", "targetRevision": "release-2"},
    ]);
    let snapshot = alone(with(saying(application("web"), "ComparisonError", &text), "/spec/sources", sources));
    assert!(cause(&snapshot).contains("https://git.example.com/shop.git has no branch"), "{}", cause(&snapshot));
    let evidence = evidence(&snapshot);
    assert!(evidence.iter().any(|e| e.ends_with("spec.sources[1].targetRevision: release-2")), "{evidence:?}");
}

#[test]
fn an_error_that_only_the_last_sync_has_is_told_as_such() {
    let text = format!(
        "ComparisonError: Failed to load target state: failed to generate manifest for source 1 of 1: {UNKNOWN}deploy: app path does not exist"
    );
    let snapshot = alone(operated(application("web"), operation("Error", &text, json!([]))));
    assert_eq!(found(&snapshot), ["AR-RP-003 Application/argocd/web"]);
    assert!(cause(&snapshot).ends_with("the application has no ComparisonError now."), "{}", cause(&snapshot));
}

#[test]
fn the_healthy_twin_is_silent() {
    assert_eq!(found(&alone(application("web"))), [""; 0]);
}
