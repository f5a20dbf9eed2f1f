//! Trying an exercise out: its remedy holds, doing nothing doesn't, and neither do the repairs that tempt.

use cucumber::step::Collection;
use fleet::Fleet;
use futures::{StreamExt as _, stream};
use serde::Serialize;
use steps::World;

use super::exercise::{Exercise, Script};
use super::judge::Judge;
use super::room::Part;
use super::stage::Stage;
use crate::error::CommandError;

/// What is done with the broken fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    /// What the scenario does.
    Remedy,
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

/// One exercise with its scripts, and what to do.
struct Case<'a> {
    exercise: &'a Exercise,
    scripts: &'a [Script],
    deed: Deed,
    suffix: String,
}

/// Tries exercises out on a fleet that all of them share, some at the same time, and tells of each try as it ends.
pub async fn prove(
    fleet: &Fleet,
    run: &str,
    exercises: &[(Exercise, Vec<Script>)],
    jobs: usize,
    tell: impl Fn(&Tried, usize, usize),
) -> Vec<Tried> {
    let vocabulary = World::vocabulary();
    let cases: Vec<Case<'_>> = exercises
        .iter()
        .flat_map(|(exercise, scripts)| deeds(exercise).into_iter().map(move |deed| (exercise, scripts, deed)))
        .enumerate()
        .map(|(n, (exercise, scripts, deed))| Case { exercise, scripts, deed, suffix: format!("{run}{n}") })
        .collect();
    let all = cases.len();
    let tried = stream::iter(&cases).map(|case| case.tried(fleet, run, &vocabulary)).buffer_unordered(jobs);
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
    let mut deeds = vec![Deed::Remedy, Deed::Nothing];
    if exercise.faults.len() > 1 {
        deeds.extend((0..exercise.faults.len()).map(Deed::OnlyOne));
    }
    for (n, fault) in exercise.faults.iter().enumerate() {
        deeds.extend((0..fault.wrong.len()).map(|wrong| Deed::Wrong(n, wrong)));
    }
    deeds
}

impl Case<'_> {
    fn name(&self) -> String {
        match self.deed {
            Deed::Remedy => "the remedy".into(),
            Deed::Nothing => "nothing".into(),
            Deed::OnlyOne(n) => format!("the remedy for {} alone", self.exercise.faults[n].codes.join(", ")),
            Deed::Wrong(n, wrong) => self.exercise.faults[n].wrong[wrong].name.clone(),
        }
    }

    async fn tried(&self, fleet: &Fleet, run: &str, vocabulary: &Collection<World>) -> Tried {
        let (missing, error) = match self.missing(fleet, run, vocabulary).await {
            Ok(missing) => (missing, None),
            Err(error) => (Vec::new(), Some(fleet::error::in_full(&error))),
        };
        let should_pass = self.deed == Deed::Remedy;
        Tried { exercise: self.exercise.name.clone(), deed: self.name(), should_pass, missing, error }
    }

    async fn missing(
        &self,
        fleet: &Fleet,
        run: &str,
        vocabulary: &Collection<World>,
    ) -> Result<Vec<String>, CommandError> {
        let (mut stages, mut parts) = (Vec::new(), Vec::new());
        let checked = async {
            for (n, script) in self.scripts.iter().enumerate() {
                let suffix = format!("{}{}", self.suffix, ["a", "b", "c"].get(n).unwrap_or(&"d"));
                stages.push(Stage::set(fleet, run, suffix, script, vocabulary).await?);
            }
            for (stage, script) in stages.iter_mut().zip(self.scripts) {
                parts.push(stage.break_it(script, vocabulary).await?);
            }
            self.act(&mut stages, vocabulary).await?;
            // As it is when another process takes it up.
            let parts = serde_json::to_string(&parts).and_then(|text| serde_json::from_str::<Vec<Part>>(&text));
            let mut parts =
                parts.map_err(|error| CommandError::Environment { message: error.to_string(), hint: None })?;
            let named = self.deed != Deed::Nothing;
            let judge = Judge { fleet, exercise: self.exercise, number: 1, named, vocabulary, tell: &|_| {} };
            judge.judge(&mut parts).await
        };
        let checked = checked.await;
        for stage in stages {
            stage.strike().await;
        }
        checked
    }

    async fn act(&self, stages: &mut [Stage], vocabulary: &Collection<World>) -> Result<(), CommandError> {
        match self.deed {
            Deed::Nothing => Ok(()),
            // That nothing was broken has been said.
            Deed::Remedy if self.exercise.healthy => Ok(()),
            Deed::Remedy => {
                for (stage, script) in stages.iter_mut().zip(self.scripts) {
                    stage.run(&script.remedy, vocabulary).await?;
                }
                Ok(())
            }
            Deed::OnlyOne(n) => stages[n].run(&self.scripts[n].remedy, vocabulary).await,
            Deed::Wrong(n, wrong) => stages[n].run(&self.exercise.faults[n].wrong[wrong].steps(), vocabulary).await,
        }
    }
}
