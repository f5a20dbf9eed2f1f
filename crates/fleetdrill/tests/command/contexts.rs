//! `diagnose` with a kubeconfig that lacks contexts, or whose clusters can't be reached.

use std::io::{Read, Write};
use std::net::TcpListener;

use schemas::DocumentSchema;
use serde_json::{Value, json};

use crate::api::{FakeApi, member, system};
use crate::place::{Place, Said};

fn kubeconfig(place: &Place, server: &str) -> String {
    let text = format!(
        "apiVersion: v1
kind: Config
clusters: [{{name: far, cluster: {{server: '{server}'}}}}]
users: [{{name: me, user: {{token: secret-token}}}}]
contexts: [{{name: far-hub, context: {{cluster: far, user: me}}}}]\n"
    );
    place.write("kubeconfig", &text)
}

#[test]
fn no_kubeconfig() {
    let place = Place::new();
    place.run(["diagnose"]).expect(2, &["no fleet is up, and there is no usable kubeconfig", "fleetdrill up"]);
    place.run(["diagnose", "--kubeconfig", "/nowhere"]).expect(2, &["failed to read the kubeconfig /nowhere"]);
    let file = place.write("no.yaml", "- a\n- b\n");
    place.run(["diagnose", "--kubeconfig", &file]).expect(2, &["no.yaml is no kubeconfig"]);
    let file = place.write("empty.yaml", "{}");
    place.run(["diagnose", "--kubeconfig", &file]).expect(2, &["the kubeconfig has no contexts"]);
}

#[test]
fn no_such_context() {
    let place = Place::new();
    let file = kubeconfig(&place, "http://127.0.0.1:1");
    let hint = "it has: far-hub";
    place.run(["diagnose", "--kubeconfig", &file]).expect(2, &["has no current context", "--hub CONTEXT", hint]);
    place
        .run(["diagnose", "--kubeconfig", &file, "--hub", "near"])
        .expect(2, &["the kubeconfig has no context `near`", hint]);
    place
        .run(["diagnose", "--kubeconfig", &file, "--hub", "far-hub", "--member", "east"])
        .expect(2, &["--member east: the kubeconfig has no context `east`", "NAME=CONTEXT"]);
    place
        .run(["diagnose", "--kubeconfig", &file, "--hub", "far-hub", "--member", "east=near"])
        .expect(2, &["the kubeconfig has no context `near`"]);
    place.run(["diagnose", "one/two/three/four"]).expect(2, &["`one/two/three/four` is no object", "KIND/NAME"]);
}

#[test]
fn a_hub_that_nobody_answers_for() {
    let place = Place::new();
    let file = kubeconfig(&place, "http://127.0.0.1:1");
    let said = place.run(["diagnose", "--kubeconfig", &file, "--hub", "far-hub"]);
    said.expect(
        3,
        &["the hub's API server http://127.0.0.1:1 can't be reached", "Connection refused", "check that it runs"],
    );
    assert!(!said.stderr.contains("secret-token"));
    let file = kubeconfig(&place, "https://no-such-host.invalid");
    place
        .run(["diagnose", "--kubeconfig", &file, "--hub", "far-hub"])
        .expect(3, &["the hub's API server https://no-such-host.invalid can't be reached"]);
}

#[test]
fn a_hub_that_never_answers() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    // The kernel accepts connections into the listener's queue, and nothing answers them.
    let file = kubeconfig(&place, &address);
    place.run(["diagnose", "--kubeconfig", &file, "--hub", "far-hub"]).expect(3, &["can't be reached", &address]);
}

/// Starts a server that answers every request with this status, and returns its address.
fn server(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let _ = write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsorry\n");
        }
    });
    address
}

#[test]
fn a_cluster_that_is_no_hub() {
    let place = Place::new();
    for (status, code, part) in [
        ("404 Not Found", 2, "has neither KubeFleet's hub nor Argo CD"),
        ("401 Unauthorized", 2, "refuses these credentials (401): they aren't valid, or no longer"),
        ("403 Forbidden", 2, "refuses these credentials (403)"),
        ("500 Internal Server Error", 3, "answers with an error (500"),
    ] {
        let address = server(status);
        let file = kubeconfig(&place, &address);
        place.run(["diagnose", "--kubeconfig", &file, "--hub", "far-hub"]).expect(code, &[part, &address]);
    }
}

const MEMBERS: &str = "/apis/cluster.kubernetes-fleet.io/v1beta1/memberclusters";
const NAMESPACES: &str = "/api/v1/namespaces";
const APPLIED_WORKS: &str = "/apis/placement.kubernetes-fleet.io/v1beta1/appliedworks";

/// Writes a kubeconfig with a context for each address.
fn contexts(place: &Place, addresses: &[(&str, &str)]) -> String {
    let clusters = addresses.iter().map(|(name, server)| json!({"name": name, "cluster": {"server": server}}));
    let contexts = addresses.iter().map(|(name, _)| json!({"name": name, "context": {"cluster": name, "user": "me"}}));
    let config = json!({"apiVersion": "v1", "kind": "Config", "users": [{"name": "me", "user": {"token": "t"}}],
        "clusters": clusters.collect::<Vec<_>>(), "contexts": contexts.collect::<Vec<_>>()});
    place.write("kubeconfig", &config.to_string())
}

fn diagnose(place: &Place, file: &str, more: &[&str]) -> Said {
    place.run(["diagnose", "--kubeconfig", file, "--hub", "prod-hub"].iter().chain(more))
}

#[test]
fn what_could_not_be_read_has_an_exit_code_of_its_own() {
    let place = Place::new();
    let hub = FakeApi::default()
        .has(MEMBERS, &[member("east"), member("west")])
        .refuses("/api/v1/serviceaccounts", 403)
        .knows("/api/v1", &["serviceaccounts"])
        .refuses("/apis/argoproj.io/v1alpha1/applications", 403)
        .knows("/apis/argoproj.io/v1alpha1", &[]);
    let east = FakeApi::default().refuses("/api/v1/pods", 403).knows("/api/v1", &["pods"]);
    let (hub, east) = (hub.start(), east.start());
    let file = contexts(&place, &[("prod-hub", &hub), ("east", &east), ("aks-west", "http://127.0.0.1:1")]);
    let both = ["--read-all", "--member", "east", "--member", "west=aks-west"];

    let said = diagnose(&place, &file, &both);
    said.expect(4, &[&format!("reading hub prod-hub ({hub})"), "warning: west can't be read", "Connection refused"]);
    let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "nothing found in 2 members (1 read), 0 placements, 0 runs: all others well; 2 in progress",
        "not read on hub: these credentials may not list serviceaccounts; without them these aren't found: KF-HA-003, KF-MC-003",
        "not there on hub: the API server doesn't know applications.argoproj.io",
        "not read on east: these credentials may not list pods; without them these aren't found: KF-AV-001 to KF-AV-006, ",
        "not read: west, nothing of it: ",
    ] {
        assert!(text.contains(part), "{part}: {}", said.stdout);
    }

    let said = diagnose(&place, &file, &[&both[..], &["-o", "json"]].concat());
    let report: Value = serde_json::from_str(&said.expect(4, &[]).stdout).expect("JSON");
    DocumentSchema { document: "diagnosis", number: 1 }.check(&report);
    assert_eq!(
        (&report["schema"], &report["fleet"], &report["source"]),
        (&json!(1), &json!("prod-hub"), &json!("live"))
    );
    assert_eq!(report["complete"], false);
    let read: Vec<_> =
        report["clusters"].as_array().expect("a list").iter().map(|c| (&c["name"], &c["read"])).collect();
    assert_eq!(read, [(&json!("hub"), &json!(true)), (&json!("east"), &json!(true)), (&json!("west"), &json!(false))]);
    let unread = |cluster: usize| -> Vec<String> {
        let unread = report["clusters"][cluster]["unread"].as_array().expect("a list");
        unread.iter().map(|kind| format!("{} {}", kind["kind"], kind["reason"]).replace('"', "")).collect()
    };
    assert_eq!(unread(0), ["serviceaccounts forbidden", "applications.argoproj.io not-served"]);
    assert_eq!(unread(1), ["pods forbidden"]);
    assert_eq!(report["clusters"][2]["context"], "aks-west");

    // Missing lists don't change the exit code for a user who only asks for failures.
    diagnose(&place, &file, &[&both[..], &["--fail-on", "failure"]].concat()).expect(0, &[]);
    let markdown = diagnose(&place, &file, &[&both[..], &["-o", "markdown"]].concat()).expect(4, &[]).stdout.clone();
    assert!(markdown.starts_with("## fleetdrill: prod-hub\n"), "{markdown}");
}

#[test]
fn a_list_that_the_hub_refuses_costs_what_depends_on_it() {
    let place = Place::new();
    let works = "/apis/placement.kubernetes-fleet.io/v1beta1/works";
    for code in [403, 401] {
        let hub =
            FakeApi::default().refuses(works, code).knows("/apis/placement.kubernetes-fleet.io/v1beta1", &["works"]);
        let file = contexts(&place, &[("prod-hub", &hub.start())]);
        let expected = "not read on hub: these credentials may not list works.placement.kubernetes-fleet.io; without them these aren't \
                        found: KF-AP-001, KF-DL-001, ";
        // A fleet that is well needs nothing of its Works but their number.
        for args in [&["--read-all"][..], &[]] {
            let said = diagnose(&place, &file, args);
            let text = said.expect(4, &[]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(expected), "{text}");
        }
    }
}

#[test]
fn members_that_no_finding_needs_are_not_asked() {
    let place = Place::new();
    let well = json!({"apiVersion": "cluster.kubernetes-fleet.io/v1beta1", "kind": "MemberCluster",
        "metadata": {"name": "east", "generation": 1}, "status": {"conditions": [{"type": "Joined", "status": "True",
        "reason": "", "message": "", "observedGeneration": 1, "lastTransitionTime": "2026-01-08T12:00:00Z"}]}});
    let hub = FakeApi::default().has(MEMBERS, &[well]).start();
    let file = contexts(&place, &[("prod-hub", &hub), ("east", "http://127.0.0.1:1")]);
    let said = diagnose(&place, &file, &["--member", "east"]);
    let text = said.expect(0, &[]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("nothing found in 1 member (0 read, 1 not needed)"), "{text}");
    diagnose(&place, &file, &["--member", "east", "--read-all"]).expect(4, &["east can't be read"]);
}

#[test]
fn contexts_that_lead_elsewhere_are_refused() {
    let place = Place::new();
    let hub =
        FakeApi::default().has(MEMBERS, &[member("east"), member("west")]).has(NAMESPACES, &[system("a")]).start();
    let works = |from: &str| json!({"metadata": {"name": "w"}, "spec": {"workName": "w", "workNamespace": from}});
    let east =
        FakeApi::default().has(NAMESPACES, &[system("b")]).has(APPLIED_WORKS, &[works("fleet-member-east")]).start();
    let west =
        FakeApi::default().has(NAMESPACES, &[system("c")]).has(APPLIED_WORKS, &[works("fleet-member-west")]).start();
    // Another address of the same hub.
    let other = FakeApi::default().has(NAMESPACES, &[system("a")]).start();
    let addresses =
        [("prod-hub", &*hub), ("same-hub", &*hub), ("other-hub", &*other), ("aks-east", &*east), ("aks-west", &*west)];
    let file = contexts(&place, &addresses);
    diagnose(&place, &file, &["--member", "east=aks-east", "--member", "west=aks-west"]).expect(0, &[]);
    for (members, expected) in [
        (&["east=same-hub"][..], "context `same-hub`, given for east, has the API server of hub"),
        (&["east=other-hub"], "east (context `other-hub`) and hub (context `prod-hub`) are the same cluster"),
        (&["member-9=aks-east"], "there is no MemberCluster `member-9` on the hub"),
        (&["east=aks-west", "west=aks-east"], "context `aks-west` is given for east and leads to west"),
    ] {
        let members: Vec<&str> = members.iter().flat_map(|member| ["--member", member]).collect();
        diagnose(&place, &file, &[&members[..], &["--read-all"]].concat()).expect(2, &[expected, "hint: "]);
        let collect = ["collect", "--kubeconfig", &file, "--hub", "prod-hub", "-o", "bundle"];
        place.run(collect.iter().chain(&members)).expect(2, &[expected]);
        assert!(!place.path("bundle").exists());
    }
}

#[test]
fn a_credential_plugin_that_is_missing_or_fails_is_named() {
    let place = Place::new();
    let with = |command: &str| {
        let text = std::fs::read_to_string(kubeconfig(&place, "http://127.0.0.1:1")).expect("read");
        let exec = format!(
            "exec: {{apiVersion: client.authentication.k8s.io/v1, command: {command}, interactiveMode: Never}}"
        );
        let file = place.write("exec.yaml", &text.replace("token: secret-token", &exec));
        place.run(["diagnose", "--kubeconfig", &file, "--hub", "far-hub"])
    };
    with("no-such-kubelogin")
        .expect(3, &["failed to start the credential plugin `no-such-kubelogin`: No such file", "hint: "]);
    let said = with("/bin/false");
    said.expect(3, &["the credential plugin `/bin/false` ended with an error (exit status: 1)"]);
    assert!(!said.stderr.contains("Output {"), "{}", said.stderr);
}

#[test]
fn a_hub_without_a_kubeconfig() {
    let place = Place::new();
    place.run(["diagnose", "--hub", "prod-hub"]).expect(2, &["there is no usable kubeconfig", "--kubeconfig FILE"]);
}
