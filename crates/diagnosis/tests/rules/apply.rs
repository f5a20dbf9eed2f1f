use serde_json::{Value, json};

use crate::shapes::{NOW, at, condition, found, green, hub, hub_and_member, in_both_scopes, with, work};

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

/// Reasons and messages of the member agent, each with its code.
const REASONS: &[(&str, &str, &str)] = &[
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
        "KF-AP-007",
    ),
    (
        "ManifestApplyFailed",
        "Failed to apply the manifest (error: failed to apply the manifest: failed to validate owner references: object is \
         co-owned by multiple objects but co-ownership has been disallowed)",
        "KF-AP-007",
    ),
    // v0.3.1 prints the owners.
    (
        "FailedToTakeOver",
        "Failed to apply the manifest (error: failed to take over a pre-existing object: the object is already owned by \
         some other sources(s) and co-ownership is disallowed (existingOwnerRefs: [{APIVersion:placement.kubernetes-fleet.io/v1beta1 \
         Kind:AppliedWork Name:base-work UID:1 Controller:<nil> BlockOwnerDeletion:<nil>}]))",
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
    // The member agent's cache didn't have its AppliedWork yet (v0.1.2). Nothing is wrong with the object.
    (
        "ManifestApplyFailed",
        "Failed to apply the manifest (error: failed to apply the manifest: failed to create manifest object: error returned by the \
         API server: Namespace \"web\" is invalid: metadata.ownerReferences.uid: Invalid value: \"\": must not be empty)",
        "KF-AP-009",
    ),
    (
        "FoundGenerateName",
        "Failed to apply the manifest (error: objects with only generate name are not supported)",
        "KF-AP-010",
    ),
    ("Duplicated", "Failed to apply the manifest (error: a duplicate manifest has been found)", "KF-AP-011"),
    (
        "ManifestApplyFailed",
        "Failed to apply the manifest (error: failed to patch the manifest object: error returned by the API server: ConfigMap \
         \"settings\" is invalid: data: Forbidden: field is immutable when `immutable` is set)",
        "KF-AP-012",
    ),
    (
        "ManifestApplyFailed",
        "Failed to apply the manifest (error: failed to create manifest object: configmaps \"settings\" is forbidden: exceeded \
         quota: objects, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1)",
        "KF-AP-013",
    ),
    (
        "ManifestApplyFailed",
        "Failed to apply the manifest (error: failed to create manifest object: configmaps \"settings\" is forbidden: \
         ValidatingAdmissionPolicy 'owners' with binding 'owners' denied request: each ConfigMap needs the label owner)",
        "KF-AP-014",
    ),
    (
        "ManifestApplyFailed",
        "Failed to apply the manifest (error: failed to create manifest object: admission webhook \"owners.example.com\" denied \
         the request: each ConfigMap needs the label owner)",
        "KF-AP-014",
    ),
    // The agent compares by a dry run, which the policy denies too.
    (
        "FailedToRunDriftDetection",
        "Failed to apply the manifest (error: failed to calculate pre-apply drifts between the manifest and the object from the \
         member cluster: failed to apply the manifest in dry-run mode: configmaps \"settings\" is forbidden: \
         ValidatingAdmissionPolicy 'frozen' with binding 'frozen' denied request: no change before Monday)",
        "KF-AP-014",
    ),
    (
        "FailedToFindObjInMemberCluster",
        "Failed to apply the manifest (error: failed to find the corresponding object for the manifest object in the member \
         cluster: configmaps \"settings\" is forbidden: User \"system:serviceaccount:fleet-system:member-agent-sa\" cannot get \
         resource \"configmaps\" in API group \"\" in the namespace \"web-app\")",
        "KF-AP-015",
    ),
    (
        "ManifestApplyFailed",
        "Failed to apply the manifest (error: failed to apply the manifest object: an error is returned by the API server: Apply \
         failed with 1 conflict: conflict with \"kubectl-edit\" using v1: .data.revision)",
        "KF-AP-016",
    ),
    (
        "ManifestApplyFailed",
        "Failed to apply the manifest (error: failed to create manifest object: ConfigMap \"settings\" is invalid: data[not a \
         key]: Invalid value: \"not a key\": a valid config key must consist of alphanumeric characters)",
        "KF-AP-018",
    ),
    (
        "ManifestApplyFailed",
        "Failed to apply the manifest (error: failed to create manifest object: Internal error occurred: failed calling webhook \
         \"gone.example.com\": failed to call webhook: Post \"https://127.0.0.1:1/?timeout=10s\": connection refused)",
        "KF-AP-019",
    ),
    (
        "ManifestApplyFailed",
        "Failed to apply the manifest (error: failed to create manifest object: configmaps \"settings\" is forbidden: unable to \
         create new content in namespace web-app because it is being terminated)",
        "KF-AP-020",
    ),
];

#[test]
fn each_reason_has_its_code() {
    for (reason, message, code) in REASONS {
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

/// Work of a placement that has applied the ConfigMap.
fn work_with_settings(placement: &str, name: &str) -> Value {
    let identifier =
        json!({"version": "v1", "kind": "ConfigMap", "namespace": "web-app", "name": "settings", "ordinal": 0});
    let manifest = json!({"identifier": identifier, "conditions": [condition("Applied", "True", "Applied", "")]});
    let work = with(work("member-1", placement), "/metadata/name", name);
    with(work, "/status", json!({"conditions": [], "manifestConditions": [manifest]}))
}

/// Placement whose ConfigMap has another owner on the member.
fn owned() -> Value {
    let message = "the object is already owned by some other sources(s) and co-ownership is disallowed";
    not_applied("web", json!([failed("ConfigMap", "FailedToTakeOver", message)]))
}

#[test]
fn a_placement_whose_envelope_has_the_object_is_named() {
    let objects = vec![owned(), green("base", &["member-1"]), work_with_settings("base", "base-work-1")];
    let finding = &diagnosis::diagnose(&hub(objects))[0];
    assert_eq!(finding.code.0, "KF-AP-003");
    assert!(finding.cause.contains("because placement base has put it there"), "{}", finding.cause);
}

#[test]
fn an_object_that_the_placement_has_applied_already_is_there_twice() {
    let objects = vec![owned(), work_with_settings("web", "web-work-1")];
    let finding = &diagnosis::diagnose(&hub(objects))[0];
    assert_eq!(finding.code.0, "KF-AP-011");
}

/// First finding, with commands for contexts of the clusters' names.
fn first(snapshot: &diagnosis::Snapshot) -> diagnosis::Finding {
    diagnosis::diagnose_with(snapshot, &diagnosis::KubectlAccess::same_names())[0].clone()
}

#[test]
fn what_is_to_be_changed_on_the_hub_is_the_envelope() {
    let mut object = failed("ConfigMap", "Duplicated", "a duplicate manifest has been found");
    object["envelope"] = json!({"name": "wrapped", "namespace": "web-app", "type": "ResourceEnvelope"});
    let finding = first(&hub(vec![not_applied("web", json!([object]))]));
    assert_eq!(
        finding.remedies[0].commands,
        ["kubectl --context hub edit resourceenvelopes.placement.kubernetes-fleet.io/wrapped -n web-app"]
    );
    let place = "failedPlacements[ConfigMap web-app/settings in ResourceEnvelope web-app/wrapped]";
    assert!(finding.evidence[1].path.contains(place), "{}", finding.evidence[1].path);
}

#[test]
fn the_names_of_a_refusal_are_in_cause_and_commands() {
    let refused = |message: &str| {
        let failed = json!([failed("ConfigMap", "ManifestApplyFailed", message)]);
        first(&hub(vec![not_applied("web", failed)]))
    };
    let quota = refused("configmaps \"settings\" is forbidden: exceeded quota: objects, requested: count/configmaps=1");
    assert!(quota.cause.contains("because ResourceQuota objects there doesn't allow it"), "{}", quota.cause);
    assert_eq!(quota.remedies[1].commands, ["kubectl --context member-1 edit resourcequotas/objects -n web-app"]);
    let policy = refused("ValidatingAdmissionPolicy 'owners' with binding 'all' denied request: no owner");
    assert!(
        policy.cause.ends_with("because ValidatingAdmissionPolicy owners there denies it: no owner"),
        "{}",
        policy.cause
    );
    let edit = "kubectl --context member-1 edit validatingadmissionpolicies.admissionregistration.k8s.io/owners";
    assert_eq!(policy.remedies.last().unwrap().commands, [edit]);
    let webhook = refused("admission webhook \"owners.example.com\" denied the request: no owner");
    assert!(
        webhook.cause.contains("because admission webhook owners.example.com there denies it"),
        "{}",
        webhook.cause
    );
    let rights =
        refused("User \"agent\" cannot create resource \"configmaps\" in API group \"\" in the namespace \"web-app\"");
    assert!(rights.cause.ends_with("which is agent there, must not create configmaps."), "{}", rights.cause);
    let conflict = refused("Apply failed with 1 conflict: conflict with \"kubectl-edit\" using v1: .data.revision");
    assert!(conflict.cause.contains("kubectl-edit owns a field of it there"), "{}", conflict.cause);
}

#[test]
fn an_object_without_a_name_is_told_by_its_kind() {
    let nameless = with(failed("ConfigMap", "FoundGenerateName", ""), "/name", "");
    let finding = &diagnosis::diagnose(&hub(vec![not_applied("web", json!([nameless]))]))[0];
    assert!(finding.cause.starts_with("ConfigMap without a name of placement web isn't applied"), "{}", finding.cause);
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
    assert_eq!(
        young(
            "ManifestApplyFailed",
            "Namespace \"web\" is invalid: metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"
        ),
        [""; 0]
    );
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
    let is_refusal = |codes: &[String]| codes.iter().any(|code| code.starts_with("KF-AP-020"));
    assert!(is_refusal(&codes(vec![namespace("2026-01-08T11:50:00Z")])));
    assert!(!is_refusal(&codes(vec![namespace("2026-01-08T11:59:30Z")])));
    // The message is old: the member agent's next attempt creates the namespace, or finds a new one.
    assert!(!is_refusal(&codes(Vec::new())));
    let again = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web-app"}});
    assert!(!is_refusal(&codes(vec![again])));
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
