use serde_json::{Value, json};

use super::shapes::{application, cause, commands, evidence, failing, fleet, object, refused, saying};
use crate::shapes::{found, with};

const COMPARED: &str = "Failed to compare desired state to live state: failed to calculate diff: ";
const STRUCTURED: &str = "error calculating structured merge diff: error building typed value from config resource: errors:\n  \
     .spec.template.spec.containers[name=\"web\"].imagePulPolicy: field not declared in schema\n  .spec.colour: field not declared in schema";
const DRY_RUN: &str = "error calculating server side diff: serverSideDiff error: error running server side apply in dryrun mode for resource \
     Widget/blue: failed to create typed patch object (web/blue; example.io/v1, Kind=Widget): .spec.color: field not declared in schema";

/// Application whose comparison fails, with these resources: group, kind and name.
fn uncompared(error: &str, resources: &[[&str; 3]]) -> Value {
    let web = saying(application("web"), "ComparisonError", &format!("{COMPARED}{error}"));
    let listed: Vec<Value> = resources
        .iter()
        .map(|[group, kind, name]| {
            json!({"group": group, "version": "v1", "kind": kind, "namespace": "web", "name": name, "status": "Unknown"})
        })
        .collect();
    with(with(web, "/status/sync/status", "Unknown"), "/status/resources", Value::from(listed))
}

fn server_side(application: Value) -> Value {
    with(application, "/spec/syncPolicy", json!({"syncOptions": ["ServerSideApply=true"]}))
}

fn deployment() -> Value {
    let live = object("apps/v1", "Deployment", Some("web"), "web");
    with(live, "/spec", json!({"template": {"spec": {"containers": [{"name": "web"}]}}}))
}

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    vec![
        server_side(uncompared(STRUCTURED, &[["apps", "Deployment", "web"]])),
        uncompared(DRY_RUN, &[["example.io", "Widget", "blue"]]),
    ]
}

#[test]
fn a_comparison_that_names_no_object_is_about_the_only_one() {
    let web = server_side(uncompared(STRUCTURED, &[["apps", "Deployment", "web"]]));
    let snapshot = fleet(vec![web], vec![deployment()]);
    assert_eq!(found(&snapshot), ["AR-OS-007 Application/argocd/web (member-1)"]);
    let cause = cause(&snapshot);
    assert!(cause.contains("the manifest of Deployment web/web has spec.template"), "{cause}");
    assert!(cause.contains("a server-side apply (sync option ServerSideApply=true) refuses it"), "{cause}");
    let evidence = evidence(&snapshot);
    assert!(
        evidence.contains(
            &r#"hub Application/argocd/web spec.syncPolicy.syncOptions: ["ServerSideApply=true"]"#.to_owned()
        )
    );
    assert!(evidence.contains(&"member-1 Deployment/web/web spec.colour: (absent)".to_owned()), "{evidence:?}");
    let containers = r#"spec.template.spec.containers[name="web"].imagePulPolicy: (absent)"#;
    assert!(evidence.iter().any(|line| line.ends_with(containers)), "{evidence:?}");
}

#[test]
fn one_of_several_objects_is_told_by_what_was_applied_before() {
    let resources = [["", "ConfigMap", "settings"], ["apps", "Deployment", "web"]];
    let web = || server_side(uncompared(STRUCTURED, &resources));
    let cause_with = |live: Value| {
        let snapshot = fleet(vec![web()], vec![object("v1", "ConfigMap", Some("web"), "settings"), live]);
        assert_eq!(found(&snapshot), ["AR-OS-007 Application/argocd/web (member-1)"]);
        cause(&snapshot)
    };
    let text = cause_with(deployment());
    assert!(text.contains("the manifest of one of its objects has"), "{text}");
    let applied = json!({"spec": {"colour": "blue"}}).to_string();
    let annotation = json!({"kubectl.kubernetes.io/last-applied-configuration": applied});
    let text = cause_with(with(deployment(), "/metadata/annotations", annotation));
    assert!(text.contains("the manifest of Deployment web/web has"), "{text}");
}

#[test]
fn a_dry_run_names_its_object() {
    let web = uncompared(DRY_RUN, &[["", "ConfigMap", "settings"], ["example.io", "Widget", "blue"]]);
    let options = json!({"argocd.argoproj.io/compare-options": "ServerSideDiff=true"});
    let web = with(web, "/metadata/annotations", options);
    let snapshot = fleet(vec![web], vec![object("example.io/v1", "Widget", Some("web"), "blue")]);
    assert_eq!(found(&snapshot), ["AR-OS-007 Application/argocd/web (member-1)"]);
    let cause = cause(&snapshot);
    assert!(
        cause.contains("the manifest of Widget web/blue has spec.color, which the schema in the Custom"),
        "{cause}"
    );
    assert!(cause.contains("the server-side comparison (compare option ServerSideDiff=true) refuses it"), "{cause}");
    assert!(commands(&snapshot)[0].contains("get customresourcedefinitions.apiextensions.k8s.io/widgets.example.io"));
}

#[test]
fn an_object_that_isnt_there_yet_fails_in_the_sync() {
    let message = "failed to create typed patch object (web/web; apps/v1, Kind=Deployment): .spec.colour: field not declared in schema";
    let snapshot = fleet(vec![server_side(failing("web", refused("Deployment", "web", message)))], vec![]);
    assert_eq!(found(&snapshot), ["AR-OS-007 Application/argocd/web (member-1)"]);
    assert!(cause(&snapshot).starts_with("Deployment web/web of application argocd/web wasn't applied on member-1"));
}

#[test]
fn the_healthy_twin_is_silent() {
    assert_eq!(found(&fleet(vec![server_side(application("web"))], vec![deployment()])), [""; 0]);
}
