//! The help texts, which new users read first.

use crate::place::Place;

#[test]
fn every_command_says_what_it_does() {
    let place = Place::new();
    let commands: [&[&str]; 22] = [
        &[],
        &["run"],
        &["job"],
        &["job", "render"],
        &["job", "run"],
        &["upgrade"],
        &["list"],
        &["up"],
        &["status"],
        &["down"],
        &["diagnose"],
        &["explain"],
        &["who"],
        &["collect"],
        &["bundle"],
        &["bundle", "serve"],
        &["accuracy"],
        &["toolchain"],
        &["toolchain", "list"],
        &["toolchain", "install"],
        &["toolchain", "add"],
        &["toolchain", "remove"],
    ];
    for command in commands {
        let said = place.run(command.iter().chain(&["--help"]));
        said.expect(0, &[]);
        let name: Vec<&str> = ["fleetdrill"].iter().chain(command).copied().collect();
        insta::assert_snapshot!(name.join("-"), said.stdout);
    }
}

#[test]
fn a_reader_that_stops_reading_is_no_error() {
    let place = Place::new();
    let mut command = std::process::Command::new("sh");
    place.environment(&mut command);
    let said = command.args(["-c", "{ \"$0\" list; echo $? >&2; } | true", crate::place::PROGRAM]).output();
    let said = crate::place::Said::from(said.expect("sh starts"));
    assert_eq!(said.stderr, "0\n");
}
