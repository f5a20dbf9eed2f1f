//! Benchmarks of a fleet: the time of its start, the cost of sharing it between scenarios, the time of all scenarios of
//! KubeFleet (fast-forwarded and in real time) and of Argo CD, the memory that all of them take, the time of an upgrade
//! with scenarios before and after it, and the diagnosis of large fleets, from bundles and live.
//!
//! A benchmark prints figures and doesn't judge them. Machines are noisy, so only ratios within one run count, between
//! things that were measured in turn.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its figures")]

mod bare_api_servers;
mod scale;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clusters::kind;
use clusters::provider_spec::ProviderSpec;
use clusters::supervisor::SupervisorProgram;
use fleet::Fleet;
use fleetdrill::components::{ComponentSet, FleetToolchain};
use fleetdrill::fleet_source::{ClusterSource, FleetNeeds};
use serde_json::Value;

/// Scenarios of the four failures, as arguments that select them.
const FAILURES: [&str; 4] = [
    "and what holds it is released",
    "A run of a cluster-scoped placement asks for a resource snapshot index that doesn't exist",
    "preempts the first, of a cluster-scoped placement",
    "The approval after a stage of a cluster-scoped placement carries a stale observedGeneration",
];

/// Variable that names the state directory of fleets.
const STATE_DIR: &str = "FLEETDRILL_STATE_DIR";

/// Number of measurements of each start; the median counts.
const ROUNDS: usize = 5;

type BenchError = Box<dyn std::error::Error>;

type BenchPart = fn() -> Result<(), BenchError>;

/// Parts of the benchmark, which can be selected by name: `make bench ARGS=kubefleet`.
const PARTS: [(&str, BenchPart); 10] = [
    ("start", start),
    ("failures", failures),
    ("every-change", every_change),
    ("kubefleet", kubefleet),
    ("argocd", argocd),
    ("upgrade", upgrade),
    ("providers", providers),
    ("scale", scale::scale),
    ("scale-live", scale::live_hub),
    ("scale-applications", scale::applications),
];

/// Version from which an upgrade to the default version starts.
const OLD: &str = "v0.14.0";

fn main() -> Result<(), BenchError> {
    // `cargo test` runs benchmarks, too, to check that they compile.
    if !std::env::args().any(|a| a == "--bench") {
        return Ok(());
    }
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    if let Some(unknown) = asked.iter().find(|part| !PARTS.iter().any(|(name, _)| name == part)) {
        return Err(format!("there is no part `{unknown}`, only {}", PARTS.map(|(name, _)| name).join(", ")).into());
    }
    for (name, part) in PARTS.iter().filter(|(name, _)| asked.is_empty() || asked.iter().any(|part| part == name)) {
        part().map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

fn start() -> Result<(), BenchError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let components = runtime.block_on(components())?;
    let ProviderSpec::Local(programs) = &components.recipe else { return Err("the fleet isn't local".into()) };
    let (mut bare, mut whole) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        bare.push(runtime.block_on(bare_api_servers::four_api_servers(programs))?);
        whole.push(runtime.block_on(a_fleet(&components))?);
        eprintln!("round {round}: {:.1} s, {:.1} s", seconds(bare[round - 1]), seconds(whole[round - 1]));
    }
    let (bare, whole) = (median(bare), median(whole));
    println!("start, median of {ROUNDS}");
    println!("  four bare API servers at once      {:>6.1} s", seconds(bare));
    println!("  a fleet, hub and three joined      {:>6.1} s", seconds(whole));
    println!("  ratio                              {:>6.2}", seconds(whole) / seconds(bare));
    Ok(())
}

/// Gets the components of a local fleet.
async fn components() -> Result<ComponentSet, BenchError> {
    components_for(&FleetNeeds::default()).await
}

/// Gets the components of a local fleet with these needs.
async fn components_for(needs: &FleetNeeds) -> Result<ComponentSet, BenchError> {
    let components = FleetToolchain::open()?;
    let sink = |event| eprintln!("{event}");
    let agents = components.agents(&components.kubefleet(None)?, &sink).await?;
    Ok(ClusterSource::Local.components(&components, agents, needs, &sink).await?)
}

/// Measures the start of a fleet (hub and three members) on each provider that this machine has. The comparison is a
/// user who makes four clusters with kind by hand, one after another, and installs nothing in them yet.
fn providers() -> Result<(), BenchError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let node_image = std::env::var("KIND_NODE_IMAGE").ok();
    println!("\nstart of a fleet, hub and three joined, on each provider");
    if let Err(error) = runtime.block_on(kind::check(None)) {
        println!("  not measured: {error}");
        return Ok(());
    }
    let mut took = Vec::new();
    for provider in ["local", "docker", "kind"] {
        let mut args = vec!["--provider", provider];
        if provider != "local" {
            args.push("--build-images");
            if let ("kind", Some(image)) = (provider, &node_image) {
                args.extend(["--node-image", image]);
            }
            // The first fleet builds the images, which all later fleets use.
            up_and_down(&args)?;
        }
        took.push((provider, up_and_down(&args)?));
        eprintln!("{provider}: {:.1} s", seconds(took[took.len() - 1].1));
    }
    let by_hand = four_kind_clusters(node_image.as_deref())?;
    let local = took[0].1;
    took.push(("four bare kind clusters, one by one", by_hand));
    for (name, took) in took {
        println!("  {name:<36} {:>6.1} s, {:.1} times local", seconds(took), seconds(took) / seconds(local));
    }
    Ok(())
}

fn four_kind_clusters(node_image: Option<&str>) -> Result<Duration, BenchError> {
    let dir = tempfile::tempdir()?;
    let kubeconfig = dir.path().join("kubeconfig");
    let kind = |args: &[&str], name: &str| -> Result<(), BenchError> {
        let mut command = Command::new("kind");
        command.args(args).args(["--name", name, "--kubeconfig"]).arg(&kubeconfig);
        let output = command.output()?;
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into()) }
    };
    let names: Vec<String> = (0..4).map(|n| format!("bench-{}-{n}", std::process::id())).collect();
    let image: Vec<&str> = node_image.iter().flat_map(|image| ["--image", image]).collect();
    let started = Instant::now();
    let made = names.iter().try_for_each(|name| kind(&[&["create", "cluster"], &image[..]].concat(), name));
    let took = started.elapsed();
    for name in &names {
        kind(&["delete", "cluster"], name)?;
    }
    made.map(|()| took)
}

async fn a_fleet(components: &ComponentSet) -> Result<Duration, BenchError> {
    let options = components.clone().fleet_options("bench-fleet".into(), 3, SupervisorProgram(program()));
    let started = Instant::now();
    let progress = move |stage| eprintln!("  {:>5.1} s {stage:?}", seconds(started.elapsed()));
    let fleet = Fleet::create(options, Arc::new(progress)).await?;
    let took = started.elapsed();
    fleet.end().await?;
    Ok(took)
}

/// Measures how long a user waits for a fleet whose components are built already.
fn up_and_down(args: &[&str]) -> Result<Duration, BenchError> {
    let started = Instant::now();
    let up = Command::new(program()).args(["up", "--name", "bench-fleet"]).args(args).output()?;
    let took = started.elapsed();
    Command::new(program()).args(["down", "bench-fleet"]).output()?;
    if up.status.success() { Ok(took) } else { Err(String::from_utf8_lossy(&up.stderr).into()) }
}

/// Measures failures one by one and together, on a running fleet.
fn failures() -> Result<(), BenchError> {
    let up = Command::new(program()).args(["up", "--name", "bench"]).output()?;
    if !up.status.success() {
        return Err(String::from_utf8_lossy(&up.stderr).into());
    }
    let measured = scenarios().and_then(|()| memory());
    Command::new(program()).args(["down", "bench"]).output()?;
    measured
}

fn scenarios() -> Result<(), BenchError> {
    let on_bench = |names: &[&str]| run(Command::new(program()).args(["run", "--fleet", "bench"]).args(names));
    let mut longest = 0.0_f64;
    println!("\nfailure scenarios on a running fleet");
    for name in FAILURES {
        let took = on_bench(&[name])?.seconds;
        println!("  {took:>6.1} s alone: {name}");
        longest = longest.max(took);
    }
    let together = on_bench(&FAILURES)?.seconds;
    println!("  {together:>6.1} s all four together");
    println!("  ratio to the longest alone         {:>6.2}", together / longest);
    Ok(())
}

/// Measures the scenarios that `make features` runs on every change.
fn every_change() -> Result<(), BenchError> {
    println!("\none scenario per failure code, and the healthy ones, on one fleet, without its start");
    suite("in all", &["--one-per-code"])
}

/// Measures all scenarios of KubeFleet on one fleet.
fn kubefleet() -> Result<(), BenchError> {
    println!("\nall of KubeFleet's scenarios on one fleet, without its start");
    suite("fast-forwarded", &["--tags", "@kubefleet"])?;
    suite("in real time", &["--tags", "@kubefleet", "--real-time"])
}

/// Measures all scenarios of Argo CD on one fleet. None of them is fast-forwarded.
fn argocd() -> Result<(), BenchError> {
    println!("\nall of Argo CD's scenarios on one fleet, without its start");
    suite("in all", &["--tags", "@argocd"])
}

/// Measures KubeFleet's scenarios before and after an upgrade, compared with the same scenarios without an upgrade.
/// Both times include the start of the fleet.
fn upgrade() -> Result<(), BenchError> {
    let (from, to) = (OLD, &*FleetToolchain::open()?.kubefleet(None)?.version);
    let built = Command::new(program()).args(["toolchain", "install", "kubefleet", from]).output()?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into());
    }
    println!("\nall of KubeFleet's scenarios before and after an upgrade from {from} to {to}, hub first");
    let whole = |args: &[&str]| -> Result<f64, BenchError> {
        let started = Instant::now();
        let args = args.iter().chain(&["--tags", "@kubefleet"]);
        let output = Command::new(program()).args(args).current_dir(std::env::temp_dir()).output()?;
        match output.status.code() {
            // A broken scenario is a finding, not an error of the benchmark.
            Some(0 | 1) => Ok(seconds(started.elapsed())),
            _ => Err(String::from_utf8_lossy(&output.stderr).into()),
        }
    };
    let plain = whole(&["run", "--kubefleet", to])?;
    println!("  {plain:>6.1} s without an upgrade, on {to}");
    let both = whole(&["upgrade", "--from", from, "--to", to, "--order", "hub-first", "--only", "before-after"])?;
    println!("  {both:>6.1} s before and after it");
    println!("  ratio                              {:>6.2}", both / plain);
    Ok(())
}

fn suite(what: &str, args: &[&str]) -> Result<(), BenchError> {
    // A state directory of its own keeps the memory of other fleets out of the figures.
    let fleets = tempfile::tempdir()?;
    let sampler = MemorySampler::start(fleets.path());
    let ran = run(Command::new(program()).arg("run").args(args).env(STATE_DIR, fleets.path()))?;
    let (mib, processes) = sampler.stop()?;
    println!("  {:>6.1} s {what}, {} scenarios that took {:.0} s added up", ran.seconds, ran.scenarios, ran.sum);
    println!("  {:>6.1} s its longest: {}", ran.longest.0, ran.longest.1);
    println!("  ratio                              {:>6.2}", ran.seconds / ran.longest.0);
    println!("  {mib:>6} MiB at peak, in {processes} processes (Pss, each second)");
    Ok(())
}

/// Figures of a run.
struct RunFigures {
    /// Seconds from the start of the first scenario to the end of the last.
    seconds: f64,
    scenarios: usize,
    /// Sum of the seconds of all scenarios.
    sum: f64,
    /// Seconds of the longest scenario, without waiting for others to end, and its name.
    longest: (f64, String),
}

/// Runs scenarios with the given `fleetdrill run` command, and adds a JSON report to it.
fn run(command: &mut Command) -> Result<RunFigures, BenchError> {
    let dir = tempfile::tempdir()?;
    let json = dir.path().join("run.json");
    // Bundles of failed scenarios are written to the working directory.
    let output = command.arg("--json").arg(&json).current_dir(std::env::temp_dir()).output()?;
    if !output.status.success() {
        return Err([output.stdout, output.stderr].map(|o| String::from_utf8_lossy(&o).into_owned()).concat().into());
    }
    let record: Value = serde_json::from_str(&std::fs::read_to_string(&json)?)?;
    let scenarios = record["scenarios"].as_array().ok_or("no scenarios in the report")?;
    let time = |s: &Value| s["started_at"].as_str().and_then(|t| t.parse::<jiff::Timestamp>().ok());
    let ran: Vec<_> = scenarios.iter().filter(|s| s["outcome"] != "not_run").collect();
    let first = ran.iter().filter_map(|s| time(s)).min().ok_or("no start in the report")?;
    let ends = ran.iter().filter_map(|s| Some(time(s)?.duration_since(first).as_secs_f64() + s["seconds"].as_f64()?));
    let each = || ran.iter().filter_map(|s| Some((s["seconds"].as_f64()?, s["scenario"].as_str()?.to_owned())));
    let longest = each().max_by(|a, b| a.0.total_cmp(&b.0)).ok_or("no scenario in the report")?;
    let sum = each().map(|(seconds, _)| seconds).sum();
    Ok(RunFigures { seconds: ends.fold(0.0, f64::max), scenarios: ran.len(), sum, longest })
}

/// Adds up the memory of all processes of all fleets in a directory, once a second, since members come and go and some
/// scenarios have fleets of their own. For pages that processes share, each process counts its part (Pss): a dozen API
/// servers share one program.
struct MemorySampler {
    stop: Sender<()>,
    thread: JoinHandle<(u64, usize)>,
}

impl MemorySampler {
    fn start(fleets: &Path) -> Self {
        let fleets = fleets.to_owned();
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut most = (0, 0);
            while stopped.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                // A process that has ended meanwhile has no memory.
                let kib: Vec<u64> = processes(&fleets)
                    .unwrap_or_default()
                    .into_iter()
                    .filter_map(|pid| kib_of(pid, "smaps_rollup", "Pss:").ok())
                    .collect();
                most = most.max((kib.iter().sum::<u64>() / 1024, kib.len()));
            }
            most
        });
        Self { stop, thread }
    }

    /// Returns the largest sum of memory in MiB, and the number of processes at that moment.
    fn stop(self) -> Result<(u64, usize), BenchError> {
        drop(self.stop);
        self.thread.join().map_err(|_| "the memory couldn't be sampled".into())
    }
}

/// Ids of the processes of all fleets in a directory.
fn processes(fleets: &Path) -> Result<Vec<u64>, BenchError> {
    let status = Command::new(program()).args(["status", "-o", "json"]).env(STATE_DIR, fleets).output()?;
    let fleets: Value = serde_json::from_slice(&status.stdout)?;
    let of = |fleet: &Value| fleet["processes"].as_array().cloned().unwrap_or_default();
    let all = fleets.as_array().into_iter().flatten().flat_map(of);
    Ok(all.filter_map(|process| process["pid"].as_u64()).collect())
}

fn memory() -> Result<(), BenchError> {
    let status = Command::new(program()).args(["status", "bench", "-o", "json"]).output()?;
    let fleets: Value = serde_json::from_slice(&status.stdout)?;
    let mut peaks: BTreeMap<&str, u64> = BTreeMap::new();
    for process in fleets[0]["processes"].as_array().into_iter().flatten() {
        let (Some(name), Some(pid)) = (process["name"].as_str(), process["pid"].as_u64()) else { continue };
        let of = match name {
            "etcd" => "etcd, for all clusters",
            name if name.starts_with("hub") => "hub",
            name if name.starts_with("member-1-") => "a member (member-1)",
            _ => "the other members",
        };
        *peaks.entry(of).or_default() += kib_of(pid, "status", "VmHWM:")?;
    }
    println!("\npeak memory after the scenarios (VmHWM, each process's own peak)");
    for (of, kib) in &peaks {
        println!("  {of:<32} {:>6} MiB", kib / 1024);
    }
    println!("  {:<32} {:>6} MiB", "all", peaks.values().sum::<u64>() / 1024);
    Ok(())
}

/// Reads a field in KiB from `/proc/PID/FILE`.
fn kib_of(pid: u64, file: &str, field: &str) -> Result<u64, BenchError> {
    let said = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join(file))?;
    let line = said.lines().find(|l| l.starts_with(field)).ok_or_else(|| format!("no {field}"))?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
}

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_fleetdrill"))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}
