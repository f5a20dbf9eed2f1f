//! Tests of `--provider docker` and `--provider kind` with the real Docker and kind. Tests whose programs are missing
//! are reported as ignored, unless `REQUIRE` names the program: `REQUIRE=docker,kind cargo test --test docker`.
//! `KIND_NODE_IMAGE` names the image of the nodes; without it kind uses its default. The charts come from KubeFleet's
//! Go module, so their test also needs Go. Tests that take more than five minutes run with `FLEETDRILL_TEST_LONG=1` only, as
//! `make test-long` sets it. The test of Argo CD in Pods needs `ARGOCD_MANIFESTS`, a file that installs it, and its images. Tests of fleetdrill in Pods need
//! `FLEETDRILL_IMAGE`.

#![expect(clippy::print_stderr, reason = "what isn't run is told")]

mod charts;
mod containers;
mod in_cluster;
mod job;
mod kind_cluster;
mod nodes;
#[path = "../command/place.rs"]
#[expect(dead_code, reason = "shared with the command's other tests")]
mod place;
#[path = "../command/proc.rs"]
#[expect(dead_code, reason = "shared with the command's other tests")]
mod proc;

use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Trial};

use crate::place::Place;

/// Environment variable that a test which takes long needs to be set.
const LONG: &str = "FLEETDRILL_TEST_LONG";

/// Environment variable with a file of Argo CD's manifests. Docker has to have their images, or a registry that it reaches.
const ARGOCD_MANIFESTS: &str = "ARGOCD_MANIFESTS";

/// Environment variable with an image of this version of fleetdrill that Docker has (packaging/Dockerfile).
const IMAGE: &str = "FLEETDRILL_IMAGE";

/// A test: its name, the programs and the variables that it needs, and its function.
type Test = (&'static str, &'static [&'static str], fn());

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut missing: Vec<&str> = ["docker", "kind", "go"].into_iter().filter(|program| !answers(program)).collect();
    let required = std::env::var("REQUIRE").unwrap_or_default();
    if let Some(program) = missing.iter().find(|program| required.split(',').any(|required| required == **program)) {
        eprintln!("error: REQUIRE={required}, and `{program} version` fails");
        return ExitCode::FAILURE;
    }
    for program in &missing {
        eprintln!("not run: `{program} version` fails");
    }
    missing.extend([LONG, ARGOCD_MANIFESTS, IMAGE].into_iter().filter(|variable| std::env::var_os(variable).is_none()));
    let tests = [containers::TESTS, nodes::TESTS, charts::TESTS, job::TESTS, in_cluster::TESTS]
        .into_iter()
        .flatten()
        .map(|&(name, needs, test)| {
            let run = move || {
                test();
                Ok(())
            };
            Trial::test(name, run).with_ignored_flag(needs.iter().any(|program| missing.contains(program)))
        });
    // One test at a time, since each test makes its own clusters.
    libtest_mimic::run(&Arguments { test_threads: Some(1), ..arguments }, tests.collect()).exit_code()
}

/// True if `PROGRAM version` succeeds.
fn answers(program: &str) -> bool {
    let status =
        Command::new(program).arg("version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn docker(args: &[&str]) -> String {
    let output = Command::new("docker").args(args).output().expect("docker");
    assert!(output.status.success(), "docker {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Name of a fleet that no other test uses.
fn name(test: &str) -> String {
    format!("{test}-{}", std::process::id())
}

fn up(place: &Place, name: &str, more: &[&str]) -> Command {
    let mut command = place.command(["up", "--name", name, "--members", "1"]);
    command.args(more);
    command
}

fn said(mut command: Command) -> place::Said {
    command.output().expect("the command starts").into()
}
