use diagnosis::{KubectlAccess, Snapshot, WantedObjects, WantedPart, WantedResource, examine, wanted_objects};
use serde_json::{Value, json};

use crate::shapes::{
    BEFORE, at, binding, condition, deleted, found, found_without_reading_check, green, hub, hub_and_member,
    in_both_scopes, initialized_run, member_cluster, member_namespace, with, work,
};

const NOW_ISH: &str = "2026-01-08T11:59:40Z";

/// Work of placement web for member-1 that is being deleted for a minute.
fn going() -> Value {
    deleted(work("member-1", "web"))
}

fn placed(kind: &str, resource: &str, namespace: &str, name: &str) -> Value {
    json!({
        "group": "", "version": "v1", "kind": kind, "resource": resource, "namespace": namespace, "name": name,
    })
}

fn applied_work() -> Value {
    json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "AppliedWork",
        "metadata": {"name": "web-work"},
        "status": {"appliedResources": [
            placed("Namespace", "namespaces", "", "web-app"),
            placed("ConfigMap", "configmaps", "web-app", "settings"),
        ]},
    })
}

/// Namespace on the member that is being deleted.
fn namespace(conditions: Value) -> Value {
    deleted(json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web-app"},
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Terminating", "conditions": conditions},
    }))
}

fn settings(finalizers: Value) -> Value {
    deleted(json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "web-app", "finalizers": finalizers},
    }))
}

fn remaining() -> Value {
    let text = "Some resources are remaining: configmaps. has 1 resource instances, \
                works.placement.kubernetes-fleet.io has 2 resource instances";
    json!([condition("NamespaceContentRemaining", "True", "SomeResourcesRemain", text)])
}

fn fleet(work: Value, on_member: Vec<Value>) -> Snapshot {
    hub_and_member(vec![member_namespace("member-1"), work], "member-1", on_member)
}

/// Fleet with the binding of the Work, which waits for it.
fn dropped(work: Value, on_member: Vec<Value>) -> Snapshot {
    let binding = deleted(binding("web", "member-1", "web-0-snapshot", json!([])));
    let mut snapshot = fleet(work, on_member);
    snapshot.clusters[0].objects.extend([with(binding, "/metadata/deletionTimestamp", NOW_ISH)]);
    snapshot
}

#[test]
fn a_finalizer_on_a_placed_object_is_found() {
    let on_member = vec![applied_work(), namespace(remaining()), settings(json!(["example.com/protect"]))];
    let snapshot = dropped(with(going(), "/metadata/deletionTimestamp", "2026-01-08T11:58:00Z"), on_member);
    assert_eq!(found(&snapshot), ["KF-DL-001 Work/fleet-member-member-1/web-work (member-1)"]);
    let finding = diagnosis::diagnose(&snapshot).remove(0);
    assert!(finding.cause.contains("ConfigMap/web-app/settings has the finalizer example.com/protect"));
    assert!(finding.evidence.iter().any(|e| e.cluster == "member-1" && e.value.contains("example.com/protect")));
}

/// Conditions of a terminating namespace while the API server doesn't list all its APIs.
fn undiscovered() -> Value {
    let left = condition("NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed");
    json!([condition("NamespaceDeletionDiscoveryFailure", "True", "DiscoveryFailed", "metrics.k8s.io/v1beta1"), left])
}

#[test]
fn an_api_that_does_not_answer_keeps_a_namespace_that_is_empty() {
    let old = || with(going(), "/metadata/deletionTimestamp", "2026-01-08T11:58:00Z");
    let snapshot = fleet(old(), vec![applied_work(), namespace(undiscovered())]);
    assert_eq!(found(&snapshot), ["KF-DL-007 Work/fleet-member-member-1/web-work (member-1)"]);
    let finding = diagnosis::diagnose(&snapshot).remove(0);
    assert!(finding.cause.starts_with("Namespace web-app on member-1 is empty"), "{}", finding.cause);
    assert!(finding.cause.contains("metrics.k8s.io/v1beta1. Mostly"), "{}", finding.cause);
    assert!(finding.cause.ends_with("So Work web-work on the hub, of placement web, can't be deleted either."));
    assert_eq!(finding.remedies[0].commands, ["kubectl --context member-1 get apiservices"]);
    // Something else keeps the namespace, too, which has to go first.
    let mut both = undiscovered();
    both.as_array_mut().expect("conditions").extend(remaining().as_array().expect("conditions").clone());
    let with_contents = fleet(old(), vec![applied_work(), namespace(both)]);
    assert_eq!(found(&with_contents), ["KF-DL-001 Work/fleet-member-member-1/web-work (member-1)"]);
    let held = with(namespace(undiscovered()), "/metadata/finalizers", json!(["example.com/protect"]));
    let held = fleet(old(), vec![applied_work(), held]);
    assert_eq!(found(&held), ["KF-DL-001 Work/fleet-member-member-1/web-work (member-1)"]);
}

#[test]
fn an_api_of_the_hub_that_does_not_answer_keeps_a_member_from_leaving() {
    let namespace = |since: &str, conditions: Value| {
        let namespace = with(member_namespace("member-1"), "/metadata/deletionTimestamp", since);
        with(namespace, "/status/conditions", conditions)
    };
    let leaving = with(member_cluster("member-1"), "/metadata/deletionTimestamp", "2026-01-08T11:56:00Z");
    let old = "2026-01-08T11:56:00Z";
    let snapshot = hub(vec![leaving.clone(), namespace(old, undiscovered())]);
    assert_eq!(found(&snapshot), ["KF-DL-007 MemberCluster/member-1"]);
    assert!(diagnosis::diagnose(&snapshot).remove(0).cause.ends_with("So member-1 can't leave."));
    assert_eq!(found(&hub(vec![leaving, namespace(old, json!([]))])), ["KF-MC-004 MemberCluster/member-1"]);
    // Somebody has deleted the namespace of a member that stays.
    let failed = json!([
        condition("RolloutStarted", "True", "RolloutStarted", ""),
        condition("WorkSynchronized", "False", "SyncWorkFailed", "because it is being terminated"),
    ]);
    let web = with(green("web", &["member-1"]), "/status/placementStatuses/0/conditions", failed);
    let objects = |since: &str| vec![member_cluster("member-1"), namespace(since, undiscovered()), web.clone()];
    let expected = ["KF-DL-007 MemberCluster/member-1", "  KF-WS-001 ClusterResourcePlacement/web (member-1)"];
    assert_eq!(found(&hub(objects(old))), expected);
    // It may still go.
    assert_eq!(found(&hub(objects(NOW_ISH))), ["KF-WS-001 ClusterResourcePlacement/web (member-1)"]);
}

#[test]
fn a_young_deletion_is_in_progress() {
    let on_member = vec![applied_work(), namespace(remaining()), settings(json!(["example.com/protect"]))];
    let snapshot = fleet(with(going(), "/metadata/deletionTimestamp", NOW_ISH), on_member);
    let diagnosis = examine(&snapshot, &KubectlAccess::same_names());
    assert!(diagnosis.findings.is_empty(), "{:?}", diagnosis.findings);
    let [waiting] = &diagnosis.in_progress[..] else { panic!("{:?}", diagnosis.in_progress) };
    assert_eq!((waiting.subject.kind.as_str(), waiting.seconds, waiting.usual_seconds), ("Work", Some(20), Some(60)));
}

#[test]
fn an_object_of_that_name_without_a_holder_explains_nothing() {
    let unexplained = ["KF-XX-001 Work/fleet-member-member-1/web-work (member-1)"];
    let old = || with(going(), "/metadata/deletionTimestamp", "2026-01-08T11:58:00Z");
    // Neither is the object being deleted, nor does the namespace say that something is left in it.
    let alive = with(settings(json!(["example.com/protect"])), "/metadata/deletionTimestamp", Value::Null);
    assert_eq!(found(&dropped(old(), vec![applied_work(), alive])), unexplained);
    assert_eq!(found(&dropped(old(), vec![applied_work(), namespace(json!([]))])), unexplained);
    // Nothing was read from the member.
    let mut unread = dropped(old(), Vec::new());
    unread.clusters.truncate(1);
    assert_eq!(found(&unread), unexplained);
}

#[test]
fn a_new_work_waits_for_the_old_one() {
    let text = "object is being deleted: works.placement.kubernetes-fleet.io \"web-work\" already exists";
    let mut web = green("web", &["member-1"]);
    web["status"]["conditions"][2] =
        condition("ClusterResourcePlacementWorkSynchronized", "False", "WorkNotSynchronizedYet", "");
    web["status"]["placementStatuses"][0]["conditions"] =
        json!([condition("WorkSynchronized", "False", "SyncWorkFailed", text)]);
    let on_member = vec![applied_work(), namespace(remaining()), settings(json!(["example.com/protect"]))];
    let of = |work: Value| {
        let objects = vec![member_namespace("member-1"), work, web.clone()];
        found(&hub_and_member(objects, "member-1", on_member.clone()))
    };
    let expected = [
        "KF-DL-001 Work/fleet-member-member-1/web-work (member-1)",
        "  KF-WS-009 ClusterResourcePlacement/web (member-1)",
    ];
    assert_eq!(of(with(going(), "/metadata/deletionTimestamp", "2026-01-08T11:58:00Z")), expected);
    assert_eq!(of(with(going(), "/metadata/deletionTimestamp", NOW_ISH)), [""; 0]);
    // The old Work is gone, and the hub-agent hasn't tried again yet.
    let gone = |since: &str| {
        let time = "/status/placementStatuses/0/conditions/0/lastTransitionTime";
        let objects = vec![member_namespace("member-1"), with(web.clone(), time, since)];
        found(&hub_and_member(objects, "member-1", on_member.clone()))
    };
    assert_eq!(gone("2026-01-08T11:59:30Z"), [""; 0], "30 s ago");
    assert_eq!(gone("2026-01-08T11:58:20Z"), [""; 0], "100 s ago");
    assert_eq!(gone("2026-01-08T11:50:00Z"), ["KF-WS-009 ClusterResourcePlacement/web (member-1)"]);
}

#[test]
fn the_metadata_of_what_may_hold_a_deletion_is_wanted() {
    let wanted = |cluster: &str, group: &str, version: Option<&str>, resource: &str, namespace: Option<&str>, name| {
        WantedObjects {
            cluster: cluster.to_owned(),
            group: group.to_owned(),
            version: version.map(str::to_owned),
            resource: WantedResource::Plural(resource.to_owned()),
            namespace: namespace.map(str::to_owned),
            name: Option::<&str>::map(name, str::to_owned),
            part: WantedPart::Metadata,
        }
    };
    let snapshot = fleet(going(), vec![applied_work(), namespace(remaining())]);
    let expected = [
        wanted("member-1", "", None, "configmaps", Some("web-app"), None),
        wanted("member-1", "", Some("v1"), "configmaps", Some("web-app"), Some("settings")),
        wanted("member-1", "placement.kubernetes-fleet.io", None, "works", Some("web-app"), None),
    ];
    assert_eq!(wanted_objects(&snapshot), expected);
    assert_eq!(wanted_objects(&fleet(work("member-1", "web"), vec![applied_work()])), []);
}

#[test]
fn a_work_whose_objects_are_gone_waits_for_the_member_agent_s_next_attempt() {
    let old = with(going(), "/metadata/deletionTimestamp", "2026-01-08T11:58:00Z");
    let diagnosis = examine(&fleet(old, Vec::new()), &KubectlAccess::same_names());
    assert!(diagnosis.findings.is_empty(), "{:?}", diagnosis.findings);
    assert_eq!(diagnosis.in_progress[0].usual_seconds, Some(16 * 60));
    let older = with(going(), "/metadata/deletionTimestamp", "2026-01-08T11:43:00Z");
    let unexplained = ["KF-XX-001 Work/fleet-member-member-1/web-work (member-1)"];
    assert_eq!(found(&dropped(older, Vec::new())), unexplained);
}

/// Object that is being deleted for two minutes, with these finalizers.
fn held(object: Value, finalizers: Value) -> Value {
    let object = with(object, "/metadata/deletionTimestamp", "2026-01-08T11:58:00Z");
    with(object, "/metadata/finalizers", finalizers)
}

const PROTECT: &str = "example.com/protect";

#[test]
fn somebody_s_finalizer_on_the_hub_is_found() {
    let own = "kubernetes-fleet.io/crp-cleanup";
    in_both_scopes(&[held(green("web", &[]), json!([own, PROTECT]))], &["KF-DL-002 {c}ResourcePlacement/{ns}web"]);
    let finding = diagnosis::diagnose(&hub(vec![held(green("web", &[]), json!([own, PROTECT]))])).remove(0);
    assert!(finding.cause.contains("the finalizer example.com/protect, which isn't KubeFleet's"), "{}", finding.cause);
    assert!(
        finding.remedies[1].commands[0].contains(r#"{"metadata":{"finalizers":["kubernetes-fleet.io/crp-cleanup"]}}"#)
    );
    let run = initialized_run("release", "web", BEFORE);
    in_both_scopes(&[held(run, json!([PROTECT]))], &["KF-DL-002 {c}StagedUpdateRun/{ns}release"]);
    let member = held(member_cluster("east"), json!([PROTECT]));
    assert_eq!(found(&hub(vec![member])), ["KF-DL-002 MemberCluster/east"]);
    // A finalizer of KubeFleet alone tells nothing, and neither does a deletion that has just begun.
    in_both_scopes(&[held(green("web", &[]), json!([own]))], &["KF-XX-001 {c}ResourcePlacement/{ns}web"]);
    let young = with(held(green("web", &[]), json!([PROTECT])), "/metadata/deletionTimestamp", NOW_ISH);
    in_both_scopes(&[young], &[]);
}

/// Run that has begun to delete the binding for member-1 at this time.
fn deleting_run(time: &str) -> Value {
    let started = at(time, condition("Started", "True", "ClusterUpdatingStarted", ""));
    let stage = json!({
        "stageName": "kubernetes-fleet.io/deleteStage",
        "clusters": [{"clusterName": "member-1", "conditions": [started]}],
    });
    with(initialized_run("smaller", "web", BEFORE), "/status/deletionStageStatus", stage)
}

#[test]
fn a_deletion_stage_that_waits_for_a_binding_is_found() {
    let old = binding("web", "member-1", "web-0-snapshot", json!([]));
    let objects =
        [green("web", &["member-2"]), deleting_run("2026-01-08T11:58:00Z"), held(old.clone(), json!([PROTECT]))];
    let expected = [
        "KF-DL-002 {c}ResourceBinding/{ns}web-member-1-2afc7d7f (member-1)",
        "  KF-DL-003 {c}StagedUpdateRun/{ns}smaller (member-1)",
    ];
    in_both_scopes(&objects, &expected);
    let own = json!(["kubernetes-fleet.io/work-cleanup"]);
    let objects = [green("web", &["member-2"]), deleting_run("2026-01-08T11:58:00Z"), held(old.clone(), own)];
    let expected = ["KF-DL-003 {c}StagedUpdateRun/{ns}smaller (member-1)"];
    in_both_scopes(&objects, &expected);
    let young = with(held(old, json!([PROTECT])), "/metadata/deletionTimestamp", NOW_ISH);
    in_both_scopes(&[green("web", &["member-2"]), deleting_run(NOW_ISH), young], &[]);
}

#[test]
fn an_old_binding_that_keeps_the_new_one_waiting_is_found() {
    let mut web = green("web", &["member-1", "member-2"]);
    let unknown = condition("RolloutStarted", "Unknown", "RolloutStartedUnknown", "In the process of deciding");
    web["status"]["conditions"][1] = with(unknown.clone(), "/type", "ClusterResourcePlacementRolloutStarted");
    web["status"]["placementStatuses"][0]["conditions"] = json!([unknown]);
    let new = with(binding("web", "member-1", "", json!([])), "/spec/state", "Scheduled");
    let old = with(binding("web", "member-1", "web-0-snapshot", json!([])), "/metadata/name", "web-member-1-old");
    let objects = |web: &Value, old: Value| [web.clone(), new.clone(), old];
    let root = "KF-DL-002 {c}ResourceBinding/{ns}web-member-1-old (member-1)";
    let expected = [root, "  KF-DL-004 {c}ResourcePlacement/{ns}web (member-1)"];
    in_both_scopes(&objects(&web, held(old.clone(), json!([PROTECT]))), &expected);
    let own = json!(["kubernetes-fleet.io/work-cleanup"]);
    let alone = ["KF-DL-004 {c}ResourcePlacement/{ns}web (member-1)"];
    in_both_scopes(&objects(&web, held(old.clone(), own)), &alone);
    // The whole placement waits, whatever the condition says.
    let reason = "RolloutNotStartedYet";
    let text = "The rollout is being blocked by the rollout strategy";
    let mut both = web.clone();
    both["status"]["placementStatuses"][1]["conditions"] = json!([condition("RolloutStarted", "False", reason, text)]);
    in_both_scopes(&objects(&both, held(old.clone(), json!([PROTECT]))), &expected);
    let young = with(held(old, json!([PROTECT])), "/metadata/deletionTimestamp", "2026-01-08T11:59:50Z");
    in_both_scopes(&objects(&both, young), &[]);
}

#[test]
fn what_a_work_has_left_on_the_member_is_found_without_anything_on_the_hub() {
    let gone = with(applied_work(), "/metadata/deletionTimestamp", "2026-01-08T11:58:00Z");
    let on_member = |applied: Value| vec![applied, namespace(remaining()), settings(json!(["example.com/protect"]))];
    let empty = |applied: Value| hub_and_member(vec![member_namespace("member-1")], "member-1", on_member(applied));
    let expected = ["KF-DL-005 AppliedWork/web-work (member-1)"];
    // A live fleet isn't asked for it.
    assert_eq!(found_without_reading_check(&empty(gone.clone())), expected);
    let finding = diagnosis::diagnose(&empty(gone.clone())).remove(0);
    assert!(finding.cause.contains("ConfigMap/web-app/settings has the finalizer example.com/protect"));
    assert_eq!(found_without_reading_check(&empty(applied_work())), [""; 0]);
    let young = with(gone.clone(), "/metadata/deletionTimestamp", NOW_ISH);
    assert_eq!(found_without_reading_check(&empty(young)), [""; 0]);
    // While the Work is there, that one is the subject.
    let work = with(going(), "/metadata/deletionTimestamp", "2026-01-08T11:58:00Z");
    let with_work = fleet(work, on_member(gone));
    assert_eq!(found(&with_work), ["KF-DL-001 Work/fleet-member-member-1/web-work (member-1)"]);
}

/// Work of placement web for member-1 that is three minutes old.
fn old_work() -> Value {
    let mut work = with(work("member-1", "web"), "/metadata/creationTimestamp", "2026-01-08T11:57:00Z");
    work["metadata"]["labels"]["kubernetes-fleet.io/parent-resource-binding"] = WEB_BINDING.into();
    work
}

const WEB_BINDING: &str = "web-member-1-2afc7d7f";

#[test]
fn a_work_without_placement_and_binding_is_found() {
    let on_hub = |objects: Vec<Value>| hub([objects, vec![member_namespace("member-1")]].concat());
    let expected = ["KF-DL-006 Work/fleet-member-member-1/web-work (member-1)"];
    // A live fleet isn't asked for it.
    let orphaned = on_hub(vec![old_work()]);
    assert_eq!(found_without_reading_check(&orphaned), expected);
    let finding = diagnosis::diagnose(&orphaned).remove(0);
    assert!(finding.cause.contains("ClusterResourcePlacement web and the binding"), "{}", finding.cause);
    let mut namespaced = old_work();
    namespaced["metadata"]["labels"]["kubernetes-fleet.io/parent-placement-namespace"] = "apps".into();
    let finding = diagnosis::diagnose(&on_hub(vec![namespaced.clone()])).remove(0);
    assert!(finding.cause.contains("ResourcePlacement apps/web and the binding"), "{}", finding.cause);
    // A placement of the same name for the whole cluster is another one.
    let other_scope = on_hub(vec![namespaced, green("web", &["member-1"])]);
    assert_eq!(found_without_reading_check(&other_scope), expected);
}

#[test]
fn a_work_that_has_a_placement_or_a_binding_or_goes_is_no_orphan() {
    let found_with = |work: Value, more: Vec<Value>| {
        let objects = [vec![work, member_namespace("member-1")], more].concat();
        let found = found_without_reading_check(&hub(objects));
        found.into_iter().filter(|line| line.contains("KF-DL-006")).collect::<Vec<_>>()
    };
    assert_eq!(found_with(old_work(), vec![green("web", &["member-1"])]), [""; 0]);
    assert_eq!(found_with(old_work(), vec![binding("web", "member-1", "web-0-snapshot", json!([]))]), [""; 0]);
    let young = with(old_work(), "/metadata/creationTimestamp", NOW_ISH);
    assert_eq!(found_with(young, Vec::new()), [""; 0]);
    assert_eq!(found_with(deleted(old_work()), Vec::new()), [""; 0]);
    let goes = hub(vec![old_work(), deleted(member_namespace("member-1"))]);
    assert!(!found_without_reading_check(&goes).iter().any(|line| line.contains("KF-DL-006")));
}
