use serde_json::{Value, json};

use super::shapes::{application, cause, commands, evidence, fleet, object};
use crate::shapes::{at, condition, found, with};

const LONG_AGO: &str = "2026-01-08T11:50:00Z";

/// Application with a custom resource.
fn healthy() -> Value {
    let resource = json!({"group": "example.io", "version": "v1", "kind": "Widget", "namespace": "web", "name": "blue", "status": "Synced"});
    with(application("web"), "/status/resources", json!([resource]))
}

fn widget(ready: &str, reason: &str, since: &str) -> Value {
    let ready = at(since, condition("Ready", ready, reason, "there is no paint"));
    with(object("example.io/v1", "Widget", Some("web"), "blue"), "/status", json!({"conditions": [ready]}))
}

#[test]
fn a_custom_resource_that_isnt_ready_contradicts_its_application() {
    let snapshot = fleet(vec![healthy()], vec![widget("False", "NoPaint", LONG_AGO)]);
    assert_eq!(found(&snapshot), ["AR-HL-007 Application/argocd/web (member-1)"]);
    let text = cause(&snapshot);
    assert!(text.contains("Widget web/blue on member-1 says since 2026-01-08T11:50:00Z that it isn't ready (NoPaint: there is no paint)"), "{text}");
    let evidence = evidence(&snapshot);
    assert_eq!(evidence[0], "hub Application/argocd/web status.health.status: Healthy");
    assert!(evidence[1].starts_with("member-1 Widget/web/blue status.conditions[Ready]: Ready=False"), "{evidence:?}");
    let commands = commands(&snapshot);
    assert!(commands.iter().any(|command| command.contains("resource.customizations.health.example.io_Widget")));
}

#[test]
fn a_custom_resource_that_argo_cd_has_a_check_for_is_why_it_is_degraded() {
    let health = json!({"status": "Degraded", "lastTransitionTime": LONG_AGO});
    let snapshot = fleet(vec![with(healthy(), "/status/health", health)], vec![widget("False", "NoPaint", LONG_AGO)]);
    assert_eq!(found(&snapshot), ["AR-HL-003 Application/argocd/web (member-1)"]);
}

#[test]
fn the_healthy_twins_are_silent() {
    let silent = |live: Value| assert_eq!(found(&fleet(vec![healthy()], vec![live])), [""; 0]);
    silent(widget("True", "Painted", LONG_AGO));
    silent(widget("Unknown", "Unseen", LONG_AGO));
    silent(widget("False", "NoPaint", "2026-01-08T11:58:00Z"));
    silent(widget("False", "ReconciliationSuspended", LONG_AGO));
}

#[test]
fn custom_resources_of_healthy_applications_are_read() {
    let wanted = diagnosis::wanted_objects(&fleet(vec![healthy()], vec![]));
    assert_eq!(wanted.len(), 1, "{wanted:?}");
    assert_eq!(wanted[0].name.as_deref(), Some("blue"));
    assert!(diagnosis::wanted_objects(&fleet(vec![application("web")], vec![])).is_empty());
}

#[test]
fn nothing_that_is_missing_or_of_another_type_stops_a_diagnosis() {
    let mut objects = [healthy(), widget("False", "NoPaint", LONG_AGO)];
    objects[0] = with(objects[0].take(), "/spec/destination/name", "in-cluster");
    assert_eq!(found(&crate::shapes::hub(objects.to_vec())), ["AR-HL-007 Application/argocd/web"]);
    crate::robustness::take_apart(&objects, &[]);
}
