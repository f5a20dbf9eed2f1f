//! Causes on the member for which Pods don't run: each is named by its own code, and not before it has lasted.

use diagnosis::{Finding, Snapshot};
use serde_json::{Value, json};

use crate::availability::{pods, unavailable};
use crate::shapes::{condition, found, hub_and_member, with, work};
use crate::switched_off::diagnose;

const JUST_NOW: &str = "2026-01-08T11:59:50Z";
const A_WHILE_AGO: &str = "2026-01-08T11:59:20Z";
const LONG_AGO: &str = "2026-01-08T11:54:00Z";

const POD: &str = "Pod/apps/web-578cf755cd-rz2f4";

/// Fleet in which the Deployment has been unavailable since the given time, and whose objects on the member are changed like this.
fn fleet(since: &str, change: impl FnOnce(&mut Vec<Value>)) -> Snapshot {
    let mut objects = pods("ContainerCreating");
    objects[1]["spec"]["containers"][0]["image"] = "nginx:1.29".into();
    change(&mut objects);
    let not_available = condition("Available", "False", "SomeManifestsAreNotAvailable", "");
    let work = with(work("member-1", "web"), "/status", json!({"conditions": [not_available]}));
    hub_and_member(vec![unavailable(since), work], "member-1", objects)
}

fn finding(change: impl FnOnce(&mut Vec<Value>)) -> Finding {
    let mut findings = diagnose(&fleet(A_WHILE_AGO, change));
    assert_eq!(findings.len(), 1, "{findings:?}");
    findings.remove(0)
}

fn codes(since: &str, change: impl FnOnce(&mut Vec<Value>)) -> Vec<String> {
    diagnose(&fleet(since, change)).into_iter().map(|finding| finding.code.0).collect()
}

/// The scheduler has found no node since the given time, for this reason.
fn unscheduled(since: &str, message: &str) -> Value {
    json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
            "lastTransitionTime": since}])
}

fn values(finding: &Finding, object: &str) -> Vec<String> {
    let of_object = finding.evidence.iter().filter(|e| e.object.to_string() == object);
    of_object.map(|e| format!("{}: {}", e.path, e.value)).collect()
}

#[test]
fn what_nodes_lack_is_named_with_what_the_pod_asks_for() {
    let message = "0/3 nodes are available: 1 Insufficient cpu, 2 Insufficient cpu, 3 Insufficient memory. preemption: \
                   0/3 nodes are available: 3 No preemption victims found for incoming pod.";
    let no_room = |since: &'static str| {
        move |objects: &mut Vec<Value>| {
            objects[1]["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "64"}});
            objects[1]["status"]["conditions"] = unscheduled(since, message);
        }
    };
    let found = finding(no_room(A_WHILE_AGO));
    assert_eq!(found.code.0, "KF-AV-004");
    assert_eq!(
        found.cause,
        format!(
            "Deployment apps/web of placement web isn't available on member-1, because no node has what {POD} asks for; \
             they lack: cpu, memory."
        )
    );
    assert!(values(&found, POD).contains(&"spec.containers[nginx].resources.requests: {\"cpu\":\"64\"}".to_owned()));
    assert_eq!(codes(JUST_NOW, no_room(JUST_NOW)), [""; 0]);
    let too_many = |objects: &mut Vec<Value>| {
        objects[1]["status"]["conditions"] = unscheduled(A_WHILE_AGO, "0/1 nodes are available: 1 Too many pods.");
    };
    assert!(finding(too_many).cause.ends_with("they lack: room for another Pod."));
}

#[test]
fn a_node_that_does_not_fit_is_another_cause_than_one_without_room() {
    let message = "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.";
    let found = finding(|objects| {
        objects[1]["spec"]["nodeSelector"] = json!({"disk": "ssd"});
        objects[1]["status"]["conditions"] = unscheduled(A_WHILE_AGO, message);
    });
    assert_eq!(found.code.0, "KF-AV-005");
    assert!(found.cause.ends_with(&format!("because no node takes {POD}: {message}")), "{}", found.cause);
    assert!(values(&found, POD).contains(&"spec.nodeSelector: {\"disk\":\"ssd\"}".to_owned()));
}

#[test]
fn a_missing_object_is_found_in_the_spec_by_what_the_kubelet_or_the_scheduler_says() {
    let waits = |message: &str| json!([{"name": "nginx", "state": {"waiting": {"reason": "CreateContainerConfigError", "message": message}}}]);
    let env = json!([
        {"name": "COLOR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "color"}}},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "settings", "key": "token"}}},
    ]);
    for (message, cause, path) in [
        (
            "configmap \"settings\" not found",
            "ConfigMap settings",
            "spec.containers[nginx].env[COLOR].valueFrom.configMapKeyRef.name",
        ),
        (
            "secret \"settings\" not found",
            "Secret settings",
            "spec.containers[nginx].env[TOKEN].valueFrom.secretKeyRef.name",
        ),
        ("configmap \"shared\" not found", "ConfigMap shared", "spec.containers[nginx].envFrom.configMapRef.name"),
        (
            "couldn't find key token in Secret apps/settings",
            "key token of Secret settings",
            "spec.containers[nginx].env[TOKEN].valueFrom.secretKeyRef.key",
        ),
    ] {
        let found = finding(|objects| {
            objects[1]["spec"]["containers"][0]["env"] = env.clone();
            objects[1]["spec"]["containers"][0]["envFrom"] = json!([{"configMapRef": {"name": "shared"}}]);
            objects[1]["status"]["containerStatuses"] = waits(message);
        });
        assert_eq!(found.code.0, "KF-AV-006");
        assert!(found.cause.ends_with(&format!("because {POD} uses {cause}, which isn't in its namespace there.")));
        assert!(values(&found, POD).iter().any(|value| value.starts_with(path)), "{:?}", values(&found, POD));
    }
    let claim = finding(|objects| {
        objects[1]["spec"]["volumes"] = json!([{"name": "disk", "persistentVolumeClaim": {"claimName": "data"}}]);
        let message = "0/1 nodes are available: persistentvolumeclaim \"data\" not found. not found";
        objects[1]["status"]["conditions"] = unscheduled(A_WHILE_AGO, message);
    });
    assert_eq!(claim.code.0, "KF-AV-006");
    let path = "spec.volumes[disk].persistentVolumeClaim.claimName: data";
    assert!(values(&claim, POD).contains(&path.to_owned()));
}

#[test]
fn a_configuration_error_without_a_missing_object_is_no_missing_object() {
    let found = diagnose(&fleet(LONG_AGO, |objects| {
        objects[1]["status"]["containerStatuses"] = json!([{"name": "nginx", "state": {"waiting": {
            "reason": "CreateContainerConfigError", "message": "container has runAsNonRoot and image will run as root"}}}]);
    }));
    assert_eq!(found[0].code.0, "KF-AV-003");
    assert!(found[0].cause.contains("CreateContainerConfigError"), "{}", found[0].cause);
}

#[test]
fn pods_of_an_older_template_do_not_count() {
    let waits = |message: &str| json!([{"name": "nginx", "state": {"waiting": {"reason": "CreateContainerConfigError", "message": message}}}]);
    let env = |name: &str| json!([{"configMapRef": {"name": name}}]);
    let found = finding(|objects| {
        let mut older = objects[1].clone();
        older["metadata"]["name"] = "web-4a8ffb7c21-aaaaa".into();
        older["metadata"]["labels"] = json!({"pod-template-hash": "4a8ffb7c21"});
        older["metadata"]["creationTimestamp"] = "2026-01-08T11:30:00Z".into();
        older["spec"]["containers"][0]["envFrom"] = env("first");
        older["status"]["containerStatuses"] = waits("configmap \"first\" not found");
        objects[1]["metadata"]["labels"] = json!({"pod-template-hash": "578cf755cd"});
        objects[1]["metadata"]["creationTimestamp"] = "2026-01-08T11:50:00Z".into();
        objects[1]["spec"]["containers"][0]["envFrom"] = env("second");
        objects[1]["status"]["containerStatuses"] = waits("configmap \"second\" not found");
        objects.push(older);
    });
    assert!(found.cause.contains("ConfigMap second"), "{}", found.cause);
    assert!(found.evidence.iter().all(|e| !e.object.to_string().contains("4a8ffb7c21")), "{found:?}");
}

#[test]
fn an_object_may_come_a_moment_after_the_pod() {
    let waits = json!([{"name": "nginx", "state": {"waiting":
        {"reason": "CreateContainerConfigError", "message": "configmap \"settings\" not found"}}}]);
    let young = |objects: &mut Vec<Value>| {
        objects[1]["metadata"]["creationTimestamp"] = JUST_NOW.into();
        objects[1]["status"]["containerStatuses"] = waits;
    };
    assert_eq!(codes(JUST_NOW, young), [""; 0]);
}

#[test]
fn a_refusal_quotes_the_quotas_and_limits_of_the_namespace() {
    let refused = |since: &'static str| {
        move |objects: &mut Vec<Value>| {
            let failure = json!({"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
                "message": "pods \"web-578cf755cd-x\" is forbidden: exceeded quota: small", "lastTransitionTime": since});
            objects[0]["status"]["conditions"].as_array_mut().unwrap().push(failure);
            objects.remove(1);
            for (namespace, name) in [("apps", "small"), ("other", "none")] {
                objects.push(json!({"apiVersion": "v1", "kind": "ResourceQuota",
                    "metadata": {"namespace": namespace, "name": name},
                    "spec": {"hard": {"pods": "0"}}, "status": {"used": {"pods": "0"}}}));
            }
            objects.push(
                json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"namespace": "apps", "name": "max"},
                "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}}),
            );
        }
    };
    let found = finding(refused(A_WHILE_AGO));
    assert_eq!(found.code.0, "KF-AV-007");
    assert!(found.cause.contains("the Pods of Deployment/apps/web are refused there: pods"), "{}", found.cause);
    let small = ["spec.hard: {\"pods\":\"0\"}", "status.used: {\"pods\":\"0\"}"];
    assert_eq!(values(&found, "ResourceQuota/apps/small"), small);
    assert_eq!(values(&found, "LimitRange/apps/max").len(), 1);
    assert_eq!(values(&found, "ResourceQuota/other/none").len(), 0);
    let commands: Vec<_> = found.remedies.iter().flat_map(|remedy| &remedy.commands).collect();
    assert!(commands.iter().any(|c| c.ends_with("edit resourcequotas/small -n apps")), "{commands:?}");
    assert_eq!(codes(JUST_NOW, refused(JUST_NOW)), [""; 0]);
}

/// State of a container that has been restarted this often.
fn crashed(restarts: u32, state: Value) -> Value {
    json!([{"name": "nginx", "restartCount": restarts, "state": state,
            "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}])
}

#[test]
fn a_container_crashes_from_its_third_restart_on() {
    let waits = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let with_state = |state: Value| move |objects: &mut Vec<Value>| objects[1]["status"]["containerStatuses"] = state;
    let found = finding(with_state(crashed(3, waits.clone())));
    assert_eq!(found.code.0, "KF-AV-008");
    assert!(found.cause.ends_with(&format!("a container of {POD} ends each time that it is started (exit code 1).")));
    assert!(values(&found, POD).contains(&"status.containerStatuses[nginx].restartCount: 3".to_owned()));
    // It was started again a moment ago.
    let runs = json!({"running": {"startedAt": JUST_NOW}});
    assert_eq!(codes(JUST_NOW, with_state(crashed(3, runs))), ["KF-AV-008"]);
    // A container may wait for its database in this way.
    assert_eq!(codes(JUST_NOW, with_state(crashed(2, waits))), [""; 0]);
    // It crashed in the past, and runs now.
    let runs = json!({"running": {"startedAt": LONG_AGO}});
    assert_eq!(codes(JUST_NOW, with_state(crashed(3, runs))), [""; 0]);
    let mut killed = crashed(3, json!({"waiting": {"reason": "CrashLoopBackOff"}}));
    killed[0]["lastState"]["terminated"] = json!({"exitCode": 137, "reason": "OOMKilled"});
    assert!(finding(with_state(killed)).cause.contains("(OOMKilled, exit code 137)"));
}

/// The Pod runs; its only container isn't ready.
fn unready(objects: &mut [Value]) {
    objects[1]["spec"]["containers"][0]["readinessProbe"] = json!({"httpGet": {"port": 8081}});
    objects[1]["status"] = json!({
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
        "containerStatuses": [{"name": "nginx", "ready": false, "state": {"running": {"startedAt": LONG_AGO}}}],
    });
}

#[test]
fn a_probe_that_fails_is_named_after_five_minutes() {
    assert_eq!(codes(A_WHILE_AGO, |objects| unready(objects)), [""; 0]);
    assert_eq!(codes(LONG_AGO, |objects| unready(objects)), ["KF-AV-009"]);
    let findings = diagnose(&fleet(LONG_AGO, |objects| unready(objects)));
    assert!(findings[0].cause.ends_with("the readiness probe of its container nginx fails."), "{}", findings[0].cause);
    let quoted = values(&findings[0], POD);
    assert!(quoted.iter().any(|value| value.starts_with("spec.containers[nginx].readinessProbe: ")), "{quoted:?}");
    let without_probe = |objects: &mut Vec<Value>| {
        unready(objects);
        objects[1]["spec"]["containers"][0]["readinessProbe"] = Value::Null;
    };
    assert_eq!(codes(LONG_AGO, without_probe), ["KF-AV-003"]);
}

#[test]
fn a_deployment_is_paused_if_its_rollout_has_not_ended() {
    let paused = |objects: &mut Vec<Value>| {
        objects.remove(1);
        objects[0]["spec"] = json!({"paused": true, "replicas": 1});
        objects[0]["metadata"]["creationTimestamp"] = A_WHILE_AGO.into();
    };
    let found = finding(paused);
    assert_eq!(found.code.0, "KF-AV-010");
    assert!(found.cause.contains("because Deployment/apps/web is paused"), "{}", found.cause);
    assert_eq!(values(&found, "Deployment/apps/web")[1], "spec.paused: true");
    let young = |objects: &mut Vec<Value>| {
        paused(objects);
        objects[0]["metadata"]["creationTimestamp"] = JUST_NOW.into();
    };
    assert_eq!(codes(JUST_NOW, young), [""; 0]);
    let rolled_out = |objects: &mut Vec<Value>| {
        paused(objects);
        objects[0]["status"]["updatedReplicas"] = 1.into();
    };
    assert_eq!(codes(JUST_NOW, rolled_out), [""; 0]);
}

#[test]
fn a_remedy_on_the_hub_edits_the_envelope_that_the_workload_comes_in() {
    let found = finding(|objects| {
        objects[1]["status"]["conditions"] = unscheduled(A_WHILE_AGO, "0/1 nodes are available: 1 Insufficient cpu.");
    });
    let commands: Vec<_> = found.remedies.iter().flat_map(|remedy| &remedy.commands).collect();
    let edit = "kubectl --context hub edit resourceenvelopes.placement.kubernetes-fleet.io/e1 -n apps";
    assert!(commands.iter().any(|command| *command == edit), "{commands:?}");
    let describe = "kubectl --context member-1 describe deployments.apps/web -n apps";
    assert!(commands.iter().any(|command| *command == describe), "{commands:?}");
}

#[test]
fn a_healthy_workload_has_no_fault() {
    let ready = |objects: &mut Vec<Value>| {
        unready(objects);
        objects[1]["status"]["conditions"][0]["status"] = "True".into();
        objects[1]["status"]["containerStatuses"][0]["ready"] = true.into();
    };
    assert_eq!(found(&fleet(JUST_NOW, ready)), [""; 0]);
}
