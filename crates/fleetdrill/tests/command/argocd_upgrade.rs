//! `upgrade --argocd`: to a version that works, and to one that doesn't start.

use std::fs;

use serde_json::Value;

use crate::cache::{register_argocd_that_does_not_start, with_cache};
use crate::place::{Place, turn};

/// Default version of Argo CD.
const WELL: &str = "v3.5.7";

/// A scenario that restores a repository.
const GONE: &str = "@argocd
Feature: gone

  Scenario: The repository is gone
    Given a repository \"web\" with \"settings.yaml\"
      \"\"\"
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      \"\"\"
    And an application \"web\" of repository \"web\" for \"member-1\"
    And application \"web\" syncs
    And application \"web\" is Synced and Healthy
    When repository \"web\" vanishes
    And application \"web\" is hard-refreshed
    Then the diagnosis of application \"web\" is AR-RP-004
    When repository \"web\" is back
    And application \"web\" is hard-refreshed
    Then application \"web\" is Synced and Healthy
";

fn upgrade<'a>(file: &'a str, to: &'a str) -> Vec<&'a str> {
    vec!["upgrade", file, "--argocd", WELL, "--to", to, "--members", "1", "--json", "upgrade.json"]
}

/// Content of the JSON file.
fn written(place: &Place) -> Value {
    let text = fs::read(place.path("upgrade.json")).expect("the JSON file");
    serde_json::from_slice(&text).expect("JSON")
}

#[test]
fn argo_cd_is_upgraded_between_failure_and_remedy() {
    let _turn = turn();
    let place = Place::new();
    let file = place.write("gone.feature", GONE);
    let said = place.run([&upgrade(&file, WELL)[..], &["--back"]].concat());
    said.expect(0, &["upgrading Argo CD to v3.5.7", "Argo CD v3.5.7 runs", "back to Argo CD v3.5.7"]);
    assert!(said.stdout.starts_with("Argo CD v3.5.7 "), "{}", said.stdout);
    place.nothing_is_left();
    let record = written(&place)["record"].take();
    assert_eq!((&record["product"], &record["from"]), (&"argocd".into(), &WELL.into()));
    let order = &record["orders"][0];
    for way in ["forth", "back"] {
        let scenario = &order[way]["scenarios"][0];
        assert_eq!(scenario["outcome"], "passed", "{scenario:#}");
        let entries = scenario["entries"].as_array().expect("entries");
        let reached: Vec<&Value> = entries.iter().filter(|e| e["what"] == "upgraded").map(|e| &e["phase"]).collect();
        assert_eq!(reached, ["after"]);
        assert!(entries.iter().any(|e| e["text"] == "Argo CD is upgraded"), "{entries:#?}");
    }
    assert_eq!(order["after"]["scenarios"][0]["outcome"], "passed");
}

#[test]
#[ignore = "takes long: `make test-long`"]
fn an_upgrade_to_an_argo_cd_that_does_not_start() {
    let _turn = turn();
    let place = Place::new();
    let cache = place.path("cache");
    if !register_argocd_that_does_not_start(&place, &cache) {
        eprintln!("skipped: there is no cache yet that could be copied");
        return;
    }
    let file = place.write("gone.feature", GONE);
    let said = with_cache(&place, &cache, &upgrade(&file, "v3.9.0-mine"));
    said.expect(1, &[]);
    assert!(said.stdout.contains("don't upgrade to v3.9.0-mine"), "{}", said.stdout);
    place.nothing_is_left();
    let order = written(&place)["record"]["orders"][0].take();
    let error = order["forth"]["error"].as_str().unwrap_or_default();
    assert!(error.contains("ended (exit status: 7)") && error.contains("no such role"), "{order:#}");
    assert_eq!(order["after"], Value::Null);
}
