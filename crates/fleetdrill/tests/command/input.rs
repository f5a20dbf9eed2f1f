//! Wrong input is found before anything is built or started. The error names the place and the remedy.

use crate::place::{Place, Said};

#[test]
fn a_version_that_there_is_none_of() {
    let place = Place::new();
    for command in ["run", "up"] {
        place.run([command, "--kubefleet", "v9.9.9"]).expect(
            2,
            &["there is no kubefleet v9.9.9", "v0.1.2", "fleetdrill toolchain add kubefleet v9.9.9 hub-agent=PATH"],
        );
    }
    place.nothing_is_left();
}

#[test]
fn values_of_drifts_for_a_file_or_a_program() {
    let place = Place::new();
    place
        .run(["diagnose", "--show-values"])
        .expect(2, &["--show-values prints values on a terminal only", "hint: run the command in a terminal"]);
    place.run(["diagnose", "--show-values", "-o", "json"]).expect(2, &["--show-values prints values in text only"]);
    place.run(["diagnose", "--show-values", "--from", "bundle"]).expect(2, &["cannot be used with '--from <BUNDLE>'"]);
    place.nothing_is_left();
}

#[test]
fn a_pause_without_a_terminal() {
    let place = Place::new();
    place.run(["run", "--pause-on-failure"]).expect(
        2,
        &["--pause-on-failure waits for Enter, and standard input is no terminal", "hint: use --keep failed"],
    );
    place.run(["run", "--pause-on-failure", "--fail-fast"]).expect(2, &["cannot be used with '--fail-fast'"]);
    place.run(["run", "--repeat", "0"]).expect(2, &["'--repeat <N>'", "0 is not in 1..="]);
    place.nothing_is_left();
}

#[test]
fn a_scenario_that_there_is_none_of() {
    let place = Place::new();
    place.write(
        "own.feature",
        "Feature: sayings\n  Scenario: A bird in the hand\n    Given a\n  Scenario: A bush\n    Given b\n",
    );
    let directory = place.path("").display().to_string();
    place
        .run(["run", "--features", &directory, "a bird in the hnad"])
        .expect(2, &["no scenario is selected by \"a bird in the hnad\"", "did you mean \"A bird in the hand\"?"]);
    place.run(["run", "xyzzy"]).expect(2, &["no scenario is selected by \"xyzzy\"", "`fleetdrill list` shows"]);
    // One of several names that selects nothing is a mistake, too. The name of a file selects its scenarios.
    place
        .run(["run", "--features", &directory, "a bush", "a bird in the hnad"])
        .expect(2, &["no scenario is selected by \"a bird in the hnad\""]);
    place.run(["list", "--features", &directory, "own"]).expect(2, &["of the features can't be run"]);
    place.run(["run", "/nowhere/own.feature"]).expect(2, &["failed to read /nowhere/own.feature", "No such file"]);
    place.run(["run", "--features", "/nowhere"]).expect(2, &["failed to read /nowhere", "No such file"]);
    place.nothing_is_left();
}

#[test]
fn a_feature_that_is_none() {
    let place = Place::new();
    let refused = |text: &str, parts: &[&str]| {
        let file = place.write("own.feature", text);
        place.run(["run", &file]).expect(2, parts);
    };
    refused("Feature: mine\n  Scenario: one\n    Given a\n    Wen b\n", &["own.feature:5:1 isn't Gherkin"]);
    refused("Fixture: mine\n", &["own.feature:1:14 isn't Gherkin: that line"]);
    refused("", &["own.feature isn't Gherkin: it is empty"]);
    refused("Feature: mine\n  Scenaro: one\n    Given a\n", &["own.feature isn't Gherkin: it has no scenarios"]);
    refused("Feature: mine\n  Rule: r\n    Scenario: one\n      Given a\n", &["own.feature:2 isn't Gherkin: rules"]);
    refused("Feature: mine\n  Scenario: one\n    Giwen a\n", &["own.feature:2: Scenario: one", "it has no steps"]);
    place.nothing_is_left();
}

#[test]
fn a_step_that_nobody_defined() {
    let place = Place::new();
    let file = place.write("own.feature", "Feature: mine\n  Scenario: one\n    Given something that nobody defined\n");
    place.run(["run", &file]).expect(
        2,
        &[
            "own.feature:3: Given something that nobody defined",
            "no step is defined like this",
            "`fleetdrill list --steps` shows the steps there are",
        ],
    );
    place.nothing_is_left();
}

/// Writes a feature with one scenario.
fn feature(place: &Place, steps: &str) -> String {
    place.write("own.feature", &format!("Feature: mine\n  Scenario: one\n{steps}"))
}

#[test]
fn what_is_wrong_with_a_step_is_told_before_anything_starts() {
    let place = Place::new();
    let given = "    Given a placement \"web\" selects \"member-1\"\n";
    for command in ["run", "list"] {
        let refused = |steps: &str, why: &str| {
            place.run([command, &feature(&place, steps)]).expect(2, &[why]);
        };
        refused("    Given a placment \"web\" selects \"member-1\"\n", "selects {selection}");
        refused(
            &format!("{given}    When placement \"web\" becomes available on \"member-1\"\n"),
            "this step is defined under Given and Then, and stands under When here",
        );
        refused(
            &format!("{given}    Then the diagnosis of placement \"web\" is KF-WS-091\n"),
            "there is no failure code KF-WS-091; the nearest one is KF-WS-001",
        );
        refused(
            &format!(
                "{given}    Then placement \"web\" reports\n      | on | condition | state |\n      | | Applied | True |\n"
            ),
            "the table has a column `state`; there are: on, condition, status, reason",
        );
        refused(
            &format!("{given}    Then placement \"wbe\" becomes available on \"member-1\"\n"),
            "no step before this one speaks of placement \"wbe\"; the nearest name there is \"web\"",
        );
        let tagged = place.write("own.feature", &format!("Feature: mine\n  @KF-XX-999\n  Scenario: one\n{given}"));
        place.run([command, &tagged]).expect(2, &["own.feature:3: @KF-XX-999", "there is no failure code KF-XX-999"]);
    }
    place.nothing_is_left();
}

#[test]
fn a_member_that_the_fleet_does_not_get() {
    let place = Place::new();
    let asks = |member: &str| feature(&place, &format!("    Given a placement \"web\" selects \"{member}\"\n"));
    place.run(["run", &asks("member-9")]).expect(
        2,
        &["own.feature:2 speaks of member-9, and the fleet gets 3 members", "give the fleet more: --members 9"],
    );
    place.run(["run", &asks("member-25")]).expect(2, &["speaks of member-25", "a fleet has 20 members at most"]);
    place.nothing_is_left();
}

#[test]
fn a_feature_from_an_editor_on_windows() {
    let place = Place::new();
    let given = "    Given a placement \"web\" selects \"member-1\"\r\n";
    let file = place.write("own.feature", &format!("\u{feff}Feature: mine\r\n  Scenario: one\r\n{given}"));
    assert!(place.run(["list", &file]).expect(0, &[]).stdout.ends_with("\n1 scenarios\n"));
}

#[test]
fn a_feature_that_is_no_file_or_too_long() {
    let place = Place::new();
    let pipe = place.path("pipe.feature");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("it starts").success());
    place.run(["list", &pipe.display().to_string()]).expect(2, &["pipe.feature is no regular file"]);
    let device = place.path("device.feature");
    std::os::unix::fs::symlink("/dev/zero", &device).expect("linked");
    place.run(["list", &device.display().to_string()]).expect(2, &["device.feature is no regular file"]);
    let long =
        place.write("long.feature", &format!("Feature: mine\n{}", "  Scenario: one\n    Given a\n".repeat(10_000)));
    place
        .run(["list", &long])
        .expect(2, &["long.feature has 20001 lines, and a feature has 20000 at most", "split it into several files"]);
}

#[test]
fn reports_on_standard_output() {
    let place = Place::new();
    place
        .run(["run", "--junit", "-", "--json", "-"])
        .expect(2, &["only one of --junit, --json and --html can be written to standard output"]);
    place.nothing_is_left();
    assert!(!place.path("-").exists());
}

#[test]
fn steps_for_programs() {
    let place = Place::new();
    let said = place.run(["list", "--steps", "-o", "json"]);
    let steps: serde_json::Value = serde_json::from_str(&said.expect(0, &[]).stdout).expect("JSON");
    let first = &steps.as_array().expect("a list")[0];
    assert_eq!(first["keywords"], serde_json::json!(["Given"]));
    assert!(first["shape"].as_str().is_some_and(|shape| shape.contains("{int}")), "{first}");
}

#[test]
fn scenarios_are_known_by_file_and_name() {
    let place = Place::new();
    let mut known = std::collections::BTreeSet::new();
    let said = place.run(["list", "-o", "json"]);
    let listed: serde_json::Value = serde_json::from_str(&said.expect(0, &[]).stdout).expect("JSON");
    for one in listed.as_array().expect("a list") {
        assert!(known.insert((one["file"].to_string(), one["scenario"].to_string())), "twice: {one}");
    }
    let given = "    Given a placement \"<p>\" selects \"member-1\"\n";
    let outline =
        format!("  Scenario Outline: the same\n{given}    Examples:\n      | p |\n      | a |\n      | b |\n");
    let file = place.write("own.feature", &format!("Feature: mine\n{outline}"));
    let said = place.run(["list", &file]);
    assert!(said.stdout.contains("the same #1\n") && said.stdout.contains("the same #2\n"), "{}", said.stdout);
}

#[test]
fn a_machine_with_few_open_files_or_without_loopback() {
    let place = Place::new();
    let shell = |command: &[&str], script: &str| -> Said {
        let mut shell = std::process::Command::new(command[0]);
        place.environment(&mut shell);
        shell.args(&command[1..]).args(["sh", "-c", script, crate::place::PROGRAM]).output().expect("it starts").into()
    };
    for ours in ["up --members 1", "run", "train start empty-shop"] {
        shell(&["env"], &format!("ulimit -n 256; exec \"$0\" {ours}"))
            .expect(3, &["a process may have 256 open files here, and local clusters need 512", "ulimit -n 4096"]);
        let unshare = ["unshare", "-r", "-n"];
        if shell(&unshare, "exit 0").code != Some(0) {
            eprintln!("skipped: this system doesn't let us take a network of our own");
            continue;
        }
        shell(&unshare, &format!("exec \"$0\" {ours}"))
            .expect(3, &["a connection over 127.0.0.1 fails", "ip link set lo up"]);
    }
    place.nothing_is_left();
}

#[test]
fn a_program_that_can_not_be_added() {
    let place = Place::new();
    let add = |more: &[&str]| {
        let mut command = place.command(["toolchain", "add", "kubefleet", "v0.4.0"]);
        Said::from(command.args(more).env("FLEETDRILL_CACHE_DIR", place.path("cache")).output().expect("it starts"))
    };
    let hint = "hint: a program is given as NAME=FILE";
    add(&["hub-agent=/nonexist"]).expect(2, &["error: can't add /nonexist: No such file", hint]);
    let directory = place.path("").display().to_string();
    add(&[&format!("hub-agent={directory}")]).expect(2, &["it is not a file", hint]);
    add(&["hub-agent=/bin/true", "--crds", "/nonexist"]).expect(2, &["can't add /nonexist: No such file", hint]);
    add(&["hub-agent=/bin/true", "--crds", "/bin/true"]).expect(2, &["it is not a directory", hint]);
}

#[test]
fn a_selection_that_makes_no_sense() {
    let place = Place::new();
    place
        .run(["run", "--tags", "@drill and or"])
        .expect(2, &["`@drill and or` is not a tag expression", "write it like"]);
    for command in ["run", "list"] {
        place.run([command, ""]).expect(2, &["the name of a scenario is empty", "is a variable in a script not set?"]);
    }
    let deep = format!("{}@drill{}", "(".repeat(20_000), ")".repeat(20_000));
    place
        .run(["list", "--tags", &deep])
        .expect(2, &["is not a tag expression: it has 40006 characters, and 500 are the most"]);
    let deepest = format!("{}@drill{}", "(".repeat(240), ")".repeat(240));
    place.run(["list", "--tags", &deepest]).expect(0, &[]);
    place.run(["run", "--tags", "@nobody-has-this"]).expect(2, &["no scenario is selected by --tags"]);
    place
        .run(["run", "--shard", "5/4"])
        .expect(2, &["`5/4` is not a shard: write it as I/N with I from 1 to N, e.g. 1/4"]);
    place.run(["run", "--shard", "900/900"]).expect(2, &["no scenario is selected by --shard 900/900"]);
    place.run(["run", "--members", "0"]).expect(2, &["0 is not in 1..=20"]);
    place.run(["run", "--provider", "cloud"]).expect(2, &["invalid value 'cloud'"]);
    place.nothing_is_left();
}

/// Creates a directory for `PATH` whose programs are scripts.
fn programs(place: &Place, scripts: &[(&str, &str)]) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = place.path("bin");
    std::fs::create_dir_all(&dir).expect("made");
    for (name, script) in scripts {
        let path = dir.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("allowed");
    }
    dir.display().to_string()
}

#[test]
fn a_machine_without_docker_or_kind() {
    let place = Place::new();
    let kind = |path: &str, more: &[&str]| -> Said {
        let mut command = place.command(["run", "--provider", "kind"]);
        command.args(more).env("PATH", path).output().expect("it starts").into()
    };
    kind("/nonexistent", &[]).expect(3, &["there is no program `kind`", "kind.sigs.k8s.io", "--provider local"]);
    let path = programs(&place, &[("kind", "exit 0")]);
    kind(&path, &[]).expect(3, &["there is no program `docker`", "install Docker"]);
    let silent = "echo 'Cannot connect to the Docker daemon at unix:///nowhere' >&2; exit 1";
    let path = programs(&place, &[("docker", silent)]);
    kind(&path, &[]).expect(3, &["`docker version", "Cannot connect to the Docker daemon", "DOCKER_HOST"]);
    kind(&path, &["--hub", "h"]).expect(2, &["--provider existing"]);
    let local = place.run(["run", "--build-images"]);
    local.expect(2, &["are for clusters in Docker", "--provider kind"]);
    place.run(["up", "--node-image", "n"]).expect(2, &["--provider kind"]);
    place.nothing_is_left();
}

#[test]
fn a_report_that_can_not_be_written() {
    let place = Place::new();
    let file = place.write("file", "");
    for option in ["--junit", "--json"] {
        let report = format!("{file}/report");
        place.run(["run", option, &report]).expect(2, &["failed to create the directory", &file]);
        let directory = place.path("").display().to_string();
        place.run(["run", option, &directory]).expect(2, &["failed to write", "is a directory"]);
    }
    place.nothing_is_left();
}

#[test]
fn a_baseline_that_is_none() {
    let place = Place::new();
    let upgrade = |baseline: &str| place.run(["upgrade", "--from", "v0.1.2", "--to", "v0.1.2", "--baseline", baseline]);
    let hint = "hint: a baseline is a report that `fleetdrill upgrade --json FILE` wrote";
    upgrade("/nowhere/b.json").expect(2, &["the baseline `/nowhere/b.json` can't be used: No such file", hint]);
    let other = place.write("run.json", "{\"scenarios\": []}");
    upgrade(&other).expect(2, &["can't be used: missing field `differences`", hint]);
    let newer = place.write("newer.json", "{\"schema\": 99, \"record\": {}, \"differences\": 7}");
    let hint = "hint: use the version of fleetdrill that wrote it, or a newer one";
    upgrade(&newer).expect(2, &["can't be used: it has schema 99, and this fleetdrill reads schemas up to 3", hint]);
    place.nothing_is_left();
}

#[test]
fn an_upgrade_of_two_products_or_of_none() {
    let place = Place::new();
    let argocd = ["upgrade", "--argocd", "v3.2.11", "--to", "v3.5.7"];
    let refused = |more: &[&str], parts: &[&str]| {
        place.run([&argocd[..], more].concat()).expect(2, parts);
    };
    refused(&["--from", "v0.1.2"], &["'--argocd <VERSION>' cannot be used with '--from <VERSION>'"]);
    place.run(["upgrade", "--to", "v3.5.7"]).expect(2, &["<--from <VERSION>|--argocd <VERSION>>"]);
    refused(
        &["--order", "hub-first"],
        &[
            "--order is for KubeFleet, and --argocd upgrades Argo CD",
            "hint: leave it out: Argo CD runs on the hub only",
        ],
    );
    // Scenarios that don't use Argo CD aren't selected.
    refused(&["An object that an override has changed leads to the override"], &["no scenario is selected by"]);
    for (from, to) in [("v9.9.9", "v3.5.7"), ("v3.2.11", "v9.9.9")] {
        place
            .run(["upgrade", "--argocd", from, "--to", to])
            .expect(2, &["there is no argocd v9.9.9", "there are v3.2.11 and v3.5.7"]);
    }
    place.nothing_is_left();
}

#[test]
fn a_fleet_that_there_is_none_of() {
    let place = Place::new();
    let commands: [&[&str]; 4] =
        [&["status", "nobody"], &["down", "nobody"], &["diagnose", "--fleet", "nobody"], &["run", "--fleet", "nobody"]];
    for command in commands {
        place.run(command).expect(2, &["there is no fleet `nobody`", "`fleetdrill status` lists the fleets there are"]);
    }
    for name in ["No_body", "..", "a/b"] {
        for command in [["status", name], ["down", name]] {
            place.run(command).expect(2, &["can't be a name here: use lower-case letters"]);
        }
        place.run(["up", name]).expect(2, &["can't be a name here"]);
        place.run(["up", "--name", name]).expect(2, &["can't be a name here"]);
    }
    for command in ["status", "down"] {
        place.run([command, "--fleet", "nobody"]).expect(2, &["there is no fleet `nobody`"]);
    }
    assert_eq!(place.run(["status"]).expect(0, &[]).stdout, "no fleet is up\n");
    assert_eq!(place.run(["status", "-o", "json"]).expect(0, &[]).stdout.trim(), "[]");
    place.run(["down", "--all"]).expect(0, &["no fleet is up"]);
    place.nothing_is_left();
}

#[test]
fn a_state_directory_that_can_not_be_used() {
    let place = Place::new();
    let file = place.write("file", "");
    let mut command = place.command(["status"]);
    let said = command.env("FLEETDRILL_STATE_DIR", format!("{file}/state")).output().expect("starts");
    crate::place::Said::from(said).expect(3, &["failed to read", "/file/state", "set FLEETDRILL_STATE_DIR"]);
}

#[test]
fn kubectl_completes_the_words_of_the_plugin() {
    let place = Place::new();
    std::fs::create_dir(place.path("bin")).expect("a directory");
    for name in ["kubectl-fleetdrill", "kubectl_complete-fleetdrill"] {
        std::os::unix::fs::symlink(crate::place::PROGRAM, place.path("bin").join(name)).expect("a link");
    }
    let mut command = std::process::Command::new("kubectl");
    place.environment(&mut command);
    let path = std::env::var("PATH").expect("a PATH");
    command.env("PATH", format!("{}:{path}", place.path("bin").display()));
    let said = crate::place::Said::from(
        command.args(["__complete", "fleetdrill", "toolchain", "imp"]).output().expect("kubectl starts"),
    );
    let expected = "import\tPut the components of an exported file into the cache\n:4\n";
    assert_eq!(said.expect(0, &[]).stdout, expected);
}

#[test]
fn asking_for_fleets_creates_nothing() {
    let place = Place::new();
    // A Pod with a read-only root file system can ask as well.
    place.run(["status"]).expect(0, &[]);
    place.run(["diagnose", "--kubeconfig", "/dev/null"]).expect(2, &[]);
    assert!(!place.state().exists());
}
