//! `accuracy`: drills from a seed, and their scores.

use rustix::process::Signal;
use schemas::DocumentSchema;
use serde_json::Value;

use crate::place::{Place, turn};
use crate::running::Running;

fn listed(place: &Place, more: &[&str]) -> Value {
    let said = place.run(["accuracy", "--list", "-o", "json"].iter().chain(more));
    said.expect(0, &[]);
    serde_json::from_str(&said.stdout).expect("JSON")
}

#[test]
#[ignore = "takes long: `make test-long`"]
fn a_seed_gives_the_same_drills_each_time_and_each_of_them_alone() {
    let place = Place::new();
    let all = listed(&place, &["--seed", "1", "--drills", "8"]);
    let drills = all.as_array().expect("drills");
    assert_eq!(drills.len(), 8);
    assert_eq!(all, listed(&place, &["--seed", "1", "--drills", "8"]));
    assert_ne!(all, listed(&place, &["--seed", "2", "--drills", "8"]));
    assert_eq!(listed(&place, &["--seed", "1", "--drill", "7"])[0], drills[6]);
    for drill in drills {
        let faults = drill["faults"].as_array().expect("faults");
        assert!((1..=3).contains(&faults.len()), "{drill}");
        let has_code = |fault: &Value| {
            fault["codes"][0].as_str().is_some_and(|code| code.starts_with("KF-") || code.starts_with("AR-"))
        };
        assert!(faults.iter().all(has_code), "{drill}");
    }
    place.nothing_is_left();
}

#[test]
fn drills_that_can_t_be_are_wrong_usage() {
    let place = Place::new();
    place.run(["accuracy", "--drills", "0"]).expect(2, &["0 is not in 1..=5000"]);
    place.run(["accuracy", "--drill", "3"]).expect(2, &["--seed <SEED>"]);
    place.run(["accuracy", "--seed", "1", "--drill", "3", "--drills", "5"]).expect(2, &["cannot be used with"]);
    place.run(["accuracy", "--kubefleet", "v9.9.9"]).expect(2, &["v9.9.9"]);
}

#[test]
fn a_drill_is_scored_and_leaves_nothing() {
    let _turn = turn();
    let place = Place::new();
    let said = place.run(["accuracy", "--seed", "1", "--drill", "3", "-o", "json"]);
    let report: Value = serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    DocumentSchema { document: "scores", number: 1 }.check(&report);
    let number = |name: &str| report[name].as_u64().unwrap_or_else(|| panic!("{name} in {report}"));
    assert_eq!(number("drills"), 1);
    assert!(number("causes") > 0 && number("not_induced") == 0, "{report}");
    assert_eq!(number("causes"), number("found") + number("missed"));
    let drill = &report["results"][0];
    assert_eq!((&drill["number"], &drill["seed"]), (&3.into(), &1.into()));
    assert!(drill["snapshots"].as_u64().is_some_and(|snapshots| snapshots > 3), "{drill}");
    let faults = drill["faults"].as_array().expect("faults");
    for cause in faults.iter().filter_map(|fault| fault["causes"].as_array()).flatten() {
        assert!(cause["found"] == false || cause["seconds"].is_number(), "{cause}");
    }
    let is_good = number("found") == number("causes") && number("wrong") == 0 && number("symptoms") == 0;
    said.expect(i32::from(!is_good), &["seed 1, drills: 1", "1 of 1: drill 3"]);
    place.soon_nothing_is_left();
}

#[test]
fn an_interrupt_ends_the_fleet() {
    let _turn = turn();
    let place = Place::new();
    let mut command = Running::start(&mut place.command(["accuracy", "--seed", "1", "--drills", "2"]));
    command.until_it_says("seed 1, drills: 2");
    command.signal(Signal::INT);
    let said = command.end();
    said.expect(130, &["interrupted: ending the fleet"]);
    assert!(said.stdout.contains("seed 1: 0 drills"), "{}", said.stdout);
    place.soon_nothing_is_left();
}
