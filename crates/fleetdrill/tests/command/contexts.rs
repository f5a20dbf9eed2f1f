//! `diagnose` by a kubeconfig whose contexts aren't there, or whose clusters aren't.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::place::Place;

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
        .expect(2, &["`east` is no member", "NAME=CONTEXT"]);
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
    // Connections wait in the listener's queue, which the kernel takes them into.
    let file = kubeconfig(&place, &address);
    place.run(["diagnose", "--kubeconfig", &file, "--hub", "far-hub"]).expect(3, &["can't be reached", &address]);
}

/// Answers every request with the same status.
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
        ("404 Not Found", 2, "is no KubeFleet hub"),
        ("401 Unauthorized", 2, "refuses these credentials (401)"),
        ("403 Forbidden", 2, "refuses these credentials (403)"),
        ("500 Internal Server Error", 3, "answers with an error (500"),
    ] {
        let address = server(status);
        let file = kubeconfig(&place, &address);
        place.run(["diagnose", "--kubeconfig", &file, "--hub", "far-hub"]).expect(code, &[part, &address]);
    }
}
