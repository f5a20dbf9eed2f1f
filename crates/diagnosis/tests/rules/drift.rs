use diagnosis::diagnose;
use serde_json::{Value, json};

use crate::shapes::{NOW, at, condition, found, green, hub, in_both_scopes, with, work};

const FIRST: &str = "2026-01-08T11:50:00Z";

fn settings() -> Value {
    json!({"version": "v1", "kind": "ConfigMap", "namespace": "web-app", "name": "settings"})
}

/// Placement that only compares, with this condition on member-1 and these differences there.
fn comparing(name: &str, reported: Value, differences: Value) -> Value {
    let mut placement = green(name, &["member-1"]);
    let top = &mut placement["status"]["conditions"];
    let is_true = reported["status"] == "True";
    let reason = if is_true { "DiffReportingCompleted" } else { "DiffReportingIncompleteOrFailed" };
    let status = reported["status"].as_str().unwrap().to_owned();
    top.as_array_mut().unwrap().truncate(3);
    top.as_array_mut().unwrap().push(condition("ClusterResourcePlacementDiffReported", &status, reason, ""));
    let member = &mut placement["status"]["placementStatuses"][0];
    member["conditions"].as_array_mut().unwrap().truncate(3);
    member["conditions"].as_array_mut().unwrap().push(reported);
    member["diffedPlacements"] = differences;
    with(placement, "/spec/strategy/applyStrategy", json!({"type": "ReportDiff", "whenToTakeOver": "Never"}))
}

fn reported() -> Value {
    condition("DiffReported", "True", "AllWorkHaveDiffReported", "")
}

fn not_reported() -> Value {
    condition("DiffReported", "False", "NotAllWorkHaveDiffReported", "Work object web-work has failed to report diff")
}

fn difference(fields: Value) -> Value {
    let object = with(settings(), "/observedDiffs", fields);
    json!([with(object, "/firstDiffedObservedTime", FIRST)])
}

fn changed() -> Value {
    json!([{"path": "/data/revision", "valueInHub": "0", "valueInMember": "7"}])
}

fn missing() -> Value {
    json!([{"path": "/", "valueInHub": "(the whole object)"}])
}

/// Work on which one object has this condition.
fn compared(of_object: Value) -> Value {
    let failed = condition("DiffReported", "False", "SomeManifestsHaveNotReportedDiff", "");
    let manifest = json!({"identifier": settings(), "conditions": [of_object]});
    with(work("member-1", "web"), "/status", json!({"conditions": [failed], "manifestConditions": [manifest]}))
}

#[test]
fn differences_are_a_notice_that_names_objects_and_fields() {
    let placement = comparing("web", reported(), difference(changed()));
    in_both_scopes(std::slice::from_ref(&placement), &["KF-DR-001 {c}ResourcePlacement/{ns}web (member-1)"]);
    let finding = diagnose(&hub(vec![placement])).remove(0);
    assert_eq!(
        finding.cause,
        "Placement web only compares (applyStrategy.type ReportDiff) and applies nothing. On member-1 it has found \
         differences from the hub: ConfigMap web-app/settings (/data/revision)."
    );
    let field = &finding.evidence[0];
    assert_eq!(field.path, "status.placementStatuses[member-1].diffedPlacements[settings]/data/revision");
    assert_eq!(field.value, "on the hub 0, on the member 7");
    assert_eq!(finding.since.map(|at| at.to_string()).as_deref(), Some(FIRST));
}

#[test]
fn a_comparison_that_owns_the_objects_says_so() {
    let placement = comparing("web", reported(), difference(changed()));
    let owning = with(placement, "/spec/strategy/applyStrategy/whenToTakeOver", "Always");
    let finding = diagnose(&hub(vec![owning.clone(), work("member-1", "web")])).remove(0);
    assert!(finding.cause.ends_with("when the placement is deleted, the member deletes them."), "{}", finding.cause);
    let orphan = &finding.remedies[2].commands[1];
    let words = "delete appliedworks.placement.kubernetes-fleet.io/web-work --cascade=orphan";
    assert!(orphan.ends_with(words), "{orphan}");
    let nothing_there = with(owning, "/status/placementStatuses/0/diffedPlacements/0/observedDiffs", missing());
    let finding = diagnose(&hub(vec![nothing_there])).remove(0);
    assert!(finding.cause.ends_with("ConfigMap web-app/settings (missing)."), "{}", finding.cause);
}

#[test]
fn a_comparison_that_finds_nothing_is_healthy() {
    in_both_scopes(&[comparing("web", reported(), json!([]))], &[]);
}

#[test]
fn many_objects_are_counted() {
    let objects: Vec<_> =
        ["a", "b", "c", "d", "e"].map(|name| with(difference(changed())[0].clone(), "/name", name)).into();
    let finding = diagnose(&hub(vec![comparing("web", reported(), objects.into())])).remove(0);
    assert!(finding.cause.ends_with("ConfigMap web-app/c (/data/revision), 2 more."), "{}", finding.cause);
}

/// Placement that is applied on member-1, and has a drift there.
fn drifted(fields: Value) -> Value {
    let mut placement = green("web", &["member-1"]);
    placement["status"]["placementStatuses"][0]["driftedPlacements"] =
        json!([with(settings(), "/observedDrifts", fields)]);
    with(placement, "/spec/strategy/applyStrategy", json!({"comparisonOption": "FullComparison"}))
}

#[test]
fn a_drift_of_an_applied_object_is_a_notice() {
    let added = json!([{"path": "/data/extra", "valueInMember": "1"}]);
    in_both_scopes(&[drifted(added.clone())], &["KF-DR-002 {c}ResourcePlacement/{ns}web (member-1)"]);
    let finding = diagnose(&hub(vec![drifted(added)])).remove(0);
    assert!(finding.cause.contains("The hub's objects don't set these fields"), "{}", finding.cause);
    assert_eq!(finding.evidence[0].value, "on the hub (absent), on the member 1");
    let finding = diagnose(&hub(vec![drifted(changed())])).remove(0);
    assert!(finding.cause.ends_with("ConfigMap web-app/settings (/data/revision)."), "{}", finding.cause);
}

#[test]
fn each_failed_comparison_has_its_code() {
    for (status, reason, message, code) in [
        (
            "False",
            "FailedToReportDiff",
            "An error blocks the diff reporting process (FailedToTakeOver, error: failed to take over a pre-existing object: \
             the object is already owned by some other sources(s) and co-ownership is disallowed)",
            "KF-DR-003",
        ),
        (
            "False",
            "FailedToReportDiff",
            "Failed to report the diff between the hub cluster and the member cluster (error = failed to calculate \
             configuration diffs between the manifest object and the object from the member cluster: failed to apply the \
             manifest in dry-run mode: configmaps \"settings\" is forbidden)",
            "KF-DR-004",
        ),
        (
            "True",
            "FoundDiffInDegradedMode",
            "Diff has been found in degraded mode: cannot perform partial comparison",
            "KF-DR-005",
        ),
        (
            "False",
            "FailedToReportDiff",
            "An error blocks the diff reporting process (DecodingErred, error: failed to find GVR from member cluster client \
             REST mapping)",
            "KF-DR-009",
        ),
    ] {
        let objects =
            [comparing("web", not_reported(), json!([])), compared(condition("DiffReported", status, reason, message))];
        in_both_scopes(&objects, &[&format!("{code} {{c}}ResourcePlacement/{{ns}}web (member-1)")]);
        let finding = diagnose(&hub(objects.to_vec())).remove(0);
        assert_eq!(finding.evidence[2].value, format!("{status} ({reason}): {message}"));
    }
}

#[test]
fn a_correction_needs_room_for_one_member_more_or_a_run() {
    let message = "An error blocks the diff reporting process (DecodingErred, error: no matches for kind)";
    let failed = || compared(condition("DiffReported", "False", "FailedToReportDiff", message));
    let web = comparing("web", not_reported(), json!([]));
    let finding = diagnose(&hub(vec![web.clone(), failed()])).remove(0);
    assert!(finding.remedies[1].commands[0].contains(r#"{"maxUnavailable":2}"#), "{:?}", finding.remedies[1]);
    let external = with(web, "/spec/strategy/type", "External");
    let finding = diagnose(&hub(vec![external, failed()])).remove(0);
    assert!(finding.remedies[1].action.contains("create an update run"), "{:?}", finding.remedies[1]);
}

#[test]
fn the_placement_that_owns_the_object_is_named() {
    let message = "An error blocks the diff reporting process (FailedToTakeOver, error: already owned)";
    let selected = json!([settings()]);
    let base = with(green("base", &["member-1"]), "/status/selectedResources", selected.clone());
    let web = with(comparing("web", not_reported(), json!([])), "/status/selectedResources", selected);
    let failed = compared(condition("DiffReported", "False", "FailedToReportDiff", message));
    let finding = diagnose(&hub(vec![base, web, failed])).remove(0);
    assert!(finding.cause.contains("because placement base has put it there"), "{}", finding.cause);
}

#[test]
fn a_young_failure_and_one_without_an_object_are_in_progress() {
    let refused = |time: &str| {
        let message = "failed to apply the manifest in dry-run mode: timeout";
        compared(at(time, condition("DiffReported", "False", "FailedToReportDiff", message)))
    };
    let placement = || comparing("web", at(NOW, not_reported()), json!([]));
    assert_eq!(found(&hub(vec![placement(), refused(NOW)])), [""; 0]);
    assert_eq!(found(&hub(vec![placement(), refused(FIRST)])).len(), 1);
    assert_eq!(found(&hub(vec![placement()])), [""; 0]);
    // The reason is new, and the placement has failed to compare for a minute.
    assert_eq!(found(&hub(vec![comparing("web", at(FIRST, not_reported()), json!([])), refused(NOW)])).len(), 1);
}

/// A failed comparison keeps each later change from its own member, too.
#[test]
fn a_rollout_that_a_failed_comparison_holds_back_is_its_consequence() {
    let held = |placement: Value, member: usize| {
        let conditions = json!([
            condition("Scheduled", "True", "Scheduled", ""),
            at(FIRST, condition("RolloutStarted", "False", "RolloutNotStartedYet", "")),
        ]);
        with(placement, &format!("/status/placementStatuses/{member}/conditions"), conditions)
    };
    let both = green("web", &["member-1", "member-2"]);
    let strategy = json!({"type": "ReportDiff", "whenToTakeOver": "Never"});
    let placement = with(held(held(both, 0), 1), "/spec/strategy/applyStrategy", strategy);
    let failed = compared(condition("DiffReported", "True", "FoundDiffInDegradedMode", "invalid"));
    let findings = diagnose(&hub(vec![placement, failed]));
    let roots: Vec<_> = findings.iter().map(|finding| finding.code.0.as_str()).collect();
    assert_eq!(roots, ["KF-DR-005"]);
}
