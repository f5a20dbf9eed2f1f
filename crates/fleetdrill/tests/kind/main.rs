//! `--provider kind` with the real kind program and Docker. Where they can't be reached, the tests are reported as ignored, unless
//! `REQUIRE` names them: `REQUIRE=docker,kind cargo test --test kind`. `KIND_NODE_IMAGE` names the nodes' image; without it kind
//! takes its own.

#[path = "../command/place.rs"]
#[expect(dead_code, reason = "shared with the command's other tests")]
mod place;
#[path = "../command/proc.rs"]
#[expect(dead_code, reason = "shared with the command's other tests")]
mod proc;

use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Trial};
use rustix::process::Signal;

use crate::place::{Place, until};

/// A command that needs nobody's registry.
const OFFLINE: [&str; 3] = ["--provider", "kind", "--build-images"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let missing: Vec<&str> = ["docker", "kind"].into_iter().filter(|program| !answers(program)).collect();
    let required = std::env::var("REQUIRE").unwrap_or_default();
    if let Some(program) = missing.iter().find(|program| required.split(',').any(|required| required == **program)) {
        eprintln!("error: REQUIRE={required}, and `{program} version` fails");
        return ExitCode::FAILURE;
    }
    for program in &missing {
        eprintln!("not run: `{program} version` fails");
    }
    let tests: [(&str, fn()); 4] = [
        ("a_fleet_on_kind_lives_and_ends", a_fleet_on_kind_lives_and_ends),
        ("somebody_s_cluster_is_left_alone", somebody_s_cluster_is_left_alone),
        ("what_can_not_be_had_is_named_and_leaves_nothing", what_can_not_be_had_is_named_and_leaves_nothing),
        ("an_interrupted_start_leaves_nothing", an_interrupted_start_leaves_nothing),
    ];
    let tests = tests.map(|(name, test)| {
        let run = move || {
            test();
            Ok(())
        };
        Trial::test(name, run).with_ignored_flag(!missing.is_empty())
    });
    // One at a time: each has clusters of its own.
    libtest_mimic::run(&Arguments { test_threads: Some(1), ..arguments }, tests.into()).exit_code()
}

/// Whether a program is there and has what it needs.
fn answers(program: &str) -> bool {
    let args: &[&str] = if program == "docker" { &["version"] } else { &["--version"] };
    let status =
        Command::new(program).args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn docker(args: &[&str]) -> String {
    let output = Command::new("docker").args(args).output().expect("docker");
    assert!(output.status.success(), "docker {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The kind clusters whose names begin with `fleetdrill-NAME-`.
fn clusters(name: &str) -> Vec<String> {
    let nodes = docker(&["ps", "--all", "--filter", "label=io.x-k8s.kind.cluster", "--format", "{{.Names}}"]);
    nodes.lines().filter(|node| node.starts_with(&format!("fleetdrill-{name}-"))).map(str::to_owned).collect()
}

fn node_image() -> Vec<String> {
    std::env::var("KIND_NODE_IMAGE").map(|image| vec!["--node-image".to_owned(), image]).unwrap_or_default()
}

/// A name that no other test's fleet has.
fn name(test: &str) -> String {
    format!("{test}-{}", std::process::id())
}

fn up(place: &Place, name: &str, more: &[&str]) -> Command {
    let mut command = place.command(["up", "--name", name, "--members", "1"]);
    command.args(node_image()).args(more);
    command
}

fn said(mut command: Command) -> place::Said {
    command.output().expect("the command starts").into()
}

fn a_fleet_on_kind_lives_and_ends() {
    let (place, name) = (Place::new(), name("lives"));
    said(up(&place, &name, &OFFLINE)).expect(0, &["is up: hub, member-1"]);
    assert_eq!(clusters(&name).len(), 2);
    assert!(!place.path("no-such-kubeconfig").exists(), "the user's kubeconfig is not touched");
    assert!(place.run(["status", &name]).expect(0, &[]).stdout.contains("on kind"));
    assert!(place.run(["diagnose", "--fleet", &name]).expect(0, &[]).stdout.contains("nothing found"));

    // A keeper that is killed can't delete them.
    proc::kill(place.process("keeper serve"), Signal::KILL);
    until("its processes are gone", || place.processes().is_empty().then_some(()));
    assert_eq!(clusters(&name).len(), 2);
    place.run(["down", "--all"]).expect(0, &[&format!("kind cluster `fleetdrill-{name}-hub`"), "is deleted"]);
    assert_eq!(clusters(&name), Vec::<String>::new());
    place.nothing_is_left();
}

fn somebody_s_cluster_is_left_alone() {
    let (place, name) = (Place::new(), name("taken"));
    let image = std::env::var("KIND_NODE_IMAGE").unwrap_or_else(|_| "kindest/node".to_owned());
    let cluster = format!("fleetdrill-{name}-hub");
    let label = format!("io.x-k8s.kind.cluster={cluster}");
    let node = format!("{cluster}-control-plane");
    docker(&["create", "--name", &node, "--label", &label, "--label", "io.x-k8s.kind.role=control-plane", &image]);
    let refused = said(up(&place, &name, &OFFLINE));
    place.run(["down", "--all"]).expect(0, &[]);
    let left = clusters(&name);
    docker(&["rm", &node]);
    refused.expect(3, &[&format!("there is a kind cluster `{cluster}` already"), "left alone"]);
    assert_eq!(left, [node]);
    place.soon_nothing_is_left();
}

fn what_can_not_be_had_is_named_and_leaves_nothing() {
    let (place, name) = (Place::new(), name("none"));
    let image = "registry.invalid/hub-agent:v0";
    let refused = said(up(&place, &name, &["--provider", "kind", "--hub-agent-image", image]));
    refused.expect(3, &["docker pull", image, "--build-images"]);
    assert_eq!(clusters(&name), Vec::<String>::new());

    let mut command = place.command(["up", "--name", &name, "--node-image", "registry.invalid/node:v0"]);
    command.args(OFFLINE);
    said(command).expect(3, &["kind create cluster", "registry.invalid/node:v0"]);
    assert_eq!(clusters(&name), Vec::<String>::new());
    place.soon_nothing_is_left();
}

fn an_interrupted_start_leaves_nothing() {
    let (place, name) = (Place::new(), name("halt"));
    let mut starting =
        up(&place, &name, &OFFLINE).stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts");
    until("a node is made", || (!clusters(&name).is_empty()).then_some(()));
    proc::kill(starting.id(), Signal::INT);
    let status = starting.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    place.soon_nothing_is_left();
    assert_eq!(clusters(&name), Vec::<String>::new());
}
