//! cucumber's events, turned into records.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use cucumber::event::{
    Cucumber, Feature as FeatureEvent, Hook, RetryableScenario, Scenario as ScenarioEvent, Step as StepEvent,
};
use cucumber::{Event, Writer, cli, parser};
use gherkin::{Feature, Scenario, Step};
use jiff::Timestamp;
use steps::record::{Entry, Outcome, Recorder, ScenarioRecord, Shown, What};
use steps::{Deadline, World, limits};

use crate::reporter::{Event as Told, Reporters};
use crate::suite::{self, Suite};

/// Onto stdout, or onto stderr where stdout is another report's.
pub type RunReporters = Reporters<Box<dyn std::io::Write + Send>>;

/// A scenario's place: file and line.
pub type Key = (String, usize);

/// What is known of each scenario while it runs and after it.
pub(super) struct Board {
    running: HashMap<Key, Running>,
    pub(super) finished: Vec<ScenarioRecord>,
    pub(super) reporters: Option<RunReporters>,
}

/// A scenario that runs.
struct Running {
    feature: String,
    scenario: String,
    tags: Vec<String>,
    recorder: Recorder,
    steps: Vec<Entry>,
    failure: Option<String>,
    statements: Vec<Shown>,
    started_at: Timestamp,
    deadline: Deadline,
    /// Its steps have ended, and only its bundle is being made, which has limits of its own.
    leaves: bool,
}

/// Shared by hooks, writer and engine, all on one thread.
#[derive(Clone)]
pub(super) struct SharedBoard(Arc<Mutex<Board>>);

impl SharedBoard {
    pub(super) fn new(reporters: RunReporters) -> Self {
        Self(Arc::new(Mutex::new(Board { running: HashMap::new(), finished: Vec::new(), reporters: Some(reporters) })))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A scenario's recorder; the same one for all who ask.
    pub(super) fn recorder(&self, feature: &Feature, scenario: &Scenario) -> Recorder {
        self.lock().running(feature, scenario).recorder.clone()
    }

    /// Takes note that a scenario's steps begin now, and tells it: its time counts from here, and not from its turn on, which
    /// is cucumber's event. Gives the time when it has to have ended.
    pub(super) fn begins(&self, feature: &Feature, scenario: &Scenario) -> Deadline {
        let mut board = self.lock();
        let deadline = board.running(feature, scenario).deadline.clone();
        let (file, line) = key(feature, scenario);
        board.tell(&Told::ScenarioStarted { file: &file, line, name: &scenario.name });
        deadline
    }
}

impl Board {
    fn running(&mut self, feature: &Feature, scenario: &Scenario) -> &mut Running {
        self.running.entry(key(feature, scenario)).or_insert_with(|| Running {
            feature: feature.name.clone(),
            scenario: scenario.name.clone(),
            tags: suite::tags(feature, scenario),
            recorder: Recorder::default(),
            steps: Vec::new(),
            failure: None,
            statements: Vec::new(),
            started_at: Timestamp::now(),
            deadline: Deadline::after(limits::SCENARIO),
            leaves: false,
        })
    }

    /// Takes note that a scenario's steps have ended.
    pub(super) fn leaves(&mut self, feature: &Feature, scenario: &Scenario) {
        self.running(feature, scenario).leaves = true;
    }

    /// Takes note of which of the guides' statements a scenario has shown, or why it hasn't, which fails it.
    pub(super) fn shows(&mut self, feature: &Feature, scenario: &Scenario, shown: Result<Vec<Shown>, String>) {
        let running = self.running(feature, scenario);
        match shown {
            Ok(shown) => running.statements = shown,
            Err(error) => {
                running.recorder.add(What::Failed { error: error.clone() });
                running.failure.get_or_insert(error);
            }
        }
    }

    /// The recorders of all scenarios that run.
    pub(super) fn recorders(&self) -> Vec<Recorder> {
        self.running.values().map(|running| running.recorder.clone()).collect()
    }

    /// Tells what a scenario's step waits for.
    pub(super) fn step_waits(&mut self, key: &Key, text: &str) {
        self.tell(&Told::StepWaits { file: &key.0, line: key.1, text });
    }

    /// Names of scenarios whose limit ran out longer than `grace` ago.
    pub(super) fn overdue(&self, grace: Duration) -> Vec<String> {
        let overdue = |r: &&Running| !r.leaves && r.deadline.overdue() > grace;
        self.running.values().filter(overdue).map(|r| format!("\"{}\"", r.scenario)).collect()
    }

    /// Ends all scenarios that still run.
    pub(super) fn interrupt(&mut self, outcome: Outcome, reason: &str) {
        let keys: Vec<Key> = self.running.keys().cloned().collect();
        for key in keys {
            self.finish(&key, Some((outcome, reason.to_owned())));
        }
    }

    fn finish(&mut self, key: &Key, end: Option<(Outcome, String)>) {
        let Some(running) = self.running.remove(key) else { return };
        let mut entries = running.recorder.entries();
        entries.extend(running.steps);
        let (outcome, reason) = match (end, running.failure) {
            (Some((outcome, reason)), _) => (outcome, Some(reason)),
            (None, Some(failure)) => (Outcome::Failed, Some(failure)),
            (None, None) => (Outcome::Passed, None),
        };
        // cucumber tells of a step a moment after it began; its own time is the right one.
        entries.sort_by_key(|e| e.at);
        let ended = entries.last().map_or(running.started_at, |e| e.at);
        let record = ScenarioRecord {
            feature: running.feature,
            file: key.0.clone(),
            line: key.1,
            scenario: running.scenario,
            tags: running.tags,
            outcome,
            reason,
            started_at: running.started_at,
            seconds: ended.duration_since(running.started_at).as_secs_f64(),
            entries,
            statements: running.statements,
        };
        self.tell(&Told::ScenarioFinished(&record));
        self.finished.push(record);
    }

    pub(super) fn tell(&mut self, event: &Told<'_>) {
        if let Some(Err(error)) = self.reporters.as_mut().map(|r| r.event(event)) {
            tracing::warn!(%error, "failed to report");
        }
    }
}

/// Feeds the board.
pub(super) struct BoardWriter(pub(super) SharedBoard);

/// Scenarios' events come mixed; the board keeps them apart.
impl cucumber::writer::Normalized for BoardWriter {}

impl Writer<World> for BoardWriter {
    type Cli = cli::Empty;

    async fn handle_event(&mut self, event: parser::Result<Event<Cucumber<World>>>, _: &cli::Empty) {
        // Features were parsed before; there is nothing left to fail.
        let Ok(event) = event else { return };
        let (event, meta) = event.split();
        let Cucumber::Feature(feature, FeatureEvent::Scenario(scenario, RetryableScenario { event, .. })) = event
        else {
            return;
        };
        self.scenario(&feature, &scenario, event, meta.at);
    }
}

impl BoardWriter {
    fn scenario(&self, feature: &Feature, scenario: &Scenario, event: ScenarioEvent<World>, at: SystemTime) {
        let mut board = self.0.lock();
        let key = key(feature, scenario);
        match event {
            ScenarioEvent::Background(step, event) | ScenarioEvent::Step(step, event) => {
                drop(board);
                self.step(feature, scenario, &step, event, timestamp(at));
            }
            ScenarioEvent::Hook(_, Hook::Failed(_, info)) => {
                let error = format!("fleetdrill's own set-up failed: {}", message(&info));
                board.running(feature, scenario).failure.get_or_insert(error);
            }
            ScenarioEvent::Finished => board.finish(&key, None),
            ScenarioEvent::Started | ScenarioEvent::Hook(..) | ScenarioEvent::Log(_) => {}
        }
    }

    fn step(&self, feature: &Feature, scenario: &Scenario, step: &Step, event: StepEvent<World>, at: Timestamp) {
        let mut board = self.0.lock();
        let running = board.running(feature, scenario);
        let keyword = step.keyword.trim().to_owned();
        let failed = |running: &mut Running, error: String| {
            running.steps.push(Entry { at, what: What::Failed { error: error.clone() } });
            running.failure.get_or_insert(format!("{keyword} {}: {error}", step.value));
        };
        match event {
            StepEvent::Started => {
                let what = What::Step { keyword: keyword.clone(), text: step.value.clone() };
                running.steps.push(Entry { at, what });
                let (file, line) = self::key(feature, scenario);
                board.tell(&Told::StepStarted { file: &file, line, keyword: &keyword, text: &step.value });
            }
            StepEvent::Failed(_, _, _, error) => failed(
                running,
                match error {
                    cucumber::event::StepError::Panic(info) => message(&info),
                    other => other.to_string(),
                },
            ),
            StepEvent::Skipped => failed(running, "no step is defined like this".into()),
            StepEvent::Passed(..) => {}
        }
    }
}

/// A scenario's place.
#[must_use]
pub fn key(feature: &Feature, scenario: &Scenario) -> Key {
    (suite::file(feature), scenario.position.line)
}

/// The places of a suite's scenarios, in the features' order.
#[must_use]
pub fn order(suite: &Suite) -> Vec<Key> {
    suite.scenarios().map(|(feature, scenario)| key(feature, scenario)).collect()
}

/// Puts scenarios, which come in the order in which they ended, into that of their places.
pub fn sort(scenarios: &mut [ScenarioRecord], order: &[Key]) {
    scenarios.sort_by_key(|s| order.iter().position(|(file, line)| *file == s.file && *line == s.line));
}

fn timestamp(at: SystemTime) -> Timestamp {
    Timestamp::try_from(at).unwrap_or_else(|_| Timestamp::now())
}

/// What a panic or a step's error said; cucumber carries both as panics.
fn message(info: &cucumber::event::Info) -> String {
    let text = info.downcast_ref::<String>().cloned();
    text.or_else(|| info.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_else(|| "(no message)".into())
}
