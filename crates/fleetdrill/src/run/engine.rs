//! One run of a suite on a fleet.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clusters::keeper::protocol::Exit;
use cucumber::event::ScenarioFinished;
use cucumber::{Cucumber, cli, parser};
use fleet::Fleet;
use futures::stream;
use steps::record::{Entry, Outcome, Recorder, ScenarioRecord, Shown, What};
use steps::upgrade::Upgrade;
use steps::{Definitions, Progress, Scene, SceneInfo, World};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::bundles::Bundles;
use super::turns::{Jobs, Turns};
use super::watcher::{BoardWriter, Key, RunReporters, SharedBoard, key};
use crate::guides::{self, Known, Product};
use crate::suite::{self, Suite};

/// How much longer than its limit a scenario may take before the watchdog ends the run: its own waits end first.
const WATCHDOG_GRACE: Duration = Duration::from_secs(30);

/// How far apart scenarios begin. A hub-agent that gets two dozen placements at once is so busy that its caches fall behind,
/// and it makes mistakes that it never repairs (docs/controllers.md: two Works of one envelope, a run that isn't recorded).
const PACE: Duration = Duration::from_millis(500);

/// What a run is made of.
pub struct Engine {
    /// The fleet.
    pub fleet: Fleet,
    /// The run's id.
    pub run: String,
    /// Where failed scenarios leave their bundles; made when the first one does.
    pub bundles: PathBuf,
    /// How many scenarios run at the same time.
    pub jobs: Jobs,
    /// Whether controllers' thresholds are waited out instead of moved.
    pub real_time: bool,
    /// Whether failed scenarios' objects stay for a look.
    pub keep_failed: bool,
    /// Whether the fleet goes on after the run, so that what passed scenarios made must go.
    pub fleet_stays: bool,
    /// An upgrade of the fleet under the scenarios.
    pub upgrade: Option<Upgrade>,
}

/// How a run ended.
pub struct Ended {
    /// The scenarios, in the order in which they ended.
    pub scenarios: Vec<ScenarioRecord>,
    /// The reporters, to be finished.
    pub reporters: Option<RunReporters>,
    /// The process that ended and broke the fleet.
    pub broken: Option<Exit>,
    /// Whether the run was interrupted.
    pub interrupted: bool,
}

impl Engine {
    /// Runs the suite until it is through, `interrupt` fires, a process of the fleet ends, or a scenario hangs.
    pub async fn run(&self, suite: &Suite, reporters: RunReporters, interrupt: impl Future<Output = ()>) -> Ended {
        let board = SharedBoard::new(reporters);
        let strikes = Arc::new(tokio::sync::Mutex::new(JoinSet::new()));
        let bundles = Bundles::new(&self.bundles);
        let mut exits = self.fleet.first_exit();
        let broken = async {
            match exits.wait_for(Option::is_some).await {
                Ok(exit) => exit.clone(),
                Err(_) => std::future::pending().await,
            }
        };
        let mut ended = (None, false);
        tokio::select! {
            () = self.cucumber(suite, &board, &strikes, &bundles) => {}
            exit = broken => {
                let what = exit.as_ref().map(|e| format!("{} ended ({})", e.name, e.status)).unwrap_or_default();
                let reason = format!("the fleet broke: {what}");
                self.leave_one_for_all(&bundles, &board, &reason).await;
                board.lock().interrupt(Outcome::Interrupted, &reason);
                ended.0 = exit;
            }
            overdue = watchdog(&board) => {
                let reason = format!("the scenario's limit ran out in a step that didn't end; overdue: {overdue}");
                self.leave_one_for_all(&bundles, &board, &reason).await;
                board.lock().interrupt(Outcome::Failed, &reason);
            }
            () = interrupt => {
                board.lock().interrupt(Outcome::Interrupted, "interrupted");
                ended.1 = true;
            }
        }
        if self.fleet_stays && ended.0.is_none() && !ended.1 {
            let mut strikes = strikes.lock().await;
            let mut last = Vec::new();
            while let Some(struck) = strikes.join_next().await {
                last.extend(struck);
            }
            for definitions in last {
                definitions.delete().await;
            }
        }
        let (mut scenarios, reporters) = {
            let mut board = board.lock();
            (std::mem::take(&mut board.finished), board.reporters.take())
        };
        let begun: HashSet<Key> = scenarios.iter().map(|s| (s.file.clone(), s.line)).collect();
        let missing = suite.scenarios().filter(|(feature, scenario)| !begun.contains(&key(feature, scenario)));
        scenarios
            .extend(missing.map(|(feature, scenario)| not_run(feature, scenario, "the run ended before its turn")));
        Ended { scenarios, reporters, broken: ended.0, interrupted: ended.1 }
    }

    /// Leaves a bundle for the scenarios that still ran when the run came to its end.
    async fn leave_one_for_all(&self, bundles: &Bundles, board: &SharedBoard, reason: &str) {
        let recorders = board.lock().recorders();
        let bundle = bundles.take(&self.fleet, reason.to_owned()).await;
        bundles.keep(bundle, &format!("run-{}", self.run), &recorders).await;
    }

    async fn cucumber(
        &self,
        suite: &Suite,
        board: &SharedBoard,
        strikes: &Arc<tokio::sync::Mutex<JoinSet<Definitions>>>,
        bundles: &Bundles,
    ) {
        let suffixes: HashMap<Key, String> =
            suite.scenarios().enumerate().map(|(n, (f, s))| (key(f, s), format!("{}{n}", self.run))).collect();
        let (suffixes_after, bundles) = (suffixes.clone(), bundles.clone());
        let known = known(&self.fleet).await;
        let (fleet, run, in_before) = (self.fleet.clone(), self.run.clone(), board.clone());
        let (shared, real_time, upgrade) = (self.fleet.clone(), self.real_time, self.upgrade.clone());
        let upgraded = upgrade.is_some();
        let mut pace = tokio::time::interval(PACE);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let pace = Arc::new(tokio::sync::Mutex::new(pace));
        let (in_after, strikes) = (board.clone(), Arc::clone(strikes));
        let (keep_failed, fleet_stays) = (self.keep_failed, self.fleet_stays);
        // While they wait for a threshold, others can have their places.
        let waiting = if self.real_time { suite.waiting_in_real_time() } else { 0 };
        let turns = Turns::new(suite, Jobs { all: self.jobs.all + waiting, ..self.jobs });
        let (most, turns_after) = (turns.most(), turns.clone());
        let ran = Cucumber::<World, Features, Vec<gherkin::Feature>, _, _>::custom(
            Features,
            cucumber::runner::Basic::default(),
            BoardWriter(board.clone()),
        )
        .steps(World::vocabulary())
        .max_concurrent_scenarios(most)
        .before(move |feature, _, scenario, world| {
            let suffix = suffixes.get(&key(feature, scenario)).cloned().unwrap_or_default();
            let (told, at) = (in_before.clone(), key(feature, scenario));
            let progress = Progress(Arc::new(move |text: &str| told.lock().step_waits(&at, text)));
            let (fleet, run) = (fleet.clone(), run.clone());
            let (board, pace, upgrade) = (in_before.clone(), Arc::clone(&pace), upgrade.clone());
            let turns = turns.clone();
            Box::pin(async move {
                turns.wait(&key(feature, scenario)).await;
                pace.lock().await.tick().await;
                let (deadline, recorder) = (board.begins(feature, scenario), board.recorder(feature, scenario));
                let info = SceneInfo { run, suffix, real_time, deadline, progress, upgrade };
                world.enter(Scene::new(fleet, info, recorder).await);
            })
        })
        .after(move |feature, _, scenario, ended, world| {
            let recorder = in_after.recorder(feature, scenario);
            let suffix = suffixes_after.get(&key(feature, scenario)).cloned().unwrap_or_default();
            let mut failed = !matches!(ended, ScenarioFinished::StepPassed);
            // What was measured is of one version, and in an upgrade there are two.
            if !failed && !upgraded {
                let shown = shown(feature, scenario, &recorder, &suffix, &known);
                failed = shown.is_err();
                in_after.lock().shows(feature, scenario, shown);
            }
            let (strikes, bundles, shared) = (Arc::clone(&strikes), bundles.clone(), shared.clone());
            let clusters = turns_after.end(&key(feature, scenario));
            let (about, name) = (about(feature, scenario, &suffix), bundle_name(feature, scenario, &suffix));
            if failed {
                in_after.lock().leaves(feature, scenario);
            }
            Box::pin(async move {
                let scene = world.and_then(World::leave);
                if failed {
                    // The fleet and what the diagnosis says of it, before anything is cleaned up.
                    let bundle = bundles.take(scene.as_ref().map_or(&shared, Scene::fleet), about).await;
                    match (&scene, bundle.lacks()) {
                        (Some(scene), None) => {
                            let findings = scene.findings_in(&bundle.snapshot);
                            if last_diagnosis(&recorder).as_ref() != Some(&findings) {
                                recorder.add(What::Diagnosed { findings });
                            }
                        }
                        (Some(_), Some((what, why))) => {
                            tracing::warn!("failed to diagnose a failed scenario: {what} can't be read: {why}");
                        }
                        (None, _) => {}
                    }
                    bundles.keep(bundle, &name, &[recorder]).await;
                }
                let Some(mut scene) = scene else { return };
                if !(failed && keep_failed) {
                    strikes.lock().await.spawn(async move {
                        let definitions = scene.strike(fleet_stays).await;
                        drop(clusters);
                        definitions
                    });
                } else if let Err(error) = scene.keep().await {
                    tracing::warn!(%error, "failed to keep a scenario's own fleet");
                }
            })
        })
        .with_cli(cli::Opts::<cli::Empty, cucumber::runner::basic::Cli, cli::Empty>::default())
        .run(suite.longest_first(self.real_time))
        .await;
        drop(ran);
    }
}

/// What a bundle was taken for. It has the whole fleet in it, and other scenarios' objects.
fn about(feature: &gherkin::Feature, scenario: &gherkin::Scenario, suffix: &str) -> String {
    let (file, line) = key(feature, scenario);
    format!("scenario \"{}\" ({file}:{line}), whose objects' names end with -{suffix}", scenario.name)
}

/// E.g. `approval-12-abcd3`.
fn bundle_name(feature: &gherkin::Feature, scenario: &gherkin::Scenario, suffix: &str) -> String {
    let (file, line) = key(feature, scenario);
    let stem = Path::new(&file).file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}-{line}-{suffix}")
}

/// A scenario that was not started.
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

/// What the guides' statements are compared with: what was measured on the versions that run.
async fn known(fleet: &Fleet) -> Known {
    let argocd = fleet.argocd_version().await.map(|version| (Product::ArgoCd, version));
    let versions = std::iter::once((Product::KubeFleet, fleet.version())).chain(argocd);
    Known::of(fleet.capabilities(), versions)
}

/// Which of the guides' statements a scenario that passed has shown.
fn shown(
    feature: &gherkin::Feature,
    scenario: &gherkin::Scenario,
    recorder: &Recorder,
    suffix: &str,
    known: &Known,
) -> Result<Vec<Shown>, String> {
    let named = guides::tags::named(feature, scenario).map_err(|e| e.to_string())?;
    guides::check(&named, &recorder.entries(), suffix, known)
}

/// What the diagnosis said last, when a step asked it.
fn last_diagnosis(recorder: &Recorder) -> Option<Vec<diagnosis::Finding>> {
    recorder.entries().iter().rev().find_map(Entry::diagnosed).map(<[_]>::to_vec)
}

async fn watchdog(board: &SharedBoard) -> String {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let overdue = board.lock().overdue(WATCHDOG_GRACE);
        if !overdue.is_empty() {
            return overdue.join(", ");
        }
    }
}

/// Hands over features that were parsed before.
struct Features;

impl cucumber::Parser<Vec<gherkin::Feature>> for Features {
    type Cli = cli::Empty;
    type Output = stream::Iter<std::vec::IntoIter<parser::Result<gherkin::Feature>>>;

    fn parse(self, features: Vec<gherkin::Feature>, _: cli::Empty) -> Self::Output {
        stream::iter(features.into_iter().map(Ok).collect::<Vec<_>>())
    }
}
