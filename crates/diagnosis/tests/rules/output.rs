//! Tests of findings as JSON.

use diagnosis::{Finding, KubectlAccess, ObjectPattern, Waiver};
use schemas::DocumentSchema;
use serde_json::json;

use crate::shapes::{condition, green, hub, member_cluster, resource_snapshot, run, with};

/// Checks findings against the published schema of a diagnosis.
pub fn assert_as_published(findings: &[Finding]) {
    assert!(!findings.is_empty());
    for finding in findings {
        let finding = serde_json::to_value(finding).expect("JSON");
        DocumentSchema { document: "diagnosis", number: 1 }.check_part("Finding", &finding);
    }
}

#[test]
fn a_finding_as_json() {
    let message = "cannot continue the updateRun: failed to initialize the updateRun: failed to process the request due to a \
                   client error: no resourceSnapshots with index `7` found for placement `/web`";
    let failed = condition("Initialized", "False", "UpdateRunInitializedFailed", message);
    let objects = vec![
        green("web", &["member-1"]),
        resource_snapshot("web", 0),
        resource_snapshot("web", 10),
        resource_snapshot("web", 2),
        run("r", "web", "7", json!([failed]), json!([])),
    ];
    let findings = diagnosis::diagnose(&hub(objects));
    insta::assert_json_snapshot!(findings);
    assert_as_published(&findings);
}

#[test]
fn a_waiver_marks_the_findings_that_it_covers() {
    let failed = |name| {
        run(name, "web", "7", json!([condition("Initialized", "False", "UpdateRunInitializedFailed", "")]), json!([]))
    };
    let snapshot = hub(vec![green("web", &["member-1"]), failed("a"), failed("b")]);
    let code = diagnosis::diagnose(&snapshot)[0].code.clone();
    let waiver = Waiver {
        code,
        object: Some(ObjectPattern::new("ClusterStagedUpdateRun/a").unwrap()),
        member: None,
        reason: "accepted".to_owned(),
        until: "2027-01-31".parse().unwrap(),
    };
    let found = diagnosis::examine_with_waivers(&snapshot, &KubectlAccess::unknown(), &[waiver]).findings;
    let told: Vec<_> = found.iter().map(|f| (f.subject.name.as_str(), f.waived.clone().map(|w| w.reason))).collect();
    assert_eq!(told, [("b", None), ("a", Some("accepted".to_owned()))]);
}

#[test]
fn the_same_snapshot_gives_the_same_findings_in_whatever_order_it_was_read() {
    let failed = |name| {
        run(name, "web", "7", json!([condition("Initialized", "False", "UpdateRunInitializedFailed", "")]), json!([]))
    };
    let mut objects = vec![green("web", &["member-1"]), failed("b"), failed("a"), failed("a")];
    let findings = diagnosis::diagnose(&hub(objects.clone()));
    assert_eq!(findings.len(), 2);
    objects.reverse();
    assert_eq!(diagnosis::diagnose(&hub(objects)), findings);
}

/// Their evidence stood in the order of the objects.
#[test]
fn evidence_about_several_objects_stands_in_the_order_of_their_names() {
    let late =
        |name: &str| with(member_cluster(name), "/status/agentStatus/0/lastReceivedHeartbeat", "2026-01-08T11:57:00Z");
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {
            "name": "apiserver-a", "namespace": "kube-system",
            "labels": {"apiserver.kubernetes.io/identity": "kube-apiserver"},
        },
        "spec": {"renewTime": "2026-01-08T11:57:05.000000Z"},
    });
    for members in [["member-1", "member-2"], ["member-2", "member-1"]] {
        let findings = diagnosis::diagnose(&hub(vec![lease.clone(), late(members[0]), late(members[1])]));
        assert_eq!(findings[0].code.0, "KF-HA-004");
        let quoted: Vec<_> = findings[0].evidence.iter().map(|evidence| evidence.object.name.as_str()).collect();
        assert_eq!(quoted, ["apiserver-a", "member-1", "member-2"]);
    }
}

#[test]
fn guides_are_named_as_their_files_are_and_have_an_address() {
    for entry in diagnosis::catalogue() {
        let Some(guide) = &entry.guide else { continue };
        let address = match guide.name.as_str() {
            kubefleet if kubefleet.starts_with("kubefleet-") => "https://kubefleet.dev/docs/troubleshooting/",
            "argocd-sync-failed" => "https://www.intellira.ai/troubleshoot/argocd/",
            _ => panic!("{guide:?}"),
        };
        assert!(guide.url.as_deref().is_some_and(|u| u.starts_with(address)), "{guide:?}");
    }
}

#[test]
fn an_unreadable_hub_gives_nothing() {
    let mut snapshot = hub(Vec::new());
    snapshot.clusters[0].unreachable = Some("connection refused".to_owned());
    assert!(diagnosis::diagnose(&snapshot).is_empty());
}
