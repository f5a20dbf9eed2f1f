//! Configuration: `fleetdrill.toml`, environment variables, `fleetdrill config`, and waivers of a diagnosis.

use serde_json::{Value, json};

use crate::bundle::{bundle, written};
use crate::place::{Place, Said};

const FILE: &str = "fleetdrill.toml";

/// Waiver of what [`bundle`] has, until a day.
fn waiver(until: &str, more: &str) -> String {
    format!("[[waivers]]\ncode = 'KF-WS-001'\nreason = 'repaired with the next release'\nuntil = {until}\n{more}\n")
}

/// Diagnoses the bundle with a configuration file.
fn diagnosed(place: &Place, file: &str, more: &[&str]) -> Said {
    place.write(FILE, file);
    let path = place.path("b").display().to_string();
    place.run(["diagnose", "--from", &path].iter().chain(more))
}

#[test]
fn a_typo_is_named_with_its_place_and_the_nearest_name() {
    let place = Place::new();
    place.write(FILE, "[fleet]\nkubeflet = 'v0.14.0'\n");
    for command in [&["run"][..], &["diagnose"], &["config"], &["list"]] {
        let said = place.run(command);
        let parts = ["error: fleetdrill.toml:2:1: `fleet` has no key `kubeflet`", "hint: did you mean `kubefleet`?"];
        assert_eq!(said.expect(2, &parts).stdout, "");
    }
    place.run(["explain"]).expect(0, &[]);
    place.write(FILE, "[fleet]\nmembers = 'x'\n");
    place.run(["up"]).expect(2, &["fleetdrill.toml:2:11: `fleet.members` has to be an integer, not a string"]);
    place.write(FILE, "[[waivers]]\ncode = 'KF-WS-01'\n");
    place
        .run(["diagnose"])
        .expect(2, &["fleetdrill.toml:2:8: there is no failure code KF-WS-01; the nearest one is KF-WS-0"]);
    place.run(["list", "--config", "none.toml"]).expect(2, &["failed to read none.toml: No such file or directory"]);
    place.nothing_is_left();
}

#[test]
fn the_settings_are_shown_with_what_gives_them() {
    let place = Place::new();
    place.write(FILE, "[fleet]\nmembers = 2\n\n[limits]\ntimeout = 30\n");
    let mut command = place.command(["config", "-o", "json"]);
    let said = Said::from(command.env("FLEETDRILL_TIMEOUT", "40").output().expect("it starts"));
    let report: Value = serde_json::from_str(&said.expect(0, &[]).stdout).expect("JSON");
    assert_eq!(report["file"], FILE);
    let setting = |key: &str| {
        let settings = report["settings"].as_array().expect("a list");
        settings.iter().find(|setting| setting["key"] == key).expect("a setting").clone()
    };
    assert_eq!(setting("members")["source"], json!({"from": "file", "path": FILE, "line": 2}));
    let timeout = setting("timeout");
    assert_eq!(timeout["source"], json!({"from": "environment", "variable": "FLEETDRILL_TIMEOUT"}));
    assert_eq!(timeout["values"], json!(["40"]));

    let text = place.run(["config", "run", "--members", "5", "--provider", "kind"]).expect(0, &[]).stdout.clone();
    insta::assert_snapshot!(text);
    place.run(["config", "run", "--membres", "5"]).expect(2, &["unexpected argument '--membres'"]);
    std::fs::remove_file(place.path(FILE)).expect("removed");
    let text = place.run(["config"]).expect(0, &[]).stdout.clone();
    assert!(text.starts_with("file: none; looked for fleetdrill.toml\n"), "{text}");
    place.nothing_is_left();
}

#[test]
fn a_waiver_keeps_a_finding_from_failing_the_diagnosis() {
    let place = Place::new();
    written(&place, "b", &bundle());
    let waived = waiver("9999-12-31", "object = 'ClusterResourcePlacement/*'");
    let text = diagnosed(&place, &waived, &[]).expect(0, &[]).stdout.clone();
    let parts = ["\nwaived: repaired with the next release\n", "\n1 finding, waived, in 0 members (1 read)"];
    assert!(text.starts_with("KF-WS-001 (waived until 9999-12-31): "), "{text}");
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    diagnosed(&place, &waived, &["--fail-on", "notice"]).expect(0, &[]);
    let report: Value = serde_json::from_str(&diagnosed(&place, &waived, &["-o", "json"]).stdout).expect("JSON");
    let expected = json!({"reason": "repaired with the next release", "until": "9999-12-31"});
    assert_eq!(report["findings"][0]["waived"], expected);
    for (format, expected) in [
        ("markdown", "KF-WS-001 (waived until 9999-12-31): "),
        ("prometheus", "fleetdrill_failures 0\n"),
        ("prometheus", "fleetdrill_waived 1\n"),
        ("prometheus", "fleetdrill_findings{code=\"KF-WS-001\",severity=\"waived\"} 1\n"),
    ] {
        let text = diagnosed(&place, &waived, &["-o", format]).expect(0, &[]).stdout.clone();
        assert!(text.contains(expected), "{text}");
    }
    // It isn't for other objects or members.
    for more in ["object = 'ClusterResourcePlacement/shop'", "member = 'member-2'"] {
        let said = diagnosed(&place, &waiver("9999-12-31", more), &[]);
        assert!(!said.expect(1, &[]).stdout.contains("waived"), "{more}");
    }
}

#[test]
fn a_waiver_that_has_expired_counts_no_more() {
    let place = Place::new();
    written(&place, "b", &bundle());
    let said = diagnosed(&place, &waiver("2026-01-31", "object = 'ClusterResourcePlacement/web'"), &[]);
    said.expect(
        1,
        &["warning: fleetdrill.toml:1:1: the waiver of KF-WS-001 of ClusterResourcePlacement/web expired on 2026-01-31"],
    );
    assert!(!said.stdout.contains("waived"), "{}", said.stdout);
    let text = place.run(["config"]).expect(0, &[]).stdout.clone();
    assert!(text.contains("KF-WS-001 ClusterResourcePlacement/web, expired on 2026-01-31"), "{text}");
}
