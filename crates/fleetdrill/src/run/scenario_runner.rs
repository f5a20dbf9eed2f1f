//! One run of a suite on a fleet.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clusters::supervisor::protocol::ProcessExit;
use cucumber::event::ScenarioFinished;
use cucumber::{Cucumber, cli, parser};
use fleet::Fleet;
use futures::stream;
use record::{
    ContinuousDiagnosis, Outcome, Product, RecordEntry, RecordedEvent, ScenarioName, ScenarioRecord, ShownStatement,
};
use report::run::Reporters;
use steps::Recorder;
use steps::shared_upgrade::Upgrade;
use steps::{DeferredCrds, OwnFleetNotice, ScenarioContext, ScenarioInfo, WaitNotice, World};
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior};

use super::bundles::BundleSaver;
use super::concurrency::{ConcurrencyLimiter, ConcurrencyLimits};
use super::cucumber_writer::{CucumberWriter, ScenarioLocation, SharedScenarioTracker, key};
use super::failure_pause::FailurePause;
use crate::abilities;
use crate::continuous_diagnosis::accounted_codes::{AssertedConsequences, ScenarioFaults};
use crate::continuous_diagnosis::owners::Suffixes;
use crate::continuous_diagnosis::running_scenarios::{RunningScenario, RunningScenarios};
use crate::continuous_diagnosis::{DiagnosedFleet, RunDiagnosis};
use crate::guides::{self, KnownResults};
use crate::run_seed::RunSeed;
use crate::suite::{self, Suite};

/// Time after a scenario's limit at which the watchdog ends the run. The scenario's own waits end earlier.
const WATCHDOG_GRACE: Duration = Duration::from_secs(30);

/// Interval between the starts of two scenarios. A hub-agent that gets two dozen placements at once is so busy that its
/// caches fall behind, and it makes mistakes that it never repairs (docs/controllers.md: two Works of one envelope, a
/// run that isn't recorded).
pub(crate) const PACE: Duration = Duration::from_millis(500);

/// What a run does when a scenario has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// All other scenarios run.
    Continue,
    /// The run ends, and scenarios that are running are interrupted.
    End,
}

/// Round of a run whose scenarios are repeated. The objects of each round have names of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Number of the round, counted from 0.
    pub number: usize,
    /// True if no other round follows on the same fleet.
    pub is_last: bool,
}

impl Round {
    /// Round of a run that runs its scenarios once.
    pub const ONLY: Self = Self { number: 0, is_last: true };
}

/// Parameters of a run.
pub struct ScenarioRunner {
    /// The fleet.
    pub fleet: Fleet,
    /// Id of the run.
    pub run: String,
    /// Seed of the scenarios' order; none for the order of their files.
    pub seed: Option<RunSeed>,
    /// Round of the run.
    pub round: Round,
    /// Directory of failed scenarios' bundles; created when the first scenario fails.
    pub bundles: PathBuf,
    /// Maximum numbers of scenarios that run at the same time.
    pub jobs: ConcurrencyLimits,
    /// True if controllers' thresholds are waited out instead of moved.
    pub real_time: bool,
    /// What happens when a scenario has failed.
    pub after_failure: AfterFailure,
    /// Pause after each scenario that has failed; none if the run doesn't pause.
    pub pause: Option<FailurePause>,
    /// True if the objects of failed scenarios are kept for inspection.
    pub keep_failed: bool,
    /// True if the fleet continues after the run, so that the objects of passed scenarios must be deleted.
    pub fleet_stays: bool,
    /// Upgrade of the fleet while the scenarios run.
    pub upgrade: Option<Upgrade>,
    /// Continuous diagnosis of the fleet; none if it is off.
    pub diagnosed: Option<DiagnosedRun>,
}

/// Parameters of a run's continuous diagnosis.
#[derive(Clone, Debug)]
pub struct DiagnosedRun {
    /// Who uses the fleet of the run.
    pub fleet: DiagnosedFleet,
    /// Consequences that features assert.
    pub asserted: AssertedConsequences,
    /// True if the scenarios run before, during and after a change of the fleet's version.
    pub versions_change: bool,
}

impl DiagnosedRun {
    fn faults(&self, feature: &gherkin::Feature, scenario: &gherkin::Scenario) -> ScenarioFaults {
        let faults = ScenarioFaults::new(feature, scenario, &self.asserted);
        if self.versions_change { faults.while_versions_change() } else { faults }
    }
}

/// End of a run.
pub struct RunEnd {
    /// The scenarios, in the order in which they ended.
    pub scenarios: Vec<ScenarioRecord>,
    /// The reporters, to be finished.
    pub reporters: Option<Reporters>,
    /// The process that ended and broke the fleet.
    pub broken: Option<ProcessExit>,
    /// True if the run was interrupted.
    pub interrupted: bool,
    /// Result of the continuous diagnosis; none if it was off.
    pub continuous_diagnosis: Option<ContinuousDiagnosis>,
}

/// Causes that cut a run short.
#[derive(Default)]
struct RunAbortCauses {
    /// Process that ended and broke the fleet.
    broken: Option<ProcessExit>,
    /// True if the run was interrupted.
    interrupted: bool,
}

impl ScenarioRunner {
    /// Runs the suite until it is finished, `interrupt` fires, a process of the fleet ends, or a scenario hangs; with
    /// [`AfterFailure::End`], until a scenario has failed.
    pub async fn run(&self, suite: &Suite, reporters: Reporters, interrupt: impl Future<Output = ()>) -> RunEnd {
        let tracker = SharedScenarioTracker::new(reporters);
        let cleanups = Arc::new(tokio::sync::Mutex::new(JoinSet::new()));
        let bundles = BundleSaver::new(&self.bundles);
        let running = RunningScenarios::default();
        let diagnosed = self.diagnosed.as_ref().map(|diagnosed| {
            RunDiagnosis::start(&self.fleet, &self.run, running.clone(), diagnosed.fleet.clone(), &bundles)
        });
        let mut exits = self.fleet.first_exit();
        let broken = async {
            match exits.wait_for(Option::is_some).await {
                Ok(exit) => exit.clone(),
                Err(_) => std::future::pending().await,
            }
        };
        let mut cut = RunAbortCauses::default();
        tokio::select! {
            () = self.cucumber(suite, &tracker, &cleanups, &bundles, &running, diagnosed.clone()) => {}
            exit = broken => {
                let what = exit.as_ref().map(|e| format!("{} ended ({})", e.name, e.status)).unwrap_or_default();
                let reason = format!("the fleet broke: {what}");
                self.save_run_bundle(&bundles, &tracker, &reason).await;
                tracker.lock().interrupt(Outcome::Interrupted, &reason);
                cut.broken = exit;
            }
            overdue = watchdog(&tracker) => {
                let reason = format!("the scenario's limit ran out in a step that didn't end; overdue: {overdue}");
                self.save_run_bundle(&bundles, &tracker, &reason).await;
                tracker.lock().interrupt(Outcome::Failed, &reason);
            }
            () = tracker.first_failure(), if self.after_failure == AfterFailure::End => {
                tracker.lock().interrupt(Outcome::Interrupted, "another scenario has failed (--fail-fast)");
            }
            () = interrupt => {
                tracker.lock().interrupt(Outcome::Interrupted, "interrupted");
                cut.interrupted = true;
            }
        }
        let continuous_diagnosis = match diagnosed {
            Some(diagnosed) => Some(diagnosed.end().await),
            None => None,
        };
        if (self.fleet_stays || !self.round.is_last) && cut.broken.is_none() && !cut.interrupted {
            let mut cleanups = cleanups.lock().await;
            let mut deferred = Vec::new();
            while let Some(definitions) = cleanups.join_next().await {
                deferred.extend(definitions);
            }
            for definitions in deferred {
                definitions.delete().await;
            }
        }
        let (mut scenarios, reporters) = {
            let mut tracker = tracker.lock();
            (std::mem::take(&mut tracker.finished), tracker.reporters.take())
        };
        let begun: HashSet<ScenarioLocation> = scenarios.iter().map(|s| (s.file.clone(), s.line)).collect();
        let missing = suite.scenarios().filter(|(feature, scenario)| !begun.contains(&key(feature, scenario)));
        scenarios
            .extend(missing.map(|(feature, scenario)| not_run(feature, scenario, "the run ended before its turn")));
        RunEnd { scenarios, reporters, broken: cut.broken, interrupted: cut.interrupted, continuous_diagnosis }
    }

    /// Saves one bundle for all scenarios that are still running when the run ends early.
    async fn save_run_bundle(&self, bundles: &BundleSaver, tracker: &SharedScenarioTracker, reason: &str) {
        let recorders = tracker.lock().recorders();
        let bundle = bundles.take(&self.fleet, reason.to_owned()).await;
        bundles.keep(bundle, &format!("run-{}", self.run), &recorders).await;
    }

    async fn cucumber(
        &self,
        suite: &Suite,
        tracker: &SharedScenarioTracker,
        cleanups: &Arc<tokio::sync::Mutex<JoinSet<DeferredCrds>>>,
        bundles: &BundleSaver,
        running: &RunningScenarios,
        continuous_diagnosis: Option<RunDiagnosis>,
    ) {
        let mut pace = tokio::time::interval(PACE);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Scenarios that wait for a threshold do nothing meanwhile, so that others can run in addition.
        let waiting = if self.real_time { suite.waiting_in_real_time() } else { 0 };
        let turns = ConcurrencyLimiter::new(suite, ConcurrencyLimits { all: self.jobs.all + waiting, ..self.jobs });
        let most = turns.most();
        let names = Suffixes::new(&self.run);
        let first = self.round.number * suite.scenarios().count();
        let suffixes = suite.scenarios().enumerate().map(|(n, (f, s))| (key(f, s), names.nth(first + n))).collect();
        let hooks = Arc::new(Hooks {
            fleet: self.fleet.clone(),
            run: self.run.clone(),
            suffixes,
            real_time: self.real_time,
            upgrade: self.upgrade.clone(),
            known: known(&self.fleet).await,
            tracker: tracker.clone(),
            pace: tokio::sync::Mutex::new(pace),
            turns,
            bundles: bundles.clone(),
            running: running.clone(),
            continuous_diagnosis,
            diagnosed: self.diagnosed.clone(),
            cleanups: Arc::clone(cleanups),
            pause: self.pause.clone(),
            keep_failed: self.keep_failed,
            fleet_stays: self.fleet_stays,
        });
        let before = Arc::clone(&hooks);
        let ran = Cucumber::<World, ParsedFeatures, Vec<gherkin::Feature>, _, _>::custom(
            ParsedFeatures,
            cucumber::runner::Basic::default(),
            CucumberWriter(tracker.clone()),
        )
        .steps(World::vocabulary())
        .max_concurrent_scenarios(most)
        .before(move |feature, _, scenario, world| {
            let hooks = Arc::clone(&before);
            Box::pin(async move { hooks.before(feature, scenario, world).await })
        })
        .after(move |feature, _, scenario, ended, world| {
            let hooks = Arc::clone(&hooks);
            Box::pin(async move { hooks.after(feature, scenario, ended, world).await })
        })
        .with_cli(cli::Opts::<cli::Empty, cucumber::runner::basic::Cli, cli::Empty>::default())
        // Fewer of those with fleets run at a time, so that they would be the last ones.
        .run(suite.in_starting_order(self.real_time, self.seed, abilities::has_own_fleet))
        .await;
        drop(ran);
    }
}

/// Parameters of the hooks that cucumber calls before and after each scenario.
struct Hooks {
    fleet: Fleet,
    run: String,
    /// Suffix of the names of each scenario's objects.
    suffixes: HashMap<ScenarioLocation, String>,
    real_time: bool,
    upgrade: Option<Upgrade>,
    /// Measured results of the versions that run.
    known: KnownResults,
    tracker: SharedScenarioTracker,
    pace: tokio::sync::Mutex<Interval>,
    turns: ConcurrencyLimiter,
    bundles: BundleSaver,
    /// Scenarios that the continuous diagnosis judges.
    running: RunningScenarios,
    continuous_diagnosis: Option<RunDiagnosis>,
    diagnosed: Option<DiagnosedRun>,
    cleanups: Arc<tokio::sync::Mutex<JoinSet<DeferredCrds>>>,
    pause: Option<FailurePause>,
    keep_failed: bool,
    fleet_stays: bool,
}

impl Hooks {
    fn suffix(&self, at: &ScenarioLocation) -> String {
        self.suffixes.get(at).cloned().unwrap_or_default()
    }

    /// Waits for the scenario's turn and prepares its context.
    async fn before(&self, feature: &gherkin::Feature, scenario: &gherkin::Scenario, world: &mut World) {
        let at = key(feature, scenario);
        let suffix = self.suffix(&at);
        self.turns.wait(&at).await;
        self.pace.lock().await.tick().await;
        let tracker = self.tracker.clone();
        let progress = WaitNotice(Arc::new(move |text: &str| tracker.lock().step_waits(&at, text)));
        let (deadline, recorder) = (self.tracker.begins(feature, scenario), self.tracker.recorder(feature, scenario));
        let faults = self.diagnosed.as_ref().map(|diagnosed| diagnosed.faults(feature, scenario)).unwrap_or_default();
        let name = name(feature, scenario);
        self.running.begin(suffix.clone(), RunningScenario { name, faults, recorder: recorder.clone() });
        let (run, real_time, upgrade) = (self.run.clone(), self.real_time, self.upgrade.clone());
        let own_fleet_notice = self.own_fleet_notice(suffix.clone());
        let info = ScenarioInfo { run, suffix, real_time, deadline, progress, upgrade };
        let context = ScenarioContext::new(self.fleet.clone(), info, recorder).await;
        world.enter(match own_fleet_notice {
            Some(notice) => context.telling_own_fleet(notice),
            None => context,
        });
    }

    /// Returns the callback that starts the continuous diagnosis of a scenario's own fleet; none if it is off.
    fn own_fleet_notice(&self, suffix: String) -> Option<OwnFleetNotice> {
        let diagnosis = self.continuous_diagnosis.clone()?;
        Some(OwnFleetNotice(Arc::new(move |fleet| diagnosis.add_own_fleet(&suffix, fleet))))
    }

    /// Saves the bundle of a failed scenario and cleans up after the scenario, unless its objects are kept.
    async fn after(
        &self,
        feature: &gherkin::Feature,
        scenario: &gherkin::Scenario,
        ended: &ScenarioFinished,
        world: Option<&mut World>,
    ) {
        let recorder = self.tracker.recorder(feature, scenario);
        let suffix = self.suffix(&key(feature, scenario));
        self.running.end(&suffix);
        if let Some(diagnosis) = &self.continuous_diagnosis {
            diagnosis.end_own_fleet(&suffix).await;
        }
        let mut failed = !matches!(ended, ScenarioFinished::StepPassed);
        // Measured results are about one version; during an upgrade there are two.
        if !failed && self.upgrade.is_none() {
            let shown = shown(feature, scenario, &recorder, &suffix, &self.known);
            failed = shown.is_err();
            self.tracker.lock().shows(feature, scenario, shown);
        }
        let clusters = self.turns.end(&key(feature, scenario));
        let context = world.and_then(World::leave);
        if failed {
            self.tracker.lock().leaves(feature, scenario);
            let (about, name) = (about(feature, scenario, &suffix), bundle_name(feature, scenario, &suffix));
            self.keep_bundle(context.as_ref(), recorder, about, &name).await;
            if let Some(pause) = &self.pause {
                let kubeconfig = context.as_ref().map_or(&self.fleet, ScenarioContext::fleet).kubeconfig_file();
                let at = key(feature, scenario);
                pause.wait(|| self.tracker.lock().pauses(&at, ended, &kubeconfig, &suffix)).await;
            }
        }
        let Some(mut context) = context else { return };
        if !(failed && self.keep_failed) {
            let fleet_stays = self.fleet_stays;
            self.cleanups.lock().await.spawn(async move {
                let definitions = context.cleanup(fleet_stays).await;
                drop(clusters);
                definitions
            });
        } else if let Err(error) = context.keep().await {
            tracing::warn!(%error, "failed to keep a scenario's own fleet");
        }
    }

    /// Saves the bundle of a failed scenario. The bundle shows the fleet and its diagnosis before anything is cleaned
    /// up.
    async fn keep_bundle(&self, context: Option<&ScenarioContext>, recorder: Recorder, about: String, name: &str) {
        let bundle = self.bundles.take(context.map_or(&self.fleet, ScenarioContext::fleet), about).await;
        let unreachable = bundle.snapshot.hub().and_then(|hub| hub.unreachable.as_ref());
        match (context, unreachable) {
            (Some(context), None) => {
                let findings = context.findings_in(&bundle.snapshot);
                if last_diagnosis(&recorder).as_ref() != Some(&findings) {
                    recorder.add(RecordedEvent::Diagnosed { findings });
                }
            }
            (Some(_), Some(why)) => {
                tracing::warn!("failed to diagnose a failed scenario: the hub can't be read: {why}");
            }
            (None, _) => {}
        }
        self.bundles.keep(bundle, name, &[recorder]).await;
    }
}

fn name(feature: &gherkin::Feature, scenario: &gherkin::Scenario) -> ScenarioName {
    let (file, line) = key(feature, scenario);
    ScenarioName { file, line, scenario: scenario.name.clone() }
}

/// Describes the reason for a bundle, which contains the whole fleet with other scenarios' objects.
fn about(feature: &gherkin::Feature, scenario: &gherkin::Scenario, suffix: &str) -> String {
    let (file, line) = key(feature, scenario);
    format!("scenario \"{}\" ({file}:{line}), whose objects' names end with -{suffix}", scenario.name)
}

/// Returns a name such as `approval-12-abcd3`.
fn bundle_name(feature: &gherkin::Feature, scenario: &gherkin::Scenario, suffix: &str) -> String {
    let (file, line) = key(feature, scenario);
    let stem = Path::new(&file).file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}-{line}-{suffix}")
}

/// Returns the record of a scenario that was not started.
#[must_use]
pub fn not_run(feature: &gherkin::Feature, scenario: &gherkin::Scenario, reason: &str) -> ScenarioRecord {
    let (file, line) = key(feature, scenario);
    ScenarioRecord {
        feature: feature.name.clone(),
        file,
        line,
        scenario: scenario.name.clone(),
        tags: suite::tags(feature, scenario),
        outcome: Outcome::NotRun,
        reason: Some(reason.into()),
        started_at: jiff::Timestamp::now(),
        seconds: 0.0,
        entries: Vec::new(),
        statements: Vec::new(),
    }
}

/// Returns the results that were measured before on the versions that run; the guides' statements are compared with
/// them.
async fn known(fleet: &Fleet) -> KnownResults {
    let argocd = fleet.argocd_version().await.map(|version| (Product::ArgoCd, version));
    let versions = std::iter::once((Product::KubeFleet, fleet.version())).chain(argocd);
    KnownResults::of(fleet.capabilities(), versions)
}

/// Returns the guides' statements that a scenario which passed has shown.
fn shown(
    feature: &gherkin::Feature,
    scenario: &gherkin::Scenario,
    recorder: &Recorder,
    suffix: &str,
    known: &KnownResults,
) -> Result<Vec<ShownStatement>, String> {
    let named = guides::tags::named(feature, scenario).map_err(|e| e.to_string())?;
    guides::check(&named, &recorder.entries(), suffix, known)
}

/// Returns the findings of the last diagnosis, if a step asked for one.
fn last_diagnosis(recorder: &Recorder) -> Option<Vec<diagnosis::Finding>> {
    recorder.entries().iter().rev().find_map(RecordEntry::diagnosed).map(<[_]>::to_vec)
}

async fn watchdog(tracker: &SharedScenarioTracker) -> String {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let overdue = tracker.lock().overdue(WATCHDOG_GRACE);
        if !overdue.is_empty() {
            return overdue.join(", ");
        }
    }
}

/// Passes features that were parsed before to cucumber.
struct ParsedFeatures;

impl cucumber::Parser<Vec<gherkin::Feature>> for ParsedFeatures {
    type Cli = cli::Empty;
    type Output = stream::Iter<std::vec::IntoIter<parser::Result<gherkin::Feature>>>;

    fn parse(self, features: Vec<gherkin::Feature>, _: cli::Empty) -> Self::Output {
        stream::iter(features.into_iter().map(Ok).collect::<Vec<_>>())
    }
}
