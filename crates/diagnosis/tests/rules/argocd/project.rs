use serde_json::{Value, json};

use super::shapes::{application, cause, commands, evidence, fleet, operated, operation, refused, saying};
use crate::shapes::{found, with};

fn project(spec: &Value) -> Value {
    json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": {"name": "shop", "namespace": "argocd"},
        "spec": spec,
    })
}

fn of_shop(application: Value) -> Value {
    with(application, "/spec/project", "shop")
}

fn refused_by_project(text: &str) -> Value {
    with(of_shop(saying(application("web"), "InvalidSpecError", text)), "/status/sync/status", "Unknown")
}

const DESTINATION: &str = "application destination server 'member-1' and namespace 'web' do not match any of the allowed destinations in project 'shop'";

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    vec![refused_by_project(DESTINATION)]
}

#[test]
fn what_the_project_forbids_is_named_and_can_be_allowed() {
    let repository = "application repo https://git.example.com/web.git is not permitted in project 'shop'";
    let missing = "Application referencing project shop which does not exist";
    let destinations = json!({"destinations": [{"name": "member-2", "namespace": "*"}]});
    for (text, code, allows) in [
        (
            DESTINATION,
            "AR-PJ-001",
            r#"[{"op":"add","path":"/spec/destinations/-","value":{"name":"member-1","namespace":"web"}}]"#,
        ),
        (
            repository,
            "AR-PJ-002",
            r#"[{"op":"add","path":"/spec/sourceRepos","value":["https://git.example.com/web.git"]}]"#,
        ),
    ] {
        let snapshot = fleet(vec![refused_by_project(text), project(&destinations)], vec![]);
        assert_eq!(found(&snapshot), [format!("{code} Application/argocd/web (member-1)")]);
        assert!(commands(&snapshot).iter().any(|command| command.contains(allows)), "{:?}", commands(&snapshot));
    }
    let snapshot = fleet(vec![refused_by_project(missing)], vec![]);
    assert_eq!(found(&snapshot), ["AR-PJ-003 Application/argocd/web (member-1)"]);
}

/// Project `shop` in another namespace than `argocd`.
fn project_in(namespace: &str, spec: &Value) -> Value {
    with(project(spec), "/metadata/namespace", namespace)
}

#[test]
fn the_project_of_an_application_outside_of_argo_cds_namespace_is_found() {
    let elsewhere = with(refused_by_project(DESTINATION), "/metadata/namespace", "team-a");
    let member_2 = json!([{"server": "member-2", "namespace": "*"}]);
    let mine = json!({"destinations": member_2, "sourceNamespaces": ["team-*"]});
    let others = json!({"destinations": member_2, "sourceNamespaces": ["other"]});
    for (projects, namespace) in [
        (vec![project_in("argocd-a", &others), project_in("argocd-b", &mine)], "argocd-b"),
        (vec![project_in("argocd-a", &others)], "argocd-a"),
        // Two Argo CDs have the project, and neither permits the namespace.
        (vec![project_in("argocd-a", &others), project_in("argocd-b", &others)], "team-a"),
        (vec![project_in("team-a", &others), project_in("argocd-b", &mine)], "team-a"),
    ] {
        let snapshot = fleet([vec![elsewhere.clone()], projects].concat(), vec![]);
        assert_eq!(found(&snapshot), ["AR-PJ-001 Application/team-a/web (member-1)"]);
        let expected = format!("appprojects.argoproj.io/shop -n {namespace} ");
        assert!(commands(&snapshot).iter().any(|command| command.contains(&expected)), "{:?}", commands(&snapshot));
    }
}

#[test]
fn the_project_is_that_of_the_argo_cd_that_compared_last() {
    let elsewhere = with(refused_by_project(DESTINATION), "/metadata/namespace", "team-a");
    let elsewhere = with(elsewhere, "/status/controllerNamespace", "argocd-b");
    let permits = json!({"destinations": [{"server": "member-2", "namespace": "*"}], "sourceNamespaces": ["team-*"]});
    let both = vec![project_in("argocd-a", &permits), project_in("argocd-b", &permits)];
    let snapshot = fleet([vec![elsewhere.clone()], both].concat(), vec![]);
    let commands = commands(&snapshot);
    assert!(
        commands.iter().any(|command| command.contains("appprojects.argoproj.io/shop -n argocd-b ")),
        "{commands:?}"
    );
}

#[test]
fn a_kind_that_is_forbidden_fails_the_whole_sync() {
    let result = refused(
        "ClusterRole",
        "web",
        "resource rbac.authorization.k8s.io:ClusterRole is not permitted in project shop",
    );
    let failed = operation("Failed", "one or more synchronization tasks are not valid", json!([result]));
    let lists = json!({"namespaceResourceBlacklist": [{"group": "", "kind": "Service"}]});
    let snapshot = fleet(vec![of_shop(operated(application("web"), failed)), project(&lists)], vec![]);
    assert_eq!(found(&snapshot), ["AR-PJ-004 Application/argocd/web (member-1)"]);
    assert!(cause(&snapshot).contains("deploy ClusterRole web/web"), "{}", cause(&snapshot));
    assert!(evidence(&snapshot)[2].contains("spec.namespaceResourceBlacklist"), "{:?}", evidence(&snapshot));
}

fn automated() -> Value {
    let application = with(of_shop(application("web")), "/spec/syncPolicy", json!({"automated": {}}));
    with(application, "/status/sync/status", "OutOfSync")
}

#[test]
fn a_window_holds_automated_sync_back_while_it_is_open() {
    // The snapshots are of noon, UTC.
    let window = |kind: &str, schedule: &str| json!({"kind": kind, "schedule": schedule, "duration": "2h", "applications": ["w*"]});
    for (windows, expected) in [
        (json!([window("deny", "0 11 * * *")]), 1),
        (json!([window("deny", "0 9 * * *")]), 0),
        (json!([window("allow", "0 9 * * *")]), 1),
        (json!([window("allow", "0 11 * * *")]), 0),
        (json!([window("allow", "0 9 * * *"), window("allow", "0 11 * * *")]), 0),
        (json!([window("allow", "0 11 * * *"), window("deny", "0 11 * * *")]), 1),
        (json!([]), 0),
    ] {
        let snapshot = fleet(vec![automated(), project(&json!({"syncWindows": windows}))], vec![]);
        let held = found(&snapshot).into_iter().filter(|finding| finding.starts_with("AR-PJ-005")).count();
        assert_eq!(held, expected, "{windows}");
    }
}

#[test]
fn a_requested_sync_waits_for_the_window() {
    let blocked = operation("Running", "Sync operation blocked by sync window", json!([]));
    let windows =
        json!({"syncWindows": [{"kind": "deny", "schedule": "0 11 * * *", "duration": "2h", "applications": ["*"]}]});
    let snapshot = fleet(vec![of_shop(operated(application("web"), blocked)), project(&windows)], vec![]);
    assert_eq!(found(&snapshot), ["AR-PJ-005 Application/argocd/web (member-1)"]);
    assert!(cause(&snapshot).contains("open until 13:00 UTC"), "{}", cause(&snapshot));
}

#[test]
fn orphans_are_a_notice() {
    let warned = saying(application("web"), "OrphanedResourceWarning", "Application has 1 orphaned resources");
    assert_eq!(found(&fleet(vec![warned], vec![])), ["AR-PJ-006 Application/argocd/web (member-1)"]);
}

#[test]
fn the_healthy_twin_is_silent() {
    let within = json!({"destinations": [{"name": "member-1", "namespace": "*"}], "sourceRepos": ["*"]});
    assert_eq!(found(&fleet(vec![of_shop(application("web")), project(&within)], vec![])), [""; 0]);
}
