//! Converts cucumber's events to records and to events for reporters.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use cucumber::event::{
    Cucumber, Feature as FeatureEvent, Hook, RetryableScenario, Scenario as ScenarioEvent, ScenarioFinished,
    Step as StepEvent, StepError,
};
use cucumber::{Event, Writer, cli, parser};
use gherkin::{Feature, Scenario, Step};
use jiff::Timestamp;
use record::{Outcome, RecordEntry, RecordedEvent, ScenarioRecord, ShownStatement};
use report::run::{Reporters, RunEvent};
use steps::{Deadline, OnEntry, Recorder, World, limits};
use tokio::sync::Notify;

use crate::suite::{self, Suite};

/// Error of a step without a definition.
const UNDEFINED: &str = "no step is defined like this";

/// Key of a scenario: file and line.
pub type ScenarioLocation = (String, usize);

/// State of a run: its running and its finished scenarios.
pub(super) struct ScenarioTracker {
    running: HashMap<ScenarioLocation, RunningScenario>,
    pub(super) finished: Vec<ScenarioRecord>,
    pub(super) reporters: Option<Reporters>,
    /// Notified when a scenario has failed.
    failed: Arc<Notify>,
    /// The tracker itself, for recorders that report each entry.
    shared: Weak<Mutex<Self>>,
}

/// State of a running scenario.
#[derive(Clone)]
struct RunningScenario {
    feature: String,
    scenario: String,
    tags: Vec<String>,
    recorder: Recorder,
    steps: Vec<RecordEntry>,
    failure: Option<String>,
    statements: Vec<ShownStatement>,
    started_at: Timestamp,
    deadline: Deadline,
    /// True if the steps have ended and the bundle is being written, which has limits of its own.
    leaves: bool,
}

impl RunningScenario {
    /// Takes note of a step that failed.
    fn fail(&mut self, step: &Step, error: &str, at: Timestamp) {
        self.steps.push(RecordEntry { at, what: RecordedEvent::Failed { error: error.to_owned() } });
        self.failure.get_or_insert(format!("{} {}: {error}", step.keyword.trim(), step.value));
    }

    /// Converts to the record of the scenario. `end` is the outcome and its reason, unless the steps decide.
    fn into_record(self, (file, line): &ScenarioLocation, end: Option<(Outcome, String)>) -> ScenarioRecord {
        let mut entries = self.recorder.entries();
        entries.extend(self.steps);
        let (outcome, reason) = match (end, self.failure) {
            (Some((outcome, reason)), _) => (outcome, Some(reason)),
            (None, Some(failure)) => (Outcome::Failed, Some(failure)),
            (None, None) => (Outcome::Passed, None),
        };
        // cucumber reports a step shortly after its start; the event's own time is the exact one.
        entries.sort_by_key(|e| e.at);
        let ended = entries.last().map_or(self.started_at, |e| e.at);
        ScenarioRecord {
            feature: self.feature,
            file: file.clone(),
            line: *line,
            scenario: self.scenario,
            tags: self.tags,
            outcome,
            reason,
            started_at: self.started_at,
            seconds: ended.duration_since(self.started_at).as_secs_f64(),
            entries,
            statements: self.statements,
        }
    }
}

/// Run state shared by hooks, writer, engine and the recorders' callbacks, which may be called on any thread.
#[derive(Clone)]
pub(super) struct SharedScenarioTracker(Arc<Mutex<ScenarioTracker>>);

impl SharedScenarioTracker {
    pub(super) fn new(reporters: Reporters) -> Self {
        Self(Arc::new_cyclic(|shared| {
            let shared = shared.clone();
            Mutex::new(ScenarioTracker {
                running: HashMap::new(),
                finished: Vec::new(),
                reporters: Some(reporters),
                failed: Arc::default(),
                shared,
            })
        }))
    }

    /// Waits until a scenario has failed.
    pub(super) async fn first_failure(&self) {
        let failed = Arc::clone(&self.lock().failed);
        failed.notified().await;
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ScenarioTracker> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a scenario's recorder; all callers get the same one.
    pub(super) fn recorder(&self, feature: &Feature, scenario: &Scenario) -> Recorder {
        self.lock().running(feature, scenario).recorder.clone()
    }

    /// Reports that a scenario's steps start now, and returns the scenario's deadline. The duration counts from this
    /// moment: cucumber's event comes earlier, before the scenario waits for its turn.
    pub(super) fn begins(&self, feature: &Feature, scenario: &Scenario) -> Deadline {
        let mut tracker = self.lock();
        let deadline = tracker.running(feature, scenario).deadline.clone();
        let (file, line) = key(feature, scenario);
        tracker.tell(&RunEvent::ScenarioStarted { file: &file, line, name: &scenario.name });
        deadline
    }
}

impl ScenarioTracker {
    fn running(&mut self, feature: &Feature, scenario: &Scenario) -> &mut RunningScenario {
        let (key, shared) = (key(feature, scenario), &self.shared);
        self.running.entry(key.clone()).or_insert_with(|| RunningScenario {
            feature: feature.name.clone(),
            scenario: scenario.name.clone(),
            tags: suite::tags(feature, scenario),
            recorder: Recorder::telling(reports_entries(shared.clone(), key)),
            steps: Vec::new(),
            failure: None,
            statements: Vec::new(),
            started_at: Timestamp::now(),
            deadline: Deadline::after(limits::SCENARIO),
            leaves: false,
        })
    }

    /// Records that a scenario's steps have ended.
    pub(super) fn leaves(&mut self, feature: &Feature, scenario: &Scenario) {
        self.running(feature, scenario).leaves = true;
    }

    /// Records the guides' statements that a scenario has shown, or the error about a statement that wasn't shown,
    /// which fails the scenario.
    pub(super) fn shows(&mut self, feature: &Feature, scenario: &Scenario, shown: Result<Vec<ShownStatement>, String>) {
        let running = self.running(feature, scenario);
        match shown {
            Ok(shown) => running.statements = shown,
            Err(error) => {
                // Not by the recorder: it reports each entry, and the tracker is locked.
                running
                    .steps
                    .push(RecordEntry { at: Timestamp::now(), what: RecordedEvent::Failed { error: error.clone() } });
                running.failure.get_or_insert(error);
            }
        }
    }

    /// Returns the recorders of all running scenarios.
    pub(super) fn recorders(&self) -> Vec<Recorder> {
        self.running.values().map(|running| running.recorder.clone()).collect()
    }

    /// Reports the reason why a scenario's step waits.
    pub(super) fn step_waits(&mut self, key: &ScenarioLocation, text: &str) {
        self.tell(&RunEvent::StepWaits { file: &key.0, line: key.1, text });
    }

    /// Returns the names of scenarios whose limit ran out longer than `grace` ago.
    pub(super) fn overdue(&self, grace: Duration) -> Vec<String> {
        let overdue = self.running.values().filter(|running| !running.leaves && running.deadline.overdue() > grace);
        overdue.map(|running| format!("\"{}\"", running.scenario)).collect()
    }

    /// Ends all running scenarios.
    pub(super) fn interrupt(&mut self, outcome: Outcome, reason: &str) {
        let keys: Vec<ScenarioLocation> = self.running.keys().cloned().collect();
        for key in keys {
            self.finish(&key, Some((outcome, reason.to_owned())));
        }
    }

    fn finish(&mut self, key: &ScenarioLocation, end: Option<(Outcome, String)>) {
        let Some(running) = self.running.remove(key) else { return };
        let record = running.into_record(key, end);
        self.tell(&RunEvent::ScenarioFinished(&record));
        if record.outcome == Outcome::Failed {
            self.failed.notify_one();
        }
        self.finished.push(record);
    }

    /// Reports that a scenario which has failed is paused. `suffix` is that of the names of its objects.
    pub(super) fn pauses(&mut self, key: &ScenarioLocation, ended: &ScenarioFinished, kubeconfig: &Path, suffix: &str) {
        let Some(running) = self.running.get(key) else { return };
        let end = failure(ended).map(|reason| (Outcome::Failed, reason));
        let record = running.clone().into_record(key, end);
        self.tell(&RunEvent::ScenarioPaused { record: &record, kubeconfig, suffix });
    }

    pub(super) fn tell(&mut self, event: &RunEvent<'_>) {
        if let Some(Err(error)) = self.reporters.as_mut().map(|r| r.event(event)) {
            tracing::warn!(%error, "failed to report");
        }
    }
}

/// Returns a callback that reports the entries of a scenario as they are recorded.
fn reports_entries(tracker: Weak<Mutex<ScenarioTracker>>, (file, line): ScenarioLocation) -> OnEntry {
    Arc::new(move |entry| {
        if let Some(tracker) = tracker.upgrade() {
            let event = RunEvent::Happened { file: &file, line, entry };
            tracker.lock().unwrap_or_else(PoisonError::into_inner).tell(&event);
        }
    })
}

/// cucumber writer that passes events to the run state.
pub(super) struct CucumberWriter(pub(super) SharedScenarioTracker);

/// Events of different scenarios may be interleaved, because the run state keeps the scenarios apart.
impl cucumber::writer::Normalized for CucumberWriter {}

impl Writer<World> for CucumberWriter {
    type Cli = cli::Empty;

    async fn handle_event(&mut self, event: parser::Result<Event<Cucumber<World>>>, _: &cli::Empty) {
        // Features were parsed before, so that no parse error can come here.
        let Ok(event) = event else { return };
        let (event, meta) = event.split();
        let Cucumber::Feature(feature, FeatureEvent::Scenario(scenario, RetryableScenario { event, .. })) = event
        else {
            return;
        };
        self.scenario(&feature, &scenario, event, meta.at);
    }
}

impl CucumberWriter {
    fn scenario(&self, feature: &Feature, scenario: &Scenario, event: ScenarioEvent<World>, at: SystemTime) {
        let mut tracker = self.0.lock();
        let key = key(feature, scenario);
        match event {
            ScenarioEvent::Background(step, event) | ScenarioEvent::Step(step, event) => {
                drop(tracker);
                self.step(feature, scenario, &step, event, timestamp(at));
            }
            ScenarioEvent::Hook(_, Hook::Failed(_, info)) => {
                let error = format!("fleetdrill's own set-up failed: {}", message(&info));
                tracker.running(feature, scenario).failure.get_or_insert(error);
            }
            ScenarioEvent::Finished => tracker.finish(&key, None),
            ScenarioEvent::Started | ScenarioEvent::Hook(..) | ScenarioEvent::Log(_) => {}
        }
    }

    fn step(&self, feature: &Feature, scenario: &Scenario, step: &Step, event: StepEvent<World>, at: Timestamp) {
        let mut tracker = self.0.lock();
        let running = tracker.running(feature, scenario);
        let keyword = step.keyword.trim().to_owned();
        match event {
            StepEvent::Started => {
                let what = RecordedEvent::Step { keyword: keyword.clone(), text: step.value.clone() };
                running.steps.push(RecordEntry { at, what });
                let (file, line) = self::key(feature, scenario);
                tracker.tell(&RunEvent::StepStarted { file: &file, line, keyword: &keyword, text: &step.value });
            }
            StepEvent::Failed(_, _, _, error) => running.fail(step, &step_error(&error), at),
            StepEvent::Skipped => running.fail(step, UNDEFINED, at),
            StepEvent::Passed(..) => {}
        }
    }
}

/// Returns the key of a scenario.
#[must_use]
pub fn key(feature: &Feature, scenario: &Scenario) -> ScenarioLocation {
    (suite::file(feature), scenario.position.line)
}

/// Returns the keys of a suite's scenarios, in the features' order.
#[must_use]
pub fn order(suite: &Suite) -> Vec<ScenarioLocation> {
    suite.scenarios().map(|(feature, scenario)| key(feature, scenario)).collect()
}

/// Sorts scenarios, which come in the order in which they ended, by the order of their keys.
pub fn sort(scenarios: &mut [ScenarioRecord], order: &[ScenarioLocation]) {
    scenarios.sort_by_key(|s| order.iter().position(|(file, line)| *file == s.file && *line == s.line));
}

fn timestamp(at: SystemTime) -> Timestamp {
    Timestamp::try_from(at).unwrap_or_else(|_| Timestamp::now())
}

/// Returns the error of a scenario's last step, or of its set-up; none if the step passed. cucumber tells the writer of it only after the
/// hooks have ended.
fn failure(ended: &ScenarioFinished) -> Option<String> {
    match ended {
        ScenarioFinished::BeforeHookFailed(info) => Some(message(info)),
        ScenarioFinished::StepPassed => None,
        ScenarioFinished::StepSkipped => Some(UNDEFINED.to_owned()),
        ScenarioFinished::StepFailed(_, _, error) => Some(step_error(error)),
    }
}

fn step_error(error: &StepError) -> String {
    match error {
        StepError::Panic(info) => message(info),
        error => error.to_string(),
    }
}

/// Returns the message of a panic or of a step's error; cucumber carries both as panics.
fn message(info: &cucumber::event::Info) -> String {
    let text = info.downcast_ref::<String>().cloned();
    text.or_else(|| info.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_else(|| "(no message)".into())
}
