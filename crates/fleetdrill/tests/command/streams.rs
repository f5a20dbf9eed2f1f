//! Output to closed or full streams: no command panics, whatever it prints.

use std::fs::OpenOptions;
use std::process::Stdio;

use clap::CommandFactory as _;
use fleetdrill::cli::Cli;

use crate::place::{Place, Said, turn};

/// Arguments with which a command prints something and ends at once.
fn cheap_arguments(command: &str) -> &'static [&'static [&'static str]] {
    match command {
        "run" => &[&["xyzzy"], &["--kubefleet", "v9.9.9"]],
        "upgrade" => &[&["--from", "v0.1.2", "--to", "v0.1.2", "xyzzy"]],
        "accuracy" => &[&["--seed", "1", "--list"], &["--kubefleet", "v9.9.9"]],
        "list" => &[&[], &["--steps"], &["-o", "json"]],
        "up" => &[&["--kubefleet", "v9.9.9"]],
        "status" | "toolchain list" | "train list" => &[&[], &["-o", "yaml"]],
        "down" => &[&["nobody"], &["--all"]],
        "diagnose" | "collect" => &[&["--fleet", "nobody"]],
        "bundle serve" => &[&["nothing"]],
        "who" => &[&["--fleet", "nobody", "--member", "member-1", "configmap/settings"]],
        "explain" => &[&[], &["KF-WS-001"], &["KF-XX-999"]],
        "guides" => &[&[], &["-o", "markdown"]],
        "train start" | "train verify" | "toolchain install" => &[&["xyzzy"]],
        "train diagnose" => &[&["KF-WS-001"]],
        "train restart" => &[&["hub-agent"]],
        "train status" | "train hint" | "train check" | "train reset" | "train solution" | "train stop"
        | "train report" => &[&[]],
        "toolchain add" => &[&["kubefleet", "v9.9.8", "hub-agent=/nonexistent"]],
        "toolchain remove" => &[&["xyzzy", "v9.9.9"]],
        // `--help` and a wrong option would hardly test a new command.
        other => panic!("`fleetdrill {other}` is new: give it arguments with which it ends at once"),
    }
}

/// Collects the names of all commands that have no subcommands.
fn leaves(command: &clap::Command, path: &str, names: &mut Vec<String>) {
    for sub in command.get_subcommands() {
        let name = format!("{path}{}", sub.get_name());
        if sub.has_subcommands() {
            leaves(sub, &format!("{name} "), names);
        } else {
            names.push(name);
        }
    }
}

/// Target of a command's standard output or standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Readable,
    ClosedPipe,
    Full,
}

impl Stream {
    fn open(self) -> Stdio {
        match self {
            Self::Readable => Stdio::piped(),
            // The reading end is closed at once.
            Self::ClosedPipe => std::io::pipe().expect("a pipe").1.into(),
            Self::Full => OpenOptions::new().write(true).open("/dev/full").expect("Linux has it").into(),
        }
    }
}

fn run(place: &Place, args: &[&str], stdout: Stream, stderr: Stream) -> Said {
    let mut command = place.command(args);
    // The environment is set, so that scores and files of this machine aren't read.
    let output = command.stdout(stdout.open()).stderr(stderr.open()).output();
    output.expect("the command starts").into()
}

#[test]
#[ignore = "takes long: `make test-long`"]
fn no_command_panics_on_a_stream_that_is_closed_or_full() {
    use Stream::{ClosedPipe, Full, Readable};
    const LOST: &str = "error: failed to write to standard output: No space left on device";
    let place = Place::new();
    let mut names = Vec::new();
    leaves(&Cli::command(), "", &mut names);
    let mut rows: Vec<Vec<&str>> = vec![vec![], vec!["--help"], vec!["--version"], vec!["xyzzy"]];
    for name in &names {
        let with = |more: &[&'static str]| name.split(' ').chain(more.iter().copied()).collect::<Vec<_>>();
        rows.extend(cheap_arguments(name).iter().map(|more| with(more)));
        rows.extend([with(&["--help"]), with(&["--no-such-option"])]);
    }
    for args in rows {
        let usual = run(&place, &args, Readable, Readable);
        assert!(!usual.stdout.is_empty() || !usual.stderr.is_empty(), "{args:?} prints nothing");
        for (stdout, stderr) in [
            (ClosedPipe, Readable),
            (Full, Readable),
            (Readable, ClosedPipe),
            (Readable, Full),
            (ClosedPipe, ClosedPipe),
            (Full, Full),
        ] {
            let said = run(&place, &args, stdout, stderr);
            let lost = stdout == Full && !usual.stdout.is_empty();
            let code = if lost && matches!(usual.code, Some(0 | 1)) { Some(3) } else { usual.code };
            assert_eq!(said.code, code, "{args:?} with stdout {stdout:?} and stderr {stderr:?}: {said:?}");
            assert_eq!(said.stderr.contains(LOST), lost && stderr == Readable, "{args:?}: {said:?}");
            assert!(!said.stderr.contains("panicked") && !said.stderr.contains("backtrace"), "{args:?}: {said:?}");
        }
    }
    place.nothing_is_left();
}

#[test]
fn a_fleet_starts_though_nobody_reads_of_it() {
    let _turn = turn();
    let place = Place::new();
    let up = ["up", "--name", "unread", "--members", "1"];
    run(&place, &up, Stream::ClosedPipe, Stream::ClosedPipe).expect(0, &[]);
    run(&place, &["status", "unread"], Stream::Readable, Stream::Readable).expect(0, &[]);
    place.run(["down", "unread"]).expect(0, &[]);
    // The command's result is the path of its kubeconfig, and that path is lost.
    run(&place, &up, Stream::Full, Stream::Full).expect(3, &[]);
    place.run(["down", "unread"]).expect(0, &[]);
    place.nothing_is_left();
}

#[test]
#[ignore = "takes long: `make test-long`"]
fn a_run_and_an_exercise_go_on_though_nobody_reads_of_them() {
    let _turn = turn();
    let place = Place::new();
    let quick = crate::features::quick(&place);
    let args = ["run", &quick, "--members", "1", "--junit", "junit.xml"];
    run(&place, &args, Stream::ClosedPipe, Stream::ClosedPipe).expect(0, &[]);
    run(&place, &args, Stream::Full, Stream::Full).expect(3, &[]);
    assert!(std::fs::read_to_string(place.path("junit.xml")).expect("written").contains("tests=\"1\""));
    let start = ["train", "start", "empty-shop"];
    run(&place, &start, Stream::ClosedPipe, Stream::ClosedPipe).expect(0, &[]);
    place.run(["train", "stop"]).expect(0, &[]);
    place.nothing_is_left();
}
