use serde_json::{Value, json};

use crate::shapes::{found, hub, member_cluster, with};

/// Member whose last heartbeat is of this time.
fn member(name: &str, heartbeat: &str) -> Value {
    with(member_cluster(name), "/status/agentStatus/0/lastReceivedHeartbeat", heartbeat)
}

/// Lease of an API server that was renewed at this time.
fn lease(name: &str, renewed: &str) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {
            "name": name, "namespace": "kube-system",
            "labels": {"apiserver.kubernetes.io/identity": "kube-apiserver"},
        },
        "spec": {"renewTime": renewed, "leaseDurationSeconds": 3600},
    })
}

#[test]
fn a_hub_that_renews_not_even_its_own_lease_takes_no_writes() {
    let objects = vec![
        member("member-1", "2026-01-08T11:57:00Z"),
        member("member-2", "2026-01-08T11:57:10Z"),
        lease("apiserver-old", "2026-01-08T11:40:00.123456Z"),
        lease("apiserver-new", "2026-01-08T11:57:05.123456Z"),
    ];
    let expected = [
        "KF-HA-004 Lease/kube-system/apiserver-new",
        "  KF-MC-001 MemberCluster/member-1",
        "  KF-MC-001 MemberCluster/member-2",
    ];
    assert_eq!(found(&hub(objects.clone())), expected);
    let finding = diagnosis::diagnose(&hub(objects)).remove(0);
    assert!(finding.cause.contains("for 174 s"), "{}", finding.cause);
    assert!(finding.cause.contains("of the 2 members"), "{}", finding.cause);
    assert_eq!(finding.evidence[0].value, "2026-01-08T11:57:05.123456Z");
}

#[test]
fn a_hub_whose_lease_is_fresh_takes_writes_and_its_members_are_silent() {
    let silent = || vec![member("member-1", "2026-01-08T11:57:00Z"), member("member-2", "2026-01-08T11:57:10Z")];
    let expected = ["KF-MC-001 MemberCluster/member-1", "KF-MC-001 MemberCluster/member-2"];
    let fresh = [silent(), vec![lease("apiserver-new", "2026-01-08T11:59:55Z")]].concat();
    assert_eq!(found(&hub(fresh)), expected);
    // A hub without such leases, or one whose leases nobody may read, says nothing.
    assert_eq!(found(&hub(silent())), expected);
}

#[test]
fn one_heartbeat_that_arrives_shows_that_the_hub_takes_writes() {
    let objects = vec![
        member("member-1", "2026-01-08T11:57:00Z"),
        member("member-2", "2026-01-08T11:59:58Z"),
        lease("apiserver-new", "2026-01-08T11:57:00Z"),
    ];
    assert_eq!(found(&hub(objects)), ["KF-MC-001 MemberCluster/member-1"]);
}
