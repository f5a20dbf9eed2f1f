//! Runs one drill: its scenarios beside each other, each in a context of its own, while the judge looks on.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cucumber::step::Collection;
use fleet::Fleet;
use futures::future::join_all;
use report::accuracy::drill::{DrillResult, FaultResult, TrafficResult};
use steps::{Deadline, ExpectedFinding, Recorder, ScenarioContext, ScenarioInfo, World, limits};
use tokio::sync::watch;
use tokio::time::Interval;

use super::catalogue::{DrillCatalogue, FaultCase};
use super::generator::{Drill, DrillPart, MOST_SCENARIOS};
use super::judge::{DrillJudge, JudgedDrill, JudgedScenario};
use super::scenario_run::{clean_up, in_time, induced};
use crate::continuous_diagnosis::looks::Look;
use crate::continuous_diagnosis::owners::Suffixes;
use crate::run::BundleSaver;
use crate::train::step_runner;

/// Least time that the diagnosis has to name a cause, after the steps that induce it. A step that grants more time extends it.
const LIMIT: Duration = Duration::from_secs(60);

/// What drills have in common: the fleet, and what runs on it.
pub struct DrillRunner<'a> {
    /// The fleet that all drills share.
    pub fleet: &'a Fleet,
    /// Id of the run.
    pub run: &'a str,
    /// Seed of the drills.
    pub seed: u64,
    /// What the drills are made of.
    pub catalogue: &'a DrillCatalogue,
    /// Definitions of the steps.
    pub vocabulary: &'a Collection<World>,
    /// Suffixes of the run's scenarios.
    pub suffixes: Suffixes,
    /// Keeps scenarios from starting at the same moment.
    pub pace: &'a tokio::sync::Mutex<Interval>,
    /// Saves snapshots with wrong findings.
    pub bundles: &'a BundleSaver,
    /// Looks at the fleet.
    pub looks: watch::Receiver<Option<Arc<Look>>>,
}

/// State of a drill while it runs.
struct DrillState<'a> {
    drill: &'a Drill,
    begun: Instant,
    judge: RefCell<DrillJudge>,
}

impl DrillState<'_> {
    /// Seconds from the start of the drill; 0 before it.
    fn seconds(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.begun).as_secs_f64()
    }

    fn now(&self) -> f64 {
        self.seconds(Instant::now())
    }
}

/// Scenario whose steps have ended.
struct EndedScenario {
    context: Option<ScenarioContext>,
    /// Reason why the scenario ended early.
    why: Option<String>,
}

impl DrillRunner<'_> {
    /// Runs a drill and cleans up after it.
    pub async fn run(&self, drill: &Drill) -> DrillResult {
        let judge = DrillJudge::new(self.suffixes.clone(), self.judged(drill));
        let state = DrillState { drill, begun: Instant::now(), judge: RefCell::new(judge) };
        let faults = join_all((0..drill.faults.len()).map(|n| self.induce(&state, n)));
        let healthy = join_all((0..drill.healthy.len()).map(|n| self.pass(&state, n)));
        let (faults, healthy, last) = futures::join!(faults, healthy, self.judge(&state));
        let mut result = self.result(&state, &faults, healthy);
        let judged = state.judge.into_inner().end();
        add(&mut result, judged);
        if result.faults.iter().flat_map(|fault| &fault.causes).any(|cause| !cause.found)
            && let Some(look) = last
        {
            result.bundle = self.save(drill, &look, "a cause was missed", "missed").await;
        }
        join_all(faults.into_iter().filter_map(|ended| ended.context).map(clean_up)).await;
        result
    }

    /// Returns the suffix of a drill's scenario; healthy ones come after the faults.
    fn suffix(&self, drill: &Drill, scenario: usize) -> String {
        self.suffixes.nth((drill.number - 1) as usize * MOST_SCENARIOS as usize + scenario)
    }

    fn judged(&self, drill: &Drill) -> Vec<JudgedScenario> {
        let faults = drill.faults.iter().map(|part| {
            let fault = &self.catalogue.faults[part.case];
            JudgedScenario {
                codes: fault.codes().into_iter().map(str::to_owned).collect(),
                accounted: fault.accounted.clone(),
                limit: limit(fault).as_secs_f64(),
                ..JudgedScenario::default()
            }
        });
        let healthy = drill.healthy.iter().map(|_| JudgedScenario::default());
        let scenarios = faults.chain(healthy).enumerate();
        scenarios.map(|(n, scenario)| JudgedScenario { suffix: self.suffix(drill, n), ..scenario }).collect()
    }

    /// Induces a fault.
    async fn induce(&self, state: &DrillState<'_>, n: usize) -> EndedScenario {
        let part = state.drill.faults[n];
        let fault = &self.catalogue.faults[part.case];
        let (mut world, recorder, deadline) = self.enter(state, part, n).await;
        let ran = in_time(&deadline, step_runner::run(&mut world, &fault.steps, self.vocabulary, &recorder)).await;
        let expected = ran.and_then(|()| expected(&mut world, fault));
        let mut judge = state.judge.borrow_mut();
        let why = match expected {
            Ok(expected) => {
                judge.shown(n, state.now(), expected);
                None
            }
            Err(why) => {
                judge.retire(n);
                Some(why)
            }
        };
        EndedScenario { context: world.leave(), why }
    }

    /// Runs a healthy scenario and cleans up after it at once. Without the tag `@healthy`, it is judged as long as its steps break
    /// nothing.
    async fn pass(&self, state: &DrillState<'_>, n: usize) -> EndedScenario {
        let part = state.drill.healthy[n];
        let scenario = state.drill.faults.len() + n;
        let (mut world, recorder, deadline) = self.enter(state, part, scenario).await;
        let mut why = None;
        let case = &self.catalogue.healthy[part.case];
        for step in &case.steps {
            let step = std::slice::from_ref(step);
            let ran = in_time(&deadline, step_runner::run(&mut world, step, self.vocabulary, &recorder)).await;
            why = ran.err().or_else(|| induced(&recorder).filter(|_| !case.is_healthy));
            if why.is_some() {
                break;
            }
        }
        state.judge.borrow_mut().retire(scenario);
        if let Some(context) = world.leave() {
            clean_up(context).await;
        }
        EndedScenario { context: None, why }
    }

    /// Waits for the scenario's moment, and enters a context of its own.
    async fn enter(&self, state: &DrillState<'_>, part: DrillPart, scenario: usize) -> (World, Recorder, Deadline) {
        tokio::time::sleep(part.offset).await;
        self.pace.lock().await.tick().await;
        let (recorder, deadline) = (Recorder::default(), Deadline::after(limits::SCENARIO));
        let info = ScenarioInfo {
            run: self.run.to_owned(),
            suffix: self.suffix(state.drill, scenario),
            real_time: false,
            deadline: deadline.clone(),
            progress: step_runner::silent(),
            upgrade: None,
        };
        let mut world = World::default();
        world.enter(ScenarioContext::new(self.fleet.clone(), info, recorder.clone()).await);
        (world, recorder, deadline)
    }

    /// Judges each look until the drill is over. Returns the last one.
    async fn judge(&self, state: &DrillState<'_>) -> Option<Arc<Look>> {
        let mut looks = self.looks.clone();
        looks.mark_unchanged();
        let mut last = None;
        while !state.judge.borrow().is_over() {
            // Without looks, the run ends with their error.
            if looks.changed().await.is_err() {
                return std::future::pending().await;
            }
            let Some(look) = looks.borrow_and_update().clone() else { continue };
            let known = {
                let (begun, at) = (state.seconds(look.begun), state.seconds(look.at));
                state.judge.borrow_mut().look(begun, at, &look.findings)
            };
            self.keep_new(state, &look, known).await;
            last = Some(look);
        }
        last
    }

    /// Saves a look in which wrong findings are new.
    async fn keep_new(&self, state: &DrillState<'_>, look: &Look, known: usize) {
        let new: Vec<String> =
            state.judge.borrow().wrong().skip(known).map(|wrong| format!("{} {}", wrong.code, wrong.subject)).collect();
        if new.is_empty() {
            return;
        }
        let name = format!("wrong-{}", known + 1);
        if let Some(path) = self.save(state.drill, look, &format!("wrong: {}", new.join(", ")), &name).await {
            (known..known + new.len()).for_each(|n| state.judge.borrow_mut().add_bundle(n, path.clone()));
        }
    }

    async fn save(&self, drill: &Drill, look: &Look, why: &str, name: &str) -> Option<PathBuf> {
        let about = format!("drill {} of seed {}: {why}", drill.number, self.seed);
        let name = format!("seed-{}-drill-{}-{name}", self.seed, drill.number);
        self.bundles.save(look.bundle(self.fleet, about), &name).await
    }

    /// Returns what the scenarios of a drill have come to.
    fn result(&self, state: &DrillState<'_>, faults: &[EndedScenario], healthy: Vec<EndedScenario>) -> DrillResult {
        let DrillState { drill, judge, .. } = state;
        let judge = judge.borrow();
        let of_fault = |(n, ended): (usize, &EndedScenario)| {
            let (part, fault) = (drill.faults[n], &self.catalogue.faults[drill.faults[n].case]);
            FaultResult {
                scenario: fault.place.clone(),
                suffix: self.suffix(drill, n),
                offset: part.offset.as_secs_f64(),
                codes: fault.codes().into_iter().map(str::to_owned).collect(),
                not_induced: ended.why.clone(),
                causes: judge.causes(n),
            }
        };
        let of_healthy = |(n, ended): (usize, EndedScenario)| TrafficResult {
            scenario: self.catalogue.healthy[drill.healthy[n].case].place.clone(),
            suffix: self.suffix(drill, drill.faults.len() + n),
            offset: drill.healthy[n].offset.as_secs_f64(),
            ended_early: ended.why,
        };
        DrillResult {
            number: drill.number,
            seed: self.seed,
            faults: faults.iter().enumerate().map(of_fault).collect(),
            healthy: healthy.into_iter().enumerate().map(of_healthy).collect(),
            ..DrillResult::default()
        }
    }
}

/// Adds what the judge has seen.
fn add(result: &mut DrillResult, judged: JudgedDrill) {
    let JudgedDrill { seconds, looks, findings, said, wrong, symptoms } = judged;
    (result.seconds, result.snapshots, result.findings) = (seconds, looks, findings);
    (result.said, result.wrong, result.symptoms) = (said, wrong, symptoms);
}

/// Returns the time that the diagnosis may take to name a fault.
fn limit(fault: &FaultCase) -> Duration {
    fault.diagnoses.iter().filter_map(|diagnosis| diagnosis.within).fold(LIMIT, Duration::max)
}

/// Returns the findings that a fault's diagnoses name, by the real names of the scenario.
fn expected(world: &mut World, fault: &FaultCase) -> Result<Vec<ExpectedFinding>, String> {
    let context = world.context();
    fault.diagnoses.iter().map(|diagnosis| diagnosis.resolve(context).map_err(|error| error.to_string())).collect()
}
