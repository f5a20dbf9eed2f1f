use serde_json::{Value, json};

use crate::hub_agent::{copied, internal};
use crate::scheduling::unfulfilled;
use crate::shapes::{condition, found, green, hub, member_cluster, with};

/// Time of the last write in these tests, 10 s before the snapshot.
const WRITTEN: &str = "2026-01-08T11:59:50Z";

/// Member whose agent has written this time into the heartbeat that arrived last.
fn heartbeat(member: &str, sent: &str) -> [Value; 2] {
    [copied(member, sent), internal(member, sent, WRITTEN)]
}

/// Placement whose status the hub-agent has written last, with a condition of this time.
fn scheduled(created: &str, told: &str) -> Value {
    let writes = json!([{"manager": "hubagent", "operation": "Update", "subresource": "status", "time": WRITTEN}]);
    let placement = with(green("web", &["member-1"]), "/metadata/managedFields", writes);
    let placement = with(placement, "/metadata/creationTimestamp", created);
    let told = crate::shapes::at(
        told,
        condition("ClusterResourcePlacementScheduled", "True", "SchedulingPolicyFulfilled", ""),
    );
    with(with(placement, "/status/conditions/1/lastTransitionTime", Value::Null), "/status/conditions/0", told)
}

#[test]
fn a_member_s_agent_with_a_wrong_clock_is_found() {
    let diagnosed = |sent: &str| found(&hub(heartbeat("member-1", sent).to_vec()));
    let expected = ["KF-MC-009 MemberCluster/member-1"];
    for sent in ["2026-01-08T11:56:49Z", "2026-01-08T11:40:00Z", "2026-01-08T12:00:51Z", "2027-01-08T12:00:00Z"] {
        assert_eq!(diagnosed(sent), expected, "{sent}");
    }
    for sent in ["2026-01-08T11:56:50Z", WRITTEN, "2026-01-08T12:00:50Z"] {
        assert_eq!(diagnosed(sent), [""; 0], "{sent}");
    }
    // Without the API server's record of the write, there is no second clock: the agent may as well be silent.
    let [member, internal] = heartbeat("member-1", "2026-01-08T11:56:49Z");
    let without_record = with(internal, "/metadata/managedFields", json!([]));
    assert_eq!(found(&hub(vec![member, without_record])), ["KF-MC-001 MemberCluster/member-1"]);
}

#[test]
fn what_a_member_s_clock_does_depends_on_its_direction() {
    let finding = |sent: &str| diagnosis::diagnose(&hub(heartbeat("member-1", sent).to_vec())).remove(0);
    let lost = finding("2026-01-08T11:49:50Z");
    assert!(lost.cause.contains("600 s behind the clock"), "{}", lost.cause);
    assert!(lost.cause.contains("no new placement gets member-1"), "{}", lost.cause);
    assert_eq!(lost.since, None);
    let paths: Vec<_> = lost.evidence.iter().map(|evidence| evidence.path.as_str()).collect();
    let expected = ["status.agentStatus[MemberAgent].lastReceivedHeartbeat", "metadata.managedFields[status].time"];
    assert_eq!(paths, expected);
    assert!(finding("2026-01-08T11:55:50Z").cause.ends_with("From 5 min on, the scheduler takes the member for lost."));
    let ahead = finding("2026-01-08T12:09:50Z");
    assert!(ahead.cause.contains("600 s ahead of the clock"), "{}", ahead.cause);
    assert!(ahead.cause.contains("Nothing fails"), "{}", ahead.cause);
}

#[test]
fn a_placement_that_does_not_get_a_member_with_a_wrong_clock_is_a_consequence() {
    let policy = json!({"placementType": "PickFixed", "clusterNames": ["member-1", "member-2"]});
    let short = unfulfilled(policy, &[("member-1", json!([]))]);
    let behind = heartbeat("member-2", "2026-01-08T11:49:50Z").to_vec();
    let snapshot = hub([vec![member_cluster("member-1"), short.clone()], behind].concat());
    assert_eq!(found(&snapshot), ["KF-MC-009 MemberCluster/member-2", "  KF-SC-006 ClusterResourcePlacement/web"]);
    let cause = diagnosis::diagnose(&snapshot).remove(0).consequences.remove(0).cause;
    assert!(cause.ends_with("member-2 sends heartbeats of 10 min ago, by the clock of its agent."), "{cause}");
    // A heartbeat that was some seconds on its way, and is old.
    let sent = "2026-01-08T11:54:50Z";
    let old = [copied("member-2", sent), internal("member-2", sent, "2026-01-08T11:55:10Z")];
    let snapshot = hub([vec![member_cluster("member-1"), short], old.to_vec()].concat());
    assert_eq!(found(&snapshot), ["KF-MC-001 MemberCluster/member-2", "  KF-SC-006 ClusterResourcePlacement/web"]);
    let cause = diagnosis::diagnose(&snapshot).remove(0).consequences.remove(0).cause;
    assert!(cause.ends_with("member-2 has sent no heartbeat for 5 min."), "{cause}");
}

#[test]
fn a_hub_agent_with_a_wrong_clock_is_found() {
    let long_ago = "2026-01-01T00:00:00Z";
    let diagnosed = |created: &str, told: &str| found(&hub(vec![member_cluster("member-1"), scheduled(created, told)]));
    let expected = ["KF-HA-005 Deployment/fleet-system/hub-agent"];
    // Later than the write.
    assert_eq!(diagnosed(long_ago, "2026-01-08T12:00:51Z"), expected);
    // Earlier than the object.
    assert_eq!(diagnosed("2026-01-08T11:59:49Z", "2026-01-08T11:56:48Z"), expected);
    let right = [
        (long_ago, "2026-01-08T12:00:50Z"),
        (long_ago, WRITTEN),
        // The condition may be as old as that.
        (long_ago, "2026-01-08T11:40:00Z"),
        ("2026-01-08T11:59:49Z", "2026-01-08T11:56:49Z"),
    ];
    for (created, told) in right {
        assert_eq!(diagnosed(created, told), [""; 0], "{created} {told}");
    }
}

#[test]
fn the_last_condition_of_the_hub_agent_tells_of_its_clock() {
    let long_ago = "2026-01-01T00:00:00Z";
    let wrong = scheduled(long_ago, "2026-01-08T12:09:50Z");
    let finding = diagnosis::diagnose(&hub(vec![member_cluster("member-1"), wrong.clone()])).remove(0);
    assert!(finding.cause.contains("10 s ago whose time is at least 600 s ahead"), "{}", finding.cause);
    assert!(finding.cause.contains("takes all of them for lost"), "{}", finding.cause);
    assert_eq!(finding.since.map(|since| since.to_string()).as_deref(), Some(WRITTEN));
    let written = |placement: &Value, at: &str| with(placement.clone(), "/metadata/managedFields/0/time", at);
    let later = |told: &str, at: &str| with(written(&scheduled(long_ago, told), at), "/metadata/name", "later");
    let both = |later: Value| found(&hub(vec![member_cluster("member-1"), wrong.clone(), later]));
    // A condition with the right time ends the finding; one that tells nothing doesn't.
    assert_eq!(both(later("2026-01-08T11:59:55Z", "2026-01-08T11:59:55Z")), [""; 0]);
    assert_eq!(both(later("2026-01-08T11:50:00Z", "2026-01-08T11:59:55Z")).len(), 1);
    // Of two writes in the same second the later one counts.
    let same_second = |versions: [&str; 2]| {
        let right = later(WRITTEN, WRITTEN);
        let versioned = |object: &Value, version: &str| with(object.clone(), "/metadata/resourceVersion", version);
        let objects = vec![versioned(&wrong, versions[0]), versioned(&right, versions[1])];
        found(&hub([vec![member_cluster("member-1")], objects].concat())).len()
    };
    assert_eq!((same_second(["1000", "999"]), same_second(["999", "1000"])), (1, 0));
    // An hour later nothing tells of the clock any more.
    let old = with(
        written(&wrong, "2026-01-08T10:59:59Z"),
        "/status/conditions/0/lastTransitionTime",
        "2026-01-08T11:30:00Z",
    );
    assert_eq!(found(&hub(vec![member_cluster("member-1"), old])), [""; 0]);
}

#[test]
fn a_placement_that_gets_no_member_of_a_hub_agent_with_a_wrong_clock_is_a_consequence() {
    let policy = json!({"placementType": "PickFixed", "clusterNames": ["member-1", "member-2"]});
    let short = unfulfilled(policy, &[("member-1", json!([]))]);
    let ahead = scheduled("2026-01-01T00:00:00Z", "2026-01-08T12:09:50Z");
    let objects =
        vec![member_cluster("member-1"), member_cluster("member-2"), with(ahead, "/metadata/name", "other"), short];
    let expected = ["KF-HA-005 Deployment/fleet-system/hub-agent", "  KF-SC-001 ClusterResourcePlacement/web"];
    assert_eq!(found(&hub(objects)), expected);
}

#[test]
fn an_api_server_whose_clock_differs_from_all_others_is_found_alone() {
    let all = |sent: &[&str]| -> Vec<Value> {
        let members = sent.iter().enumerate().map(|(i, sent)| heartbeat(&format!("member-{}", i + 1), sent));
        members.flatten().collect()
    };
    let expected = ["KF-HA-006 Service/default/kubernetes"];
    let (behind, ahead) = ("2026-01-08T11:49:50Z", "2026-01-08T12:09:50Z");
    for sent in [[behind, "2026-01-08T11:49:00Z"], [ahead, "2026-01-08T12:10:40Z"]] {
        assert_eq!(found(&hub(all(&sent))), expected, "{sent:?}");
    }
    // One agent alone, clocks that differ from one another, and one that is right.
    let of_member = |number: usize| format!("KF-MC-009 MemberCluster/member-{number}");
    assert_eq!(found(&hub(all(&[behind]))), [of_member(1)]);
    assert_eq!(found(&hub(all(&[behind, "2026-01-08T11:48:49Z"]))), [of_member(1), of_member(2)]);
    assert_eq!(found(&hub(all(&[behind, ahead]))), [of_member(1), of_member(2)]);
    assert_eq!(found(&hub(all(&[behind, behind, WRITTEN]))), [of_member(1), of_member(2)]);
}

/// The scheduler compares heartbeats with the clock of the hub-agent.
#[test]
fn a_placement_does_not_lack_a_member_for_the_clock_of_the_api_server() {
    let policy = json!({"placementType": "PickN", "numberOfClusters": 2});
    let short = unfulfilled(policy, &[("member-1", json!([]))]);
    let [first, [other, internal]] = ["member-1", "member-2"].map(|member| heartbeat(member, "2026-01-08T11:49:50Z"));
    let tainted = with(other, "/spec/taints", json!([{"key": "maintenance", "effect": "NoSchedule"}]));
    let snapshot = hub([first.to_vec(), vec![tainted, internal, short]].concat());
    let expected = ["KF-HA-006 Service/default/kubernetes", "KF-SC-005 ClusterResourcePlacement/web"];
    assert_eq!(found(&snapshot), expected);
}

/// The agent of member-1 is the first that sends a heartbeat after the API server's clock was set ahead. The last heartbeat of member-2 is older by
/// its period.
#[test]
fn the_first_heartbeat_after_the_api_server_s_clock_was_set_ahead_tells_nothing_of_its_agent() {
    let diagnosed = |of_other: &str| {
        let [first, other] = [["member-1", "2026-01-08T11:49:50Z", WRITTEN], ["member-2", of_other, of_other]];
        let objects =
            [first, other].map(|[member, sent, written]| [copied(member, sent), internal(member, sent, written)]);
        found(&hub(objects.concat()))
    };
    let silent = "KF-MC-001 MemberCluster/member-2";
    let wrong = "KF-MC-009 MemberCluster/member-1";
    // 2 s and 100 s before the clock was set. More than three periods and a minute would tell that the member was silent before.
    for of_other in ["2026-01-08T11:49:58Z", "2026-01-08T11:48:20Z"] {
        assert_eq!(diagnosed(of_other), [silent], "{of_other}");
    }
    // The other member was silent for longer; it is silent for less; it isn't silent.
    assert_eq!(diagnosed("2026-01-08T11:40:00Z"), [silent, wrong]);
    assert_eq!(diagnosed("2026-01-08T11:53:00Z"), [silent, wrong]);
    assert_eq!(diagnosed(WRITTEN), [wrong]);
}

#[test]
fn the_hub_agent_tells_of_the_clock_of_the_api_server() {
    let (created, right) = ("2026-01-08T11:59:49Z", WRITTEN);
    let diagnosed = |member: &str, told: &str| {
        let objects = [heartbeat("member-1", member).to_vec(), vec![scheduled(created, told)]].concat();
        diagnosis::diagnose(&hub(objects))
    };
    let both = diagnosed("2026-01-08T11:49:50Z", "2026-01-08T11:49:50Z").remove(0);
    assert_eq!(both.code.0, "KF-HA-006");
    assert!(
        both.cause.contains("600 s ahead of the clocks of the agents of its member and of the hub-agent"),
        "{}",
        both.cause
    );
    let quoted: Vec<_> = both.evidence.iter().map(|evidence| evidence.object.kind.as_str()).collect();
    let member = "InternalMemberCluster";
    assert_eq!(quoted, [member, member, "ClusterResourcePlacement", "ClusterResourcePlacement"]);
    let behind = diagnosed("2026-01-08T12:09:50Z", "2026-01-08T12:09:50Z").remove(0);
    assert!(behind.cause.contains("600 s behind the clocks"), "{}", behind.cause);
    // The hub-agent's clock is right, or wrong by another time: both agents are named, or the member's alone.
    let codes = |member: &str, told: &str| -> Vec<String> {
        diagnosed(member, told).into_iter().map(|finding| finding.code.0).collect()
    };
    assert_eq!(codes("2026-01-08T11:49:50Z", right), ["KF-MC-009"]);
    assert_eq!(codes("2026-01-08T11:49:50Z", "2026-01-08T12:09:50Z"), ["KF-HA-005", "KF-MC-009"]);
    // A condition of before tells nothing of the clock as it is now.
    let members =
        [heartbeat("member-1", "2026-01-08T11:49:50Z"), heartbeat("member-2", "2026-01-08T11:49:50Z")].concat();
    let before = with(
        scheduled("2026-01-08T11:00:00Z", "2026-01-08T11:58:40Z"),
        "/metadata/managedFields/0/time",
        "2026-01-08T11:58:40Z",
    );
    let now = scheduled("2026-01-08T11:00:00Z", WRITTEN);
    let found_with = |placement: Value| found(&hub([members.clone(), vec![placement]].concat())).len();
    assert_eq!((found_with(before), found_with(now)), (1, 2));
}

#[test]
fn an_api_server_whose_clock_was_set_back_is_found() {
    let at = |member: &str, time: &str| [copied(member, time), internal(member, time, time)];
    let objects = |times: &[&str]| -> Vec<Value> {
        times.iter().enumerate().flat_map(|(i, time)| at(&format!("member-{}", i + 1), time)).collect()
    };
    let (future, present) = ("2026-01-08T12:10:00Z", WRITTEN);
    for times in [vec![future], vec![future, present], vec![future, "2026-01-08T12:01:01Z", future]] {
        assert_eq!(found(&hub(objects(&times))), ["KF-HA-006 Service/default/kubernetes"], "{times:?}");
    }
    assert_eq!(found(&hub(objects(&[present, "2026-01-08T12:01:00Z"]))), [""; 0]);
    let cause = |times: &[&str]| diagnosis::diagnose(&hub(objects(times))).remove(0).cause;
    let text = cause(&["2026-01-08T12:09:00Z", future]);
    assert!(text.contains("of member-2 and of 1 more member at a time that its clock reaches in 600 s only"), "{text}");
    assert!(cause(&[future]).contains("of member-1 at a time"), "{}", cause(&[future]));
    // It is right again after it was ahead.
    let ahead = [copied("member-1", WRITTEN), internal("member-1", WRITTEN, future)];
    assert_eq!(found(&hub(ahead.to_vec())), ["KF-HA-006 Service/default/kubernetes"]);
    // Agents that aren't refused seem to be ahead: their clocks are right.
    let late = heartbeat("member-2", "2026-01-08T12:09:50Z").to_vec();
    let late = [objects(&[future]), late, heartbeat("member-3", "2026-01-08T12:09:50Z").to_vec()].concat();
    assert_eq!(found(&hub(late)), ["KF-HA-006 Service/default/kubernetes"]);
}

#[test]
fn a_write_of_the_future_tells_nothing_of_the_hub_agent() {
    let future = "2026-01-08T12:09:50Z";
    let written = |at: &str| with(scheduled(at, "2026-01-08T11:59:50Z"), "/metadata/managedFields/0/time", at);
    assert_eq!(found(&hub(vec![member_cluster("member-1"), written(future)])), [""; 0]);
    assert_eq!(found(&hub(vec![member_cluster("member-1"), written("2026-01-08T12:00:51Z")])).len(), 0);
    // The last write counts, not the one with the latest time.
    let version = |object: Value, version: &str| with(object, "/metadata/resourceVersion", version);
    let wrong =
        version(with(scheduled("2026-01-01T00:00:00Z", "2026-01-08T12:09:50Z"), "/metadata/name", "wrong"), "1000");
    let objects = vec![member_cluster("member-1"), version(written(future), "999"), wrong];
    assert_eq!(found(&hub(objects)), ["KF-HA-005 Deployment/fleet-system/hub-agent"]);
}
