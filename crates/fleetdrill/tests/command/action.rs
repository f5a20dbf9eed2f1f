//! The GitHub Action: runs the steps of `packaging/action` with a `PATH` that has a fake fleetdrill.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::place::{Place, Said};

const ACTION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/action");

/// Runs a step. `fleetdrill` prints `text` and ends with 1.
fn step(place: &Place, name: &str, text: &str, variables: &[(&str, &str)]) -> Said {
    let (bin, report) = (place.path("bin"), place.path("report"));
    std::fs::create_dir_all(&bin).and_then(|()| std::fs::create_dir_all(&report)).expect("made");
    std::fs::write(report.join("run.json"), "{}").expect("written");
    std::fs::write(place.path("text"), text).expect("written");
    let program = bin.join("fleetdrill");
    std::fs::write(&program, format!("#!/bin/sh\ncat '{}'; exit 1\n", place.path("text").display())).expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).expect("allowed");
    let path = std::env::var("PATH").expect("a path");
    let mut command = Command::new(ACTION);
    command.arg(name).env("PATH", format!("{}:{path}", bin.display())).env("REPORT", &report);
    command.env("RUN_ARGUMENTS", "--tags @drill").envs(variables.iter().copied());
    command.output().expect("bash starts").into()
}

#[test]
fn a_text_of_a_cluster_does_not_leave_its_block_of_the_summary() {
    let place = Place::new();
    let text = "failed: ````\n`````\n<img src=x> [here](http://x) @all\n";
    let page = place.path("page.md");
    step(&place, "summary", text, &[("GITHUB_STEP_SUMMARY", page.to_str().expect("a path"))]).expect(0, &[]);
    let page = std::fs::read_to_string(page).expect("a page");
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(lines[..3], ["### fleetdrill", "", "``````text"]);
    assert_eq!(lines[3..], ["failed: ````", "`````", "<img src=x> [here](http://x) @all", "``````"]);
}

#[test]
fn a_text_of_a_cluster_is_no_command_for_the_runner() {
    let place = Place::new();
    let said = step(&place, "run", "::error::all is lost\n", &[]);
    said.expect(1, &[]);
    let lines: Vec<&str> = said.stdout.lines().collect();
    let token = lines[0].strip_prefix("::stop-commands::").expect("commands are stopped");
    assert_eq!(token.len(), 32);
    assert_eq!(lines[1..], ["::error::all is lost", &format!("::{token}::")]);
}

#[test]
fn a_program_without_a_checksum_comes_over_https_only() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/fleetdrill.tar.gz", listener.local_addr().expect("an address"));
    listener.set_nonblocking(true).expect("set");
    let temp = place.path("temp");
    let variables = [("ARCHIVE", url.as_str()), ("RUNNER_TEMP", temp.to_str().expect("a path"))];
    let said = step(&place, "install", "", &variables);
    assert!(said.stderr.contains("\"http\""), "{}", said.stderr);
    assert!(listener.accept().is_err(), "it was asked for");
}
