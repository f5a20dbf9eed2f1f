//! Configuration: `fleetdrill.toml`, environment variables, `fleetdrill config`.

use serde_json::{Value, json};

use crate::place::{Place, Said};

const FILE: &str = "fleetdrill.toml";

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
