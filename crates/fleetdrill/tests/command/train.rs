//! `train`: exercises from start to stop. `train verify` proves that each exercise can be solved, and only by a repair.

use clusters::kubeconfig;
use fleet::kinds::CLUSTER_RESOURCE_PLACEMENT;
use kube::api::{Patch, PatchParams};
use kube::config::Kubeconfig;
use rustix::process::Signal;
use schemas::DocumentSchema;
use serde_json::{Value, json};

use crate::place::{Place, Said, turn, until};
use crate::proc;
use crate::running::Running;

/// Asserts the exit code and the parts of stdout, where commands print the text for the trainee.
#[track_caller]
fn says(said: &Said, code: i32, parts: &[&str]) {
    said.expect(code, &[]);
    let unwrapped = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(unwrapped.contains(part), "no `{part}` in\n{}", said.stdout);
    }
}

#[test]
fn an_exercise_from_its_page_to_its_score() {
    let _turn = turn();
    let place = Place::new();
    let page = place.run(["train", "start", "friday-release", "--trainee", "ann"]);
    says(&page, 0, &["The release that nobody sees (beginner, 8 min)", "Contexts: hub, member-1, member-2."]);
    assert!(
        page.stdout.lines().all(|line| line.chars().count() <= 80 || line.starts_with("  export KUBECONFIG")),
        "{}",
        page.stdout
    );
    assert!(page.stdout.contains("placement web-"), "names are filled in: {}", page.stdout);
    place.run(["train", "start", "friday-release"]).expect(2, &["exercise `friday-release` is running already"]);

    says(&place.run(["train", "hint"]), 0, &["hint 1 of 3: Look at the placement"]);
    says(&place.run(["train", "diagnose", "the", "network"]), 1, &["no: that isn't"]);
    // An unknown code doesn't count as an answer: the score below has one wrong answer.
    place.run(["train", "diagnose", "KF-RO-999"]).expect(2, &["there is no failure code `KF-RO-999`", "KF-RO-001"]);
    says(&place.run(["train", "diagnose", "there", "is", "no", "update", "run"]), 0, &["right: now repair it"]);
    says(&place.run(["train", "check"]), 1, &["not yet", "it is still so: nothing of placement web-"]);
    let status = place.run(["train", "status"]);
    says(&status, 0, &["have gone by, 1 of 3 hints."]);

    // With a second exercise, commands need the name of one.
    says(&place.run(["train", "start", "waiting-room", "--name", "late"]), 0, &["fleetdrill train check --name late"]);
    place.run(["train", "check"]).expect(2, &["several exercises are running", "--name friday-release, --name late"]);
    says(&place.run(["train", "check", "--name", "late"]), 1, &["you haven't said yet what the cause is"]);
    says(&place.run(["train", "diagnose", "nothing", "--name", "late"]), 0, &["so there is nothing to repair"]);
    says(
        &place.run(["train", "check", "--name", "late"]),
        0,
        &[
            "that was it: nothing was broken",
            "the guide:",
            "https://",
            "score: repaired after",
            "0 hints, 0 wrong answers, 1 failed check",
            "next: ",
            "fleetdrill train start",
        ],
    );
    says(&place.run(["train", "status", "--name", "late"]), 0, &["done: The release that is late", "score: repaired"]);
    place.run(["train", "check", "--name", "late"]).expect(2, &["exercise `late` is over"]);
    place.run(["train", "stop", "--name", "late"]).expect(0, &["exercise `late` ended"]);

    let solution = place.run(["train", "solution"]);
    says(&solution, 0, &["KF-RO-001", "what repairs it here:", "the solution was asked for"]);
    assert!(
        solution.stdout.contains("\nexport KUBECONFIG=") && solution.stdout.contains("\nEOF\n"),
        "{}",
        solution.stdout
    );
    // A trainee can still try the printed commands, which doesn't change the score.
    says(&place.run(["train", "check"]), 1, &["not yet", "it is still so"]);
    place.run(["train", "stop"]).expect(0, &["exercise `friday-release` ended"]);
    place.run(["train", "status"]).expect(2, &["no exercise is running"]);
    place.soon_nothing_is_left();

    let report = place.run(["train", "report"]);
    says(&report, 0, &["who", "friday-release", "waiting-room"]);
    let scores: Value =
        serde_json::from_str(&place.run(["train", "report", "-o", "json"]).expect(0, &[]).stdout).expect("JSON");
    for score in scores.as_array().expect("a list") {
        DocumentSchema { document: "training-score", number: 1 }.check(score);
    }
    let score = |n: usize, key: &str| scores[n][key].clone();
    assert_eq!([score(0, "exercise"), score(0, "trainee"), score(0, "outcome")], ["friday-release", "ann", "solution"]);
    assert_eq!([score(0, "hints"), score(0, "wrong_answers"), score(0, "failed_checks")], [1, 1, 1]);
    assert_eq!([score(1, "outcome"), score(1, "failed_checks")], [Value::from("repaired"), Value::from(1)]);
    assert!(score(1, "seconds_to_repair").as_f64().is_some_and(|seconds| seconds > 0.0));
}

/// Patches a placement on the hub of an exercise.
fn change_placement(place: &Place, exercise: &str, name: &str, patch: Value) {
    let file = place.state().join(format!("train-{exercise}/kubeconfig"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let config = Kubeconfig::read_from(file).expect("a kubeconfig");
        let hub = kubeconfig::client(config, "hub").await.expect("a client");
        let api = CLUSTER_RESOURCE_PLACEMENT.api(&hub, None);
        api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.expect("changed");
    });
}

/// Returns the name of the placement on an exercise's page.
#[track_caller]
fn placement_on(page: &Said) -> String {
    let rest = page.stdout.split_once("placement web-").expect("a placement").1;
    format!("web-{}", rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default())
}

#[test]
#[ignore = "takes long: `make test-long`"]
fn an_exercise_is_set_up_again_where_a_change_cannot_be_taken_back() {
    let _turn = turn();
    let place = Place::new();
    let page = place.run(["train", "start", "friday-release"]);
    says(&page, 0, &[]);
    let placement = placement_on(&page);
    change_placement(&place, "friday-release", &placement, json!({"spec": {"strategy": {"type": "RollingUpdate"}}}));
    let changed =
        format!("ClusterResourcePlacement/{placement} was changed spec.strategy.type: External -> RollingUpdate");
    says(&place.run(["train", "check"]), 1, &["not yet", &changed]);

    // A reset also restarts stopped agents.
    proc::kill(place.process("hub-agent"), Signal::KILL);
    let again = place.run(["train", "reset"]);
    says(&again, 0, &["The release that nobody sees", "0 of 3 hints, 1 reset."]);
    assert_ne!(placement_on(&again), placement);
    says(&place.run(["train", "check"]), 1, &["it is still so: nothing of placement"]);
    place.run(["train", "stop"]).expect(0, &[]);
    place.soon_nothing_is_left();
    let scores: Value =
        serde_json::from_str(&place.run(["train", "report", "-o", "json"]).expect(0, &[]).stdout).expect("JSON");
    assert_eq!([&scores[0]["resets"], &scores[0]["failed_checks"]], [&json!(1), &json!(2)]);
}

#[test]
fn two_starts_of_an_exercise_at_once_make_one_fleet() {
    let _turn = turn();
    let place = Place::new();
    let starts = [(); 2].map(|()| Running::start(&mut place.command(["train", "start", "friday-release"])));
    let [first, second] = starts.map(Running::end);
    let (winner, loser) = if first.code == Some(0) { (first, second) } else { (second, first) };
    says(&winner, 0, &["The release that nobody sees"]);
    loser.expect(2, &["exercise `friday-release` is being started already", "hint: wait for its page"]);
    assert!(!loser.stderr.contains("fleetdrill down"), "{}", loser.stderr);
    says(&place.run(["train", "status"]), 0, &["The release that nobody sees"]);
    place.run(["train", "stop"]).expect(0, &["exercise `friday-release` ended"]);
    place.soon_nothing_is_left();
}

#[test]
fn an_exercise_that_is_cut_short_leaves_nothing() {
    let _turn = turn();
    let place = Place::new();
    // Interrupts the start, by Ctrl-C and by SIGKILL.
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::KILL, None)] {
        let running = Running::start(&mut place.command(["train", "start", "friday-release"]));
        until("a process of its fleet", || (place.processes().len() > 2).then_some(()));
        running.signal(signal);
        let said = running.end();
        assert_eq!(said.code, code);
        if code.is_none() {
            until("its processes are gone", || place.processes().is_empty().then_some(()));
            place.run(["train", "status"]).expect(3, &["its start was interrupted"]);
            place.run(["train", "stop"]).expect(0, &[]);
        }
        place.soon_nothing_is_left();
        place.run(["train", "status"]).expect(2, &["no exercise is running"]);
    }

    // The fleet of a started exercise dies.
    says(&place.run(["train", "start", "friday-release"]), 0, &[]);
    proc::kill(place.process("supervisor serve"), Signal::KILL);
    until("its processes are gone", || place.processes().is_empty().then_some(()));
    place.run(["train", "check"]).expect(3, &["isn't scored: its fleet has died"]);
    place.run(["train", "stop"]).expect(0, &["exercise `friday-release` ended"]);
    says(&place.run(["train", "report"]), 0, &["No exercise has ended so far."]);
}

#[test]
fn what_cannot_be_trained_is_said_before_anything_starts() {
    let place = Place::new();
    place
        .run(["train", "start", "friday-realease"])
        .expect(2, &["there is no exercise", "did you mean `friday-release`"]);
    place.run(["train", "start", "--random", "--level", "easy"]).expect(2, &["beginner"]);
    place.run(["train", "start"]).expect(2, &["EXERCISE"]);
    place.run(["train", "hint"]).expect(2, &["no exercise is running", "train list"]);
    place.run(["train", "hint", "--name", "late"]).expect(2, &["no exercise `late` is running"]);
    place.run(["train", "report", "no-such-file.json"]).expect(2, &["holds no scores"]);
    let newer = place.write("newer.json", "[{\"schema\": 99}]");
    place.run(["train", "report", &newer]).expect(2, &["newer.json can't be read: it has schema 99", "hint: "]);
    place.run(["train", "list", "--exercises", "no-such-dir"]).expect(2, &["failed to read no-such-dir"]);
    place.nothing_is_left();
}
