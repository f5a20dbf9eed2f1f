//! `fleetdrill run`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clusters::keeper::Program;
use clusters::keeper::protocol::Exit as ProcessExit;
use clusters::provider::{Ability, Recipe};
use clusters::toolchain::BuildEvent;
use fleet::agents::Agents;
use fleet::capability::Capabilities;
use fleet::existing::Found;
use fleet::{Fleet, Options};
use jiff::Timestamp;
use steps::record::{Outcome, RunRecord, ScenarioRecord};
use tracing_subscriber::EnvFilter;

use super::progress::stage_text;
use super::target::contexts;
use super::{Interrupts, open_fleet};
use crate::abilities;
use crate::cli::{Keep, Provider, Run};
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
    check_provider(&args)?;
    let id = new_id();
    let (asked, version) = tokio::select! {
        asked = asked(&args, &suite, &id) => asked?,
        () = interrupts.next() => return Ok(Exit::Interrupted),
    };
    let order = order(&suite);
    let mut record = RunRecord {
        id: id.clone(),
        fleetdrill: env!("CARGO_PKG_VERSION").into(),
        versions: vec![("kubefleet".to_owned(), version.clone())],
        capabilities: Capabilities::default(),
        provider: asked.provider().into(),
        started_at,
        seconds: 0.0,
        fleet_seconds: 0.0,
        scenarios: Vec::new(),
    };
    let shared: Shared = Arc::new(Mutex::new(reporters(&args)?));
    let prepared = tokio::select! {
        prepared = prepare(&args, asked, &mut suite, &mut record, &shared) => prepared,
        () = interrupts.next() => {
            // Takes the progress line away without a summary.
            drop(shared);
            eprintln!("interrupted before the first scenario: ending what was started");
            clusters::state_dir::wait_until_gone(&format!("run-{id}")).await;
            return Ok(Exit::Interrupted);
        }
    };
    // Not to be interrupted from here on: what is labelled on a fleet that exists already is taken back at its end.
    let begun = match prepared {
        Ok(Some(prepared)) => prepared.begin(&id).await.map(Some),
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    let Begun { fleet, versions, fleet_seconds } = match begun {
        Ok(Some(begun)) => begun,
        Ok(None) => {
            clusters::state_dir::wait_until_gone(&format!("run-{id}")).await;
            record.seconds = started.elapsed().as_secs_f64();
            let exit = finish(own(shared)?, &record, Exit::Fine);
            eprintln!(
                "nothing was run: none of the scenarios is for this fleet, of KubeFleet {version}; the summary says why"
            );
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
        fleet_stays: args.fleet.is_some() || args.keep == Keep::Always || fleet.is_borrowed(),
        upgrade: None,
    };
    let ended = engine.run(&suite, reporters, interrupts.next()).await;
    let end = end_fleet(&args, &fleet, &id, &ended).await;
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

/// The fleet that a run is asked to be on.
enum Asked {
    /// One that is up.
    Up(Fleet),
    /// One that exists already and that fleetdrill didn't make.
    Existing(Box<Found>),
    /// One of its own.
    New,
}

impl Asked {
    /// Where its clusters come from.
    fn provider(&self) -> &'static str {
        match self {
            Self::Up(fleet) => fleet.provider(),
            Self::Existing(found) => found.provider(),
            Self::New => "local",
        }
    }
}

/// Sees that the options fit the provider.
fn check_provider(args: &Run) -> Result<(), CommandError> {
    let usage = |message: &str, hint: &str| {
        Err(CommandError::Usage { message: message.to_owned(), hint: Some(hint.to_owned()) })
    };
    let contexts = "--provider existing --hub CONTEXT --member NAME=CONTEXT";
    match args.provider {
        Provider::Local if !args.contexts.is_empty() => {
            let hint = format!("to run scenarios on such a fleet: {contexts}");
            usage("--kubeconfig, --hub and --member are for a fleet that exists already", &hint)
        }
        Provider::Existing if args.contexts.hub.is_none() || args.contexts.member.is_empty() => {
            let hint = format!("scenarios break things on purpose, so nothing is guessed: {contexts}");
            usage("--provider existing needs the contexts of the hub and of one member at least", &hint)
        }
        Provider::Existing if args.fleet.is_some() || args.argocd.is_some() || args.keep != Keep::Never => usage(
            "--fleet, --argocd and --keep are for fleets that fleetdrill makes",
            "what a run makes on a fleet that exists already is always removed; failed scenarios leave a bundle",
        ),
        _ => Ok(()),
    }
}

/// The fleet that the run will be on, as far as it is there, and the version of KubeFleet. What is asked for and can't be had is
/// told here, before anything is built.
async fn asked(args: &Run, suite: &Suite, id: &str) -> Result<(Asked, String), CommandError> {
    if let Some(name) = &args.fleet {
        let fleet = open_fleet(name).await?;
        let version = fleet.version();
        return Ok((Asked::Up(fleet), version));
    }
    if args.provider == Provider::Existing {
        let found = Found::by(&format!("run-{id}"), contexts(&args.contexts)?, &Program::this()?).await?;
        let version = match args.kubefleet.clone() {
            Some(version) => Some(version),
            None => found.version().await?,
        };
        let Some(version) = version else {
            return Err(CommandError::Usage {
                message: "which version of KubeFleet the hub runs can't be found out: it has no Deployment hub-agent \
                          whose image has it as its tag"
                    .into(),
                hint: Some("say it with --kubefleet VERSION: what scenarios expect goes by it".into()),
            });
        };
        return Ok((Asked::Existing(Box::new(found)), components::kubefleet(Some(&version))?));
    }
    extras(args, suite).check()?;
    Ok((Asked::New, components::kubefleet(args.kubefleet.as_deref())?))
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

/// Takes out of a suite what a provider, or so many members, won't do for, and says why.
fn out_of_reach(
    suite: &mut Suite,
    provider: &str,
    can: impl Fn(Ability) -> bool,
    members: usize,
) -> Vec<ScenarioRecord> {
    let why = |feature: &gherkin::Feature, scenario: &gherkin::Scenario| {
        if let Some(ability) = abilities::lacking(feature, scenario, &can) {
            return Some(format!("provider {provider} can't {ability}"));
        }
        let needed = abilities::members(feature, scenario);
        (needed > members).then(|| format!("needs {needed} members; this fleet has {members}"))
    };
    let off = suite.part(|feature, scenario| why(feature, scenario).is_none());
    let record = |(feature, scenario)| not_run(feature, scenario, &why(feature, scenario).unwrap_or_default());
    off.scenarios().map(record).collect()
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
    /// One that exists already, and the agents of its version.
    Existing(Box<Found>, Agents),
    /// The agents for a fleet of its own.
    New(Agents),
}

impl Ground {
    /// KubeFleet's version.
    fn version(&self) -> String {
        match self {
            Self::Up(fleet) => fleet.version(),
            Self::Existing(_, agents) | Self::New(agents) => agents.version.clone(),
        }
    }

    /// What this version can do.
    fn capabilities(&self) -> Capabilities {
        match self {
            Self::Up(fleet) => fleet.capabilities(),
            Self::Existing(_, agents) | Self::New(agents) => agents.capabilities.clone(),
        }
    }

    /// Whether where it runs can do that.
    fn can(&self, ability: Ability) -> bool {
        match self {
            Self::Up(fleet) => fleet.can(ability),
            Self::Existing(found, _) => found.can(ability),
            Self::New(_) => true,
        }
    }

    /// How many members it has.
    async fn members(&self, args: &Run) -> usize {
        match self {
            Self::Up(fleet) => fleet.members().await.len(),
            Self::Existing(found, _) => found.members(),
            Self::New(_) => usize::from(args.members),
        }
    }
}

/// What a run goes on with.
enum Prepared {
    /// A fleet that is up.
    Up(Begun),
    /// One that exists already and isn't taken yet.
    Existing(Box<Found>, Agents),
}

impl Prepared {
    async fn begin(self, id: &str) -> Result<Begun, CommandError> {
        match self {
            Self::Up(begun) => Ok(begun),
            Self::Existing(found, agents) => {
                let versions = vec![("kubefleet".to_owned(), agents.version.clone())];
                let fleet = found.take(format!("run-{id}"), id, agents).await?;
                eprintln!("run {id}: should it be killed, remove what it has made with these contexts and");
                eprintln!("  fleetdrill down --run {id}");
                Ok(Begun { fleet, versions, fleet_seconds: 0.0 })
            }
        }
    }
}

/// A fleet to run on.
struct Begun {
    fleet: Fleet,
    versions: Vec<(String, String)>,
    /// How long it took from nothing to all joined, without building the components; 0 for one that was up.
    fleet_seconds: f64,
}

/// Gets everything that the scenarios need and that isn't there, in the end the fleet; nothing when the fleet's version can't
/// run any of them. Those that it can't run go from the suite to the record.
async fn prepare(
    args: &Run,
    asked: Asked,
    suite: &mut Suite,
    record: &mut RunRecord,
    shared: &Shared,
) -> Result<Option<Prepared>, CommandError> {
    let phase = phase(shared);
    let build = building(phase.clone());
    let version = record.versions.first().map(|(_, version)| version.clone());
    let ground = match asked {
        Asked::Up(fleet) => Ground::Up(fleet),
        Asked::Existing(found) => {
            let mut agents = components::ensure_agents(version.as_deref(), &build).await?;
            agents.capabilities = found.capabilities(&agents).await?;
            Ground::Existing(found, agents)
        }
        Asked::New => Ground::New(components::ensure_agents(args.kubefleet.as_deref(), &build).await?),
    };
    record.capabilities = ground.capabilities();
    record.scenarios = left_out(suite, &ground.version(), &record.capabilities, args.real_time, false);
    let members = ground.members(args).await;
    record.scenarios.extend(out_of_reach(suite, &record.provider, |ability| ground.can(ability), members));
    for off in &record.scenarios {
        shared.lock().unwrap_or_else(PoisonError::into_inner).event(&Event::ScenarioFinished(off))?;
    }
    if suite.scenarios().next().is_none() {
        return Ok(None);
    }
    match ground {
        Ground::Up(fleet) => extend(fleet, suite, &build, &phase).await.map(|begun| Some(Prepared::Up(begun))),
        Ground::Existing(found, agents) => Ok(Some(Prepared::Existing(found, agents))),
        Ground::New(agents) => {
            let components = components::ensure_rest(agents, extras(args, suite), &build).await?;
            create(args, &record.id, components, phase).await.map(|begun| Some(Prepared::Up(begun)))
        }
    }
}

/// Gives a fleet that is up what the scenarios need and it hasn't.
async fn extend(
    fleet: Fleet,
    suite: &Suite,
    build: &(dyn Fn(BuildEvent) + Send + Sync),
    phase: &impl Fn(&str),
) -> Result<Begun, CommandError> {
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
    Ok(Begun { fleet, versions, fleet_seconds: 0.0 })
}

/// Starts a fleet for the run.
async fn create(
    args: &Run,
    id: &str,
    components: Components,
    phase: impl Fn(&str) + Send + Sync + 'static,
) -> Result<Begun, CommandError> {
    phase("starting the fleet");
    let started = Instant::now();
    let options = Options {
        name: format!("run-{id}"),
        members: usize::from(args.members),
        recipe: Recipe::Local(components.programs),
        agents: components.agents,
        pods: components.pods,
        argocd: components.argocd,
        keeper: Program::this()?,
    };
    let fleet = Fleet::create(options, Arc::new(move |stage| phase(&stage_text(&stage)))).await?;
    let fleet_seconds = started.elapsed().as_secs_f64();
    Ok(Begun { fleet, versions: components.versions, fleet_seconds })
}

/// The reporters, when nothing shares them any more.
fn own(shared: Shared) -> Result<RunReporters, CommandError> {
    Arc::into_inner(shared)
        .and_then(|m| m.into_inner().ok())
        .ok_or_else(|| CommandError::Environment { message: "the progress line is still in use".into(), hint: None })
}

/// Ends the fleet, or says how to get into it.
async fn end_fleet(args: &Run, fleet: &Fleet, id: &str, ended: &Ended) -> Result<(), CommandError> {
    let failed = ended.scenarios.iter().any(|s| s.outcome == Outcome::Failed);
    let keeps_failed = args.keep != Keep::Never && failed;
    let mut swept = Ok(());
    if fleet.is_borrowed() || (args.fleet.is_some() && !keeps_failed && ended.broken.is_none()) {
        eprintln!("removing what the run has made");
        // Told once the rest has ended.
        swept = fleet.sweep(id).await;
    }
    let keep = args.fleet.is_none() && !ended.interrupted && (keeps_failed || args.keep == Keep::Always);
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
    Ok(swept?)
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
