//! `upgrade`: to a version that works, and to versions that don't.

use std::fs;

use rustix::process::Signal;
use schemas::DocumentSchema;
use serde_json::{Value, json};

use crate::cache::{heartless, with_cache};
use crate::features::quick;
use crate::place::{Place, turn};
use crate::running::Running;

/// Default version of KubeFleet.
const WELL: &str = "v0.1.2";

fn upgrade<'a>(file: &'a str, to: &'a str) -> Vec<&'a str> {
    vec![
        "upgrade",
        file,
        "--from",
        WELL,
        "--to",
        to,
        "--order",
        "hub-first",
        "--members",
        "1",
        "--json",
        "upgrade.json",
    ]
}

/// Content of the JSON file, which is as its schema says.
fn written(place: &Place) -> Value {
    let text = fs::read(place.path("upgrade.json")).expect("the JSON file");
    let report = serde_json::from_slice(&text).expect("JSON");
    DocumentSchema { document: "upgrade", number: 3 }.check(&report);
    report
}

/// Content of the JSON file for the only order of the upgrade.
fn order(place: &Place) -> Value {
    written(place)["record"]["orders"][0].clone()
}

#[test]
fn an_upgrade_goes_phase_by_phase_under_a_scenario() {
    let _turn = turn();
    let place = Place::new();
    place.run(upgrade(&quick(&place), WELL)).expect(0, &["upgrading hub to v0.1.2", "upgrading members to v0.1.2"]);
    place.nothing_is_left();
    let order = order(&place);
    let phases: Vec<&Value> = order["forth"]["phases"].as_array().into_iter().flatten().map(|p| &p["phase"]).collect();
    assert_eq!(phases, ["skew", "after"]);
    let scenario = &order["forth"]["scenarios"][0];
    assert_eq!(scenario["outcome"], "passed", "{scenario}");
    let entries = scenario["entries"].as_array().expect("entries");
    let reached: Vec<&Value> = entries.iter().filter(|e| e["what"] == "upgraded").map(|e| &e["phase"]).collect();
    assert_eq!(reached, ["skew", "after"]);
    assert!(!entries.iter().any(|e| e["what"] == "lost"), "{entries:#?}");
    assert_eq!(order["after"]["scenarios"][0]["outcome"], "passed");
}

#[test]
fn ctrl_c_in_mid_upgrade_keeps_what_was_seen() {
    let _turn = turn();
    let place = Place::new();
    let mut running = Running::start(&mut place.command(upgrade(&quick(&place), WELL)));
    running.until_it_says("upgrading members to v0.1.2");
    running.signal(Signal::INT);
    let said = running.end();
    said.expect(130, &["interrupted: ending what was started"]);
    place.nothing_is_left();
    assert!(said.stdout.contains("ended early: interrupted"), "{}", said.stdout);
    let record = written(&place);
    assert_eq!(record["record"]["before"]["scenarios"][0]["outcome"], "passed", "{record:#}");
    assert_eq!(record["record"]["orders"], json!([]));
}

#[test]
#[ignore = "takes long: `make test-long`"]
fn an_upgrade_to_a_version_that_does_not_start() {
    let _turn = turn();
    let place = Place::new();
    let cache = place.path("cache");
    heartless(&place, &cache);
    with_cache(&place, &cache, &upgrade(&quick(&place), "v9.9.9")).expect(1, &[]);
    place.nothing_is_left();
    let order = order(&place);
    let error = order["forth"]["error"].as_str().unwrap_or_default();
    assert!(error.contains("hub-agent ended (exit status: 7)") && error.contains("I have no heart"), "{order:#}");
    assert_eq!(order["after"], Value::Null);
}

#[test]
#[ignore = "takes long: `make test-long`"]
fn an_upgrade_whose_crds_the_api_server_refuses() {
    let _turn = turn();
    let place = Place::new();
    let cache = place.path("cache");
    let agents = heartless(&place, &cache);
    // In these CRDs, the version in which placements are stored has another name.
    let crds = place.path("crds");
    fs::create_dir_all(&crds).expect("made");
    for file in fs::read_dir(agents.join("crds")).expect("the CRDs").flatten() {
        let text = fs::read_to_string(file.path()).expect("read");
        let text = if file.file_name().to_string_lossy().contains("_clusterresourceplacements.") {
            text.replace("name: v1beta1\n", "name: v2\n")
        } else {
            text
        };
        fs::write(crds.join(file.file_name()), text).expect("written");
    }
    let program = |name: &str| format!("{name}={}", agents.join("bin").join(name).display());
    let (hub, member, crds) = (program("hub-agent"), program("member-agent"), crds.display().to_string());
    let add = ["toolchain", "add", "kubefleet", "v8.8.8", &hub, &member, "--crds", &crds];
    with_cache(&place, &cache, &add).expect(0, &[]);
    with_cache(&place, &cache, &upgrade(&quick(&place), "v8.8.8")).expect(1, &[]);
    place.nothing_is_left();
    let error = order(&place)["forth"]["error"].to_string();
    for part in ["clusterresourceplacements.placement.kubernetes-fleet.io", "storedVersions"] {
        assert!(error.contains(part), "{error}");
    }
}
