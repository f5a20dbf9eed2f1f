//! A suite as a Job on a cluster of kind, against one run of the whole.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Instant;

use record::{Outcome, RunRecord};
use rustix::process::Signal;

use crate::nodes::node_image;
use crate::place::{Place, Said, until};
use crate::{IMAGE, Test, docker, name, proc, said};

/// What these tests need: the image is one of this version of fleetdrill, which Docker has.
const NEEDS: &[&str] = &["docker", "kind", IMAGE];

pub(crate) const TESTS: &[Test] = &[
    (
        "a_job_has_the_results_of_one_run_also_if_a_pod_is_killed",
        NEEDS,
        a_job_has_the_results_of_one_run_also_if_a_pod_is_killed,
    ),
    ("a_job_that_can_not_run_is_named_and_leaves_nothing", NEEDS, a_job_that_can_not_run_is_named_and_leaves_nothing),
];

/// Selection of scenarios.
const SELECTED: [&str; 3] = ["--tags", "@drill", "--no-continuous-diagnosis"];

/// A cluster that runs Jobs. It is deleted when this is dropped.
struct JobCluster {
    place: Place,
    name: String,
    kubeconfig: String,
}

impl JobCluster {
    fn new() -> Self {
        let (place, name) = (Place::new(), name("job"));
        let kubeconfig = place.write("kubeconfig", "");
        let cluster = Self { place, name, kubeconfig };
        let mut create = Command::new("kind");
        create.args([
            "create",
            "cluster",
            "--wait",
            "180s",
            "--name",
            &cluster.name,
            "--kubeconfig",
            &cluster.kubeconfig,
        ]);
        let node_image = node_image();
        create.args(node_image.iter().map(|arg| if arg == "--node-image" { "--image" } else { arg.as_str() }));
        said(create).expect(0, &[]);
        let mut load = Command::new("kind");
        load.args(["load", "docker-image", &image(), "--name", &cluster.name]);
        said(load).expect(0, &[]);
        cluster
    }

    /// Command that runs a Job on the cluster with small requests, since three Pods share one machine.
    fn job(&self, more: &[&str]) -> Command {
        self.job_of(&image(), "cpu=100m,memory=512Mi", more)
    }

    /// Command that runs a Job of an image with these requests.
    fn job_of(&self, image: &str, requests: &str, more: &[&str]) -> Command {
        let place = ["job", "run", "--kubeconfig", &self.kubeconfig, "--image", image, "--requests", requests];
        let mut command = self.place.command(place);
        command.args(more);
        command
    }

    /// Runs kubectl on the cluster's node.
    fn kubectl(&self, args: &[&str]) -> String {
        let node = format!("{}-control-plane", self.name);
        let mut all = vec!["exec", &node, "kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf"];
        all.extend(args);
        docker(&all)
    }

    /// Asserts that nothing of a Job is left in a namespace.
    #[track_caller]
    fn nothing_is_left(&self, namespace: &str) {
        let kinds = "jobs,pods,roles,rolebindings,configmaps,serviceaccounts";
        until("nothing of the Job is left", || {
            let left = self.kubectl(&["get", kinds, "--namespace", namespace, "--output", "name"]);
            (!left.contains("fleetdrill")).then_some(())
        });
    }
}

impl Drop for JobCluster {
    fn drop(&mut self) {
        let mut delete = Command::new("kind");
        delete.args(["delete", "cluster", "--name", &self.name, "--kubeconfig", &self.kubeconfig]);
        // A cluster that can't be deleted must not hide the test's own failure.
        let _ = delete.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

fn image() -> String {
    std::env::var(IMAGE).unwrap_or_default()
}

fn outcomes(path: &std::path::Path) -> (RunRecord, BTreeMap<String, Outcome>) {
    let run: RunRecord = serde_json::from_str(&std::fs::read_to_string(path).expect("written")).expect("a record");
    let outcomes = run.scenarios.iter().map(|s| (format!("{} {}", s.file, s.scenario), s.outcome)).collect();
    (run, outcomes)
}

fn a_job_has_the_results_of_one_run_also_if_a_pod_is_killed() {
    let cluster = JobCluster::new();
    let [whole, of_job] = ["whole.json", "job.json"].map(|name| cluster.place.path(name));
    let began = Instant::now();
    cluster.place.run(["run", "--json", &whole.display().to_string()].iter().chain(&SELECTED)).expect(0, &[]);
    let alone = began.elapsed();

    let began = Instant::now();
    let mut command = cluster.job(&["--json", &of_job.display().to_string(), "--"]);
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
    cluster.nothing_is_left("default");
}

fn a_job_that_can_not_run_is_named_and_leaves_nothing() {
    let cluster = JobCluster::new();
    let job = |more: &[&str]| said(cluster.job(more));
    // The namespace refuses Jobs by a quota.
    cluster.kubectl(&["create", "namespace", "small"]);
    cluster.kubectl(&["create", "quota", "none", "--hard", "count/jobs.batch=0", "--namespace", "small"]);
    until("the quota is known", || {
        let status = ["get", "quota", "none", "--namespace", "small", "--output", "jsonpath={.status.hard}"];
        cluster.kubectl(&status).contains("jobs").then_some(())
    });
    job(&["--namespace", "small"]).expect(2, &["the cluster refuses the Job (403)", "exceeded quota"]);
    cluster.nothing_is_left("small");
    job(&["--namespace", "nowhere"]).expect(2, &["the cluster refuses the Job (404)", "nowhere"]);
    said(cluster.job_of("Not@@an-image", "cpu=100m", &[])).expect(3, &["InvalidImageName"]);
    let unknown = "localhost:1/no-such-image:1";
    let absent = said(cluster.job_of(unknown, "cpu=100m", &["--start-limit", "20"]));
    absent.expect(3, &["hasn't started within 20 s", unknown]);
    said(cluster.job_of(&image(), "cpu=1000", &["--start-limit", "5"])).expect(3, &["Unschedulable"]);
    cluster.nothing_is_left("default");

    let mut command = cluster.job(&["--", "--tags", "@drill"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    until("a Pod runs", || cluster.kubectl(&["get", "pods", "--output", "name"]).lines().next().map(str::to_owned));
    proc::kill(child.id(), Signal::INT);
    Said::from(child.wait_with_output().expect("it ends")).expect(130, &["deleting Job", "interrupted"]);
    cluster.nothing_is_left("default");
}
