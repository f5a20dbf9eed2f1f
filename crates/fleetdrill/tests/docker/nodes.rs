//! Clusters that kind makes.

use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::containers::FROM_BELOW;
use crate::place::{Place, until};
use crate::{ARGOCD_MANIFESTS, LONG, Test, docker, name, proc, said, up};

/// Programs that these tests need.
const KIND: &[&str] = &["docker", "kind"];

pub(crate) const TESTS: &[Test] = &[
    ("a_fleet_on_kind_lives_and_ends", KIND, a_fleet_on_kind_lives_and_ends),
    ("somebody_s_cluster_is_left_alone", KIND, somebody_s_cluster_is_left_alone),
    ("what_can_not_be_had_is_named_and_leaves_nothing", KIND, what_can_not_be_had_is_named_and_leaves_nothing),
    ("an_interrupted_start_leaves_nothing", KIND, an_interrupted_start_leaves_nothing),
    ("scenarios_pass_on_real_nodes", KIND, scenarios_pass_on_real_nodes),
    (
        "the_drill_and_all_failures_of_pods_pass_on_real_nodes",
        &["docker", "kind", LONG],
        the_drill_and_all_failures_of_pods_pass_on_real_nodes,
    ),
    ("faults_from_below_pass_on_real_nodes", &["docker", "kind", LONG], faults_from_below_pass_on_real_nodes),
    (
        "argocd_from_its_manifests_is_diagnosed",
        &["docker", "kind", ARGOCD_MANIFESTS],
        argocd_from_its_manifests_is_diagnosed,
    ),
];

/// Options of a command that needs no registry.
pub(crate) const OFFLINE: [&str; 3] = ["--provider", "kind", "--build-images"];

/// Nodes of kind clusters whose names begin with `fleetdrill-NAME-`.
fn clusters(name: &str) -> Vec<String> {
    let nodes = docker(&["ps", "--all", "--filter", "label=io.x-k8s.kind.cluster", "--format", "{{.Names}}"]);
    nodes.lines().filter(|node| node.starts_with(&format!("fleetdrill-{name}-"))).map(str::to_owned).collect()
}

/// Nodes of this test's fleets, found by their mounts: each node mounts its fleet's directory.
fn nodes_of(place: &Place) -> Vec<String> {
    let nodes = docker(&["ps", "--all", "--no-trunc", "--format", "{{.Names}} {{.Mounts}}"]);
    let state = place.state().display().to_string();
    nodes.lines().filter(|node| node.contains(&state)).map(str::to_owned).collect()
}

/// Asserts that no fleet of this test and no node is left.
#[track_caller]
pub(crate) fn nothing_is_left(place: &Place) {
    place.soon_nothing_is_left();
    assert_eq!(nodes_of(place), Vec::<String>::new());
}

pub(crate) fn node_image() -> Vec<String> {
    std::env::var("KIND_NODE_IMAGE").map(|image| vec!["--node-image".to_owned(), image]).unwrap_or_default()
}

fn on_kind(place: &Place, name: &str, more: &[&str]) -> Command {
    let mut command = up(place, name, more);
    command.args(node_image());
    command
}

fn a_fleet_on_kind_lives_and_ends() {
    let (place, name) = (Place::new(), name("lives"));
    said(on_kind(&place, &name, &OFFLINE)).expect(0, &["is up: hub, member-1"]);
    assert_eq!(clusters(&name).len(), 2);
    assert_eq!(nodes_of(&place).len(), 2);
    assert!(!place.path("no-such-kubeconfig").exists(), "the user's kubeconfig is not touched");
    assert!(place.run(["status", &name]).expect(0, &[]).stdout.contains("on kind"));
    assert!(place.run(["diagnose", "--fleet", &name]).expect(0, &[]).stdout.contains("nothing found"));

    // A killed supervisor can't delete the clusters.
    proc::kill(place.process("supervisor serve"), Signal::KILL);
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
    let refused = said(on_kind(&place, &name, &OFFLINE));
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
    let refused = said(on_kind(&place, &name, &["--provider", "kind", "--hub-agent-image", image]));
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
        on_kind(&place, &name, &OFFLINE).stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts");
    until("a node is made", || (!clusters(&name).is_empty()).then_some(()));
    proc::kill(starting.id(), Signal::INT);
    let status = starting.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    place.soon_nothing_is_left();
    assert_eq!(clusters(&name), Vec::<String>::new());
}

/// An image that can't be had, what Argo CD makes of such an image, and a run that waits for an approval.
fn scenarios_pass_on_real_nodes() {
    pass_on_real_nodes("@KF-AV-002 or @AR-HL-002 or @KF-UR-004");
}

/// The drill, and the failures of Pods as real kubelets report them.
fn the_drill_and_all_failures_of_pods_pass_on_real_nodes() {
    pass_on_real_nodes("@drill or (@pods and @kubefleet)");
}

/// The faults of networks, API servers, credentials and the hub-agent that a fleet on kind can have.
fn faults_from_below_pass_on_real_nodes() {
    pass_on_real_nodes(FROM_BELOW);
}

/// Argo CD in Pods on the hub: a failure of its sync, of its destination, and of its repository, and one of its components that stops.
fn argocd_from_its_manifests_is_diagnosed() {
    let place = Place::new();
    let tags = "@AR-SF-001 or @AR-CL-002 or @AR-RP-001 or @AR-HL-006";
    let mut command = place.command(["run", "--tags", tags, "--one-per-code", "--argocd-manifests"]);
    command.arg(std::env::var_os(ARGOCD_MANIFESTS).unwrap_or_default()).args(OFFLINE).args(node_image());
    let ran = said(command).expect(0, &[]).stdout.clone();
    assert!(ran.contains(" 0 failed") && ran.contains("on provider kind"), "{ran}");
    nothing_is_left(&place);
}

/// Runs a scenario of each failure code of those that these tags select.
fn pass_on_real_nodes(tags: &str) {
    let place = Place::new();
    let mut command = place.command(["run", "--tags", tags, "--one-per-code"]);
    command.args(OFFLINE).args(node_image());
    let ran = said(command).expect(0, &[]).stdout.clone();
    assert!(ran.contains(" 0 failed") && ran.contains("on provider kind"), "{ran}");
    nothing_is_left(&place);
}
