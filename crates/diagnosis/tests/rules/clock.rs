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
