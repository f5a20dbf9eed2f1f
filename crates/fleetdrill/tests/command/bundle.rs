//! Bundles and failure codes: `collect`, `diagnose --from`, `explain`. Only [`of_a_fleet`] and [`left_by`] need a
//! fleet; tests that have one call them.

use std::path::{Path, PathBuf};

use diagnosis::{ClusterSnapshot, PodLog, Snapshot, SnapshotRole};
use fleet::bundle::{Bundle, MissingBundlePart};
use rustix::process::Signal;
use schemas::DocumentSchema;
use serde_json::{Value, json};

use crate::api::{FakeApi, member};
use crate::place::{Place, Said, until};
use crate::running::Running;

/// Objects of a hub on which member-1's namespace is being deleted, with the conditions that KubeFleet v0.1.2 writes.
fn broken_hub() -> Vec<Value> {
    let condition = |type_: &str, reason: &str, message: &str| {
        json!({"type": type_, "status": "False", "reason": reason, "message": message, "observedGeneration": 1,
            "lastTransitionTime": "2026-11-21T02:10:09Z"})
    };
    let forbidden = "Failed to synchronize the work to the latest: works.placement.kubernetes-fleet.io \"web-work\" is \
        forbidden: unable to create new content in namespace fleet-member-member-1 because it is being terminated";
    let not_yet = "There are 1 cluster(s) which have not finished creating or updating work(s) yet";
    let top = condition("ClusterResourcePlacementWorkSynchronized", "WorkNotSynchronizedYet", not_yet);
    vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fleet-member-member-1",
            "deletionTimestamp": "2026-11-21T02:10:03Z"}, "status": {"phase": "Terminating"}}),
        json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterResourcePlacement",
            "metadata": {"name": "web", "generation": 1}, "status": {"conditions": [top], "placementStatuses": [
                {"clusterName": "member-1", "conditions": [condition("WorkSynchronized", "SyncWorkFailed", forbidden)]}]}}),
    ]
}

/// Bundle of a hub on which KF-WS-001 is found.
pub fn bundle() -> Bundle {
    let cluster = |name: &str, role, objects: Vec<Value>| ClusterSnapshot::new(name, role, objects);
    Bundle {
        fleet: "prod".into(),
        kubefleet: None,
        about: Some("a look".into()),
        snapshot: Snapshot {
            taken_at: "2026-11-21T02:11:00.5Z".parse().expect("a time"),
            clusters: vec![
                cluster("hub", SnapshotRole::Hub, broken_hub()),
                cluster("member-1", SnapshotRole::Member, Vec::new()),
            ],
        },
        events: std::collections::BTreeMap::new(),
        logs: Vec::new(),
        missing: Vec::new(),
    }
}

/// Writes a bundle to the test's directory, and returns its path.
pub fn written(place: &Place, name: &str, bundle: &Bundle) -> String {
    let path = place.path(name);
    bundle.write(&path).expect("written");
    path.display().to_string()
}

fn from(place: &Place, path: impl AsRef<Path>, more: &[&str]) -> Said {
    let path = path.as_ref().display().to_string();
    place.run(["diagnose", "--from", &path].iter().chain(more))
}

#[test]
fn a_bundle_is_diagnosed_like_the_fleet_it_was_taken_from() {
    let place = Place::new();
    let found = diagnosis::diagnose_with(&bundle().snapshot, &diagnosis::KubectlAccess::unknown());
    let expected = serde_json::to_value(found).expect("JSON");
    assert_eq!(expected[0]["code"], "KF-WS-001");
    for name in ["b", "b.tar.gz"] {
        let path = written(&place, name, &bundle());
        let said = from(&place, &path, &["-o", "json"]);
        said.expect(1, &["reading a bundle of fleet prod, taken at 2026-11-21T02:11:00Z", "it was taken for: a look"]);
        let report: Value = serde_json::from_str(&said.stdout).expect("JSON");
        DocumentSchema { document: "diagnosis", number: 1 }.check(&report);
        assert_eq!((&report["source"], &report["fleet"]), (&json!("bundle"), &json!("prod")));
        assert_eq!(report["findings"], expected);
        let said = from(&place, &path, &["crp/web"]);
        assert!(said.expect(1, &[]).stdout.contains("KF-WS-001: "), "{}", said.stdout);
        from(&place, &path, &["crp/other"]).expect(2, &["there is no crp/other on the hub"]);
    }
}

/// Bundle with an application for member-1 whose `PreSync` hook failed, and with the hook's Job, Pod and log on the
/// member.
fn failed_hook() -> Bundle {
    let hook = json!({"group": "batch", "version": "v1", "kind": "Job", "namespace": "web", "name": "migrate",
        "hookType": "PreSync", "hookPhase": "Failed", "message": "Job has reached the specified backoff limit"});
    let state = json!({"phase": "Failed", "message": "one or more synchronization tasks completed unsuccessfully",
        "syncResult": {"resources": [hook]}});
    let application = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": "web", "namespace": "argocd"},
        "spec": {"destination": {"server": "https://10.0.0.7:6443"}}, "status": {"operationState": state}});
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "migrate", "namespace": "web"}});
    let ended = json!([{"name": "c", "state": {"terminated": {"exitCode": 1}}}]);
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "migrate-a", "namespace": "web",
        "ownerReferences": [{"kind": "Job", "name": "migrate"}]}, "status": {"containerStatuses": ended}});
    let text = "starting\nmigration 0042 failed\n".to_owned();
    let log = PodLog { namespace: "web".into(), pod: "migrate-a".into(), container: "c".into(), text };
    let mut bundle = bundle();
    bundle.snapshot.clusters[0].objects.extend([application]);
    let member = &mut bundle.snapshot.clusters[1];
    (member.server, member.objects, member.logs) =
        (Some("https://10.0.0.7:6443".into()), vec![job, pod].into(), vec![log]);
    bundle
}

#[test]
fn an_application_is_diagnosed_from_a_bundle_with_the_logs_that_are_in_it() {
    let place = Place::new();
    for name in ["b", "b.tar.gz"] {
        let path = written(&place, name, &failed_hook());
        for asked in [&["application/web"][..], &["applications.argoproj.io/web", "-n", "argocd"], &["app/argocd/web"]]
        {
            let said = from(&place, &path, asked);
            let text = &said.expect(1, &[]).stdout;
            assert!(text.starts_with("AR-SF-005: A hook failed\n"), "{text}");
            assert!(text.contains("its Pod said: migration 0042 failed"), "{text}");
            assert!(!text.contains("KF-WS-001"), "{text}");
        }
        assert!(from(&place, &path, &[]).expect(1, &[]).stdout.contains("KF-WS-001"));
        from(&place, &path, &["app/web", "-n", "other"])
            .expect(2, &["there is no app/web in namespace other on the hub"]);
        from(&place, &path, &["app/argocd/web", "-n", "other"])
            .expect(2, &["is in namespace argocd, and -n says other"]);
    }
    let mut unread = failed_hook();
    unread.snapshot.clusters[1].unreachable = Some("connection refused".into());
    let path = written(&place, "c", &unread);
    from(&place, path, &["app/web"]).expect(1, &["warning: member-1 can't be read", "connection refused"]);
    from(&place, place.path("c"), &["app/web", "--fail-on", "notice"]).expect(1, &[]);
}

#[test]
fn what_is_no_whole_bundle_is_named() {
    let place = Place::new();
    from(&place, place.path("nothing"), &[]).expect(2, &["failed to read the bundle", "No such file"]);
    let text = place.write("text", "text");
    from(&place, text, &[]).expect(2, &["is no bundle: it is neither a directory nor a .tar.gz file", "hint: "]);

    let archive = PathBuf::from(written(&place, "b.tar.gz", &bundle()));
    let bytes = std::fs::read(&archive).expect("read");
    std::fs::write(&archive, &bytes[..bytes.len() / 2]).expect("written");
    from(&place, &archive, &[]).expect(2, &["b.tar.gz isn't whole: the archive ends too early"]);

    let dir = PathBuf::from(written(&place, "b", &bundle()));
    let manifest = dir.join("bundle.json");
    let text = std::fs::read_to_string(&manifest).expect("read");
    std::fs::write(&manifest, text.replace("\"schema\": 1", "\"schema\": 99")).expect("written");
    from(&place, &dir, &[]).expect(2, &["has the format 99 of bundles, and this fleetdrill reads up to 2"]);

    let mut lacking = bundle();
    let why = "works is forbidden".to_owned();
    lacking.missing.push(MissingBundlePart { cluster: Some("hub".into()), what: "works".into(), why, needed: true });
    let path = written(&place, "c", &lacking);
    let said = from(&place, path, &[]);
    let text = &said.expect(1, &[]).stdout;
    assert!(text.starts_with("KF-WS-001: "), "{text}");
    assert!(text.contains("not read on hub: the request failed for works.placement.kubernetes-fleet.io"), "{text}");

    let mut without_hub = bundle();
    without_hub.snapshot.clusters[0].unreachable = Some("connection refused".into());
    let path = written(&place, "d", &without_hub);
    from(&place, path, &[]).expect(2, &["can't be diagnosed", "the hub couldn't be read: connection refused"]);

    from(&place, dir, &["--fleet", "default"]).expect(2, &["cannot be used with"]);
}

#[test]
fn a_bundle_of_a_stranger_cannot_steer_the_terminal_or_fill_the_memory() {
    let place = Place::new();
    let mut steering = bundle();
    steering.fleet = "prod\u{1b}]0;owned\u{7}\u{1b}[31m".into();
    steering.about = Some("a\u{1b}[2Jlook\nerror: no".into());
    let path = written(&place, "steering", &steering);
    let said = from(&place, &path, &[]);
    said.expect(1, &["reading a bundle of fleet prod, taken at", "it was taken for: alook error: no\n"]);
    assert!(!format!("{}{}", said.stderr, said.stdout).contains('\u{1b}'), "{said:?}");

    let mut large = bundle();
    let filler = "x".repeat(2 << 20);
    large.snapshot.clusters[1].objects.extend([json!({"kind": "Pod", "metadata": {"name": "large"}, "data": filler})]);
    for name in ["large", "large.tar.gz"] {
        let path = written(&place, name, &large);
        from(&place, &path, &["--from-limit", "1"])
            .expect(2, &["is too large: its files have more than 1 MiB", "--from-limit MIB", "FLEETDRILL_FROM_LIMIT"]);
        from(&place, &path, &["--from-limit", "3"]).expect(1, &[]);
    }

    for (name, change, expected) in [
        ("hubs", "\"role\": \"member\"", "\"role\": \"hub\""),
        ("names", "\"name\": \"member-1\"", "\"name\": \"hub\""),
        ("directories", "\"directory\": \"member-1\"", "\"directory\": \"hub\""),
    ] {
        let path = PathBuf::from(written(&place, name, &bundle()));
        let manifest = path.join("bundle.json");
        let text = std::fs::read_to_string(&manifest).expect("read");
        assert!(text.contains(change), "{text}");
        std::fs::write(&manifest, text.replace(change, expected)).expect("written");
        let said = match name {
            "hubs" => "it has 2 hubs",
            "names" => "it has two clusters of the name `hub`",
            _ => "two of its clusters have the directory `hub`",
        };
        from(&place, &path, &[]).expect(2, &["is no bundle", said]);
    }
}

#[test]
fn nothing_is_collected_from_nowhere_or_over_something() {
    let place = Place::new();
    place.run(["collect"]).expect(2, &["no fleet is up, and there is no usable kubeconfig"]);
    let file = place.write("there.tar.gz", "mine");
    place.run(["collect", "--bundle", &file]).expect(2, &["there.tar.gz already exists", "--bundle"]);
    assert_eq!(std::fs::read_to_string(file).expect("read"), "mine");
}

/// Writes a kubeconfig of a hub, and of a member `east` that takes connections and never answers.
fn with_a_silent_member(place: &Place) -> (std::net::TcpListener, String) {
    let hub = FakeApi::default().has("/apis/cluster.kubernetes-fleet.io/v1beta1/memberclusters", &[member("east")]);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let east = format!("http://{}", silent.local_addr().expect("an address"));
    let cluster = |name: &str, server: &str| json!({"name": name, "cluster": {"server": server}});
    let context = |name: &str| json!({"name": name, "context": {"cluster": name, "user": "me"}});
    let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "hub",
        "clusters": [cluster("hub", &hub.start()), cluster("east", &east)], "contexts": [context("hub"), context("east")],
        "users": [{"name": "me", "user": {"token": "t"}}]});
    (silent, place.write("kubeconfig", &config.to_string()))
}

#[test]
fn a_bundle_that_reaches_its_limit_of_time_is_written_and_says_so() {
    let place = Place::new();
    let (_silent, file) = with_a_silent_member(&place);
    std::fs::create_dir(place.path("bundles")).expect("made");
    let bundle = place.path("bundles/b.tar.gz");
    let collect = ["collect", "--kubeconfig", &file, "--member", "east", "--time-limit", "5", "--bundle"];
    let said = place.run(collect.into_iter().chain([&*bundle.display().to_string()]));
    said.expect(
        4,
        &[
            // The hub has taken its part of the time.
            "warning: east couldn't be read: failed to list deployments on east: no answer within ",
            "warning: the bundle isn't whole: it reached a limit of time or size",
        ],
    );
    assert_eq!(files(&place.path("bundles")), std::slice::from_ref(&bundle));
    from(&place, &bundle, &[]).expect(4, &["east can't be read"]);
    place.run(collect[..3].iter().chain(&["--limit", "0"])).expect(2, &["invalid value '0' for '--limit <MIB>'"]);
}

#[test]
fn an_interrupted_collect_leaves_nothing_behind() {
    let place = Place::new();
    let (_silent, file) = with_a_silent_member(&place);
    let bundles = place.path("bundles");
    std::fs::create_dir(&bundles).expect("made");
    let bundle = bundles.join("b").display().to_string();
    let mut command = place.command(["collect", "--kubeconfig", &file, "--member", "east", "--bundle", &bundle]);
    let running = Running::start(&mut command);
    // The hub's objects have been written when the member's are asked for.
    let began = || files(&bundles).iter().any(|file| file.to_string_lossy().contains("clusters/east/")).then_some(());
    until("the member is asked", began);
    running.signal(Signal::INT);
    running.end().expect(130, &["interrupted"]);
    assert_eq!(std::fs::read_dir(&bundles).expect("read").count(), 0);
}

#[test]
fn a_code_is_explained() {
    let place = Place::new();
    let said = place.run(["explain", "kf-ws-001"]);
    let text = &said.expect(0, &[]).stdout;
    let parts =
        ["KF-WS-001: The member's namespace", "evidence to look for:", "remedies, in the order", "kubectl", "guide:"];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    for format in ["json", "yaml"] {
        let text = place.run(["explain", "KF-WS-001", "-o", format]).expect(0, &[]).stdout.clone();
        assert!(text.contains("data_loss") && text.contains("remedies"), "{text}");
    }
    let list = place.run(["explain"]).expect(0, &[]).stdout.clone();
    assert_eq!(list.lines().count(), diagnosis::catalogue().len());
    let listed: Vec<Value> = serde_json::from_str(&place.run(["explain", "-o", "json"]).stdout).expect("JSON");
    assert_eq!(listed.len(), diagnosis::catalogue().len());
    place.run(["explain", "KF-WS-01"]).expect(2, &["there is no failure code `KF-WS-01`", "KF-WS-001 The member's"]);
}

/// Collects a bundle of a running fleet. The bundle has no secrets, and its diagnosis is the same as the fleet's.
pub fn of_a_fleet(place: &Place, name: &str) {
    let path = place.path(&format!("{name}-bundle"));
    let text = path.display().to_string();
    let said = place.run(["collect", "--fleet", name, "--bundle", &text]);
    assert_eq!(said.expect(0, &[&format!("reading fleet {name}"), "logs"]).stdout, format!("{text}\n"));
    let fleet = place.state().join(name);
    let tokens = std::fs::read_dir(&fleet).expect("the fleet's directory").flatten().map(|entry| entry.path());
    let tokens = tokens.filter(|path| path.extension().is_some_and(|e| e == "token"));
    let tokens: Vec<String> = tokens.map(|path| std::fs::read_to_string(path).expect("a token")).collect();
    assert!(!tokens.is_empty());
    let files = files(&path);
    assert!(files.iter().any(|file| file.ends_with("logs/hub-agent.log.gz")), "{files:?}");
    for file in files {
        let text = text_of(&file);
        let secret = tokens.iter().any(|token| text.contains(token.trim())) || text.contains("PRIVATE KEY-----");
        assert!(!secret, "{}", file.display());
    }
    let live = place.run(["diagnose", "--fleet", name, "-o", "json"]);
    let saved = from(place, path, &["-o", "json"]);
    assert_eq!((live.code, of_findings(&live)), (saved.code, of_findings(&saved)), "{}", saved.stderr);
}

/// Text of a file, which may be compressed.
fn text_of(file: &Path) -> String {
    let bytes = std::fs::read(file).expect("read");
    if file.extension().is_some_and(|ending| ending == "gz") {
        return std::io::read_to_string(flate2::read::MultiGzDecoder::new(&*bytes)).expect("compressed text");
    }
    String::from_utf8(bytes).expect("text")
}

/// Findings of a diagnosis without their commands, which contain contexts that a bundle doesn't have.
fn of_findings(said: &Said) -> Value {
    fn without_commands(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.shift_remove("commands");
                fields.values_mut().for_each(without_commands);
            }
            Value::Array(items) => items.iter_mut().for_each(without_commands),
            _ => {}
        }
    }
    let mut report: Value = serde_json::from_str(&said.stdout).expect("JSON");
    without_commands(&mut report["findings"]);
    report["findings"].take()
}

/// Diagnoses the only bundle that a run has left in this directory.
pub fn left_by(place: &Place, bundles: &Path) -> Said {
    let left = files(bundles);
    assert_eq!(left.len(), 1, "{left:?}");
    from(place, &left[0], &[])
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
