//! Programs that `make` installs on a machine: runs `scripts/setup` with a `PATH` of fake programs.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use crate::place::{Place, Said};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Programs of the machine that the script itself calls.
const TOOLS: [&str; 10] = ["bash", "cut", "dirname", "env", "grep", "sed", "sh", "sort", "tail", "head"];

/// Creates a directory for `PATH` in which root finds every program that a build needs, but no redis-server
/// and no ssh. Its
/// apt-get only records that it was called.
fn machine(place: &Place) {
    let dir = place.path("bin");
    std::fs::create_dir_all(&dir).expect("made");
    for tool in TOOLS {
        let at = ["/usr/bin", "/bin"].map(|bin| Path::new(bin).join(tool)).into_iter().find(|path| path.exists());
        symlink(at.expect("a usual tool"), dir.join(tool)).expect("linked");
    }
    let scripts = [
        ("id", "echo 0".to_owned()),
        ("apt-get", format!("echo \"$@\" >>{}", place.path("installed").display())),
        ("cargo", "echo cargo 99.0.0".to_owned()),
        ("go", "echo go99.0".to_owned()),
    ];
    let empty = ["cc", "make", "git"].map(|name| (name, "exit 0".to_owned()));
    for (name, script) in scripts.into_iter().chain(empty) {
        std::fs::write(dir.join(name), format!("#!/bin/sh\n{script}\n")).expect("written");
        std::fs::set_permissions(dir.join(name), std::fs::Permissions::from_mode(0o700)).expect("allowed");
    }
}

fn setup(place: &Place, args: &[&str]) -> Said {
    let mut command = Command::new("bash");
    command.arg(format!("{ROOT}/scripts/setup")).args(args).env("PATH", place.path("bin"));
    command.output().expect("bash starts").into()
}

#[test]
fn what_a_command_does_not_need_is_not_installed() {
    let place = Place::new();
    machine(&place);
    setup(&place, &[]).expect(0, &[]);
    setup(&place, &["lint"]).expect(0, &[]);
    assert!(!place.path("installed").exists(), "apt-get was called");
    assert_eq!(setup(&place, &["--print"]).expect(0, &[]).stdout, "");
    assert_eq!(setup(&place, &["--print", "lint", "argocd"]).expect(0, &[]).stdout, "redis-server\nopenssh-client\n");
    std::fs::remove_file(place.path("bin/cc")).expect("it was there");
    assert_eq!(setup(&place, &["--print"]).expect(0, &[]).stdout, "build-essential\ngit\n");
    setup(&place, &["argo"]).expect(2, &["error: scripts/setup takes lint, argocd and --print, not `argo`"]);
}

#[test]
fn only_targets_with_argocd_ask_for_what_it_needs() {
    let asks_for = |target: &str| {
        let said = Said::from(
            Command::new("make")
                .args(["-C", ROOT, "-n", target])
                .env_remove("MAKEFLAGS")
                .output()
                .expect("make starts"),
        );
        let said = said.expect(0, &[]).stdout.clone();
        let lines = said.lines().filter_map(|line| line.trim().strip_prefix("scripts/setup"));
        lines.map(|needs| needs.trim().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(asks_for("drill"), "");
    assert_eq!(asks_for("setup"), "");
    for target in ["test", "features", "exercises", "unit", "test-long", "bench"] {
        assert!(asks_for(target).contains("argocd"), "make {target}: {}", asks_for(target));
    }
    assert!(
        std::fs::read_to_string(format!("{ROOT}/.ci/run"))
            .expect("it is there")
            .contains("\nscripts/setup lint argocd\n")
    );
}
