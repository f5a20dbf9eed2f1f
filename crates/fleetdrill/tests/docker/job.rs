//! A suite as a Job on a cluster of kind, against one run of the whole.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Instant;

use record::{Outcome, RunRecord};
use rustix::process::Signal;

use crate::kind_cluster::{KindCluster, image};
use crate::place::{Said, until};
use crate::{IMAGE, Test, proc, said};

/// What these tests need: the image is one of this version of fleetdrill, which Docker has.
const NEEDS: &[&str] = &["docker", "kind", IMAGE];

pub(crate) const TESTS: &[Test] = &[
    (
        "a_job_has_the_results_of_one_run_also_if_a_pod_is_killed",
        NEEDS,
        a_job_has_the_results_of_one_run_also_if_a_pod_is_killed,
    ),
    ("a_job_that_can_not_run_is_named_and_leaves_nothing", NEEDS, a_job_that_can_not_run_is_named_and_leaves_nothing),
    ("the_pods_of_a_job_run_features_of_a_git_repository", NEEDS, the_pods_of_a_job_run_features_of_a_git_repository),
];

/// Selection of scenarios.
const SELECTED: [&str; 3] = ["--tags", "@drill", "--no-continuous-diagnosis"];

/// Command that runs a Job on a cluster with small requests, since three Pods share one machine.
fn job(cluster: &KindCluster, more: &[&str]) -> Command {
    job_of(cluster, &image(), "cpu=100m,memory=512Mi", more)
}

/// Command that runs a Job of an image with these requests.
fn job_of(cluster: &KindCluster, image: &str, requests: &str, more: &[&str]) -> Command {
    let place = ["job", "run", "--kubeconfig", &cluster.kubeconfig, "--image", image, "--requests", requests];
    let mut command = cluster.place.command(place);
    command.args(more);
    command
}

/// Asserts that nothing of a Job is left in a namespace.
#[track_caller]
fn nothing_is_left(cluster: &KindCluster, namespace: &str) {
    let kinds = "jobs,pods,roles,rolebindings,configmaps,serviceaccounts";
    until("nothing of the Job is left", || {
        let left = cluster.kubectl(&["get", kinds, "--namespace", namespace, "--output", "name"]);
        (!left.contains("fleetdrill")).then_some(())
    });
}

fn outcomes(path: &std::path::Path) -> (RunRecord, BTreeMap<String, Outcome>) {
    let run: RunRecord = serde_json::from_str(&std::fs::read_to_string(path).expect("written")).expect("a record");
    let outcomes = run.scenarios.iter().map(|s| (format!("{} {}", s.file, s.scenario), s.outcome)).collect();
    (run, outcomes)
}

fn a_job_has_the_results_of_one_run_also_if_a_pod_is_killed() {
    let cluster = KindCluster::new();
    let [whole, of_job] = ["whole.json", "job.json"].map(|name| cluster.place.path(name));
    let began = Instant::now();
    cluster.place.run(["run", "--json", &whole.display().to_string()].iter().chain(&SELECTED)).expect(0, &[]);
    let alone = began.elapsed();

    let began = Instant::now();
    let mut command = job(&cluster, &["--json", &of_job.display().to_string(), "--"]);
    let child = command.args(SELECTED).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let running = ["get", "pods", "--field-selector", "status.phase=Running", "--output", "name"];
    let victim = until("a Pod runs", || cluster.kubectl(&running).lines().next().map(str::to_owned));
    cluster.kubectl(&["delete", &victim, "--grace-period", "0", "--force"]);
    let ended = Said::from(child.wait_with_output().expect("it ends"));
    ended.expect(0, &["3 shards: "]);
    eprintln!("one run took {:.0} s, three shards {:.0} s", alone.as_secs_f64(), began.elapsed().as_secs_f64());

    let (run, outcomes_of_job) = outcomes(&of_job);
    let (_, outcomes_of_whole) = outcomes(&whole);
    assert_eq!(outcomes_of_job, outcomes_of_whole);
    assert_eq!(run.repeated_shards.len(), 1, "{:?}", run.repeated_shards);
    assert!(victim.ends_with(&run.repeated_shards[0].pod), "{victim}");
    assert!(ended.stdout.contains("repeated: shard "), "{}", ended.stdout);
    nothing_is_left(&cluster, "default");
}

fn a_job_that_can_not_run_is_named_and_leaves_nothing() {
    let cluster = KindCluster::new();
    let run_job = |more: &[&str]| said(job(&cluster, more));
    // The namespace refuses Jobs by a quota.
    cluster.kubectl(&["create", "namespace", "small"]);
    cluster.kubectl(&["create", "quota", "none", "--hard", "count/jobs.batch=0", "--namespace", "small"]);
    until("the quota is known", || {
        let status = ["get", "quota", "none", "--namespace", "small", "--output", "jsonpath={.status.hard}"];
        cluster.kubectl(&status).contains("jobs").then_some(())
    });
    run_job(&["--namespace", "small"]).expect(2, &["the cluster refuses the Job (403)", "exceeded quota"]);
    nothing_is_left(&cluster, "small");
    run_job(&["--namespace", "nowhere"]).expect(2, &["the cluster refuses the Job (404)", "nowhere"]);
    said(job_of(&cluster, "Not@@an-image", "cpu=100m", &[])).expect(3, &["InvalidImageName"]);
    let unknown = "localhost:1/no-such-image:1";
    let absent = said(job_of(&cluster, unknown, "cpu=100m", &["--start-limit", "20"]));
    absent.expect(3, &["hasn't started within 20 s", unknown]);
    said(job_of(&cluster, &image(), "cpu=1000", &["--start-limit", "5"])).expect(3, &["Unschedulable"]);
    nothing_is_left(&cluster, "default");

    let mut command = job(&cluster, &["--", "--tags", "@drill"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    until("a Pod runs", || cluster.kubectl(&["get", "pods", "--output", "name"]).lines().next().map(str::to_owned));
    proc::kill(child.id(), Signal::INT);
    Said::from(child.wait_with_output().expect("it ends")).expect(130, &["deleting Job", "interrupted"]);
    nothing_is_left(&cluster, "default");
}

/// A Pod that serves a git repository with one feature, in the directory `features` of the branch `drills`.
const GIT_SERVER: &str = r#"
set -e
git init --quiet --initial-branch drills /tmp/own
cd /tmp/own
mkdir features
cat >features/own.feature <<'END'
Feature: A feature of our own
  Scenario: A placement of our own
    Given a placement "web" has put its resources on "member-1"
    Then the diagnosis finds nothing
END
git add features
git -c user.name=drills -c user.email=drills@example.com commit --quiet --message 'Add a feature'
exec git daemon --export-all --base-path=/tmp --reuseaddr
"#;

fn the_pods_of_a_job_run_features_of_a_git_repository() {
    let cluster = KindCluster::new();
    let command = ["--command", "--", "bash", "-c", GIT_SERVER];
    let server = ["run", "git", "--image", &image(), "--port", "9418", "--expose"];
    cluster.kubectl(&[&server[..], &command].concat());
    cluster.kubectl(&["wait", "--for=condition=Ready", "pod/git", "--timeout=120s"]);
    let of_job = cluster.place.path("job.json");
    let json = of_job.display().to_string();
    let of = |git: &str| {
        let more = ["--shards", "1", "--json", &json, "--features-git", git, "--", "--members", "1"];
        said(job(&cluster, &more))
    };
    of("git://git.default/own#drills:features").expect(0, &[]);
    let (run, outcomes) = outcomes(&of_job);
    assert_eq!(outcomes.into_values().collect::<Vec<_>>(), [Outcome::Passed]);
    assert_eq!(run.scenarios[0].scenario, "A placement of our own");
    // The Pod's log, whose last lines the error has, names what git couldn't find.
    of("git://git.default/own#no-such-branch:features").expect(3, &["no-such-branch"]);
    nothing_is_left(&cluster, "default");
}
