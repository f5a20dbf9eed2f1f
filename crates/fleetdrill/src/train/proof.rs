//! Trying an exercise out: its printed solution holds, doing nothing doesn't, and neither do the repairs that tempt.

use std::path::{Path, PathBuf};

use cucumber::step::Collection;
use fleet::Fleet;
use futures::{StreamExt as _, stream};
use serde::Serialize;
use steps::World;

use super::exercise::{Exercise, Script};
use super::judge::Judge;
use super::room::{Part, Room};
use super::solution::{self, ShellSetup};
use super::stage::{Stage, name_suffix};
use crate::error::CommandError;

/// What is done with the broken fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    /// The commands that `train solution` prints.
    PrintedSolution,
    Nothing,
    /// The remedy for one of several faults.
    OnlyOne(usize),
    /// A fault's wrong repair, by its place.
    Wrong(usize, usize),
}

/// How one try ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// The exercise.
    pub exercise: String,
    /// What was done.
    pub deed: String,
    /// Whether the check should pass.
    pub should_pass: bool,
    /// What the check says is missing; nothing where it passed.
    pub missing: Vec<String>,
    /// Why it couldn't be tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Tried {
    /// Whether it ended as it should.
    #[must_use]
    pub fn is_as_it_should(&self) -> bool {
        self.error.is_none() && self.missing.is_empty() == self.should_pass
    }
}

/// Where exercises are tried out.
pub struct TrialGround<'a> {
    /// The fleet, which all of them share.
    pub fleet: &'a Fleet,
    /// The run's id.
    pub run: &'a str,
    /// The directory that the exercises are from; none for the built-in ones.
    pub exercises: Option<&'a Path>,
    /// The environment that a page names.
    pub setup: ShellSetup,
    /// Directories with the programs that a trainee has: this one, and `kubectl`.
    pub programs: Vec<PathBuf>,
}

/// One exercise with its scripts, and what to do.
struct Case<'a> {
    ground: &'a TrialGround<'a>,
    exercise: &'a Exercise,
    scripts: &'a [Script],
    deed: Deed,
    suffix: String,
}

/// Tries exercises out on a fleet that all of them share, some at the same time, and tells of each try as it ends.
pub async fn prove(
    ground: &TrialGround<'_>,
    exercises: &[(Exercise, Vec<Script>)],
    jobs: usize,
    tell: impl Fn(&Tried, usize, usize),
) -> Vec<Tried> {
    let vocabulary = World::vocabulary();
    let cases: Vec<Case<'_>> = exercises
        .iter()
        .flat_map(|(exercise, scripts)| deeds(exercise).into_iter().map(move |deed| (exercise, scripts, deed)))
        .enumerate()
        .map(|(n, (exercise, scripts, deed))| Case {
            ground,
            exercise,
            scripts,
            deed,
            suffix: format!("{}{n}", ground.run),
        })
        .collect();
    let all = cases.len();
    let tried = stream::iter(&cases).map(|case| case.tried(&vocabulary)).buffer_unordered(jobs);
    let told = tried.enumerate().map(|(n, tried)| {
        tell(&tried, n + 1, all);
        tried
    });
    let mut tried: Vec<Tried> = told.collect().await;
    let place =
        |tried: &Tried| cases.iter().position(|case| case.exercise.name == tried.exercise && case.name() == tried.deed);
    tried.sort_by_key(place);
    tried
}

fn deeds(exercise: &Exercise) -> Vec<Deed> {
    let mut deeds = vec![Deed::Nothing];
    if exercise.faults.len() > 1 {
        deeds.extend((0..exercise.faults.len()).map(Deed::OnlyOne));
    }
    for (n, fault) in exercise.faults.iter().enumerate() {
        deeds.extend((0..fault.wrong.len()).map(|wrong| Deed::Wrong(n, wrong)));
    }
    // The last, and the only one that repairs all: a CustomResourceDefinition that it creates stays, and would change what Argo CD says to
    // others of the same exercise on this fleet.
    deeds.push(Deed::PrintedSolution);
    deeds
}

impl Case<'_> {
    fn name(&self) -> String {
        match self.deed {
            Deed::PrintedSolution => "the printed solution".into(),
            Deed::Nothing => "nothing".into(),
            Deed::OnlyOne(n) => format!("the remedy for {} alone", self.exercise.faults[n].codes.join(", ")),
            Deed::Wrong(n, wrong) => self.exercise.faults[n].wrong[wrong].name.clone(),
        }
    }

    async fn tried(&self, vocabulary: &Collection<World>) -> Tried {
        let (missing, error) = match self.missing(vocabulary).await {
            Ok(missing) => (missing, None),
            Err(error) => (Vec::new(), Some(fleet::error::in_full(&error))),
        };
        let should_pass = self.deed == Deed::PrintedSolution;
        Tried { exercise: self.exercise.name.clone(), deed: self.name(), should_pass, missing, error }
    }

    async fn missing(&self, vocabulary: &Collection<World>) -> Result<Vec<String>, CommandError> {
        let TrialGround { fleet, run, .. } = *self.ground;
        let (mut stages, mut parts) = (Vec::new(), Vec::new());
        let checked = async {
            for (n, script) in self.scripts.iter().enumerate() {
                stages.push(Stage::set(fleet, run, name_suffix(&self.suffix, n, 0), script, vocabulary).await?);
            }
            for (stage, script) in stages.iter_mut().zip(self.scripts) {
                parts.push(stage.break_it(script, vocabulary).await?);
            }
            // As it is when another process takes it up.
            let parts = serde_json::to_string(&parts).and_then(|text| serde_json::from_str::<Vec<Part>>(&text));
            let parts = parts.map_err(|error| CommandError::Environment { message: error.to_string(), hint: None })?;
            let (mut parts, named) = self.act(&mut stages, parts, vocabulary).await?;
            let judge = Judge { fleet, exercise: self.exercise, number: 1, named, vocabulary, tell: &|_| {} };
            judge.judge(&mut parts).await
        };
        let checked = checked.await;
        for stage in stages {
            stage.strike().await;
        }
        checked
    }

    /// Gives the parts as they are after it, and whether all causes have been named.
    async fn act(
        &self,
        stages: &mut [Stage],
        parts: Vec<Part>,
        vocabulary: &Collection<World>,
    ) -> Result<(Vec<Part>, bool), CommandError> {
        match self.deed {
            Deed::Nothing => return Ok((parts, false)),
            Deed::PrintedSolution => return self.paste_solution(parts).await,
            Deed::OnlyOne(n) => stages[n].run(&self.scripts[n].remedy, vocabulary).await?,
            Deed::Wrong(n, wrong) => stages[n].run(&self.exercise.faults[n].wrong[wrong].steps(), vocabulary).await?,
        }
        Ok((parts, true))
    }

    /// Runs the lines that `train solution` prints. Some of them are commands of `fleetdrill train`, which look the exercise up.
    async fn paste_solution(&self, parts: Vec<Part>) -> Result<(Vec<Part>, bool), CommandError> {
        let room = Room::of_trial(&self.suffix, self.exercise, self.ground, parts);
        room.save()?;
        let mut lines = self.ground.setup.exports();
        lines.extend(solution::commands(&room, self.exercise));
        let pasted = solution::paste(&lines, &self.ground.programs).await;
        let room_after = Room::open(&room.name);
        room.forget()?;
        pasted?;
        let room = room_after?.unwrap_or(room);
        // Naming the cause is no part of a repair, unless nothing is broken.
        let named = !self.exercise.healthy || room.named().len() == self.exercise.faults.len();
        Ok((room.parts, named))
    }
}
