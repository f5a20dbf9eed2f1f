//! `fleetdrill run`.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clusters::keeper::protocol::Exit as ProcessExit;
use clusters::provider::Ability;
use clusters::stderr_line;
use clusters::toolchain::BuildEvent;
use fleet::Fleet;
use fleet::capability::Capabilities;
use jiff::Timestamp;
use steps::record::{Outcome, RunRecord, ScenarioRecord};
use tracing_subscriber::EnvFilter;

use super::Interrupts;
use super::ground::{Begun, Ground};
use crate::abilities;
use crate::cli::{Keep, MOST_MEMBERS, Run};
use crate::components;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::log::WarningLines;
use crate::output::style::Look;
use crate::reporter::{Detail, Event, Format, Progress, ReportFile, Reporters, STDOUT, Terminal};
use crate::run::{Ended, Engine, Jobs, RunReporters, key, not_run, order, sort};
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
    check_reports(&args)?;
    let mut suite = args.scenarios.load(args.shard)?;
    if let Some(version) = &args.argocd {
        components::check_argocd_version(version)?;
    }
    let id = new_id();
    let mut ground = tokio::select! {
        found = Ground::find(&args, &suite, &id) => found?,
        () = interrupts.next() => return Ok(Exit::Interrupted),
    };
    if ground.is_new() {
        enough_members(&suite, args.member_count())?;
    }
    let version = ground.version().to_owned();
    let order = order(&suite);
    let mut record = RunRecord {
        id: id.clone(),
        fleetdrill: env!("CARGO_PKG_VERSION").into(),
        versions: vec![("kubefleet".to_owned(), version.clone())],
        capabilities: Capabilities::default(),
        provider: ground.provider().into(),
        started_at,
        seconds: 0.0,
        fleet_seconds: 0.0,
        scenarios: Vec::new(),
    };
    let shared: Shared = Arc::new(Mutex::new(reporters(&args)?));
    let prepared = tokio::select! {
        prepared = prepare(&args, &mut ground, &mut suite, &mut record, &shared) => prepared,
        () = interrupts.next() => {
            // Takes the progress line away without a summary.
            drop((shared, ground));
            stderr_line!("interrupted before the first scenario: ending what was started");
            clusters::state_dir::wait_until_gone(&format!("run-{id}")).await;
            return Ok(Exit::Interrupted);
        }
    };
    // Not to be interrupted from here on: what is labelled on a fleet that exists already is taken back at its end.
    let begun = match prepared {
        Ok(true) => ground.begin(&id).await.map(Some),
        // What there is of it ends when it is let go.
        Ok(false) => {
            drop(ground);
            Ok(None)
        }
        Err(error) => {
            drop(ground);
            Err(error)
        }
    };
    let Begun { fleet, versions, fleet_seconds } = match begun {
        Ok(Some(begun)) => begun,
        Ok(None) => {
            clusters::state_dir::wait_until_gone(&format!("run-{id}")).await;
            record.seconds = started.elapsed().as_secs_f64();
            if args.shard.is_some() {
                // The other shards may have something to run: one job of many doesn't fail for that.
                return Ok(finish(own(shared)?, &record, Exit::Fine));
            }
            finish(own(shared)?, &record, Exit::Usage);
            return Err(nothing_was_run(&version));
        }
        Err(error) => {
            clusters::state_dir::wait_until_gone(&format!("run-{id}")).await;
            record.scenarios.extend(not_begun(&suite, &error));
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
        jobs: jobs(fleet.provider(), args.jobs),
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

/// The scenarios of a run whose fleet didn't start. A CI system that reads the reports must not take their absence for success.
fn not_begun(suite: &Suite, error: &CommandError) -> Vec<ScenarioRecord> {
    let reason = format!("the fleet didn't start: {error}");
    let interrupted =
        |(feature, scenario)| ScenarioRecord { outcome: Outcome::Interrupted, ..not_run(feature, scenario, &reason) };
    suite.scenarios().map(interrupted).collect()
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

/// A run that has shown nothing mustn't look like success.
fn nothing_was_run(version: &str) -> CommandError {
    let message = format!(
        "nothing was run: none of the scenarios is for this fleet, of KubeFleet {version}; the summary says why"
    );
    let hint = "--kubefleet takes another version; `fleetdrill toolchain list` shows those there are";
    CommandError::Usage { message, hint: Some(hint.into()) }
}

/// Sees that stdout gets one report at most.
fn check_reports(args: &Run) -> Result<(), CommandError> {
    if reports_on_stdout(args) <= 1 {
        return Ok(());
    }
    let message = "--junit and --json can't both be written to standard output".into();
    Err(CommandError::Usage { message, hint: Some("give one of them a file".into()) })
}

/// How many reports go to stdout.
fn reports_on_stdout(args: &Run) -> usize {
    [&args.junit, &args.json].into_iter().flatten().filter(|path| *path == Path::new(STDOUT)).count()
}

/// Sees that a fleet which is made for the run has all members that scenarios speak of.
fn enough_members(suite: &Suite, members: u8) -> Result<(), CommandError> {
    let needed =
        suite.scenarios().map(|(feature, scenario)| (abilities::members(feature, scenario), feature, scenario));
    let Some((needed, feature, scenario)) = needed.max_by_key(|(needed, ..)| *needed) else { return Ok(()) };
    if needed <= usize::from(members) {
        return Ok(());
    }
    let (file, line) = key(feature, scenario);
    let hint = if needed <= usize::from(MOST_MEMBERS) {
        format!("give the fleet more: --members {needed}")
    } else {
        format!("a fleet has {MOST_MEMBERS} members at most")
    };
    Err(CommandError::Usage {
        message: format!("{file}:{line} speaks of member-{needed}, and the fleet gets {members} members"),
        hint: Some(hint),
    })
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
    // What can't be written is dropped: there is nowhere left to report it to.
    let logs = tracing_subscriber::fmt().with_writer(move || logs.clone()).log_internal_errors(false);
    // A second subscriber in the same process is refused; the first one serves.
    let _ = match EnvFilter::try_from_env("FLEETDRILL_LOG") {
        Ok(filter) => logs.with_env_filter(filter).try_init(),
        Err(_) => logs.with_env_filter(EnvFilter::new(DEFAULT_LOGS)).event_format(WarningLines).try_init(),
    };
    let look = Look::from_locale();
    let detail = if args.verbose { Detail::Full } else { Detail::Compact };
    let terminal = if reports_on_stdout(args) == 0 {
        Terminal::stdout(look, detail, progress)
    } else {
        Terminal::stderr(look, detail, progress)
    };
    let mut reporters = Reporters::new(terminal);
    for (format, path) in [(Format::Junit, &args.junit), (Format::Json, &args.json)] {
        if let Some(path) = path {
            reporters.add_file(ReportFile::new(format, path))?;
        }
    }
    Ok(reporters)
}

/// Gets everything that the scenarios need and that isn't there, in the end the fleet; says whether there is anything to run.
/// What the fleet can't run goes from the suite to the record.
async fn prepare(
    args: &Run,
    ground: &mut Ground,
    suite: &mut Suite,
    record: &mut RunRecord,
    shared: &Shared,
) -> Result<bool, CommandError> {
    let phase = phase(shared);
    let build = building(phase.clone());
    record.capabilities = ground.capabilities(&build).await?;
    record.scenarios = left_out(suite, ground.version(), &record.capabilities, args.real_time, false);
    let members = ground.members(args).await;
    record.scenarios.extend(out_of_reach(suite, ground.provider(), |ability| ground.can(ability), members));
    for off in &record.scenarios {
        shared.lock().unwrap_or_else(PoisonError::into_inner).event(&Event::ScenarioFinished(off))?;
    }
    let any = suite.scenarios().next().is_some();
    if any {
        ground.prepare(args, &record.id, suite, &build, phase).await?;
    }
    Ok(any)
}

/// The reporters, when nothing shares them any more.
fn own(shared: Shared) -> Result<RunReporters, CommandError> {
    Arc::into_inner(shared)
        .and_then(|m| m.into_inner().ok())
        .ok_or_else(|| CommandError::Environment { message: "the progress line is still in use".into(), hint: None })
}

/// How many scenarios run at the same time, where it isn't said otherwise.
fn jobs(provider: &str, asked: Option<u8>) -> Jobs {
    const MOST: usize = 32;
    if provider != "kind" {
        return Jobs::all(asked.map_or(MOST, usize::from));
    }
    // Controllers, kubelets and all share the processors. A node of a scenario's own takes its time; more of them only wait for
    // each other.
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let all = asked.map_or(processors.saturating_mul(8).min(MOST), usize::from);
    Jobs { all, with_clusters: processors.saturating_mul(2).min(all) }
}

/// Ends the fleet, or says how to get into it.
async fn end_fleet(args: &Run, fleet: &Fleet, id: &str, ended: &Ended) -> Result<(), CommandError> {
    let failed = ended.scenarios.iter().any(|s| s.outcome == Outcome::Failed);
    let keeps_failed = args.keep != Keep::Never && failed;
    let mut swept = Ok(());
    if fleet.is_borrowed() || (args.fleet.is_some() && !keeps_failed && ended.broken.is_none()) {
        stderr_line!("removing what the run has made");
        // Told once the rest has ended.
        swept = fleet.sweep(id).await;
    }
    let keep = args.fleet.is_none() && !ended.interrupted && (keeps_failed || args.keep == Keep::Always);
    if keep {
        fleet.keep().await?;
        stderr_line!("the fleet stays up for a look:");
        stderr_line!("  kubectl --kubeconfig {} --context hub get crp", fleet.kubeconfig_file().display());
        stderr_line!("  fleetdrill diagnose --fleet {}", fleet.name());
        stderr_line!("  fleetdrill down {}", fleet.name());
        for beside in clusters::state_dir::beside(fleet.name()) {
            stderr_line!("and {beside}, which a scenario had for itself: fleetdrill down {beside}");
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
