use serde_json::{Value, json};

use crate::shapes::{
    at, binding, condition, deleted, found, green, hub, in_both_scopes, member_cluster, member_namespace, of,
    placement, with, work,
};

const NOT_YET: &str = "There are 1 cluster(s) which have not finished creating or updating work(s) yet";
/// Message of all versions, and the message in Azure's guide.
const TERMINATING: [&str; 2] = [
    "Failed to synchronize the work to the latest: works.placement.kubernetes-fleet.io \"web-work\" is forbidden: unable to \
     create new content in namespace fleet-member-member-1 because it is being terminated",
    "Failed to synchronize the work to the latest: works.placement.kubernetes-fleet.io \"web-work\" is forbidden: unable to \
     create new content in namespace fleet-member-member-1 because it is terminating",
];

/// Placement whose Work can't be created for member-1.
pub fn unsynchronized(message: &str) -> Value {
    placement(
        "web",
        json!([
            condition("ClusterResourcePlacementScheduled", "True", "SchedulingPolicyFulfilled", ""),
            condition("ClusterResourcePlacementWorkSynchronized", "False", "WorkNotSynchronizedYet", NOT_YET),
        ]),
        &[(
            "member-1",
            json!([
                condition("Scheduled", "True", "Scheduled", ""),
                condition("WorkSynchronized", "False", "SyncWorkFailed", message),
            ]),
        )],
    )
}

/// Member's namespace while it is being deleted, with the namespace controller's conditions.
pub fn terminating(member: &str) -> Value {
    let conditions = json!([
        {"type": "NamespaceDeletionDiscoveryFailure", "status": "False", "reason": "ResourcesDiscovered"},
        {"type": "NamespaceContentRemaining", "status": "True", "reason": "SomeResourcesRemain",
         "message": "Some resources are remaining: works.placement.kubernetes-fleet.io has 1 resource instances"},
        {"type": "NamespaceFinalizersRemaining", "status": "True", "reason": "SomeFinalizersRemain",
         "message": "Some content in the namespace has finalizers remaining: kubernetes-fleet.io/work-cleanup in 1 resource instances"},
    ]);
    with(deleted(member_namespace(member)), "/status", json!({"phase": "Terminating", "conditions": conditions}))
}

fn fleet(placement: Value) -> Vec<Value> {
    vec![member_cluster("member-1"), terminating("member-1"), deleted(work("member-1", "base")), placement]
}

#[test]
fn a_terminating_namespace_is_found_in_both_scopes_and_wordings() {
    for message in TERMINATING {
        in_both_scopes(&fleet(unsynchronized(message)), &["KF-WS-001 {c}ResourcePlacement/{ns}web (member-1)"]);
    }
}

#[test]
fn a_member_that_leaves_has_a_moment_for_it() {
    let member =
        |deleted_at: &str| with(deleted(member_cluster("member-1")), "/metadata/deletionTimestamp", deleted_at);
    let namespace = |deleted_at: &str| with(terminating("member-1"), "/metadata/deletionTimestamp", deleted_at);
    let is_failure = |left_at: &str, deleted_at: &str| {
        let found = found(&hub(vec![member(left_at), namespace(deleted_at), unsynchronized(TERMINATING[0])]));
        found.iter().any(|finding| finding.contains("KF-WS-001"))
    };
    assert!(!is_failure("2026-01-08T11:59:50Z", "2026-01-08T11:59:51Z"));
    assert!(is_failure("2026-01-08T11:59:50Z", "2026-01-08T11:59:40Z"), "the namespace was deleted before");
    assert!(is_failure("2026-01-08T11:57:50Z", "2026-01-08T11:57:51Z"), "the member doesn't leave");
}

/// The hub-agent's next attempt comes after at most as long again as the failure has lasted.
#[test]
fn works_may_take_their_time_after_the_namespace_is_back() {
    let failed_at = |time: &str| {
        with(unsynchronized(TERMINATING[0]), "/status/placementStatuses/0/conditions/1/lastTransitionTime", time)
    };
    let back = with(member_namespace("member-1"), "/metadata/creationTimestamp", "2026-01-08T11:59:30Z");
    let objects = |time: &str| vec![member_cluster("member-1"), back.clone(), failed_at(time)];
    assert_eq!(found(&hub(objects("2026-01-08T11:59:00Z"))), [""; 0], "30 s of failure, 30 s since");
    let late = found(&hub(objects("2026-01-08T11:59:29Z")));
    assert_eq!(late, ["KF-WS-009 ClusterResourcePlacement/web (member-1)"], "1 s of failure, 30 s since");
    let gone = |time: &str| vec![member_cluster("member-1"), failed_at(time)];
    assert_eq!(found(&hub(gone("2026-01-08T11:59:20Z"))), [""; 0]);
    let expected = ["KF-WS-007 ClusterResourcePlacement/web (member-1)"];
    assert_eq!(found(&hub(gone("2026-01-08T11:58:00Z"))), expected);
    // The member has left, a moment ago.
    assert_eq!(found(&hub(vec![member_cluster("member-2"), failed_at("2026-01-08T11:58:00Z")])), [""; 0]);
}

/// The hub-agent has seen the binding change, and looks at it again only at its next attempt.
#[test]
fn a_binding_may_wait_for_the_next_attempt_after_the_namespace_is_back() {
    let pending = at("2026-01-08T11:58:30Z", condition("Overridden", "Unknown", "OverriddenPending", ""));
    let started = condition("RolloutStarted", "True", "RolloutStarted", "");
    let web = with(green("web", &["member-1"]), "/status/placementStatuses/0/conditions", json!([started, pending]));
    let created = |object: Value, time: &str| with(object, "/metadata/creationTimestamp", time);
    let bound = created(binding("web", "member-1", "web-0-snapshot", json!([])), "2026-01-08T11:56:30Z");
    let at_return = |time: &str| {
        let namespace = created(member_namespace("member-1"), time);
        found(&hub(vec![member_cluster("member-1"), namespace, web.clone(), bound.clone()]))
    };
    assert_eq!(at_return("2026-01-08T11:58:30Z"), [""; 0], "120 s without a namespace, 90 s since");
    assert_eq!(
        at_return("2026-01-08T11:56:52Z"),
        [""; 0],
        "22 s without a namespace, 90 s since the binding's last change"
    );
    let late = ["KF-XX-001 ClusterResourcePlacement/web (member-1)"];
    assert_eq!(at_return("2026-01-08T11:56:35Z"), late, "5 s without a namespace");
    assert_eq!(at_return("2026-01-08T11:00:00Z"), late);
}

#[test]
fn it_says_whose_workload_is_lost_and_how_to_release_the_namespace() {
    let findings = diagnosis::diagnose(&hub(fleet(unsynchronized(TERMINATING[0]))));
    let loss = findings[0].data_loss.as_deref().unwrap();
    assert!(loss.contains("base may have lost its workload on member-1"), "{loss}");
    let release = &findings[0].remedies[1];
    assert_eq!(
        release.commands,
        ["kubectl --context hub patch works.placement.kubernetes-fleet.io/base-work -n fleet-member-member-1 \
          --type=merge -p '{\"metadata\":{\"finalizers\":null}}'"]
    );
    let rejoin = &findings[0].remedies[2].commands;
    assert!(rejoin[2].contains(r#""metadata":{"name":"member-1","labels":{"env":"test"}}"#), "{rejoin:?}");
}

#[test]
fn nothing_is_lost_where_nothing_else_stands() {
    let objects = vec![terminating("member-1"), unsynchronized(TERMINATING[0])];
    assert_eq!(diagnosis::diagnose(&hub(objects))[0].data_loss, None);
}

#[test]
fn a_namespace_that_nobody_works_on_has_a_remedy_of_its_own() {
    let bare = with(deleted(member_namespace("member-1")), "/status", json!({"phase": "Terminating"}));
    let objects = vec![member_cluster("member-1"), bare, work("member-1", "base"), unsynchronized(TERMINATING[0])];
    let findings = diagnosis::diagnose(&hub(objects));
    assert!(findings[0].remedies[0].action.contains("namespace controller"), "{:?}", findings[0].remedies[0]);
    assert!(findings[0].data_loss.as_deref().unwrap().starts_with("Once the namespace controller"));
}

#[test]
fn another_cluster_is_offered_for_each_kind_of_policy() {
    let first = |policy: Value| {
        let objects =
            [vec![member_cluster("member-2")], fleet(with(unsynchronized(TERMINATING[0]), "/spec/policy", policy))];
        diagnosis::diagnose(&hub(objects.concat()))[0].remedies[0].commands.clone()
    };
    let fixed = first(json!({"placementType": "PickFixed", "clusterNames": ["member-1"]}));
    assert!(fixed[0].ends_with(r#"-p '{"spec":{"policy":{"clusterNames":["member-2"]}}}'"#), "{fixed:?}");
    let number = first(json!({"placementType": "PickN", "numberOfClusters": 1}));
    assert_eq!(number.len(), 2);
    assert!(
        number[0].ends_with("label memberclusters.cluster.kubernetes-fleet.io/member-1 unavailable=true"),
        "{number:?}"
    );
    let affine = first(json!({"placementType": "PickAll", "affinity": {"clusterAffinity": {}}}));
    assert!(affine[0].contains(" edit "), "{affine:?}");
}

#[test]
fn the_healthy_twin_is_silent() {
    let objects = [
        member_cluster("member-1"),
        member_namespace("member-1"),
        work("member-1", "base"),
        green("base", &["member-1"]),
        green("web", &["member-1"]),
    ];
    in_both_scopes(&objects, &[]);
}

#[test]
fn a_condition_of_an_older_generation_says_nothing() {
    let old = with(unsynchronized(TERMINATING[0]), "/metadata/generation", 2);
    assert_eq!(found(&hub(fleet(old.clone()))), [""; 0]);
    let mut new = old;
    new["status"]["placementStatuses"][0]["conditions"] =
        json!([of(2, condition("WorkSynchronized", "False", "SyncWorkFailed", TERMINATING[0]))]);
    assert_eq!(found(&hub(fleet(new))), ["KF-WS-001 ClusterResourcePlacement/web (member-1)"]);
}

#[test]
fn an_older_placement_that_stays_green_hangs_under_the_namespace_and_stands_alone_without_it() {
    let older = [
        member_cluster("member-1"),
        terminating("member-1"),
        deleted(work("member-1", "base")),
        green("base", &["member-1"]),
    ];
    in_both_scopes(&older, &["KF-WS-008 {c}ResourcePlacement/{ns}base (member-1)"]);
    let both = [older.as_slice(), &[unsynchronized(TERMINATING[0])]].concat();
    in_both_scopes(
        &both,
        &["KF-WS-001 {c}ResourcePlacement/{ns}web (member-1)", "  KF-WS-008 {c}ResourcePlacement/{ns}base (member-1)"],
    );
}

#[test]
fn what_loses_data_comes_first() {
    let run = crate::shapes::run(
        "r",
        "base",
        "7",
        json!([condition("Initialized", "False", "UpdateRunInitializedFailed", "")]),
        json!([]),
    );
    let older = vec![run, terminating("member-1"), deleted(work("member-1", "base")), green("base", &["member-1"])];
    assert!(found(&hub(older))[0].starts_with("KF-WS-008"));
}

/// The member's rights are deleted with its namespace, so the finding about its silence is a consequence of every
/// finding about the namespace.
#[test]
fn the_silence_of_a_member_whose_namespace_is_being_deleted_has_one_root() {
    let silent =
        with(member_cluster("member-1"), "/status/agentStatus/0/lastReceivedHeartbeat", "2026-01-08T11:50:00Z");
    let objects = [silent, terminating("member-1"), deleted(work("member-1", "base")), green("base", &["member-1"])];
    in_both_scopes(
        &objects,
        &["KF-WS-008 {c}ResourcePlacement/{ns}base (member-1)", "  KF-MC-001 MemberCluster/member-1"],
    );
    let both = [objects.as_slice(), &[unsynchronized(TERMINATING[0])]].concat();
    in_both_scopes(
        &both,
        &[
            "KF-WS-001 {c}ResourcePlacement/{ns}web (member-1)",
            "  KF-WS-008 {c}ResourcePlacement/{ns}base (member-1)",
            "  KF-MC-001 MemberCluster/member-1",
        ],
    );
}
