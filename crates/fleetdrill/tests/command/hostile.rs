//! Texts of bundles, runs and features that would steer a terminal, or become markup: none of them does in any output.

use fleet::bundle::MissingBundlePart;
use record::RunRecord;
use report::run::fixture;
use rustix::fs::Mode;
use serde_json::Value;

use crate::bundle::{bundle, written};
use crate::place::{Place, Said};

/// Title of the window, hidden and overwritten text, a link, escape sequences of one character, another order of the characters, and markup.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[8mhidden\u{1b}[2J\u{1b}]8;;http://owned\u{1b}\\link\u{9b}31m\u{9d}0;owned\u{9c}\r\u{8}\
    \u{202e}desrever\u{2066}\u{7f}\n::error::owned</script><img src=x onerror=owned()>`````\n# [x](javascript:owned)";

/// Styles that fleetdrill itself prints.
const STYLES: [&str; 12] = ["0", "1", "2", "4", "32;1", "31;1", "33;1", "36;1", "31", "32", "33", "36"];

/// Checks that a text can't steer a terminal: it has no control characters except line ends, tabs and fleetdrill's own styles, and none
/// that change the order of a line.
#[track_caller]
fn assert_harmless(what: &str, text: &str) {
    let plain = STYLES.iter().fold(text.to_owned(), |text, style| text.replace(&format!("\u{1b}[{style}m"), ""));
    let steers = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}"
                .contains(c)
    };
    let found = plain.char_indices().find(|(_, c)| steers(*c));
    assert!(found.is_none(), "{what}: {found:?} in {plain:?}");
}

/// Runs a command as on a terminal with colours, and checks what it prints.
#[track_caller]
fn run(place: &Place, args: &[&str]) -> Said {
    let mut command = place.command(args);
    command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
    let said = Said::from(command.output().expect("the command starts"));
    assert_harmless(&args.join(" "), &said.stdout);
    assert_harmless(&args.join(" "), &said.stderr);
    said
}

/// Checks a page: none of the markup in texts is markup, and the terminal that shows its source isn't steered.
#[track_caller]
fn assert_page(html: &str) {
    assert_harmless("HTML", html);
    assert!(html.contains("owned"), "no text is in it");
    assert!(!html.contains("<img") && !html.contains("owned</script>"), "markup");
    assert!(!html.contains("href=\"javascript:"), "a link that runs a script");
}

/// Writes a bundle of which every text is hostile, and returns its path.
fn hostile_bundle(place: &Place) -> String {
    let mut bundle = bundle();
    bundle.fleet.push_str(HOSTILE);
    bundle.kubefleet = Some(HOSTILE.to_owned());
    bundle.about = Some(HOSTILE.to_owned());
    let text = serde_json::to_string(&bundle.snapshot.clusters[0].objects).expect("JSON");
    let mut objects: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    for message in ["/status/conditions/0/message", "/status/placementStatuses/0/conditions/0/message"] {
        let message = objects[1].pointer_mut(message).expect("a message");
        *message = format!("{} {HOSTILE}", message.as_str().expect("a text")).into();
    }
    let member = format!("member-1{HOSTILE}");
    objects[1]["status"]["placementStatuses"][0]["clusterName"] = member.clone().into();
    objects[0]["metadata"]["name"] = format!("fleet-member-{member}").into();
    bundle.snapshot.clusters[0].objects = objects.into();
    bundle.snapshot.clusters[1].name = member;
    bundle.snapshot.clusters[1].unreachable = Some(HOSTILE.to_owned());
    let part = MissingBundlePart { cluster: None, what: HOSTILE.into(), why: HOSTILE.into(), needed: true };
    bundle.missing.push(part);
    written(place, "b", &bundle)
}

#[test]
fn texts_of_a_bundle_are_harmless_in_every_format() {
    let place = Place::new();
    let path = hostile_bundle(&place);
    let html = place.write("d.html", "");
    for format in ["text", "json", "yaml", "markdown", "prometheus"] {
        let said = run(&place, &["diagnose", "--from", &path, "-o", format, "--html", &html]);
        said.expect(1, &[]);
        assert!(format == "prometheus" || said.stdout.contains("owned"), "{format}: {}", said.stdout);
        if format == "markdown" {
            // Outside of code blocks, which are indented.
            let mut text = said.stdout.lines().filter(|line| !line.starts_with("   "));
            assert!(!text.any(|line| line.contains("<img") || line.starts_with("# ")), "{}", said.stdout);
        }
        if format == "json" {
            let json: Value = serde_json::from_str(&said.stdout).expect("JSON");
            assert!(json["fleet"].as_str().expect("a text").contains("\u{9b}31m"), "JSON means the same");
        }
    }
    assert_page(&std::fs::read_to_string(html).expect("a page"));
    run(&place, &["who", "configmap/x", "--member", "member-1", "--from", &path]);
    run(&place, &["diagnose", "--from", &path, "crp/other"]).expect(2, &[]);
}

#[test]
fn texts_of_errors_are_harmless() {
    let place = Place::new();
    let name = format!("b{}", HOSTILE.replace('/', ""));
    run(&place, &["diagnose", "--from", &name]).expect(2, &["failed to read the bundle"]);
    run(&place, &["explain", &name]).expect(2, &[]);
    run(&place, &["diagnose", &name, "--from", &name]);
    run(&place, &["run", &name]).expect(2, &[]);
    run(&place, &[&name]).expect(2, &[]);
    std::fs::create_dir(place.path("c")).expect("made");
    let newer = serde_json::json!({"bundle": "fleetdrill", "schema": 99, "fleetdrill": HOSTILE});
    place.write("c/bundle.json", &newer.to_string());
    run(&place, &["diagnose", "--from", "c"]).expect(2, &[]);
    let odd = serde_json::json!({"bundle": "fleetdrill", "schema": 1, "fleetdrill": "1", "taken_at": HOSTILE});
    place.write("c/bundle.json", &odd.to_string());
    run(&place, &["diagnose", "--from", "c"]).expect(2, &[]);
}

#[test]
fn texts_of_a_feature_are_harmless() {
    let place = Place::new();
    let text = HOSTILE.replace(['\n', '\r'], " ");
    let feature = format!("@{text}\nFeature: a {text}\n  Scenario: b {text}\n    Given c {text}\n");
    for dir in ["a", "b"] {
        std::fs::create_dir(place.path(dir)).expect("made");
    }
    let file = place.write("a/a.feature", &feature);
    run(&place, &["run", &file]).expect(2, &[]);
    run(&place, &["list", "--features", "a"]).expect(2, &[]);
    place.write(
        "b/b.feature",
        &format!("Feature: a {text}\n  Scenario: b {text}\n    Given member \"east\" has pods\n"),
    );
    let said = run(&place, &["list", "--features", "b"]);
    said.expect(0, &[]);
    assert!(said.stdout.contains("owned"), "{}", said.stdout);
    run(&place, &["list", "--features", "b", "-o", "json"]).expect(0, &[]);
}

/// Makes all texts of a run hostile that a run may have.
fn hostile(run: &RunRecord) -> RunRecord {
    let mut document = serde_json::to_value(run).expect("JSON");
    for place in texts(&document, String::new()) {
        let text = document.pointer_mut(&place).expect("a text");
        let before = text.clone();
        *text = format!("{}{HOSTILE}", before.as_str().expect("a text")).into();
        if place.ends_with("/url") {
            *document.pointer_mut(&place).expect("a text") = "javascript:owned()".into();
        }
        if serde_json::from_value::<RunRecord>(document.clone()).is_err() {
            *document.pointer_mut(&place).expect("a text") = before;
        }
    }
    serde_json::from_value(document).expect("a run")
}

/// JSON pointers of all texts.
fn texts(value: &Value, place: String) -> Vec<String> {
    let part =
        |(key, value): (String, &Value)| texts(value, format!("{place}/{}", key.replace('~', "~0").replace('/', "~1")));
    match value {
        Value::String(_) => vec![place],
        Value::Array(list) => list.iter().enumerate().flat_map(|(at, value)| part((at.to_string(), value))).collect(),
        Value::Object(fields) => fields.iter().flat_map(|(key, value)| part((key.clone(), value))).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn texts_of_a_run_are_harmless_in_every_report() {
    let place = Place::new();
    let record = hostile(&fixture::run());
    let path = place.write("in.json", &serde_json::to_string(&record).expect("JSON"));
    let [junit, json, html] = ["junit.xml", "run.json", "run.html"].map(|name| place.write(name, ""));
    let said = run(&place, &["report", &path, "--junit", &junit, "--json", &json, "--html", &html]);
    assert!(said.stdout.contains("owned"), "{}\n{}", said.stdout, said.stderr);
    run(&place, &["report", &path, "-o", "json"]);
    run(&place, &["report", &path, "--json", "-"]);
    run(&place, &["report", &path, "--junit", "-"]);
    let read = |path: &str| std::fs::read_to_string(path).expect("written");
    assert_page(&read(&html));
    assert_harmless("JUnit", &read(&junit));
    assert!(!read(&junit).contains("<img"), "markup");
    assert_harmless("JSON", &read(&json));
    // A report has the scenarios in the order of their files.
    let sorted = |mut run: RunRecord| {
        run.scenarios.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        run.scenarios
    };
    assert_eq!(sorted(serde_json::from_str(&read(&json)).expect("a run")), sorted(record));
}

#[test]
fn a_configuration_of_another_user_is_used_only_if_it_is_named() {
    let place = Place::new();
    let file = place.write("fleetdrill.toml", "[run]\njobs = 7\n");
    assert!(place.run(["config", "run"]).expect(0, &[]).stdout.contains("fleetdrill.toml:2"));
    // Only root can give a file away.
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&file, Some(65534), None).expect("given away");
        place.run(["config", "run"]).expect(2, &["error: fleetdrill.toml belongs to another user"]);
        place.run(["--config", &file, "config", "run"]).expect(0, &[]);
    }
}

#[test]
fn files_are_nobody_elses_to_write_whatever_the_umask_is() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "umask 0; exec \"$0\" \"$@\"", crate::place::PROGRAM, "man", "pages"]);
    place.environment(&mut shell);
    Said::from(shell.output().expect("a shell")).expect(0, &[]);
    for path in ["pages", "pages/fleetdrill.1"] {
        let mode = std::fs::metadata(place.path(path)).expect("made").permissions().mode();
        assert!(!Mode::from_raw_mode(mode).contains(Mode::WOTH), "{path}: {mode:o}");
    }
}
