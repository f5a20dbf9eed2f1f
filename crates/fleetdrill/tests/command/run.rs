//! `run` when something breaks or interrupts it. Each test starts its own run, since each run ends differently.

use std::process::Command;

use record::RunRecord;
use rustix::process::Signal;

use crate::bundle::left_by;
use crate::cache::{heartless, with_cache};
use crate::features::{endless, quick, until_placements};
use crate::place::{PROGRAM, Place, Said, turn, until};
use crate::proc;
use crate::running::Running;

/// Starts a run of scenarios that don't end by themselves, `jobs` at a time, and waits until `jobs` have begun.
fn under_way(place: &Place, scenarios: usize, jobs: usize) -> Running {
    let file = endless(place, scenarios);
    let junit = place.path("junit.xml").display().to_string();
    let count = jobs.to_string();
    let args = ["run", &file, "--members", "1", "--junit", &junit, "--jobs", &count];
    let mut running = Running::start(&mut place.command(args));
    until_placements(place, &mut running, jobs);
    running
}

fn junit(place: &Place) -> String {
    std::fs::read_to_string(place.path("junit.xml")).expect("the JUnit file is there")
}

#[test]
fn ctrl_c_while_the_fleet_starts() {
    let _turn = turn();
    let place = Place::new();
    for signal in [Signal::INT, Signal::TERM] {
        for begun in ["supervisor serve", "kube-apiserver"] {
            let running = Running::start(&mut place.command(["run", &quick(&place)]));
            place.process(begun);
            running.signal(signal);
            running.end().expect(130, &["interrupted before the first scenario: ending what was started"]);
            place.nothing_is_left();
        }
    }
}

#[test]
fn ctrl_c_in_mid_scenario() {
    let _turn = turn();
    let place = Place::new();
    let running = under_way(&place, 3, 2);
    running.signal(Signal::INT);
    let said = running.end();
    said.expect(130, &[]);
    place.nothing_is_left();
    assert!(said.stdout.ends_with("\n0 passed, 0 failed, 2 interrupted, 1 skipped\n"), "{}", said.stdout);
    // The report also has the scenario that hasn't begun.
    let junit = junit(&place);
    let counts = junit.lines().find(|line| line.starts_with("<testsuites")).unwrap_or_default();
    for count in ["tests=\"3\"", "failures=\"0\"", "errors=\"2\""] {
        assert!(counts.contains(count), "{junit}");
    }
    assert_eq!(junit.matches("type=\"interrupted\"").count(), 2, "{junit}");
    assert_eq!(junit.matches("<skipped").count(), 1, "{junit}");
}

#[test]
fn scenarios_are_repeated_on_one_fleet() {
    let _turn = turn();
    let place = Place::new();
    let json = place.path("run.json").display().to_string();
    let said = place.run(["run", &quick(&place), "--members", "1", "--repeat", "3", "--json", &json]);
    said.expect(0, &[]);
    assert!(said.stdout.ends_with("\n1 passed, 0 failed, 0 skipped\n"), "{}", said.stdout);
    let lines = said.stdout.lines().filter(|line| line.ends_with("  quick"));
    assert_eq!(lines.count(), 3, "{}", said.stdout);
    let run: RunRecord = serde_json::from_str(&std::fs::read_to_string(json).expect("the file")).expect("a run");
    assert_eq!(run.scenarios.len(), 1);
    assert!(run.id.chars().all(char::is_alphabetic), "the id is that of one run: {}", run.id);
    place.nothing_is_left();
}

#[test]
fn the_harness_is_killed_in_mid_scenario() {
    let _turn = turn();
    let place = Place::new();
    let running = under_way(&place, 1, 1);
    running.signal(Signal::KILL);
    drop(running);
    place.soon_nothing_is_left();
}

#[test]
fn harness_and_supervisor_are_killed_at_once() {
    let _turn = turn();
    let place = Place::new();
    let running = under_way(&place, 1, 1);
    proc::kill(place.process("supervisor serve"), Signal::KILL);
    running.signal(Signal::KILL);
    drop(running);
    until("all processes die", || place.processes().is_empty().then_some(()));
    // A killed process can't remove its files; the next command does.
    assert_eq!(place.run(["status"]).expect(0, &[]).stdout, "no fleet is up\n");
    place.nothing_is_left();
}

#[test]
fn the_supervisor_is_killed_in_mid_scenario() {
    let _turn = turn();
    let place = Place::new();
    let running = under_way(&place, 1, 1);
    proc::kill(place.process("supervisor serve"), Signal::KILL);
    let said = running.end();
    said.expect(3, &["error: supervisor ended (gone)\n", "hint: it was killed from outside"]);
    assert!(!said.stderr.contains("its last lines"), "{}", said.stderr);
    place.nothing_is_left();
}

#[test]
fn a_component_dies_in_mid_scenario() {
    let _turn = turn();
    let place = Place::new();
    let running = under_way(&place, 1, 1);
    proc::kill(place.process("/hub-agent "), Signal::KILL);
    let said = running.end();
    said.expect(3, &["hub-agent ended (signal: 9 (SIGKILL)); its last lines:\n"]);
    let log = said.stderr.split("its last lines:\n").nth(1).unwrap_or_default();
    assert!(log.lines().any(|line| line.contains(".go:")), "{log}");
    place.nothing_is_left();
    assert!(said.stdout.contains("1 interrupted"), "{}", said.stdout);
    let junit = junit(&place);
    assert_eq!(junit.matches("type=\"interrupted\"").count(), 1, "{junit}");
    assert!(junit.contains("hub-agent ended (signal: 9 (SIGKILL))"), "{junit}");
    assert!(junit.contains("bundle: fleetdrill diagnose --from report/bundles/run-"), "{junit}");
    let bundle = left_by(&place, &place.path("report/bundles"));
    assert!(bundle.stderr.contains("it was taken for: the fleet broke: hub-agent ended"), "{bundle:?}");
}

#[test]
fn a_component_dies_while_the_fleet_starts() {
    let _turn = turn();
    let place = Place::new();
    for victim in ["/etcd ", "/kube-apiserver "] {
        let running = Running::start(&mut place.command(["run", &quick(&place)]));
        proc::kill(place.process(victim), Signal::KILL);
        // A process that is killed this early may not have logged anything yet.
        running.end().expect(3, &["ended while", "signal: 9 (SIGKILL)"]);
        place.nothing_is_left();
    }
}

#[test]
fn a_component_that_can_not_start() {
    let _turn = turn();
    let place = Place::new();
    let cache = place.path("cache");
    heartless(&place, &cache);
    let quick = quick(&place);
    let run = ["run", &quick, "--kubefleet", "v9.9.9", "--members", "1", "--junit", "junit.xml"];
    let said = with_cache(&place, &cache, &run);
    said.expect(3, &["hub-agent ended (exit status: 7)", "I have no heart"]);
    // No scenario has begun, and the report must not count any as passed.
    let junit = junit(&place);
    assert!(junit.contains("<error message=\"the fleet didn&apos;t start: hub-agent ended"), "{junit}");
    place.nothing_is_left();
}

#[test]
fn a_disk_that_is_full() {
    let _turn = turn();
    let place = Place::new();
    std::fs::create_dir_all(place.state()).expect("made");
    let mount = format!("mount -t tmpfs -o size=20m none {}", place.state().display());
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        place.environment(&mut command);
        command.args(["-rm", "sh", "-c", script, PROGRAM]);
        command
    };
    if !unshare(&mount).output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this system doesn't let us mount a small disk");
        return;
    }
    let script = format!("{mount} && exec \"$0\" run --members 1 {}", quick(&place));
    let said = Said::from(unshare(&script).output().expect("starts"));
    said.expect(
        3,
        &["etcd", "no space left on device", "the disk is full: free some space, or set FLEETDRILL_STATE_DIR"],
    );
    assert_eq!(place.processes(), []);
}

#[test]
fn two_runs_at_once() {
    let _turn = turn();
    let place = Place::new();
    let start = || Running::start(&mut place.command(["run", &quick(&place), "--members", "1"]));
    let (one, two) = (start(), start());
    for running in [one, two] {
        let said = running.end();
        said.expect(0, &[]);
        assert!(said.stdout.contains("1 passed, 0 failed"), "{}", said.stdout);
    }
    place.nothing_is_left();
}
