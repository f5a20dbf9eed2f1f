//! `fleetdrill guides`, which needs no fleet.

use serde_json::Value;

use crate::place::Place;

#[test]
fn the_guides_as_data_text_and_markdown() {
    let place = Place::new();
    let said = place.run(["guides", "-o", "json"]);
    let json: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert!(json["versions"].as_array().is_some_and(|v| v.iter().any(|v| v == "v0.1.2")), "{}", json["versions"]);
    let guides = json["guides"].as_array().expect("guides");
    assert_eq!(guides.len(), 47);
    assert!(guides.iter().any(|guide| guide["name"] == "argocd-sync-failed" && guide["product"] == "argocd"));
    for guide in guides.iter().filter(|guide| guide["product"] == "kubefleet") {
        let lists = ["statements", "differs", "unreached"].map(|list| guide[list].as_array().expect("a list").len());
        // Some guides are measured on v0.1.2 and v0.3.1 only, and unreached as a whole on v0.14.0.
        assert!(lists[0] > lists[1] && lists[0] >= lists[2], "{}: {lists:?}", guide["name"]);
        for statement in guide["statements"].as_array().expect("a list") {
            assert!(statement["versions"]["v0.1.2"]["state"].is_string(), "{statement}");
        }
    }
    let text = place.run(["guides", "work-synchronized"]).stdout;
    assert!(text.starts_with("work-synchronized: Work Synchronization Failure TSG\n"), "{text}");
    assert!(text.contains("holds:\n"), "{text}");
    let all = place.run(["guides", "--all"]).stdout;
    assert!(all.contains("\nwork-synchronized: ") && all.contains("  holds:\n"), "{all}");
    let markdown = place.run(["guides", "-o", "markdown"]).stdout;
    assert!(markdown.starts_with("# Where controllers and their guides differ\n"), "{markdown}");
    assert!(markdown.contains("\nKubeFleet v0.1.2:\n"), "{markdown}");
}

#[test]
fn without_a_guide_it_is_a_summary() {
    let said = Place::new().run(["guides"]).stdout;
    let json: Value = serde_json::from_str(&Place::new().run(["guides", "-o", "json"]).stdout).expect("JSON");
    let guides = json["guides"].as_array().expect("guides");
    let versions = json["versions"].as_array().expect("versions").len();
    // Each guide has a title and a line for each version; two hints follow.
    assert!(said.lines().count() <= guides.len() * (1 + versions) + 3, "{said}");
    for guide in guides {
        assert!(said.contains(guide["name"].as_str().expect("a name")), "{said}");
    }
    assert!(said.contains("fleetdrill guides GUIDE") && said.contains("fleetdrill guides --all"), "{said}");
}

#[test]
fn what_can_not_be_shown() {
    let place = Place::new();
    place.run(["guides", "work"]).expect(2, &["there is no guide `work`", "work-synchronized"]);
    place.run(["guides", "-o", "measured"]).expect(2, &["there is no run to take the measured results of", "--from"]);
    let file = place.write("run.json", "{}");
    place.run(["guides", "--from", &file]).expect(2, &["run.json is not the record of a run", "missing field"]);
    place.run(["guides", "--from", "/nowhere.json"]).expect(2, &["failed to read /nowhere.json", "No such file"]);
}
