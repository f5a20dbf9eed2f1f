use serde_json::{Value, json};

use super::shapes::{application, cause, commands, evidence, operated, operation};
use crate::shapes::{found, hub, with};

const BEFORE: &str = "2026-01-08T11:50:00Z";
const GIT: &str = "error generating params from git: error getting directories from repo: error retrieving Git Directories: rpc error: \
                   code = Internal desc = unable to resolve git revision : failed to list refs: repository not found";
const DUPLICATE: &str = "ApplicationSet shop contains applications with duplicate name: shop-east";
const TEMPLATE: &str = r#"failed to execute go template {{.name}}: template: base:1:2: executing "base" at <.name>: map has no entry for key "name""#;
const NO_CLUSTER: &str = "application destination spec is invalid: there are no clusters with this name: member-9";

/// ApplicationSet that has generated an application for each of the elements.
fn set(elements: &[&str]) -> Value {
    let elements: Vec<Value> = elements.iter().map(|name| json!({"name": name})).collect();
    json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet",
        "metadata": {"name": "shop", "namespace": "argocd", "generation": 1},
        "spec": {
            "goTemplate": true,
            "generators": [{"list": {"elements": elements}}],
            "template": {"metadata": {"name": "shop-{{.name}}"}},
        },
        "status": {"conditions": [
            condition("ErrorOccurred", "False", "ApplicationSetUpToDate", "All applications have been generated successfully"),
            condition("ParametersGenerated", "True", "ParametersGenerated", ""),
            condition("ResourcesUpToDate", "True", "ApplicationSetUpToDate", ""),
        ]},
    })
}

fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": BEFORE})
}

fn failing(set: Value, reason: &str, message: &str) -> Value {
    let conditions = json!([
        condition("ErrorOccurred", "True", reason, message),
        condition("ResourcesUpToDate", "False", "ErrorOccurred", message),
    ]);
    with(set, "/status/conditions", conditions)
}

/// Application that the set owns.
fn owned(name: &str) -> Value {
    let owner = json!([{"kind": "ApplicationSet", "name": "shop", "controller": true}]);
    let application = with(application(name), "/metadata/ownerReferences", owner);
    with(application, "/metadata/finalizers", json!(["resources-finalizer.argocd.argoproj.io"]))
}

fn keeping(set: Value) -> Value {
    with(set, "/spec/syncPolicy", json!({"applicationsSync": "create-update"}))
}

fn rolling(entries: &[(&str, &str, &str, &str)]) -> Value {
    let entries = entries.iter().map(|(application, step, status, since)| {
        json!({"application": application, "step": step, "status": status, "message": "m", "lastTransitionTime": since})
    });
    let set = with(set(&["east", "west"]), "/status/applicationStatus", entries.collect::<Vec<Value>>());
    let steps = json!({"steps": [{"matchExpressions": []}, {"matchExpressions": []}]});
    with(set, "/spec/strategy", json!({"type": "RollingSync", "rollingSync": steps}))
}

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    vec![
        failing(set(&["east"]), "ApplicationValidationError", DUPLICATE),
        rolling(&[("shop-east", "1", "Progressing", BEFORE), ("shop-west", "-1", "Waiting", BEFORE)]),
        keeping(set(&["east"])),
    ]
}

#[test]
fn the_healthy_twin_is_silent() {
    assert_eq!(found(&hub(vec![set(&["east"]), owned("shop-east")])), [""; 0]);
    assert_eq!(found(&hub(vec![keeping(set(&["east"])), owned("shop-east")])), [""; 0]);
    let healthy = rolling(&[("shop-east", "1", "Healthy", BEFORE), ("shop-west", "2", "Healthy", BEFORE)]);
    assert_eq!(found(&hub(vec![healthy, owned("shop-east"), owned("shop-west")])), [""; 0]);
}

#[test]
fn a_generator_that_fails_names_its_source_and_what_stays() {
    let git = json!([{"git": {"repoURL": "https://git.example.com/shop.git", "revision": "HEAD"}}]);
    let set = with(failing(set(&[]), "ApplicationGenerationFromParamsError", GIT), "/spec/generators", git);
    let snapshot = hub(vec![set, owned("shop-east")]);
    assert_eq!(found(&snapshot), ["AR-AS-001 ApplicationSet/argocd/shop"]);
    assert_eq!(
        cause(&snapshot),
        "A generator (git) of ApplicationSet argocd/shop fails to read https://git.example.com/shop.git: unable to resolve git \
         revision : failed to list refs: repository not found. While it fails, the controller creates, updates and deletes nothing: \
         shop-east stay as they are, and miss what changes in the generator's source and in the template."
    );
    assert!(commands(&snapshot).iter().any(|c| c.contains("argocd.argoproj.io/application-set-refresh=true")));
}

#[test]
fn a_set_without_applications_is_a_notice_and_one_that_had_some_is_not() {
    let empty = set(&[]);
    let snapshot = hub(vec![empty.clone()]);
    assert_eq!(found(&snapshot), ["AR-AS-002 ApplicationSet/argocd/shop"]);
    assert!(!diagnosis::diagnose(&snapshot)[0].is_failure());
    let had = with(empty.clone(), "/status/resources", json!([{"kind": "Application", "name": "shop-east"}]));
    let snapshot = hub(vec![had]);
    assert!(diagnosis::diagnose(&snapshot)[0].is_failure());
    assert!(cause(&snapshot).ends_with("It had shop-east at its last reconciliation: they were deleted."));
    let requests = with(empty.clone(), "/spec/generators", json!([{"pullRequest": {}}]));
    assert_eq!(found(&hub(vec![requests])), [""; 0], "none is as normal as some");
    let new = with(empty, "/status/conditions/2/lastTransitionTime", "2026-01-08T11:59:59Z");
    assert_eq!(found(&hub(vec![new])), [""; 0], "the lists of a snapshot aren't read at one moment");
}

#[test]
fn two_elements_with_one_name_are_told_with_what_becomes_of_the_application() {
    let failing = failing(set(&["east", "east"]), "ApplicationValidationError", DUPLICATE);
    let snapshot = hub(vec![failing.clone(), owned("shop-west")]);
    assert_eq!(found(&snapshot), ["AR-AS-003 ApplicationSet/argocd/shop"]);
    assert!(cause(&snapshot).contains("creates none of them"), "{}", cause(&snapshot));
    let snapshot = hub(vec![failing, owned("shop-east")]);
    assert!(cause(&snapshot).contains("the application shop-east that exists stays as it is"), "{}", cause(&snapshot));
}

#[test]
fn a_template_that_cannot_be_rendered_is_quoted() {
    let snapshot = hub(vec![failing(set(&["east"]), "RenderTemplateParamsError", TEMPLATE)]);
    assert_eq!(found(&snapshot), ["AR-AS-004 ApplicationSet/argocd/shop"]);
    assert!(cause(&snapshot).contains("map has no entry for key"), "{}", cause(&snapshot));
}

#[test]
fn an_application_that_is_not_valid_is_quoted_with_the_number_of_others() {
    let message = format!("{NO_CLUSTER} (and 2 more)");
    let snapshot = hub(vec![failing(set(&["east"]), "ApplicationValidationError", &message), owned("shop-east")]);
    assert_eq!(found(&snapshot), ["AR-AS-005 ApplicationSet/argocd/shop"]);
    assert!(
        cause(&snapshot).contains(&format!("isn't valid: {NO_CLUSTER}. 2 more aren't valid.")),
        "{}",
        cause(&snapshot)
    );
    let project = "application references project shop which does not exist";
    let snapshot = hub(vec![failing(set(&["east"]), "ApplicationValidationError", project)]);
    assert!(commands(&snapshot)[0].contains("get appprojects.argoproj.io -n argocd"), "{:?}", commands(&snapshot));
    let conflict = failing(set(&["east"]), "UpdateApplicationError", "the object has been modified");
    assert_eq!(found(&hub(vec![conflict.clone(), owned("shop-east")])), ["AR-AS-005 ApplicationSet/argocd/shop"]);
    let young = with(conflict, "/status/conditions/0/lastTransitionTime", "2026-01-08T11:59:55Z");
    assert_eq!(found(&hub(vec![young, owned("shop-east")])), [""; 0]);
}

#[test]
fn an_application_that_only_the_policy_keeps_is_named() {
    let objects = |set: Value| hub(vec![set, owned("shop-east"), owned("shop-west")]);
    let snapshot = objects(keeping(set(&["east"])));
    assert_eq!(found(&snapshot), ["AR-AS-006 ApplicationSet/argocd/shop"]);
    assert!(cause(&snapshot).contains("owns shop-west, and its generators no longer give them, only shop-east."));
    assert!(cause(&snapshot).ends_with("shop-west are deleted with everything that they have deployed to member-1."));
    assert!(
        evidence(&snapshot)[0].contains("Application/argocd/shop-west metadata.ownerReferences: ApplicationSet shop")
    );
    // What the generators give isn't known.
    let git = json!([{"git": {"repoURL": "x"}}]);
    assert_eq!(found(&objects(with(keeping(set(&["east"])), "/spec/generators", git))), [""; 0]);
    let template = with(keeping(set(&["east"])), "/spec/template/metadata/name", "{{ .name | lower }}");
    assert_eq!(found(&objects(template)), [""; 0]);
    // The controller deletes it by itself.
    assert_eq!(found(&objects(set(&["east"]))), [""; 0]);
}

#[test]
fn a_step_that_does_not_end_is_told_once_it_cannot_end_by_itself() {
    let entries = |since| rolling(&[("shop-east", "1", "Progressing", since), ("shop-west", "2", "Waiting", since)]);
    let overdue = hub(vec![entries(BEFORE), owned("shop-east"), owned("shop-west")]);
    assert_eq!(found(&overdue), ["AR-AS-007 ApplicationSet/argocd/shop"]);
    assert!(cause(&overdue).contains("has stopped at step 1 of 2: shop-east"), "{}", cause(&overdue));
    assert!(cause(&overdue).contains("shop-west of later steps wait"), "{}", cause(&overdue));
    let young = "2026-01-08T11:59:00Z";
    assert_eq!(found(&hub(vec![entries(young), owned("shop-east"), owned("shop-west")])), [""; 0]);
    let failed = operated(owned("shop-east"), operation("Failed", "one or more objects failed to apply", json!([])));
    let snapshot = hub(vec![entries(young), failed, owned("shop-west")]);
    assert_eq!(found(&snapshot).last().unwrap().trim(), "AR-AS-007 ApplicationSet/argocd/shop");
    assert!(found(&snapshot)[0].starts_with("AR-SF-"), "{:?}", found(&snapshot));
}

#[test]
fn an_application_without_a_step_is_synced_by_nobody() {
    let set = rolling(&[("shop-east", "1", "Healthy", BEFORE), ("shop-west", "-1", "Waiting", BEFORE)]);
    let behind = with(owned("shop-west"), "/status/sync/status", "OutOfSync");
    let snapshot = hub(vec![set.clone(), owned("shop-east"), behind]);
    assert_eq!(found(&snapshot), ["AR-AS-008 ApplicationSet/argocd/shop"]);
    assert!(diagnosis::diagnose(&snapshot)[0].is_failure());
    let snapshot = hub(vec![set, owned("shop-east"), owned("shop-west")]);
    assert!(!diagnosis::diagnose(&snapshot)[0].is_failure(), "nothing is missing yet");
}
