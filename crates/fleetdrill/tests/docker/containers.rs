//! Clusters in containers.

use std::process::Stdio;

use rustix::process::Signal;

use crate::place::{Place, until};
use crate::{LONG, Test, docker, name, proc, said, up};

/// Programs that these tests need.
const DOCKER: &[&str] = &["docker"];

pub(crate) const TESTS: &[Test] = &[
    ("a_fleet_in_containers_lives_and_ends", DOCKER, a_fleet_in_containers_lives_and_ends),
    ("containers_of_a_killed_fleet_are_found", DOCKER, containers_of_a_killed_fleet_are_found),
    ("a_network_of_somebody_s_is_left_alone", DOCKER, a_network_of_somebody_s_is_left_alone),
    ("images_that_can_not_be_had_leave_nothing", DOCKER, images_that_can_not_be_had_leave_nothing),
    ("an_interrupted_start_leaves_no_container", DOCKER, an_interrupted_start_leaves_no_container),
    ("a_cluster_that_ends_ends_the_run", DOCKER, a_cluster_that_ends_ends_the_run),
    ("scenarios_pass_in_containers", DOCKER, scenarios_pass_in_containers),
    ("faults_from_below_are_made_in_containers", DOCKER, faults_from_below_are_made_in_containers),
    ("all_faults_from_below_pass_in_containers", &["docker", LONG], all_faults_from_below_pass_in_containers),
];

/// Options of a command that needs no registry.
const OFFLINE: [&str; 3] = ["--provider", "docker", "--build-images"];

/// Containers and networks whose names begin with `fleetdrill-NAME`.
fn left(name: &str) -> Vec<String> {
    let containers = docker(&["ps", "--all", "--format", "{{.Names}}"]);
    let networks = docker(&["network", "ls", "--format", "{{.Name}}"]);
    let of_fleet = |line: &&str| line.starts_with(&format!("fleetdrill-{name}"));
    containers.lines().chain(networks.lines()).filter(of_fleet).map(str::to_owned).collect()
}

fn a_fleet_in_containers_lives_and_ends() {
    let (place, name) = (Place::new(), name("box"));
    said(up(&place, &name, &OFFLINE)).expect(0, &["is up: hub, member-1"]);
    // Two clusters, two agents, one network.
    assert_eq!(left(&name).len(), 5);
    let container = format!("fleetdrill-{name}-member-1");
    let about = docker(&[
        "inspect",
        "--format",
        "{{.HostConfig.Privileged}} {{.Config.User}} {{.HostConfig.CapDrop}}",
        &container,
    ]);
    assert_eq!(about.trim(), "false 65532:65532 [ALL]");
    let published = docker(&["port", &container]);
    assert!(published.lines().all(|line| line.contains("-> 127.0.0.1:")), "{published}");
    assert!(place.run(["status", &name]).expect(0, &[]).stdout.contains("on docker"));
    assert!(place.run(["diagnose", "--fleet", &name]).expect(0, &[]).stdout.contains("nothing found"));
    said(up(&place, &name, &["--provider", "kind"])).expect(2, &["is up with provider docker, not kind"]);
    place.run(["down", &name]).expect(0, &["ended"]);
    assert_eq!(left(&name), Vec::<String>::new());
    place.nothing_is_left();
}

fn containers_of_a_killed_fleet_are_found() {
    let (place, name) = (Place::new(), name("kill"));
    said(up(&place, &name, &OFFLINE)).expect(0, &["is up"]);
    proc::kill(place.process("supervisor serve"), Signal::KILL);
    until("its processes are gone", || place.processes().is_empty().then_some(()));
    assert_eq!(left(&name).len(), 5);
    place.run(["down", "--all"]).expect(0, &[&format!("container `fleetdrill-{name}-hub`"), "is deleted"]);
    assert_eq!(left(&name), Vec::<String>::new());
    place.nothing_is_left();
}

fn a_network_of_somebody_s_is_left_alone() {
    let (place, name) = (Place::new(), name("net"));
    let network = format!("fleetdrill-{name}");
    docker(&["network", "create", &network]);
    let refused = said(up(&place, &name, &OFFLINE));
    place.run(["down", "--all"]).expect(0, &[]);
    let left = left(&name);
    docker(&["network", "rm", &network]);
    refused.expect(3, &["docker network create", "already exists", "take another name"]);
    assert_eq!(left, [network]);
    place.soon_nothing_is_left();
}

fn images_that_can_not_be_had_leave_nothing() {
    let (place, name) = (Place::new(), name("none"));
    let image = "registry.invalid/hub-agent:v0";
    let refused = said(up(&place, &name, &["--provider", "docker", "--hub-agent-image", image]));
    refused.expect(3, &["docker pull", image, "--build-images"]);
    place.soon_nothing_is_left();
    assert_eq!(left(&name), Vec::<String>::new());
}

fn an_interrupted_start_leaves_no_container() {
    let (place, name) = (Place::new(), name("halt"));
    let mut starting =
        up(&place, &name, &OFFLINE).stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts");
    until("a container is made", || (left(&name).len() > 1).then_some(()));
    proc::kill(starting.id(), Signal::INT);
    let status = starting.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    place.soon_nothing_is_left();
    assert_eq!(left(&name), Vec::<String>::new());
}

fn a_cluster_that_ends_ends_the_run() {
    let (place, name) = (Place::new(), name("dies"));
    said(up(&place, &name, &OFFLINE)).expect(0, &["is up"]);
    let mut command = place.command(["run", "--fleet", &name, "--tags", "@drill"]);
    let mut running = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(std::time::Duration::from_secs(3));
    docker(&["kill", &format!("fleetdrill-{name}-hub")]);
    let mut told = String::new();
    let stderr = running.stderr.as_mut().expect("a pipe");
    std::io::Read::read_to_string(stderr, &mut told).expect("text");
    assert_eq!(running.wait().expect("it ends").code(), Some(3), "{told}");
    assert!(told.contains("hub ended"), "{told}");
    place.run(["down", &name]).expect(0, &["ended"]);
    assert_eq!(left(&name), Vec::<String>::new());
}

/// The four main scenarios, one with pods, and some with Argo CD.
fn scenarios_pass_in_containers() {
    let (place, name) = (Place::new(), name("suite"));
    said(up(&place, &name, &OFFLINE)).expect(0, &["is up"]);
    let mut command = place.command([
        "run",
        "--fleet",
        &name,
        "--tags",
        "@drill or (@pods and @kubefleet and @fast-forward) or @AR-SF-002",
        "--jobs",
        "8",
    ]);
    command.stdin(Stdio::null());
    let ran = said(command);
    place.run(["down", &name]).expect(0, &["ended"]);
    let told = &ran.expect(0, &[]).stdout;
    assert!(told.contains(" 0 failed") && told.contains("on provider docker"), "{told}");
    assert_eq!(left(&name), Vec::<String>::new());
}

/// A network that is slow, an API server that is started again, an agent that stands still, and a backup.
fn faults_from_below_are_made_in_containers() {
    run_from_below(&[
        "The network passes 20 kB/s",
        "The API server of the hub stops for a moment",
        "The hub-agent stands still for a moment",
        "The clocks of the agents differ by half a minute",
        "The hub's etcd is slow",
        "A member is restored",
    ]);
}

/// All scenarios of [`FROM_BELOW`] that a fleet in containers can have.
fn all_faults_from_below_pass_in_containers() {
    run_from_below(&["--tags", FROM_BELOW]);
}

/// Tags of the scenarios with faults of networks, API servers, credentials, clocks, the hub-agent and etcd.
pub(crate) const FROM_BELOW: &str = "@KF-MC-001 or @KF-MC-008 or @KF-MC-009 or @KF-HA-001 or @KF-HA-002 or @KF-HA-003 \
    or @KF-HA-004 or @KF-HA-005 or @KF-HA-006 or (@disruptive and @healthy)";

fn run_from_below(selection: &[&str]) {
    let place = Place::new();
    let mut command = place.command(["run"]);
    command.args(selection).args(OFFLINE).stdin(Stdio::null());
    let ran = said(command).expect(0, &[]).stdout.clone();
    assert!(ran.contains(" 0 failed") && ran.contains("on provider docker"), "{ran}");
    place.nothing_is_left();
}
