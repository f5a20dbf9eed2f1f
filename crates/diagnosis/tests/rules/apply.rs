use serde_json::{Value, json};

use crate::shapes::{NOW, at, condition, found, green, hub, hub_and_member, in_both_scopes, with};

/// Object that isn't applied, as placements list it.
fn failed(kind: &str, reason: &str, message: &str) -> Value {
    json!({
        "version": "v1", "kind": kind, "namespace": "web-app", "name": "settings",
        "condition": condition("Applied", "False", reason, message),
    })
}

/// Placement with objects that aren't applied on member-1.
fn not_applied(name: &str, failed: Value) -> Value {
    let mut placement = green(name, &["member-1"]);
    placement["status"]["conditions"][3] = condition("ClusterResourcePlacementApplied", "False", "ApplyFailed", "");
    placement["status"]["placementStatuses"][0]["conditions"] =
        json!([condition("Applied", "False", "NotAllWorkHaveBeenApplied", "Work object web-work is not applied")]);
    placement["status"]["placementStatuses"][0]["failedPlacements"] = failed;
    placement
}

#[test]
fn each_reason_has_its_code() {
    for (reason, message, code) in [
        (
            "NotTakenOver",
            "Failed to apply the manifest (error: no ownership of the object in the member cluster; takeover is needed)",
            "KF-AP-002",
        ),
        (
            "FailedToTakeOver",
            "Failed to apply the manifest (error: cannot take over object: configuration differences are found between the \
             manifest object and the corresponding object in the member cluster)",
            "KF-AP-002",
        ),
        (
            "FailedToTakeOver",
            "Failed to apply the manifest (error: failed to take over a pre-existing object: the object is already owned by \
             some other sources(s) and co-ownership is disallowed)",
            "KF-AP-003",
        ),
        (
            "FailedToTakeOver",
            "Failed to apply the manifest (error: the object is already owned by another Fleet AppliedWork object)",
            "KF-AP-003",
        ),
        (
            "FoundDrifts",
            "Failed to apply the manifest (error: cannot apply manifest: drifts are found between the manifest and the object \
             from the member cluster)",
            "KF-AP-004",
        ),
        (
            "DecodingErred",
            "Failed to apply the manifest (error: failed to find GVR from member cluster client REST mapping)",
            "KF-AP-005",
        ),
        (
            "ManifestApplyFailed",
            "Failed to apply the manifest (error: failed to create manifest object: error returned by the API server: \
             namespaces \"web-app\" not found)",
            "KF-AP-006",
        ),
        (
            "ManifestApplyFailed",
            "Failed to apply the manifest (error: the server does not allow this method on the requested resource)",
            "KF-AP-009",
        ),
    ] {
        let placement = not_applied("web", json!([failed("ConfigMap", reason, message)]));
        in_both_scopes(&[placement], &[&format!("{code} {{c}}ResourcePlacement/{{ns}}web (member-1)")]);
    }
}

#[test]
fn objects_with_one_reason_make_one_finding_and_those_with_two_make_two() {
    let objects = json!([
        failed("ConfigMap", "NotTakenOver", "m"),
        failed("Secret", "NotTakenOver", "m"),
        failed("Foo", "DecodingErred", "m"),
    ]);
    let findings =
        diagnosis::diagnose_with(&hub(vec![not_applied("web", objects)]), &diagnosis::KubectlAccess::same_names());
    let codes: Vec<_> = findings.iter().map(|f| f.code.0.as_str()).collect();
    assert_eq!(codes, ["KF-AP-002", "KF-AP-005"]);
    assert!(
        findings[0].cause.starts_with("ConfigMap web-app/settings, Secret web-app/settings of placement web isn't")
    );
    assert_eq!(
        findings[0].remedies[2].commands,
        [
            "kubectl --context member-1 delete configmaps/settings -n web-app --ignore-not-found",
            "kubectl --context member-1 delete secrets/settings -n web-app --ignore-not-found",
        ]
    );
}

#[test]
fn the_placement_that_has_the_object_is_named() {
    let taken = not_applied(
        "web",
        json!([failed("ConfigMap", "FailedToTakeOver", "the object is already owned by some other sources(s)")]),
    );
    let selected = json!([{"version": "v1", "kind": "ConfigMap", "namespace": "web-app", "name": "settings"}]);
    let owner = with(green("base", &["member-1"]), "/status/selectedResources", selected.clone());
    let both = vec![with(taken, "/status/selectedResources", selected), owner, green("other", &["member-1"])];
    let cause = diagnosis::diagnose(&hub(both))[0].cause.clone();
    assert!(cause.contains("because placement base has put it there"), "{cause}");
}

#[test]
fn what_was_changed_on_the_member_is_quoted() {
    let mut placement = not_applied("web", json!([failed("ConfigMap", "FoundDrifts", "drifts are found")]));
    placement["status"]["placementStatuses"][0]["driftedPlacements"] = json!([{
        "version": "v1", "kind": "ConfigMap", "namespace": "web-app", "name": "settings",
        "observedDrifts": [{"path": "/data/revision", "valueInHub": "0", "valueInMember": "7"}],
    }]);
    let findings = diagnosis::diagnose(&hub(vec![placement]));
    let drift = &findings[0].evidence[2];
    assert_eq!(drift.path, "status.placementStatuses[member-1].driftedPlacements[settings]/data/revision");
    assert_eq!(drift.value, "on the hub 0, on the member 7");
}

#[test]
fn what_may_pass_is_given_a_moment() {
    let young = |reason: &str, message: &str| {
        let mut object = failed("ConfigMap", reason, message);
        object["condition"] = at(NOW, object["condition"].clone());
        found(&hub(vec![not_applied("web", json!([object]))]))
    };
    assert_eq!(young("ManifestApplyFailed", "namespaces \"web-app\" not found"), [""; 0]);
    assert_eq!(young("ManifestApplyFailed", "no"), [""; 0]);
    assert_eq!(young("NotTakenOver", "").len(), 1);
}

#[test]
fn a_healthy_placement_and_an_older_generation_say_nothing() {
    in_both_scopes(&[green("web", &["member-1"])], &[]);
    let old = with(not_applied("web", json!([failed("ConfigMap", "NotTakenOver", "m")])), "/metadata/generation", 2);
    in_both_scopes(&[old], &[]);
}

/// Placement whose namespace exists on member-1 already.
fn namespace_not_taken_over() -> Value {
    let mut object = failed("Namespace", "NotTakenOver", "m");
    object["name"] = "inv".into();
    object.as_object_mut().unwrap().remove("namespace");
    not_applied("web", json!([object]))
}

/// Returns the remedy that deletes.
fn deletion(snapshot: &diagnosis::Snapshot) -> diagnosis::Remedy {
    let remedies = diagnosis::diagnose(snapshot)[0].remedies.clone();
    let deletes = |remedy: &&diagnosis::Remedy| remedy.commands.iter().any(|command| command.contains(" delete "));
    assert!(!deletes(&&remedies[0]), "the first remedy deletes");
    remedies.iter().find(deletes).unwrap().clone()
}

#[test]
fn what_else_goes_with_a_namespace_is_told() {
    let there = |api: &str, kind: &str, namespace: &str| json!({"apiVersion": api, "kind": kind, "metadata": {"name": "api", "namespace": namespace}});
    let member = vec![
        there("v1", "Service", "inv"),
        there("apps/v1", "Deployment", "inv"),
        there("v1", "Pod", "inv"),
        there("apps/v1", "StatefulSet", "other"),
    ];
    let remedy = deletion(&hub_and_member(vec![namespace_not_taken_over()], "member-1", member));
    assert_eq!(remedy.commands, ["kubectl --context member-1 delete namespaces/inv --ignore-not-found"]);
    let loss = remedy.data_loss.unwrap();
    let expected = "With namespace inv everything in it is deleted, at least Deployment api, Service api; fleetdrill reads no other \
                    kinds there than Deployment, StatefulSet, DaemonSet, Job, Pod, Service, ResourceQuota, LimitRange.";
    assert!(loss.ends_with(expected), "{loss}");
}

#[test]
fn a_namespace_that_was_not_read_is_said_to_be() {
    let unread = deletion(&hub(vec![namespace_not_taken_over()])).data_loss.unwrap();
    assert!(unread.ends_with("everything in it is deleted; fleetdrill couldn't read what is there."), "{unread}");
    let empty = deletion(&hub_and_member(vec![namespace_not_taken_over()], "member-1", vec![])).data_loss.unwrap();
    assert!(empty.contains("fleetdrill has found nothing there, but reads no other kinds"), "{empty}");
    let settings = deletion(&hub(vec![not_applied("web", json!([failed("ConfigMap", "NotTakenOver", "m")]))]));
    assert!(!settings.data_loss.unwrap().contains("namespace"));
}

#[test]
fn a_namespace_whose_deletion_passes_is_no_failure() {
    let message = "Failed to apply the manifest (error: failed to create manifest object: configmaps \"settings\" is forbidden: \
                   unable to create new content in namespace web-app because it is being terminated)";
    let refused = || not_applied("web", json!([failed("ConfigMap", "ManifestApplyFailed", message)]));
    let namespace = |deleted_at: &str| {
        json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web-app", "deletionTimestamp": deleted_at},
            "status": {"phase": "Terminating"},
        })
    };
    let codes = |on_member: Vec<Value>| found(&hub_and_member(vec![refused()], "member-1", on_member));
    let is_refusal = |codes: &[String]| codes.iter().any(|code| code.starts_with("KF-AP-009"));
    assert!(is_refusal(&codes(vec![namespace("2026-01-08T11:50:00Z")])));
    assert!(!is_refusal(&codes(vec![namespace("2026-01-08T11:59:30Z")])));
    // The message is old: the member agent's next attempt creates the namespace.
    assert!(!is_refusal(&codes(Vec::new())));
}

/// Placement whose ConfigMap lacks its namespace on member-1 since the default time of the conditions.
fn without_namespace() -> Value {
    let message =
        "Failed to apply the manifest (error: failed to create manifest object: namespaces \"web-app\" not found)";
    not_applied("web", json!([failed("ConfigMap", "ManifestApplyFailed", message)]))
}

#[test]
fn a_namespace_that_another_placement_is_about_to_place_is_no_failure() {
    let selected = json!([{"version": "v1", "kind": "Namespace", "name": "web-app"}]);
    let of_namespace = |conditions: Value| {
        let mut placement = with(green("base", &["member-1"]), "/status/selectedResources", selected.clone());
        placement["status"]["placementStatuses"][0]["conditions"] = conditions;
        placement
    };
    let is_failure = |other: Value| {
        let found = found(&hub(vec![without_namespace(), other]));
        found.iter().any(|finding| finding.starts_with("KF-AP-006"))
    };
    assert!(is_failure(green("base", &["member-1"])));
    assert!(is_failure(of_namespace(json!([condition("Applied", "True", "AllWorkHaveBeenApplied", "")]))));
    assert!(!is_failure(of_namespace(json!([condition("RolloutStarted", "True", "RolloutStarted", "")]))));
}

#[test]
fn a_namespace_that_has_come_is_no_failure_until_the_agent_s_next_attempt() {
    let namespace = |created_at: &str| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web-app", "creationTimestamp": created_at}});
    let since = |time: &str| {
        let mut placement = without_namespace();
        for pointer in
            ["/status/placementStatuses/0/conditions/0", "/status/placementStatuses/0/failedPlacements/0/condition"]
        {
            placement = with(placement, &format!("{pointer}/lastTransitionTime"), time);
        }
        placement
    };
    // It was missing for 14 and for 20 min, and the agent's next attempt comes after as long again, 15 min at most.
    let found_at = |created_at: &str| {
        found(&hub_and_member(vec![since("2026-01-08T11:30:00Z")], "member-1", vec![namespace(created_at)]))
    };
    assert_eq!(found_at("2026-01-08T11:44:00Z"), ["KF-XX-001 ClusterResourcePlacement/web (member-1)"]);
    assert_eq!(found_at("2026-01-08T11:50:00Z"), Vec::<String>::new());
}
