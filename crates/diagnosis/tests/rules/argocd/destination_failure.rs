use serde_json::{Value, json};

use super::shapes::{alone, application, cause, evidence, fleet, operated, operation, refused, saying};
use crate::shapes::{BEFORE, found, with};

const REFUSED: &str = "failed to get server version: failed to get server version: Get \"https://10.0.0.7:6443/version?timeout=32s\": dial tcp 10.0.0.7:6443: connect: connection refused";
const UNAUTHORIZED: &str = "failed to get server version: failed to get server version: the server has asked for the client to provide credentials";
const CERTIFICATE: &str = "failed to get server version: failed to get server version: Get \"https://10.0.0.7:6443/version?timeout=32s\": tls: failed to verify certificate: x509: certificate signed by unknown authority";

/// Application with the three conditions that a cluster has which can't be read.
fn unread(name: &str, why: &str) -> Value {
    let cache = format!("error synchronizing cache state : {why}");
    let server = "https://10.0.0.7:6443";
    let target = format!(
        "Failed to load target state: failed to get cluster version for cluster \"{server}\": failed to get cluster info for \"{server}\": {cache}"
    );
    let live = format!("Failed to load live state: failed to get cluster info for \"{server}\": {cache}");
    let texts = [("ComparisonError", &target), ("ComparisonError", &live), ("UnknownError", &cache)];
    let conditions =
        texts.map(|(type_, message)| json!({"type": type_, "message": message, "lastTransitionTime": BEFORE}));
    with(with(application(name), "/status/conditions", json!(conditions)), "/status/sync/status", "Unknown")
}

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    vec![unread("web", REFUSED), unread("shop", UNAUTHORIZED)]
}

#[test]
fn each_reason_has_its_code() {
    for (why, code) in [(REFUSED, "AR-CL-001"), (UNAUTHORIZED, "AR-CL-002"), (CERTIFICATE, "AR-CL-003")] {
        let snapshot = alone(unread("web", why));
        assert_eq!(found(&snapshot), [format!("{code} Application/argocd/web")], "{why}");
        assert!(evidence(&snapshot)[0].contains("failed to get cluster info"), "{}", evidence(&snapshot)[0]);
    }
    assert!(cause(&alone(unread("web", REFUSED))).contains("connect: connection refused"));
}

#[test]
fn a_list_that_isn_t_allowed_is_about_rights() {
    let why = "failed to sync cluster https://10.0.0.7:6443: failed to load initial state of resource Pod: failed to list resources: pods is forbidden: User \"system:serviceaccount:kube-system:argocd-manager\" cannot list resource \"pods\" in API group \"\" at the cluster scope";
    assert_eq!(found(&alone(unread("web", why))), ["AR-SF-008 Application/argocd/web"]);
}

#[test]
fn a_registration_that_is_gone_or_there_twice_is_named() {
    for text in [
        "there are no clusters with this name: member-9",
        "error getting cluster by server \"https://10.0.0.9\": rpc error: code = NotFound desc = cluster \"https://10.0.0.9\" not found",
        "there are 2 clusters with the same name: [https://10.0.0.7:6443 https://10.0.0.8:6443]",
    ] {
        let snapshot = alone(saying(application("web"), "InvalidSpecError", text));
        assert_eq!(found(&snapshot), ["AR-CL-004 Application/argocd/web"], "{text}");
    }
}

#[test]
fn an_operation_meets_what_the_comparison_doesn_t_see() {
    let result = refused("ConfigMap", "settings", "the server has asked for the client to provide credentials");
    let plain = operation("Failed", "one or more objects failed to apply", json!([result]));
    assert_eq!(found(&alone(operated(application("web"), plain))), ["AR-CL-002 Application/argocd/web"]);
    let discovery = format!("failed to discover server resources for group version v1: {REFUSED}");
    let result = refused("ConfigMap", "settings", &discovery);
    let invalid = operation("Failed", "one or more synchronization tasks are not valid", json!([result]));
    let snapshot = alone(operated(application("web"), invalid));
    assert_eq!(found(&snapshot), ["AR-CL-001 Application/argocd/web"]);
    assert!(cause(&snapshot).contains("is from its cache"), "{}", cause(&snapshot));
}

#[test]
fn a_picture_of_a_cluster_that_does_not_answer_is_old() {
    let mut snapshot = fleet(vec![application("web")], vec![]);
    assert_eq!(found(&snapshot), [""; 0], "the healthy twin");
    let member = snapshot.clusters.iter_mut().find(|cluster| cluster.name == "member-1").expect("a member");
    member.unreachable = Some("connection refused".to_owned());
    assert!(
        found(&snapshot).contains(&"AR-CL-005 Application/argocd/web (member-1)".to_owned()),
        "{:?}",
        found(&snapshot)
    );
}
