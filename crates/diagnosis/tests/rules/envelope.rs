use serde_json::{Value, json};

use crate::shapes::{condition, found, hub, in_both_scopes, member_namespace, with, work};
use crate::work_synchronized::{terminating, unsynchronized};

const PREFIX: &str = "Failed to synchronize the work to the latest: ";
const USER: &str = "failed to process the request due to a client error: ";

/// Controllers' messages for each way to fill an envelope wrongly.
const REFUSED: [(&str, &str); 10] = [
    (
        "KF-WS-002",
        "failed to parse the wrapped manifest data to a Kubernetes runtime object (manifestKey=x.yaml,envelopeObjRef=c1): \
         Object 'Kind' is missing in '{\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\"}}'",
    ),
    (
        "KF-WS-002",
        "failed to parse the wrapped manifest data to a Kubernetes runtime object (manifestKey=x.yaml,envelopeObjRef=e5/r1): \
         Object 'Kind' is missing in '{}'",
    ),
    (
        "KF-WS-002",
        "the object with manifest key `x.yaml` in envelope config `e5/r1` is malformatted, err: yaml: line 2",
    ),
    // v0.14.0: a ConfigMap with text that isn't YAML, and a ConfigMap with an object without a kind.
    ("KF-WS-002", "yaml: line 1: did not find expected node content"),
    (
        "KF-WS-002",
        "Work.placement.kubernetes-fleet.io \"web-configmap-1\" is invalid: spec.workload.manifests[0].kind: Required value",
    ),
    ("KF-WS-003", "a namespaced object x.yaml (e1/x) has been wrapped in a cluster resource envelope c2"),
    ("KF-WS-004", "a cluster scope object x.yaml (x) has been wrapped in a resource envelope e2/c4"),
    (
        "KF-WS-005",
        "a namespaced object x.yaml (default/x) in has been wrapped in a resource envelope from another namespace (e3/c5)",
    ),
    (
        "KF-WS-005",
        "a namespaced object x.yaml (default/x) has been wrapped in a resource envelope from another namespace (e3/c5)",
    ),
    (
        "KF-WS-006",
        "Work.placement.kubernetes-fleet.io \"c3b-work-envelope-1\" is invalid: spec.workload.manifests[0].apiVersion: Required value",
    ),
];

#[test]
fn each_wrong_content_is_told_apart() {
    for (code, message) in REFUSED {
        for prefix in ["", USER] {
            let objects = [member_namespace("member-1"), unsynchronized(&format!("{PREFIX}{prefix}{message}"))];
            in_both_scopes(&objects, &[&format!("{code} {{c}}ResourcePlacement/{{ns}}web (member-1)")]);
        }
    }
}

#[test]
fn the_content_is_quoted_and_the_envelope_named() {
    let envelope = json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ResourceEnvelope",
        "metadata": {"namespace": "e2", "name": "c4"}, "data": {"x.yaml": {"kind": "ClusterRole"}},
    });
    let findings =
        diagnosis::diagnose(&hub(vec![envelope, unsynchronized(&format!("{PREFIX}{USER}{}", REFUSED[6].1))]));
    let last = findings[0].evidence.last().unwrap();
    assert_eq!((last.path.as_str(), last.value.as_str()), ("data[x.yaml]", r#"{"kind":"ClusterRole"}"#));
    assert_eq!(
        findings[0].remedies[0].commands,
        ["kubectl --context hub edit resourceenvelopes.placement.kubernetes-fleet.io/c4 -n e2"]
    );
}

#[test]
fn wrong_content_is_named_even_where_the_namespace_is_terminating() {
    let objects = vec![terminating("member-1"), unsynchronized(&format!("{PREFIX}{}", REFUSED[5].1))];
    assert_eq!(found(&hub(objects)), ["KF-WS-003 ClusterResourcePlacement/web (member-1)"]);
}

#[test]
fn of_several_works_of_one_envelope_the_one_that_is_applied_may_stay() {
    let message =
        format!("{PREFIX}unexpected behavior: 2 work objects found for the same envelope e2/c4, only one expected");
    let of_envelope = |name: &str, applied: &str, envelope: &str| {
        let mut work = work("member-1", "web");
        work["metadata"]["name"] = name.into();
        work["status"]["conditions"] = json!([condition("Applied", applied, "", "")]);
        work["metadata"]["labels"]["kubernetes-fleet.io/envelope-name"] = envelope.into();
        work["metadata"]["labels"]["kubernetes-fleet.io/envelope-namespace"] = "e2".into();
        work
    };
    let objects = [
        member_namespace("member-1"),
        unsynchronized(&message),
        of_envelope("a-surplus", "False", "c4"),
        of_envelope("b-applied", "True", "c4"),
        of_envelope("c-other", "False", "c5"),
    ];
    in_both_scopes(&objects, &["KF-WS-010 {c}ResourcePlacement/{ns}web (member-1)"]);
    let findings = diagnosis::diagnose(&hub(objects.to_vec()));
    assert_eq!(
        findings[0].remedies[0].commands,
        ["kubectl --context hub delete works.placement.kubernetes-fleet.io/a-surplus -n fleet-member-member-1"]
    );
}

#[test]
fn a_missing_namespace_is_told_from_other_errors() {
    let gone = unsynchronized(&format!("{PREFIX}namespaces \"fleet-member-member-1\" not found"));
    in_both_scopes(&[gone], &["KF-WS-007 {c}ResourcePlacement/{ns}web (member-1)"]);
    let other = unsynchronized(&format!("{PREFIX}error returned by the API server: etcdserver: request timed out"));
    in_both_scopes(
        &[member_namespace("member-1"), other.clone()],
        &["KF-WS-009 {c}ResourcePlacement/{ns}web (member-1)"],
    );
    let just_now = |placement: Value| {
        with(placement, "/status/placementStatuses/0/conditions/1/lastTransitionTime", "2026-01-08T11:59:55Z")
    };
    in_both_scopes(&[member_namespace("member-1"), just_now(other)], &[]);
}
