//! `fleetdrill run`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clusters::keeper::Program;
use clusters::keeper::protocol::Exit as ProcessExit;
use clusters::toolchain::BuildEvent;
use fleet::agents::Agents;
use fleet::capability::Capabilities;
use fleet::{Fleet, Options};
use jiff::Timestamp;
use steps::record::{Outcome, RunRecord, ScenarioRecord};
use tracing_subscriber::EnvFilter;

use super::progress::stage_text;
use super::{Interrupts, open_fleet};
use crate::cli::{Keep, Run};
use crate::components::{self, Components, Extras};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::style::{Look, Symbols};
use crate::reporter::{Detail, Event, Format, Progress, ReportFile, Reporters, Terminal};
use crate::run::{Ended, Engine, RunReporters, not_run, order, sort};
use crate::suite::{self, Suite};

/// Warnings of ours. kube's own errors about connections that end are what a fault looks like from here.
const DEFAULT_LOGS: &str = "warn,kube_client=off,kube_runtime=off";

/// Reporters that callbacks of other threads may speak to while the fleet starts.
type Shared = Arc<Mutex<RunReporters>>;

pub(super) async fn run(args: Run) -> Result<Exit, CommandError> {
    let started_at = Timestamp::now();
    let started = Instant::now();
    let mut interrupts = Interrupts::listen();
    // Everything that can be wrong with the input is found before anything is built or started.
    let mut suite = args.scenarios.load(args.shard)?;
    if let Some(version) = &args.argocd {
        components::check_argocd_version(version)?;
    }
    let (up, version) = tokio::select! {
        asked = asked(&args, &suite) => asked?,
        () = interrupts.next() => return Ok(Exit::Interrupted),
    };
    let order = order(&suite);
    let id = new_id();
    let mut record = RunRecord {
        id: id.clone(),
        fleetdrill: env!("CARGO_PKG_VERSION").into(),
        versions: vec![("kubefleet".to_owned(), version.clone())],
        capabilities: Capabilities::default(),
        provider: "local".into(),
        started_at,
        seconds: 0.0,
        fleet_seconds: 0.0,
        scenarios: Vec::new(),
    };
    let shared: Shared = Arc::new(Mutex::new(reporters(&args)?));
    let prepared = tokio::select! {
        prepared = prepare(&args, up, &mut suite, &mut record, &shared) => prepared,
        () = interrupts.next() => {
            // Takes the progress line away without a summary.
            drop(shared);
            eprintln!("interrupted before the first scenario: ending what was started");
            clusters::state_dir::wait_until_gone(&format!("run-{id}")).await;
            return Ok(Exit::Interrupted);
        }
    };
    let Prepared { fleet, versions, fleet_seconds } = match prepared {
        Ok(Some(prepared)) => prepared,
        Ok(None) => {
            record.seconds = started.elapsed().as_secs_f64();
            let exit = finish(own(shared)?, &record, Exit::Fine);
            eprintln!("nothing was run, and no fleet started: none of the scenarios is for KubeFleet {version}");
            eprintln!("\nhint: --kubefleet takes another version; `fleetdrill toolchain list` shows those there are");
            return Ok(exit);
        }
        Err(error) => {
            clusters::state_dir::wait_until_gone(&format!("run-{id}")).await;
            // A CI system that reads the reports must not take their absence for success.
            let reason = format!("the fleet didn't start: {error}");
            let interrupted = |(feature, scenario)| ScenarioRecord {
                outcome: Outcome::Interrupted,
                ..not_run(feature, scenario, &reason)
            };
            record.scenarios.extend(suite.scenarios().map(interrupted));
            record.seconds = started.elapsed().as_secs_f64();
            finish(own(shared)?, &record, Exit::Environment);
            return Err(error);
        }
    };

    let mut reporters = own(shared)?;
    reporters.event(&Event::RunStarted { scenarios: suite.scenarios().count() })?;
    let engine = Engine {
        fleet: fleet.clone(),
        run: id.clone(),
        bundles: args.bundles.clone(),
        jobs: usize::from(args.jobs),
        real_time: args.real_time,
        keep_failed: args.keep != Keep::Never,
        fleet_stays: args.fleet.is_some() || args.keep == Keep::Always,
        upgrade: None,
    };
    let ended = engine.run(&suite, reporters, interrupts.next()).await;
    let end = end_fleet(&args, &fleet, &ended).await;
    record.versions = versions;
    record.fleet_seconds = fleet_seconds;
    record.seconds = started.elapsed().as_secs_f64();
    record.scenarios.extend(ended.scenarios);
    sort(&mut record.scenarios, &order);
    let mut exit = exit_of(&record, ended.broken.as_ref(), ended.interrupted);
    if let Some(reporters) = ended.reporters {
        exit = finish(reporters, &record, exit);
    }
    if let Some(broken) = ended.broken {
        let error = fleet::FleetError::Broken { exit: broken };
        crate::output::print_error(&error, error.hint().as_deref());
    }
    end?;
    Ok(exit)
}

/// The fleet that the run will be on, when that is up, and the version of KubeFleet. What is asked for and can't be had is told
/// here, before anything is built.
async fn asked(args: &Run, suite: &Suite) -> Result<(Option<Fleet>, String), CommandError> {
    if let Some(name) = &args.fleet {
        let fleet = open_fleet(name).await?;
        let version = fleet.version();
        return Ok((Some(fleet), version));
    }
    extras(args, suite).check()?;
    Ok((None, components::kubefleet(args.kubefleet.as_deref())?))
}

/// What the suite needs beside KubeFleet.
fn extras<'a>(args: &'a Run, suite: &Suite) -> Extras<'a> {
    Extras { pods: suite.needs_pods(), argocd: suite.needs_argocd().then_some(args.argocd.as_deref()) }
}

/// Shows what is being done, for as long as the reporters are there.
fn phase(shared: &Shared) -> impl Fn(&str) + Clone + Send + Sync + 'static {
    let shared = Arc::downgrade(shared);
    move |text: &str| {
        if let Some(shared) = shared.upgrade() {
            // A progress line that can't be shown stops nothing.
            let _ = shared.lock().unwrap_or_else(PoisonError::into_inner).event(&Event::Phase { text });
        }
    }
}

/// Shows a build's progress as phases.
fn building(phase: impl Fn(&str) + Send + Sync) -> impl Fn(BuildEvent) + Send + Sync {
    move |event: BuildEvent| match event {
        // Not only for a moment: it explains the build that follows.
        BuildEvent::Rebuilding { .. } => tracing::warn!("{event}"),
        event => phase(&event.to_string()),
    }
}

/// Takes out of a suite what isn't for a version, for real time, or for a fleet that isn't upgraded, and says why.
pub(super) fn left_out(
    suite: &mut Suite,
    version: &str,
    can: &Capabilities,
    real_time: bool,
    upgraded: bool,
) -> Vec<ScenarioRecord> {
    let off = suite.part_off(can);
    let record = |(feature, scenario)| {
        let needed = suite::needed(feature, scenario).unwrap_or_default();
        not_run(feature, scenario, &format!("needs {needed}; this fleet runs {version}"))
    };
    let mut records: Vec<ScenarioRecord> = off.scenarios().map(record).collect();
    if !upgraded {
        let off = suite.part_off_upgrades();
        let why = "KubeFleet is upgraded in it: `fleetdrill upgrade` runs it (tag @upgrade)";
        records.extend(off.scenarios().map(|(feature, scenario)| not_run(feature, scenario, why)));
    }
    if real_time {
        let off = suite.part_off_fast_forward();
        let why = "it takes too long in real time (tag @fast-forward)";
        records.extend(off.scenarios().map(|(feature, scenario)| not_run(feature, scenario, why)));
    }
    records
}

/// Writes the reports. One that can't be written makes an otherwise good run end with another exit code.
fn finish(reporters: RunReporters, record: &RunRecord, exit: Exit) -> Exit {
    let errors = reporters.finish(record);
    for error in &errors {
        crate::output::print_error(error, None);
    }
    if exit == Exit::Fine && !errors.is_empty() { Exit::Usage } else { exit }
}

fn reporters(args: &Run) -> Result<RunReporters, CommandError> {
    let progress = Progress::auto();
    let logs = progress.log_writer();
    let filter = EnvFilter::try_from_env("FLEETDRILL_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT_LOGS));
    // A second subscriber in the same process is refused; the first one serves.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(move || logs.clone()).try_init();
    let mut look = Look::from_locale();
    if args.ascii {
        look.symbols = Symbols::ASCII;
    }
    let detail = if args.verbose { Detail::Full } else { Detail::Compact };
    let mut reporters = Reporters::new(Terminal::stdout(look, detail, progress));
    for (format, path) in [(Format::Junit, &args.junit), (Format::Json, &args.json)] {
        if let Some(path) = path {
            reporters.add_file(ReportFile::new(format, path))?;
        }
    }
    Ok(reporters)
}

/// What a run begins from.
enum Ground {
    /// A fleet that is up.
    Up(Fleet),
    /// The agents for a fleet of its own.
    New(Agents),
}

impl Ground {
    /// KubeFleet's version.
    fn version(&self) -> String {
        match self {
            Self::Up(fleet) => fleet.version(),
            Self::New(agents) => agents.version.clone(),
        }
    }

    /// What this version can do.
    fn capabilities(&self) -> Capabilities {
        match self {
            Self::Up(fleet) => fleet.capabilities(),
            Self::New(agents) => agents.capabilities.clone(),
        }
    }
}

/// A fleet to run on.
struct Prepared {
    fleet: Fleet,
    versions: Vec<(String, String)>,
    /// How long it took from nothing to all joined, without building the components; 0 for one that was up.
    fleet_seconds: f64,
}

/// Gets everything that the scenarios need and that isn't there, in the end the fleet; nothing when the fleet's version can't
/// run any of them. Those that it can't run go from the suite to the record.
async fn prepare(
    args: &Run,
    up: Option<Fleet>,
    suite: &mut Suite,
    record: &mut RunRecord,
    shared: &Shared,
) -> Result<Option<Prepared>, CommandError> {
    let phase = phase(shared);
    let build = building(phase.clone());
    let ground = match up {
        Some(fleet) => Ground::Up(fleet),
        None => Ground::New(components::ensure_agents(args.kubefleet.as_deref(), &build).await?),
    };
    record.capabilities = ground.capabilities();
    record.scenarios = left_out(suite, &ground.version(), &record.capabilities, args.real_time, false);
    for off in &record.scenarios {
        shared.lock().unwrap_or_else(PoisonError::into_inner).event(&Event::ScenarioFinished(off))?;
    }
    if suite.scenarios().next().is_none() {
        return Ok(None);
    }
    match ground {
        Ground::Up(fleet) => extend(fleet, suite, &build, &phase).await.map(Some),
        Ground::New(agents) => {
            let components = components::ensure_rest(agents, extras(args, suite), &build).await?;
            create(args, &record.id, components, phase).await.map(Some)
        }
    }
}

/// Gives a fleet that is up what the scenarios need and it hasn't.
async fn extend(
    fleet: Fleet,
    suite: &Suite,
    build: &(dyn Fn(BuildEvent) + Send + Sync),
    phase: &impl Fn(&str),
) -> Result<Prepared, CommandError> {
    let mut versions = vec![("kubefleet".to_owned(), fleet.version())];
    if suite.needs_pods() {
        let (programs, kwok) = components::ensure_pods(build).await?;
        fleet.allow_pods(programs).await?;
        versions.push(kwok);
    }
    if suite.needs_argocd() {
        if fleet.argocd_version().await.is_none() {
            let programs = components::ensure_argocd(None, build).await?;
            phase("starting Argo CD on the hub");
            fleet.start_argocd(programs).await?;
        }
        versions.extend(fleet.argocd_version().await.map(|version| ("argocd".to_owned(), version)));
    }
    Ok(Prepared { fleet, versions, fleet_seconds: 0.0 })
}

/// Starts a fleet for the run.
async fn create(
    args: &Run,
    id: &str,
    components: Components,
    phase: impl Fn(&str) + Send + Sync + 'static,
) -> Result<Prepared, CommandError> {
    phase("starting the fleet");
    let started = Instant::now();
    let options = Options {
        name: format!("run-{id}"),
        members: usize::from(args.members),
        programs: components.programs,
        agents: components.agents,
        pods: components.pods,
        argocd: components.argocd,
        keeper: Program::this()?,
    };
    let fleet = Fleet::create(options, Arc::new(move |stage| phase(&stage_text(&stage)))).await?;
    Ok(Prepared { fleet, versions: components.versions, fleet_seconds: started.elapsed().as_secs_f64() })
}

/// The reporters, when nothing shares them any more.
fn own(shared: Shared) -> Result<RunReporters, CommandError> {
    Arc::into_inner(shared)
        .and_then(|m| m.into_inner().ok())
        .ok_or_else(|| CommandError::Environment { message: "the progress line is still in use".into(), hint: None })
}

/// Ends the fleet, or says how to get into it.
async fn end_fleet(args: &Run, fleet: &Fleet, ended: &Ended) -> Result<(), CommandError> {
    let failed = ended.scenarios.iter().any(|s| s.outcome == Outcome::Failed);
    let keep = args.fleet.is_none()
        && !ended.interrupted
        && match args.keep {
            Keep::Never => false,
            Keep::Failed => failed,
            Keep::Always => true,
        };
    if keep {
        fleet.keep().await?;
        eprintln!("the fleet stays up for a look:");
        eprintln!("  kubectl --kubeconfig {} --context hub get crp", fleet.kubeconfig_file().display());
        eprintln!("  fleetdrill diagnose --fleet {}", fleet.name());
        eprintln!("  fleetdrill down {}", fleet.name());
        for beside in clusters::state_dir::beside(fleet.name()) {
            eprintln!("and {beside}, which a scenario had for itself: fleetdrill down {beside}");
        }
    } else if args.fleet.is_none() {
        if ended.broken.as_ref().is_none_or(|e| e.name != "keeper") {
            fleet.end().await?;
        }
        // A keeper that was killed has left its directory.
        clusters::state_dir::wait_until_gone(fleet.name()).await;
    }
    Ok(())
}

fn exit_of(record: &RunRecord, broken: Option<&ProcessExit>, interrupted: bool) -> Exit {
    if interrupted {
        Exit::Interrupted
    } else if broken.is_some() {
        Exit::Environment
    } else if record.scenarios.iter().any(|s| matches!(s.outcome, Outcome::Failed | Outcome::Interrupted)) {
        Exit::Found
    } else {
        Exit::Fine
    }
}

/// Four characters that tell runs apart.
pub(super) fn new_id() -> String {
    use rand::RngExt;
    let letters = b"abcdefghijkmnpqrstuvwxyz";
    let mut rng = rand::rng();
    (0..4).map(|_| char::from(letters[rng.random_range(0..letters.len())])).collect()
}
