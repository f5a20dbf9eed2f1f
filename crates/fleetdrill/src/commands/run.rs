//! `fleetdrill run`.

use std::io::{BufReader, IsTerminal as _, Write};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use clusters::state_dir;
use clusters::supervisor::protocol::ProcessExit;
use fleet::Fleet;
use fleet::capability::Capabilities;
use jiff::Timestamp;
use record::{Outcome, RunRecord};
use report::run::{Reporters, RunEvent, RunProgressDisplay};
use report::runs::merge::FlakyScenario;
use report::runs::text;
use report::stderr_line;
use report::text::style::OutputLayout;
use toolchain::BuildEvent;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{FilterExt as _, FilterFn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use super::Interrupts;
use crate::cli::{KeepPolicy, RunArgs};
use crate::component_version::ComponentVersion;
use crate::components::FleetToolchain;
use crate::continuous_diagnosis::DiagnosedFleet;
use crate::continuous_diagnosis::accounted_codes::AssertedConsequences;
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::fleet_source::{
    AcquiredFleet, FleetBuilder, FleetNeeds, FleetProfile as _, FleetProgress, FleetRequest, FleetUser, PreparedFleet,
    ResolvedFleet, resolve,
};
use crate::ledger::Ledger;
use crate::output::data;
use crate::output::log::{LogLineFormatter, RedactingWriter, has_no_body};
use crate::run::{
    AfterFailure, ConcurrencyLimits, DiagnosedRun, FailurePause, Round, RunEnd, ScenarioRunner, check_members,
    keep_failed, left_out, left_out_of_codes, left_out_of_scale, not_started, order, out_of_reach, sort,
};
use crate::run_file;
use crate::run_seed::RunSeed;
use crate::selection::{ScenarioDurations, ScenarioSelection};
use crate::suite::Suite;

/// Default log filter. kube's own errors about closed connections are left out, because faults cause them.
const DEFAULT_LOGS: &str = "warn,kube_client=off,kube_runtime=off";

/// Reporters that callbacks on other threads may use while the fleet starts.
type SharedReporters = Arc<Mutex<Reporters>>;

pub(super) async fn run(args: RunArgs) -> Result<CommandExitCode, CommandError> {
    let started_at = Timestamp::now();
    let started = Instant::now();
    let mut interrupts = Interrupts::listen();
    // All problems of the input are found before anything is built or started.
    args.files.check()?;
    if args.pause_on_failure && !std::io::stdin().is_terminal() {
        let message = "--pause-on-failure waits for Enter, and standard input is no terminal";
        return Err(CommandError::usage(message, Some("use --keep failed to leave the fleet up instead")));
    }
    let durations = ScenarioDurations::of_runs(&run_file::read_all(&args.shard_by)?);
    let selection = ScenarioSelection { durations: Some(&durations), ..args.scenarios.selection(args.part.shard) };
    let mut suite = Suite::load(&selection)?;
    if !args.rerun.is_empty() {
        keep_failed(&mut suite, &run_file::read_all(&args.rerun)?)?;
    }
    let components = FleetToolchain::open()?;
    if let Some(version) = &args.argocd {
        components.argocd(Some(version))?;
    }
    let seed = args.seed.map_or_else(RunSeed::random, RunSeed);
    let id = seed.id();
    let mut ledger = args.ledger.as_deref().map(Ledger::open).transpose()?;
    let fleet = tokio::select! {
        resolved = resolve(request(&args, &suite, &id), &components) => resolved?,
        () = interrupts.next() => return Ok(CommandExitCode::Interrupted),
    };
    if let ResolvedFleet::New(new) = &fleet {
        check_members(&suite, new.members())?;
    }
    let order = order(&suite);
    let kubefleet = fleet.profile().kubefleet().clone();
    let mut record = new_record(&id, seed, &fleet, started_at);
    let shared: SharedReporters = Arc::new(Mutex::new(reporters(&args)?));
    let builder = FleetBuilder { components, progress: Arc::new(PhaseReporter(Arc::downgrade(&shared))) };
    let prepared = tokio::select! {
        prepared = prepare(&args, fleet, &mut suite, &mut record, &builder, &shared) => prepared,
        () = interrupts.next() => {
            // Dropping the reporters removes the progress line without a summary.
            drop(shared);
            stderr_line!("interrupted before the first scenario: ending what was started");
            state_dir::wait_until_gone(&fleet_name(&id)).await;
            return Ok(CommandExitCode::Interrupted);
        }
    };
    // Not interruptible: labels that this sets on an existing fleet are removed only when the fleet ends.
    let acquired = match prepared {
        Ok(Some(prepared)) => prepared.take().await.map(Some),
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    let AcquiredFleet { fleet, versions, start_seconds } = match acquired {
        Ok(Some(acquired)) => acquired,
        not_acquired => {
            state_dir::wait_until_gone(&fleet_name(&id)).await;
            record.seconds = started.elapsed().as_secs_f64();
            let reporters = own(shared)?;
            return match not_acquired {
                Err(error) => Err(end_without_fleet(&suite, record, reporters, error)),
                Ok(_) => end_without_scenarios(&args, &record, reporters, &kubefleet.version),
            };
        }
    };
    if fleet.is_borrowed() {
        stderr_line!("run {id}: should it be killed, remove what it has made with these contexts and");
        stderr_line!("  fleetdrill down --run {id}");
    }

    let mut reporters = own(shared)?;
    let runs = suite.scenarios().count() * usize::from(args.repeat);
    reporters.event(&RunEvent::RunStarted { scenarios: runs })?;
    record.versions = ComponentVersion::pairs(&versions);
    record.fleet_seconds = start_seconds;
    let runner = runner(&args, &fleet, (&id, seed))?;
    let (rounds, ended) = run_rounds(&args, runner, &suite, &record, reporters, &mut interrupts).await;
    let end = end_fleet(&args, &fleet, &id, &rounds, &ended).await;
    let (mut record, flaky) = merge(rounds, &id, record)?;
    record.seconds = started.elapsed().as_secs_f64();
    sort(&mut record.scenarios, &order);
    let mut exit = exit_of(&record, ended.broken.as_ref(), ended.interrupted);
    if let Some(reporters) = ended.reporters {
        exit = finish(reporters, &record, exit);
    }
    // A run that was interrupted says nothing about its scenarios.
    if let Some(ledger) = ledger.as_mut().filter(|_| !ended.interrupted) {
        ledger.add(&record)?;
    }
    print_flaky(&args, &flaky);
    if let Some(broken) = ended.broken {
        let error = fleet::FleetError::Broken { exit: broken };
        crate::output::print_error(&error, crate::hints::for_fleet(&error).as_deref());
    }
    end?;
    Ok(exit)
}

/// Record of a run that hasn't started any scenario.
fn new_record(id: &str, seed: RunSeed, fleet: &ResolvedFleet, started_at: Timestamp) -> RunRecord {
    RunRecord {
        id: id.to_owned(),
        fleetdrill: env!("CARGO_PKG_VERSION").into(),
        versions: ComponentVersion::pairs(std::slice::from_ref(fleet.profile().kubefleet())),
        capabilities: Capabilities::default(),
        provider: fleet.profile().provider().into(),
        started_at,
        seconds: 0.0,
        fleet_seconds: 0.0,
        scenarios: Vec::new(),
        continuous_diagnosis: None,
        repeated_shards: Vec::new(),
        seed: Some(seed.0),
        load: None,
    }
}

fn runner(args: &RunArgs, fleet: &Fleet, (id, seed): (&str, RunSeed)) -> Result<ScenarioRunner, CommandError> {
    Ok(ScenarioRunner {
        fleet: fleet.clone(),
        run: id.to_owned(),
        seed: Some(seed),
        round: Round::ONLY,
        bundles: args.bundles.clone(),
        jobs: jobs(fleet.provider(), args.jobs),
        real_time: args.real_time,
        after_failure: if args.fail_fast { AfterFailure::End } else { AfterFailure::Continue },
        pause: args.pause_on_failure.then(|| FailurePause::reading(BufReader::new(std::io::stdin()))),
        keep_failed: args.keep != KeepPolicy::Never,
        fleet_stays: args.fleet.is_some() || args.keep == KeepPolicy::Always || fleet.is_borrowed(),
        upgrade: None,
        diagnosed: if args.no_continuous_diagnosis { None } else { Some(diagnosed(args, fleet)?) },
    })
}

/// Runs the scenarios as often as the command line asks for. A round that is cut short is the last one; with `--fail-fast`, also a round
/// in which a scenario has failed. Returns the record of each round, and the end of the last one.
async fn run_rounds(
    args: &RunArgs,
    mut runner: ScenarioRunner,
    suite: &Suite,
    record: &RunRecord,
    mut reporters: Reporters,
    interrupts: &mut Interrupts,
) -> (Vec<RunRecord>, RunEnd) {
    let mut rounds = Vec::new();
    loop {
        let (started_at, started) = (Timestamp::now(), Instant::now());
        let last = rounds.len() + 1 == usize::from(args.repeat);
        runner.round = Round { number: rounds.len(), is_last: last };
        let mut ended = runner.run(suite, reporters, interrupts.next()).await;
        let mut round = RunRecord { id: format!("{}-{}", record.id, rounds.len() + 1), ..record.clone() };
        round.scenarios.append(&mut ended.scenarios);
        round.continuous_diagnosis = ended.continuous_diagnosis.take();
        if !rounds.is_empty() {
            round.started_at = started_at;
        }
        round.seconds = started.elapsed().as_secs_f64();
        let failed = args.fail_fast && round.scenarios.iter().any(|scenario| scenario.outcome.is_failure());
        rounds.push(round);
        match ended.reporters.take() {
            Some(next) if !(last || failed || ended.interrupted || ended.broken.is_some()) => reporters = next,
            reporters => return (rounds, RunEnd { reporters, ..ended }),
        }
    }
}

/// Merges the rounds of a run. Returns its record, and the scenarios that passed in some rounds and failed in others.
fn merge(
    mut rounds: Vec<RunRecord>,
    id: &str,
    record: RunRecord,
) -> Result<(RunRecord, Vec<FlakyScenario>), CommandError> {
    if rounds.len() <= 1 {
        return Ok((RunRecord { id: id.to_owned(), ..rounds.pop().unwrap_or(record) }, Vec::new()));
    }
    let merged = super::report::merge(&rounds)?;
    let flaky = merged.flaky();
    Ok((RunRecord { id: id.to_owned(), ..merged.record }, flaky))
}

/// Prints the scenarios that passed only sometimes, below the summary. A report on stdout stands there alone.
fn print_flaky(args: &RunArgs, flaky: &[FlakyScenario]) {
    if !flaky.is_empty() && args.files.on_stdout() == 0 {
        data::print_text(&format!("\n{}", text::flaky(flaky, OutputLayout::from_locale())));
    }
}

/// Parameters of the continuous diagnosis.
fn diagnosed(args: &RunArgs, fleet: &Fleet) -> Result<DiagnosedRun, CommandError> {
    Ok(DiagnosedRun {
        fleet: if args.fleet.is_none() && !fleet.is_borrowed() {
            DiagnosedFleet::OfRun
        } else {
            DiagnosedFleet::OfOthers
        },
        asserted: AssertedConsequences::of_all_features(&Suite::load(&args.scenarios.selection(None))?)?,
        versions_change: false,
    })
}

/// Writes the reports of a run that has no fleet because of an error. Returns the error.
fn end_without_fleet(suite: &Suite, mut record: RunRecord, reporters: Reporters, error: CommandError) -> CommandError {
    record.scenarios.extend(not_started(suite, &error));
    finish(reporters, &record, CommandExitCode::Environment);
    error
}

/// Writes the reports of a run whose fleet can run none of the scenarios. This is an error, except in a shard: the other
/// shards may have scenarios to run, and a job of one shard doesn't fail because of an empty shard.
fn end_without_scenarios(
    args: &RunArgs,
    record: &RunRecord,
    reporters: Reporters,
    version: &str,
) -> Result<CommandExitCode, CommandError> {
    if args.part.shard.is_some() {
        return Ok(finish(reporters, record, CommandExitCode::Fine));
    }
    finish(reporters, record, CommandExitCode::Usage);
    Err(nothing_was_run(version))
}

/// Returns the request for the fleet of a run.
fn request<'a>(args: &'a RunArgs, suite: &Suite, id: &'a str) -> FleetRequest<'a> {
    FleetRequest {
        name: fleet_name(id),
        run: id,
        options: &args.source,
        members: usize::from(args.member_count()),
        needs: FleetNeeds::of_suite(suite, args.argocd_request()),
        user: FleetUser::Run {
            up: args.fleet.as_deref(),
            names_argocd: args.argocd.is_some() || args.argocd_manifests.is_some(),
            keeps: args.keep != KeepPolicy::Never,
        },
    }
}

/// Name of a fleet that is made for a run.
fn fleet_name(id: &str) -> String {
    format!("run-{id}")
}

/// Error about a run without any scenario, which must not look like success.
fn nothing_was_run(version: &str) -> CommandError {
    let message = format!(
        "nothing was run: none of the scenarios is for this fleet, of KubeFleet {version}; the summary says why"
    );
    let hint = "--kubefleet takes another version; `fleetdrill toolchain list` shows those there are";
    CommandError::Usage { message, hint: Some(hint.into()) }
}

/// Writes the reports. A report that can't be written changes the exit code of an otherwise successful run.
pub(super) fn finish(reporters: Reporters, record: &RunRecord, exit: CommandExitCode) -> CommandExitCode {
    let errors = reporters.finish(record);
    for error in &errors {
        crate::output::print_error(error, None);
    }
    if exit == CommandExitCode::Fine && !errors.is_empty() { CommandExitCode::Usage } else { exit }
}

/// Starts to log to a writer, without secrets and without the bodies of answers.
fn start_logging<W: Write>(writer: impl Fn() -> W + Send + Sync + 'static) {
    // Log lines that can't be written are dropped: there is no stream left to report it to.
    let lines = tracing_subscriber::fmt::layer().with_writer(writer).log_internal_errors(false);
    let (lines, filter) = match EnvFilter::try_from_env("FLEETDRILL_LOG") {
        Ok(filter) => (lines.boxed(), filter),
        Err(_) => (lines.event_format(LogLineFormatter).boxed(), EnvFilter::new(DEFAULT_LOGS)),
    };
    let lines = lines.with_filter(filter.and(FilterFn::new(has_no_body)));
    // A second subscriber in the same process is refused; the first one is used.
    let _ = tracing_subscriber::registry().with(lines).try_init();
}

fn reporters(args: &RunArgs) -> Result<Reporters, CommandError> {
    let progress = RunProgressDisplay::auto();
    let logs = progress.log_writer();
    start_logging(move || RedactingWriter(logs.clone()));
    args.files.reporters(OutputLayout::from_locale(), args.verbose, progress)
}

/// Progress of the fleet as phases of the reporters, for as long as these are shared.
struct PhaseReporter(Weak<Mutex<Reporters>>);

impl FleetProgress for PhaseReporter {
    fn build(&self, event: BuildEvent) {
        match event {
            // This event stays visible as a warning, because it explains the build that follows.
            BuildEvent::Rebuilding { .. } => tracing::warn!("{event}"),
            event => self.phase(&event.to_string()),
        }
    }

    fn phase(&self, text: &str) {
        if let Some(shared) = self.0.upgrade() {
            // A failure to show a progress line is ignored.
            let _ = shared.lock().unwrap_or_else(PoisonError::into_inner).event(&RunEvent::Phase { text });
        }
    }
}

/// Gets everything that the scenarios need and that isn't there, in the end the fleet; none where there is nothing to run.
/// Scenarios that the fleet can't run go from the suite to the record.
async fn prepare(
    args: &RunArgs,
    fleet: ResolvedFleet,
    suite: &mut Suite,
    record: &mut RunRecord,
    builder: &FleetBuilder,
    shared: &SharedReporters,
) -> Result<Option<PreparedFleet>, CommandError> {
    let fleet = fleet.probe(builder).await?;
    record.capabilities = fleet.capabilities();
    let version = &fleet.profile().kubefleet().version;
    record.scenarios = left_out(suite, version, &record.capabilities, args.real_time, false);
    record.scenarios.extend(left_out_of_scale(suite, &args.scenarios.selection(None)));
    record.scenarios.extend(out_of_reach(suite, fleet.profile()));
    // After those that this fleet can't run: each code needs a scenario that can.
    if args.part.one_per_code {
        record.scenarios.extend(left_out_of_codes(suite, args.real_time));
    }
    for off in &record.scenarios {
        shared.lock().unwrap_or_else(PoisonError::into_inner).event(&RunEvent::ScenarioFinished(off))?;
    }
    if suite.scenarios().next().is_none() {
        return Ok(None);
    }
    let needs = FleetNeeds::of_suite(suite, args.argocd_request());
    Ok(Some(fleet.prepare(&needs, builder).await?))
}

/// Returns the reporters when nothing else shares them.
fn own(shared: SharedReporters) -> Result<Reporters, CommandError> {
    Arc::into_inner(shared)
        .and_then(|m| m.into_inner().ok())
        .ok_or_else(|| CommandError::Environment { message: "the progress line is still in use".into(), hint: None })
}

/// Returns the maximum numbers of scenarios that run at the same time.
fn jobs(provider: &str, asked: Option<u8>) -> ConcurrencyLimits {
    const MOST: usize = 32;
    // Controllers, kubelets and all other processes share the processors. Starting a scenario's own node or fleet takes a while; more of
    // them at the same time would only wait for each other.
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let few = processors.saturating_mul(2);
    if provider != "kind" {
        let all = asked.map_or(MOST, usize::from);
        return ConcurrencyLimits { with_fleets: few.min(all), ..ConcurrencyLimits::all(all) };
    }
    let all = asked.map_or(processors.saturating_mul(8).min(MOST), usize::from);
    ConcurrencyLimits { all, with_clusters: few.min(all), with_fleets: few.min(all) }
}

/// Ends the fleet, or prints how to use it if it is kept.
async fn end_fleet(
    args: &RunArgs,
    fleet: &Fleet,
    id: &str,
    rounds: &[RunRecord],
    ended: &RunEnd,
) -> Result<(), CommandError> {
    let failed = rounds.iter().flat_map(|round| &round.scenarios).any(|s| s.outcome == Outcome::Failed);
    let keeps_failed = args.keep != KeepPolicy::Never && failed;
    let mut swept = Ok(());
    if fleet.is_borrowed() || (args.fleet.is_some() && !keeps_failed && ended.broken.is_none()) {
        stderr_line!("removing what the run has made");
        // This error is returned after the rest has ended.
        swept = fleet.sweep(id).await;
    }
    let keep = args.fleet.is_none() && !ended.interrupted && (keeps_failed || args.keep == KeepPolicy::Always);
    if keep {
        fleet.keep().await?;
        stderr_line!("the fleet stays up for a look:");
        stderr_line!("  kubectl --kubeconfig {} --context hub get crp", fleet.kubeconfig_file().display());
        stderr_line!("  fleetdrill diagnose --fleet {}", fleet.name());
        stderr_line!("  fleetdrill down {}", fleet.name());
        for beside in state_dir::beside(fleet.name()).await {
            stderr_line!("and {beside}, which a scenario had for itself: fleetdrill down {beside}");
        }
    } else if args.fleet.is_none() {
        if ended.broken.as_ref().is_none_or(|e| e.name != "supervisor") {
            fleet.end().await?;
        }
        // A killed supervisor leaves its directory.
        state_dir::wait_until_gone(fleet.name()).await;
    }
    Ok(swept?)
}

fn exit_of(record: &RunRecord, broken: Option<&ProcessExit>, interrupted: bool) -> CommandExitCode {
    if interrupted {
        CommandExitCode::Interrupted
    } else if broken.is_some() {
        CommandExitCode::Environment
    } else {
        exit_of_record(record)
    }
}

/// Returns the exit code of a run that came to its end.
pub(super) fn exit_of_record(record: &RunRecord) -> CommandExitCode {
    let failed = record.scenarios.iter().any(|s| s.outcome.is_failure());
    if failed || !record.false_alarms().is_empty() { CommandExitCode::Found } else { CommandExitCode::Fine }
}

#[cfg(test)]
mod tests {
    use record::{ContinuousDiagnosis, FalseAlarm};
    use serde_json::json;

    use super::*;
    use crate::continuous_diagnosis::owners::tests::finding;

    fn record(continuous_diagnosis: Option<ContinuousDiagnosis>) -> RunRecord {
        RunRecord {
            id: "abcd".into(),
            fleetdrill: "0.1.0".into(),
            versions: Vec::new(),
            capabilities: Capabilities::default(),
            provider: "local".into(),
            started_at: Timestamp::UNIX_EPOCH,
            seconds: 0.0,
            fleet_seconds: 0.0,
            scenarios: Vec::new(),
            continuous_diagnosis,
            repeated_shards: Vec::new(),
            seed: None,
            load: None,
        }
    }

    #[test]
    fn a_false_alarm_fails_a_run_whose_scenarios_passed() {
        let alarm = FalseAlarm {
            finding: finding("KF-RO-002", "web-abcd1", None, &json!({})),
            scenario: None,
            first_seen: Timestamp::UNIX_EPOCH,
            last_seen: Timestamp::UNIX_EPOCH,
            snapshots: 2,
            bundle: None,
        };
        let with = |false_alarms| Some(ContinuousDiagnosis { snapshots: 9, false_alarms });
        assert_eq!(exit_of(&record(with(vec![alarm])), None, false), CommandExitCode::Found);
        assert_eq!(exit_of(&record(with(Vec::new())), None, false), CommandExitCode::Fine);
        assert_eq!(exit_of(&record(None), None, false), CommandExitCode::Fine);
    }
}
