//! Looks at a fleet beside the scenarios of a run, and keeps the snapshots of false alarms.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fleet::Fleet;
use record::ContinuousDiagnosis;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::false_alarms::{DiagnosedFleet, FalseAlarmJudge};
use super::looks::{self, Look};
use super::owners::Suffixes;
use super::running_scenarios::RunningScenarios;
use crate::run::BundleSaver;

/// Continuous diagnosis of a run: of its fleet, and of the fleets that scenarios have for themselves. Clones share it.
#[derive(Clone)]
pub(crate) struct RunDiagnosis {
    run: String,
    scenarios: RunningScenarios,
    bundles: BundleSaver,
    watches: Arc<Mutex<Watches>>,
}

#[derive(Default)]
struct Watches {
    of_run: Option<FalseAlarmWatch>,
    /// Watches of scenarios' own fleets, by the scenarios' suffixes.
    of_scenarios: BTreeMap<String, FalseAlarmWatch>,
    /// What the watches have seen that have ended.
    ended: ContinuousDiagnosis,
}

impl RunDiagnosis {
    /// Starts to look at the fleet of the run with this id.
    #[must_use]
    pub fn start(
        fleet: &Fleet,
        run: &str,
        scenarios: RunningScenarios,
        of: DiagnosedFleet,
        bundles: &BundleSaver,
    ) -> Self {
        let bundles = bundles.clone();
        let diagnosis = Self { run: run.to_owned(), scenarios, bundles, watches: Arc::default() };
        diagnosis.watches().of_run = Some(diagnosis.watch(fleet, run, of));
        diagnosis
    }

    /// Starts to look at the fleet that the scenario with this suffix has started for itself.
    pub fn add_own_fleet(&self, suffix: &str, fleet: &Fleet) {
        let watch = self.watch(fleet, suffix, DiagnosedFleet::OfScenario(suffix.to_owned()));
        self.watches().of_scenarios.insert(suffix.to_owned(), watch);
    }

    /// Ends the looks at the fleet of the scenario with this suffix, if it has one.
    ///
    /// # Panics
    /// If the diagnosis of a snapshot has panicked.
    pub async fn end_own_fleet(&self, suffix: &str) {
        let watch = self.watches().of_scenarios.remove(suffix);
        if let Some(watch) = watch {
            self.end_watch(watch).await;
        }
    }

    /// Ends all looks, and returns what they have seen.
    ///
    /// # Panics
    /// If the diagnosis of a snapshot has panicked.
    pub async fn end(&self) -> ContinuousDiagnosis {
        let Watches { of_run, of_scenarios, .. } = {
            let mut watches = self.watches();
            let ended = std::mem::take(&mut watches.ended);
            std::mem::replace(&mut *watches, Watches { ended, ..Watches::default() })
        };
        for watch in of_run.into_iter().chain(of_scenarios.into_values()) {
            self.end_watch(watch).await;
        }
        std::mem::take(&mut self.watches().ended)
    }

    async fn end_watch(&self, watch: FalseAlarmWatch) {
        let ContinuousDiagnosis { snapshots, false_alarms } = watch.end().await;
        let ended = &mut self.watches().ended;
        ended.snapshots += snapshots;
        ended.false_alarms.extend(false_alarms);
    }

    fn watch(&self, fleet: &Fleet, name: &str, of: DiagnosedFleet) -> FalseAlarmWatch {
        let judge = FalseAlarmJudge::new(Suffixes::new(&self.run), self.scenarios.clone(), of);
        FalseAlarmWatch::start(fleet, name, judge, &self.bundles)
    }

    fn watches(&self) -> MutexGuard<'_, Watches> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks at a fleet all the time. Ends when it is dropped.
struct FalseAlarmWatch {
    judge: SharedJudge,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// Judge that the task and its owner share. None after the end.
type SharedJudge = Arc<Mutex<Option<FalseAlarmJudge>>>;

fn lock(judge: &SharedJudge) -> MutexGuard<'_, Option<FalseAlarmJudge>> {
    judge.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FalseAlarmWatch {
    /// Starts to look at a fleet. `name` is a part of bundles' names: the run's id, or the suffix of the fleet's scenario.
    fn start(fleet: &Fleet, name: &str, judge: FalseAlarmJudge, bundles: &BundleSaver) -> Self {
        let judge: SharedJudge = Arc::new(Mutex::new(Some(judge)));
        let (stop, stopped) = watch::channel(false);
        let looking = LookingTask {
            fleet: fleet.clone(),
            name: name.to_owned(),
            judge: Arc::clone(&judge),
            bundles: bundles.clone(),
        };
        // A task of its own: scenarios share the thread of the run.
        let task = tokio::spawn(looking.run(stopped));
        Self { judge, stop, task }
    }

    /// Ends the looks, after the bundle that is being written.
    ///
    /// # Panics
    /// If the diagnosis of a snapshot has panicked.
    async fn end(mut self) -> ContinuousDiagnosis {
        self.stop.send_replace(true);
        if let Err(error) = (&mut self.task).await
            && let Ok(panic) = error.try_into_panic()
        {
            std::panic::resume_unwind(panic);
        }
        lock(&self.judge).take().map(FalseAlarmJudge::end).unwrap_or_default()
    }
}

impl Drop for FalseAlarmWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct LookingTask {
    fleet: Fleet,
    name: String,
    judge: SharedJudge,
    bundles: BundleSaver,
}

impl LookingTask {
    async fn run(self, stopped: watch::Receiver<bool>) {
        let (sender, looks) = watch::channel(None);
        tokio::select! {
            () = self.look(&sender) => {}
            () = self.judge(looks, stopped) => {}
        }
    }

    /// Looks at the fleet for ever. A hub that doesn't answer is the scenarios' business.
    async fn look(&self, looks: &watch::Sender<Option<Arc<Look>>>) {
        loop {
            let error = looks::look(&self.fleet, looks).await;
            tracing::debug!(%error, "the fleet isn't diagnosed");
        }
    }

    async fn judge(&self, mut looks: watch::Receiver<Option<Arc<Look>>>, mut stopped: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                _ = stopped.wait_for(|stopped| *stopped) => return,
                changed = looks.changed() => if changed.is_err() { return },
            }
            let look = looks.borrow_and_update().clone();
            if let Some(look) = look {
                self.judge_look(&look).await;
            }
        }
    }

    /// Judges a look, and saves it if it has new false alarms.
    async fn judge_look(&self, look: &Look) {
        let (new, number) = match lock(&self.judge).as_mut() {
            Some(judge) => (judge.look(look.snapshot.taken_at, &look.findings), judge.count()),
            None => return,
        };
        if new.is_empty() {
            return;
        }
        let about = format!("run {}: false alarms: {}", self.name, self.said(&new));
        let name = format!("run-{}-false-alarm-{number}", self.name);
        if let Some(path) = self.bundles.save(look.bundle(&self.fleet, about), &name).await
            && let Some(judge) = lock(&self.judge).as_mut()
        {
            for index in &new {
                judge.add_bundle(*index, path.clone());
            }
        }
    }

    /// Names the findings of false alarms, e.g. `KF-RO-002 ClusterResourcePlacement/web-abcd1`.
    fn said(&self, alarms: &[usize]) -> String {
        let judge = lock(&self.judge);
        let findings = alarms.iter().filter_map(|index| judge.as_ref()?.finding(*index));
        findings.map(|finding| format!("{} {}", finding.code, finding.subject)).collect::<Vec<_>>().join(", ")
    }
}
