//! Tests exercises (`train verify`): the check passes after the printed solution, and doesn't pass after no repair or a
//! wrong repair.

use std::path::{Path, PathBuf};

use cucumber::step::Collection;
use fleet::Fleet;
use futures::{StreamExt as _, stream};
use jiff::SignedDuration;
use serde::Serialize;
use steps::World;

use super::broken_scenario::BrokenScenario;
use super::exercise::{Exercise, FaultSteps};
use super::fault_names::name_suffix;
use super::repair_check::RepairCheck;
use super::session::{SessionFault, SessionStart, TrainingSession};
use super::session_dir::SessionDir;
use super::solution::{self, ShellSetup};
use crate::error::CommandError;

/// Action on the broken fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrialAction {
    /// Runs the commands that `train solution` prints.
    PrintedSolution,
    Nothing,
    /// Applies the remedy for one of several faults, by its index.
    OnlyOne(usize),
    /// Applies a wrong repair, by the indexes of the fault and of the repair.
    Wrong(usize, usize),
}

/// Result of one try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrialResult {
    /// Name of the exercise.
    pub exercise: String,
    /// Description of the action.
    pub deed: String,
    /// True if the check should pass.
    pub should_pass: bool,
    /// Lines of the check's result that name what is missing; empty if the check passed.
    pub missing: Vec<String>,
    /// Error that made the try impossible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl TrialResult {
    /// True if the check's result is the expected one.
    #[must_use]
    pub fn is_as_it_should(&self) -> bool {
        self.error.is_none() && self.missing.is_empty() == self.should_pass
    }
}

/// Fleet that exercises are tried out on.
pub struct TrialFleet<'a> {
    /// Fleet that all exercises share.
    pub fleet: &'a Fleet,
    /// Id of the run.
    pub run: &'a str,
    /// Directory of the exercises; `None` for the built-in ones.
    pub exercises: Option<&'a Path>,
    /// Environment that a page names.
    pub setup: ShellSetup,
    /// Directories of the programs that a trainee has: fleetdrill and `kubectl`.
    pub programs: Vec<PathBuf>,
}

/// Try of `train verify`: an exercise with its scripts, and the action.
struct ExerciseTrial<'a> {
    trial_fleet: &'a TrialFleet<'a>,
    exercise: &'a Exercise,
    scripts: &'a [FaultSteps],
    deed: TrialAction,
    suffix: String,
}

/// Which tries run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialLimits {
    /// Maximum number of tries at the same time.
    pub jobs: usize,
    /// True if only the printed solutions are tried.
    pub solutions_only: bool,
}

/// Tests exercises on a shared fleet. Calls `tell` with each try when it ends, with its number and the number of all tries.
pub async fn prove(
    trial_fleet: &TrialFleet<'_>,
    exercises: &[(Exercise, Vec<FaultSteps>)],
    limits: TrialLimits,
    tell: impl Fn(&TrialResult, usize, usize),
) -> Vec<TrialResult> {
    let vocabulary = World::vocabulary();
    let cases: Vec<ExerciseTrial<'_>> = exercises
        .iter()
        .flat_map(|(exercise, scripts)| deeds(exercise).into_iter().map(move |deed| (exercise, scripts, deed)))
        .filter(|(.., deed)| !limits.solutions_only || *deed == TrialAction::PrintedSolution)
        .enumerate()
        .map(|(n, (exercise, scripts, deed))| ExerciseTrial {
            trial_fleet,
            exercise,
            scripts,
            deed,
            suffix: format!("{}{n}", trial_fleet.run),
        })
        .collect();
    let all = cases.len();
    let tried = stream::iter(&cases).map(|case| case.tried(&vocabulary)).buffer_unordered(limits.jobs);
    let told = tried.enumerate().map(|(n, tried)| {
        tell(&tried, n + 1, all);
        tried
    });
    let mut tried: Vec<TrialResult> = told.collect().await;
    let place = |tried: &TrialResult| {
        cases.iter().position(|case| case.exercise.name == tried.exercise && case.name() == tried.deed)
    };
    tried.sort_by_key(place);
    tried
}

fn deeds(exercise: &Exercise) -> Vec<TrialAction> {
    let mut deeds = vec![TrialAction::Nothing];
    if exercise.faults.len() > 1 {
        deeds.extend((0..exercise.faults.len()).map(TrialAction::OnlyOne));
    }
    for (n, fault) in exercise.faults.iter().enumerate() {
        deeds.extend((0..fault.wrong.len()).map(|wrong| TrialAction::Wrong(n, wrong)));
    }
    // The printed solution comes last because it alone may leave something behind: a CustomResourceDefinition that it
    // creates stays, and would change Argo CD's reports about other tries of the same exercise on this fleet.
    deeds.push(TrialAction::PrintedSolution);
    deeds
}

impl ExerciseTrial<'_> {
    fn name(&self) -> String {
        match self.deed {
            TrialAction::PrintedSolution => "the printed solution".into(),
            TrialAction::Nothing => "nothing".into(),
            TrialAction::OnlyOne(n) => format!("the remedy for {} alone", self.exercise.faults[n].codes.join(", ")),
            TrialAction::Wrong(n, wrong) => self.exercise.faults[n].wrong[wrong].name.clone(),
        }
    }

    async fn tried(&self, vocabulary: &Collection<World>) -> TrialResult {
        let (missing, error) = match self.missing(vocabulary).await {
            Ok(missing) => (missing, None),
            Err(error) => (Vec::new(), Some(fleet::error::in_full(&error))),
        };
        let should_pass = self.deed == TrialAction::PrintedSolution;
        TrialResult { exercise: self.exercise.name.clone(), deed: self.name(), should_pass, missing, error }
    }

    async fn missing(&self, vocabulary: &Collection<World>) -> Result<Vec<String>, CommandError> {
        let TrialFleet { fleet, run, .. } = *self.trial_fleet;
        let (mut scenarios, mut faults) = (Vec::new(), Vec::new());
        let checked = async {
            for (n, script) in self.scripts.iter().enumerate() {
                let suffix = name_suffix(&self.suffix, n, 0);
                scenarios.push(BrokenScenario::set_up(fleet, run, suffix, script, vocabulary).await?);
            }
            for (scenario, script) in scenarios.iter_mut().zip(self.scripts) {
                faults.push(scenario.induce(script, vocabulary).await?);
            }
            // Serialized and parsed again, as when another process continues the exercise.
            let saved = serde_json::to_string(&faults).and_then(|text| serde_json::from_str(&text));
            let saved = saved.map_err(|error| CommandError::Environment { message: error.to_string(), hint: None })?;
            let (mut faults, named) = self.act(&mut scenarios, saved, vocabulary).await?;
            let judge = RepairCheck { fleet, exercise: self.exercise, number: 1, named, vocabulary, tell: &|_| {} };
            judge.judge(&mut faults).await
        };
        let checked = checked.await;
        for scenario in scenarios {
            scenario.clean_up().await;
        }
        checked
    }

    /// Does it. Returns the faults as they are after it, and whether all causes have been named.
    async fn act(
        &self,
        scenarios: &mut [BrokenScenario],
        faults: Vec<SessionFault>,
        vocabulary: &Collection<World>,
    ) -> Result<(Vec<SessionFault>, bool), CommandError> {
        match self.deed {
            TrialAction::Nothing => return Ok((faults, false)),
            TrialAction::PrintedSolution => return self.paste_solution(faults).await,
            TrialAction::OnlyOne(n) => scenarios[n].run(&self.scripts[n].remedy, vocabulary).await?,
            TrialAction::Wrong(n, wrong) => {
                scenarios[n].run(&self.exercise.faults[n].wrong[wrong].steps(), vocabulary).await?;
            }
        }
        Ok((faults, true))
    }

    /// Runs the lines that `train solution` prints. Some of them are commands of `fleetdrill train`, which look the session up.
    async fn paste_solution(&self, faults: Vec<SessionFault>) -> Result<(Vec<SessionFault>, bool), CommandError> {
        let sessions = SessionDir::of_user()?;
        let session = self.session(faults);
        sessions.save(&session)?;
        let mut lines = self.trial_fleet.setup.exports();
        lines.extend(solution::commands(&session, self.exercise));
        let pasted = solution::paste(&lines, &self.trial_fleet.programs).await;
        let after = sessions.open(&session.name);
        sessions.forget(&session.name)?;
        pasted?;
        let session = after?.unwrap_or(session);
        // A repair doesn't include naming the cause, unless nothing is broken.
        let named = !self.exercise.healthy || session.named().len() == self.exercise.faults.len();
        Ok((session.parts, named))
    }

    /// Returns a session as a trainee's would be, with these faults.
    fn session(&self, faults: Vec<SessionFault>) -> TrainingSession {
        let TrialFleet { fleet, exercises, .. } = *self.trial_fleet;
        let mut session = TrainingSession::new(SessionStart {
            name: format!("{}-{}", fleet.name(), self.suffix),
            id: self.suffix.clone(),
            exercise: self.exercise,
            exercises: exercises.map(Path::to_owned),
            trainee: String::new(),
            kubefleet: fleet.version(),
            provider: fleet.provider().to_owned(),
            limit: SignedDuration::ZERO,
            verified_on: Some(fleet.name().to_owned()),
        });
        session.break_with(faults);
        session
    }
}
