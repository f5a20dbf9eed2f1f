//! Marked secrets at every position of the objects, events and logs that are read: none of the marks is in a redacted
//! object, a bundle or a finding. Each position has a mark of its own, so that a failure names the position.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use diagnosis::{ClusterSnapshot, PodLog, Snapshot, SnapshotRole, UnreadKind, UnreadReason};
use serde_json::{Value, json};

use super::{REMOVED, Redactor};
use crate::bundle::{Bundle, LoadedBundle, LogTail, SizeLimit};

/// Place where a text with a mark stands. `{}` in a text is the mark.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Position {
    /// Message of an event, a condition and a Pod; text of a log; text of an annotation and of a custom resource.
    AnyText,
    /// String of an object, but neither a message nor a log.
    ObjectString,
    /// Log, line by line.
    Log,
    /// Value in JSON, a custom resource's spec: also within a Work, an envelope, a snapshot and in JSON in a string.
    Field,
    /// A container, in JSON.
    Container,
    /// Source of an Application, in JSON.
    Source,
}

use Position::{AnyText, Container, Field, Log, ObjectString, Source};

/// Positions, each with what stands there.
const CANARIES: &[(Position, &str)] = &[
    // Texts.
    (AnyText, "password: {}"),
    (AnyText, "login failed with password: {}, giving up"),
    (AnyText, "x-api-key: {}"),
    (AnyText, "AWS_SECRET_ACCESS_KEY={}"),
    (AnyText, "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=core"),
    (AnyText, "https://store.example/c?sv=2024&sig={}&se=2026"),
    (AnyText, "https://{}@git.example/web.git"),
    (AnyText, "https://me:{}@git.example/web.git"),
    (AnyText, "https://me:p@{}@git.example/web.git"),
    (AnyText, "redis://:{}@cache:6379/0"),
    (AnyText, "https://a.example/?access_token={}"),
    (AnyText, "https://a.example/?user=a&key={}"),
    (AnyText, "https://hooks.slack.com/services/T0/B0/{}"),
    (AnyText, "ghp_{}{}"),
    (AnyText, "glpat-{}{}"),
    (AnyText, "Authorization: Bearer {}.x"),
    (AnyText, "Authorization: token {}"),
    (AnyText, "Authorization: {}"),
    (AnyText, "Set-Cookie: session={}; Path=/"),
    (AnyText, "Server=db;User Id=app;Password={};Encrypt=True"),
    (AnyText, "app:{}@tcp(db:3306)/orders"),
    (AnyText, "--dsn=app:{}@tcp(db)"),
    (AnyText, "MYSQL_PWD={} mysql"),
    (AnyText, "running app --token {} --v=2"),
    (AnyText, "running app --password={}"),
    (AnyText, "exec: mysql -u root -p{} orders"),
    (AnyText, "exec: mysqldump -u root -p {} orders"),
    (AnyText, "redis-cli -a {} ping"),
    (AnyText, "curl -s -u user:{} https://a.example"),
    (AnyText, "sshpass -p {} ssh host"),
    (AnyText, "docker login -u me -p {} registry.example"),
    (AnyText, r#"{"level":"info","msg":"{\"password\":\"{}\"}"}"#),
    (AnyText, r#"{"a":"{\"b\":\"{\\\"dbPassword\\\":\\\"{}\\\"}\"}"}"#),
    (AnyText, r#"got {"adminToken": "{}", "a": 1}"#),
    (AnyText, r#"got {"tokens": ["{}", "a"]}"#),
    (AnyText, r#"{"dbPassword": "{}"}"#),
    (AnyText, "{'password': '{}'}"),
    (AnyText, "{Password:{} User:me}"),
    (AnyText, "password = {}"),
    (AnyText, r#"admission webhook denied the request: password "{}" is too short"#),
    (AnyText, r#"spec.password: Invalid value: "{}": must be longer"#),
    (AnyText, "-----BEGIN RSA PRIVATE KEY-----\nMIIE{}\n-----END RSA PRIVATE KEY-----"),
    // Files in strings.
    (ObjectString, "user: app\npassword: {}\nport: 5432\n"),
    (ObjectString, "db:\n  password: correct horse {}\n"),
    (ObjectString, "db:\n  password: |\n    first\n    {}\n"),
    (ObjectString, "apiVersion: v1\nkind: Config\nusers:\n- name: me\n  user:\n    token: {}\n"),
    (ObjectString, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\nstringData:\n  anything: {}\n"),
    (
        ObjectString,
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  anything: {}\n---\nkind: Namespace\n",
    ),
    (ObjectString, "env:\n- name: ANYTHING\n  value: {}\n"),
    (ObjectString, "# password: {}\nport: 5432\n"),
    (ObjectString, "[db]\nuser = app\npassword = {}\n"),
    (ObjectString, "apiVersion: v1\nkind: Secret\nstringData:\n  a: \"{}"),
    (ObjectString, r#"{"kind":"Secret","data":{"a":"{}"#),
    (ObjectString, r#"[{"op":"replace","path":"/stringData/a","value":"{}"}]"#),
    (ObjectString, r#""{\"password\":\"{}\"}""#),
    (ObjectString, r#"{"auths":{"registry.example":{"auth":"{}"}}}"#),
    // Logs.
    (Log, r#"{"level":"info","credentials":{"key":"{}"}}"#),
    (Log, r#"{"level":"info","msg":"x","body":"{\"credentials\":{\"key\":\"{}\"}}"}"#),
    // Fields.
    (Field, r#"{"dbPassword": "{}"}"#),
    (Field, r#"{"userPassword": "{}"}"#),
    (Field, r#"{"adminPassword": "{}"}"#),
    (Field, r#"{"webhookSecret": "{}"}"#),
    (Field, r#"{"secret": "{}"}"#),
    (Field, r#"{"accessKey": "{}"}"#),
    (Field, r#"{"secret_access_key": "{}"}"#),
    (Field, r#"{"licenseKey": "{}"}"#),
    (Field, r#"{"encryption-key": "{}"}"#),
    (Field, r#"{"credentials": {"key": "{}"}}"#),
    (Field, r#"{"credentials": {"user": "me", "anything": {"deep": ["{}"]}}}"#),
    (Field, r#"{"passwords": ["{}", "{}"]}"#),
    (Field, r#"{"tokens": {"admin": "{}"}}"#),
    (Field, r#"{"token": "{}"}"#),
    (Field, r#"{"connectionString": "{}"}"#),
    (Field, r#"{"auth": "{}"}"#),
    (Field, r#"{"tls.key": "{}"}"#),
    (Field, r#"{"MYSQLPASSWORD": "{}"}"#),
    (Field, r#"{"requirepass": "{}"}"#),
    (Field, r#"{"example.com/api-token": "{}"}"#),
    (
        Field,
        r#"{"kubeconfig": "YXBpVmVyc2lvbjogdjEKa2luZDogQ29uZmlnCmNsdXN0ZXJzOgotIGNsdXN0ZXI6CiAgICBzZXJ2ZXI6IGh0dHBzOi8vYS5leGFtcGxl{}"}"#,
    ),
    (Field, r#"{"parameters": [{"name": "password", "value": "{}"}]}"#),
    (Field, r#"{"parameters": [{"name": "harmless", "value": "{}"}]}"#),
    (Field, r#"{"settings": [{"name": "db.password", "value": "{}"}]}"#),
    (Field, r#"{"settings": [{"key": "password", "value": "{}"}]}"#),
    (Field, r#"{"setting": {"key": "password", "stringValue": "{}"}}"#),
    (Field, r#"{"environment": {"ANYTHING": "{}"}}"#),
    (Field, r#"{"environment": ["ANYTHING={}"]}"#),
    (Field, r#"{"values": {"anything": {"deep": "{}"}}}"#),
    (Field, r#"{"jsonPatchOverrides": [{"op": "add", "path": "/data/a", "value": "{}"}]}"#),
    (Field, r#"{"jsonPatchOverrides": [{"op": "add", "path": "/spec/dbPassword", "value": "{}"}]}"#),
    (Field, r#"{"observedDrifts": [{"path": "/data/a", "valueInHub": "{}", "valueInMember": "{}"}]}"#),
    (Field, r#"{"observedDiffs": [{"path": "/data/a", "valueInHub": "{}", "valueInMember": "{}"}]}"#),
    // Containers.
    (Container, r#"{"args": ["-p", "{}"]}"#),
    (Container, r#"{"args": ["-a", "{}"]}"#),
    (Container, r#"{"image": "mysql:8", "args": ["-p{}"]}"#),
    (Container, r#"{"command": ["mysqldump", "-u", "root", "-p{}"]}"#),
    (Container, r#"{"command": ["redis-cli", "-a", "{}", "ping"]}"#),
    (Container, r#"{"image": "docker.io/redis:7", "args": ["-a", "{}"]}"#),
    (Container, r#"{"command": ["curl", "-u", "user:{}", "https://a.example"]}"#),
    (Container, r#"{"args": ["-u", "user:{}"]}"#),
    (Container, r#"{"args": ["--dsn=app:{}@tcp(db)"]}"#),
    (Container, r#"{"args": ["--dsn", "app:{}@tcp(db)"]}"#),
    (Container, r#"{"args": ["--token", "{}"]}"#),
    (Container, r#"{"args": ["--password={}"]}"#),
    (Container, r#"{"command": ["sh", "-c", "MYSQL_PWD={} mysql -u root"]}"#),
    (Container, r#"{"command": ["sh", "-c", "mysql -u root -p{} < /dump.sql"]}"#),
    (Container, r#"{"command": ["sh", "-c", "redis-cli -a {} ping"]}"#),
    (Container, r#"{"env": [{"name": "ANYTHING", "value": "{}"}]}"#),
    (Container, r#"{"livenessProbe": {"httpGet": {"httpHeaders": [{"name": "X-Any", "value": "{}"}]}}}"#),
    (Container, r#"{"livenessProbe": {"exec": {"command": ["redis-cli", "-a", "{}"]}}}"#),
    (Container, r#"{"lifecycle": {"preStop": {"httpGet": {"path": "/stop?token={}"}}}}"#),
    // Sources of Applications.
    (Source, r#"{"repoURL": "https://{}@git.example/web.git"}"#),
    (Source, r#"{"helm": {"parameters": [{"name": "any", "value": "{}"}]}}"#),
    (Source, r#"{"helm": {"values": "any:\n  thing: {}\n"}}"#),
    (Source, r#"{"helm": {"values": "any: [{}"}}"#),
    (Source, r#"{"helm": {"valuesObject": {"any": {"thing": ["{}"]}}}}"#),
    (Source, r#"{"plugin": {"env": [{"name": "ANY", "value": "{}"}]}}"#),
    (Source, r#"{"plugin": {"parameters": [{"name": "any", "string": "{}"}]}}"#),
    (Source, r#"{"plugin": {"parameters": [{"name": "any", "array": ["{}"]}]}}"#),
    (Source, r#"{"plugin": {"parameters": [{"name": "any", "map": {"a": "{}"}}]}}"#),
    (Source, r#"{"kustomize": {"patches": [{"patch": "- op: add\n  path: /stringData/a\n  value: {}\n"}]}}"#),
    (Source, r#"{"directory": {"jsonnet": {"extVars": [{"name": "any", "value": "{}"}]}}}"#),
];

/// Mark of a position: with upper case and digits, or of small letters alone, as a word in prose.
fn mark(position: usize, is_word: bool) -> String {
    if !is_word {
        return format!("Kanari{position:03}Vogel");
    }
    let digits = position.to_string();
    let letters = digits.bytes().map(|digit| char::from(digit - b'0' + b'a'));
    format!("q{}xvogel", letters.collect::<String>())
}

/// What stands at a position, with the position's mark.
fn marked(position: usize, is_word: bool) -> String {
    CANARIES[position].1.replace("{}", &mark(position, is_word))
}

fn object(api_version: &str, kind: &str, name: usize) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": format!("c{name}"), "namespace": "web", "generation": 1}})
}

fn with(mut object: Value, field: &str, value: Value) -> Value {
    object[field] = value;
    object
}

/// An object that contains another: as a manifest, a placed resource, in an envelope, and in JSON in an annotation.
fn containers_of(position: usize, inner: &Value) -> Vec<Value> {
    const PLACEMENT: &str = "placement.kubernetes-fleet.io/v1beta1";
    let work = object(PLACEMENT, "Work", position);
    let snapshot = object(PLACEMENT, "ClusterResourceSnapshot", position);
    let envelope = object(PLACEMENT, "ResourceEnvelope", position);
    let mut annotated = object("apps/v1", "Deployment", position);
    annotated["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": inner.to_string() + "\n"});
    vec![
        with(work, "spec", json!({"workload": {"manifests": [inner]}})),
        with(snapshot, "spec", json!({"selectedResources": [inner]})),
        with(envelope, "data", json!({"secret.yaml": inner})),
        annotated,
        inner.clone(),
    ]
}

/// Objects with a text at every position that a person or a controller may write to.
fn objects_with_text(position: usize, text: &str, has_messages: bool) -> Vec<Value> {
    let mut deployment = object("apps/v1", "Deployment", position);
    deployment["metadata"]["annotations"] = json!({"example.com/notes": text});
    let resource = with(object("example.com/v1", "Shop", position), "spec", json!({"any": {"field": [text]}}));
    let mut objects = containers_of(position, &resource);
    objects.push(deployment);
    if has_messages {
        let condition = json!({"type": "Applied", "status": "False", "reason": "Failed", "message": text,
            "observedGeneration": 1, "lastTransitionTime": "2026-01-08T11:00:00Z"});
        let pod = with(
            object("v1", "Pod", position),
            "status",
            json!({"phase": "Failed", "message": text,
            "containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 1, "message": text}}}]}),
        );
        objects.extend([
            pod,
            drifted_placement(position, &condition),
            failed_application(position, text),
            with(
                object("placement.kubernetes-fleet.io/v1beta1", "Work", position),
                "status",
                json!({"conditions": [condition]}),
            ),
        ]);
    }
    objects
}

/// Placement that KF-AP-004 is about, with a mark in its drifts if the condition has one.
fn drifted_placement(position: usize, condition: &Value) -> Value {
    let group = "placement.kubernetes-fleet.io/v1beta1";
    let message = &condition["message"];
    let of_member = json!({"type": "Applied", "status": "False", "reason": "NotAllWorkHaveBeenApplied", "message": message,
        "observedGeneration": 1, "lastTransitionTime": "2026-01-08T11:00:00Z"});
    let drift = with(condition.clone(), "reason", "FoundDrifts".into());
    let place = json!({"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "settings"});
    let drifts = json!([{"path": "/data/any", "valueInHub": message, "valueInMember": message}]);
    let (failed, drifted) = (with(place.clone(), "condition", drift), with(place, "observedDrifts", drifts));
    let mut placement = object(group, "ClusterResourcePlacement", position);
    placement["metadata"].as_object_mut().unwrap().remove("namespace");
    let of_placement = with(condition.clone(), "type", "ClusterResourcePlacementApplied".into());
    with(
        placement,
        "status",
        json!({"conditions": [of_placement], "placementStatuses": [{
        "clusterName": "member-1", "conditions": [of_member], "failedPlacements": [failed], "driftedPlacements": [drifted]}]}),
    )
}

/// Application of which a resource was refused with a message.
fn failed_application(position: usize, message: &str) -> Value {
    let refused = json!({"group": "", "version": "v1", "kind": "Service", "namespace": "web", "name": "api",
        "status": "SyncFailed", "hookPhase": "Failed", "syncPhase": "Sync", "message": message});
    with(
        application(position, &json!({"repoURL": "https://git.example/web.git"})),
        "status",
        json!({
        "sync": {"status": "OutOfSync"}, "health": {"status": "Healthy"},
        "conditions": [{"type": "ComparisonError", "message": message, "lastTransitionTime": "2026-01-08T11:00:00Z"}],
        "operationState": {"operation": {"sync": {}}, "phase": "Failed", "message": message,
            "startedAt": "2026-01-08T11:00:00Z", "finishedAt": "2026-01-08T11:00:10Z",
            "syncResult": {"revision": "HEAD", "resources": [refused]}}}),
    )
}

fn application(position: usize, source: &Value) -> Value {
    let destination = json!({"name": "member-1", "namespace": "web"});
    with(
        object("argoproj.io/v1alpha1", "Application", position),
        "spec",
        json!({
        "project": "default", "destination": destination, "sources": [source], "source": source}),
    )
}

/// Objects with what stands at a position.
fn objects(position: usize, is_word: bool) -> Vec<Value> {
    let text = marked(position, is_word);
    let parsed = || serde_json::from_str::<Value>(&text).expect("JSON");
    match CANARIES[position].0 {
        AnyText => objects_with_text(position, &text, true),
        ObjectString => objects_with_text(position, &text, false),
        Log => Vec::new(),
        Field => {
            let mut objects =
                containers_of(position, &with(object("example.com/v1", "Shop", position), "spec", parsed()));
            objects.extend(objects_with_text(position, &text, false));
            objects
        }
        Container => {
            let spec = json!({"containers": [parsed()], "initContainers": [parsed()]});
            let pod = with(object("v1", "Pod", position), "spec", spec.clone());
            let deployment =
                with(object("apps/v1", "Deployment", position), "spec", json!({"template": {"spec": spec}}));
            [containers_of(position, &pod), containers_of(position, &deployment)].concat()
        }
        Source => containers_of(position, &application(position, &parsed())),
    }
}

/// Bundle with all canaries in its snapshot, events and logs, before anything is removed.
fn bundle(is_word: bool) -> Bundle {
    let all = |wanted: &[Position]| -> Vec<String> {
        let positions = (0..CANARIES.len()).filter(|n| wanted.contains(&CANARIES[*n].0));
        positions.map(|position| marked(position, is_word)).collect()
    };
    let objects: Vec<Value> = (0..CANARIES.len()).flat_map(|position| objects(position, is_word)).collect();
    let mut member = ClusterSnapshot::new("member-1", SnapshotRole::Member, objects.clone());
    let (pod, text) = ("migrate".to_owned(), all(&[AnyText, Log]).join("\n"));
    member.logs = vec![PodLog { namespace: "web".into(), pod, container: "c".into(), text: text.clone() }];
    let mut gone = ClusterSnapshot::new("member-2", SnapshotRole::Member, Vec::new());
    gone.unreachable = Some("refused with token: ".to_owned() + &mark(0, is_word));
    let mut hub = ClusterSnapshot::new("hub", SnapshotRole::Hub, objects);
    hub.unread = vec![UnreadKind {
        group: String::new(),
        resource: "services".into(),
        reason: UnreadReason::Failed,
        message: format!("https://{}@hub failed", mark(1, is_word)),
    }];
    let event = |text: &String| with(object("v1", "Event", 0), "message", text.as_str().into());
    let events = BTreeMap::from([("hub".to_owned(), all(&[AnyText]).iter().map(event).collect())]);
    Bundle {
        fleet: "canaries".into(),
        kubefleet: None,
        about: None,
        snapshot: Snapshot { taken_at: "2026-01-08T12:00:00Z".parse().unwrap(), clusters: vec![hub, member, gone] },
        events,
        logs: vec![LogTail { process: "hub-agent".into(), text, cut: false }],
        missing: Vec::new(),
    }
}

/// Positions whose marks are in a text.
fn found_in(text: &str, is_word: bool) -> Vec<String> {
    let found = (0..CANARIES.len()).filter(|position| text.contains(&mark(*position, is_word)));
    found.map(|position| format!("{position}: {:?}", CANARIES[position])).collect()
}

fn assert_nothing_in(what: &str, text: &str, is_word: bool) {
    let found = found_in(text, is_word);
    assert!(found.is_empty(), "{what} has secrets of {} positions:\n{}", found.len(), found.join("\n"));
}

fn all_text(dir: &Path) -> String {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let texts = entries.map(|path| if path.is_dir() { all_text(&path) } else { fs::read_to_string(path).unwrap() });
    texts.collect()
}

/// True if two values have the same fields, and lists of the same lengths.
fn same_shape(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            before.len() == after.len()
                && before.iter().all(|(name, value)| after.get(name).is_some_and(|after| same_shape(value, after)))
        }
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len() && before.iter().zip(after).all(|(before, after)| same_shape(before, after))
        }
        (Value::Object(_) | Value::Array(_), _) => false,
        (before, after) => before == after || after.is_string(),
    }
}

#[test]
fn no_object_keeps_a_secret_and_all_keep_their_shape() {
    for is_word in [false, true] {
        let mut kept = String::new();
        for position in 0..CANARIES.len() {
            for object in objects(position, is_word) {
                let mut redacted = object.clone();
                Redactor::default().object(&mut redacted);
                assert!(same_shape(&object, &redacted), "{object} {redacted}");
                assert!(redacted.to_string().contains(REMOVED), "{redacted}");
                let once = redacted.clone();
                Redactor::default().object(&mut redacted);
                assert_eq!(once, redacted, "twice is once");
                kept += &redacted.to_string();
            }
        }
        assert_nothing_in("an object", &kept, is_word);
    }
}

#[test]
fn no_text_keeps_a_secret() {
    for is_word in [false, true] {
        let texts = (0..CANARIES.len()).filter(|n| [AnyText, Log].contains(&CANARIES[*n].0));
        let texts: Vec<String> = texts.map(|n| marked(n, is_word)).collect();
        let kept: String = texts.iter().map(|text| Redactor::default().log(text).into_owned()).collect();
        assert_nothing_in("a log", &kept, is_word);
    }
}

#[test]
fn no_bundle_and_no_finding_has_a_secret() {
    for is_word in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bundle");
        let bundle = bundle(is_word);
        let found = found_in(&format!("{bundle:?}"), is_word);
        assert_eq!(found.len(), CANARIES.len(), "marks of all positions are there before");
        bundle.write(&path).unwrap();
        assert_nothing_in("a bundle", &all_text(&path), is_word);

        let snapshot = LoadedBundle::read(&path, SizeLimit::default()).unwrap().snapshot;
        let findings = diagnosis::diagnose(&snapshot);
        let text = serde_json::to_string(&findings).unwrap();
        assert_nothing_in("a finding", &text, is_word);
        let codes: Vec<&str> = findings.iter().map(|finding| finding.code.0.as_str()).collect();
        assert!(codes.contains(&"KF-AP-004") && codes.iter().any(|code| code.starts_with("AR-")), "{codes:?}");
        assert!(text.contains("on the hub (removed), on the member (removed)"));
    }
}

#[test]
fn drift_values_are_kept_on_request_unless_they_are_secret() {
    let drift = |path: &str, value: &str| json!({"path": path, "valueInHub": value, "valueInMember": "7"});
    let entry = |kind: &str, drifts: Value| json!({"kind": kind, "name": "x", "observedDrifts": drifts});
    let drifted = json!({"driftedPlacements": [
        entry("ConfigMap", json!([drift("/data/revision", "0"), drift("/data/password", "tulip"),
            drift("/data/url", "https://tulip@host")])),
        entry("Secret", json!([drift("/data/revision", "tulip")])),
        entry("Deployment", json!([drift("/spec/template/spec/containers/0/env/0/value", "tulip")])),
        {"identifier": {"kind": "Secret"}, "diffDetails": {"observedDiffs": [drift("/type", "tulip")]}},
    ]});
    let redactor = Redactor::default().keeping_drift_values();
    let mut kept = drifted.clone();
    redactor.object(&mut kept);
    assert_eq!(kept.pointer("/driftedPlacements/0/observedDrifts/0"), Some(&drift("/data/revision", "0")));
    assert_eq!(
        kept.pointer("/driftedPlacements/0/observedDrifts/2/valueInHub"),
        Some(&"https://(removed)@host".into())
    );
    assert!(!kept.to_string().contains("tulip"), "{kept}");
    assert_eq!(kept.to_string().matches("\"7\"").count(), 2, "{kept}");

    let mut removed = drifted;
    Redactor::default().object(&mut removed);
    let first = json!({"path": "/data/revision", "valueInHub": REMOVED, "valueInMember": REMOVED});
    assert_eq!(removed.pointer("/driftedPlacements/0/observedDrifts/0"), Some(&first));
}

#[test]
fn aliases_that_multiply_and_long_texts_take_no_long_time() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..12 {
        let aliases = vec![format!("*a{}", n - 1); 10].join(", ");
        bomb = format!("{bomb}a{n}: &a{n} [{aliases}]\n");
    }
    let deep = format!("a: {}\nb: 1\n", "[".repeat(200_000));
    let texts = [
        bomb,
        deep,
        "password: ".repeat(100_000),
        "{\"a\": ".repeat(100_000),
        "a: b\n".repeat(100_000),
        "-p ".repeat(300_000),
        "https://a:".repeat(100_000),
        "eyJ.".repeat(250_000),
    ];
    let started = std::time::Instant::now();
    for text in texts {
        let mut object =
            json!({"kind": "ConfigMapList", "metadata": {"annotations": {"a": text}}, "status": {"message": text}});
        Redactor::default().object(&mut object);
        drop(Redactor::default().log(&text));
    }
    // Well above what it takes, and far below what time or memory would allow if anything multiplied.
    assert!(started.elapsed() < std::time::Duration::from_secs(60), "{:?}", started.elapsed());
}
