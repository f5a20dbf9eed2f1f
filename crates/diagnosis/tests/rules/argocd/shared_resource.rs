use serde_json::{Value, json};

use super::shapes::{alone, application, cause, commands, evidence, fleet, object, operated, operation, saying};
use crate::shapes::{found, with};

const SHARED: &str = "ConfigMap/shared is part of applications argocd/web and api";

fn warned() -> Value {
    saying(application("web"), "SharedResourceWarning", SHARED)
}

fn failed() -> Value {
    let failed = operation("Failed", &format!("Shared resource found: {SHARED}"), json!([]));
    let failed = with(failed, "/operation/sync/syncOptions", json!(["FailOnSharedResource=true"]));
    operated(warned(), failed)
}

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    vec![failed()]
}

#[test]
fn a_sync_that_was_to_fail_on_it_names_both_applications() {
    let snapshot = fleet(vec![failed(), application("api")], vec![]);
    assert_eq!(found(&snapshot), ["AR-SF-007 Application/argocd/web (member-1)"]);
    assert_eq!(
        cause(&snapshot),
        "The apply failed: application argocd/web must not share resources (FailOnSharedResource), and ConfigMap shared on \
         member-1 belongs to api, too."
    );
    let evidence = evidence(&snapshot);
    assert!(evidence[0].ends_with(&format!("status.operationState: Failed: Shared resource found: {SHARED}")));
    assert!(evidence[1].ends_with(r#"syncOptions: ["FailOnSharedResource=true"]"#), "{}", evidence[1]);
    assert!(evidence[2].ends_with(&format!("status.conditions[SharedResourceWarning]: {SHARED}")));
    assert_eq!(evidence[3], "hub Application/argocd/api status.sync.status: Synced");
    assert!(commands(&snapshot)[0].contains("get configmap/shared -n web -o 'jsonpath="), "{}", commands(&snapshot)[0]);
}

#[test]
fn the_sync_that_adopts_it_leaves_the_option_out() {
    let options = json!(["CreateNamespace=true", "FailOnSharedResource=true"]);
    let commands = commands(&alone(with(failed(), "/spec/syncPolicy/syncOptions", options)));
    let adopt = commands.last().unwrap();
    assert!(adopt.contains(r#""syncOptions":["CreateNamespace=true"]"#), "{adopt}");
}

#[test]
fn a_warning_alone_is_a_notice() {
    let findings = diagnosis::diagnose(&alone(warned()));
    assert_eq!(found(&alone(warned())), ["AR-SF-007 Application/argocd/web"]);
    assert!(!findings[0].is_failure());
    assert!(findings[0].cause.starts_with("Nothing has failed: "), "{}", findings[0].cause);
}

#[test]
fn the_tracking_id_is_quoted_where_the_kind_is_read() {
    let id = "api:apps/Deployment:web/db";
    let live = object("apps/v1", "Deployment", Some("web"), "db");
    let live = with(live, "/metadata/annotations", json!({"argocd.argoproj.io/tracking-id": id}));
    let text = "Deployment/db is part of applications argocd/web and api";
    let snapshot = fleet(vec![saying(application("web"), "SharedResourceWarning", text)], vec![live]);
    let path = "member-1 Deployment/web/db metadata.annotations[argocd.argoproj.io/tracking-id]";
    assert!(evidence(&snapshot).contains(&format!("{path}: {id}")), "{:?}", evidence(&snapshot));
}
