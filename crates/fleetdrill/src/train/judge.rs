//! Whether a repair holds: what had to survive is there, the symptom is gone and stays gone, and a fresh change goes through.

use std::time::Duration;

use cucumber::step::Collection;
use diagnosis::Finding;
use fleet::Fleet;
use steps::record::Recorder;
use steps::{Progress, Scene, StepError, World};
use tokio::time::Instant;

use super::exercise::{Exercise, Fault};
use super::room::Part;
use super::script;
use crate::error::CommandError;

/// How often it is looked whether the symptom is gone.
const LOOK: Duration = Duration::from_secs(3);

/// How long it has to stay gone. A hub-agent looks at a run that updates a cluster every 15 s.
pub const SETTLING: Duration = Duration::from_secs(20);

/// Judges one check.
pub struct Judge<'a> {
    /// The fleet.
    pub fleet: &'a Fleet,
    /// The exercise.
    pub exercise: &'a Exercise,
    /// The check's number, from 1.
    pub number: usize,
    /// Whether the cause has been named.
    pub named: bool,
    /// All step definitions.
    pub vocabulary: &'a Collection<World>,
    /// Is told what is being done.
    pub tell: &'a (dyn Fn(&str) + Sync),
}

/// A fault's scene, as it is taken up again.
struct Taken<'a> {
    fault: &'a Fault,
    part: &'a mut Part,
    world: World,
    recorder: Recorder,
}

impl Judge<'_> {
    /// What is missing, a line each, in words that don't give the solution away; nothing when the repair holds.
    ///
    /// # Errors
    /// When the fleet doesn't answer.
    pub async fn judge(&self, parts: &mut [Part]) -> Result<Vec<String>, CommandError> {
        if self.exercise.healthy && !self.named {
            return Ok(vec!["you haven't said yet what the cause is: `fleetdrill train diagnose`".into()]);
        }
        let mut all = Vec::new();
        for (fault, part) in self.exercise.faults.iter().zip(parts) {
            all.push(self.take_up(fault, part).await?);
        }
        let mut missing = Vec::new();
        (self.tell)("looking for what has to be there");
        for taken in &mut all {
            missing.extend(taken.lost().await?);
        }
        if !missing.is_empty() {
            return Ok(missing);
        }
        for taken in &mut all {
            missing.extend(self.symptom(taken).await?);
        }
        if !missing.is_empty() {
            return Ok(missing);
        }
        for taken in &mut all {
            (self.tell)("looking whether everything works again");
            if let Err(failed) = taken.run(&taken.fault.again(), self.vocabulary).await {
                missing.push(format!("this isn't so again: {}", said(&failed)));
            }
        }
        if !missing.is_empty() {
            return Ok(missing);
        }
        let until = Instant::now() + SETTLING;
        while Instant::now() < until {
            (self.tell)(&format!("looking whether it stays so, for {} s", SETTLING.as_secs()));
            tokio::time::sleep(LOOK).await;
            for taken in &mut all {
                if !self.findings(taken).await?.is_empty() {
                    missing.push(format!("it was gone and has come back: {}", taken.symptom()));
                }
            }
            if !missing.is_empty() {
                return Ok(missing);
            }
        }
        for taken in &mut all {
            missing.extend(taken.lost().await?);
        }
        if !missing.is_empty() {
            return Ok(missing);
        }
        for taken in &mut all {
            let steps = taken.fault.fresh(self.number);
            if steps.is_empty() {
                continue;
            }
            (self.tell)("sending a fresh change through the whole path");
            if let Err(failed) = taken.run(&steps, self.vocabulary).await {
                missing.push(format!("a fresh change doesn't get through: {}", said(&failed)));
            }
            // What it has changed isn't the trainee's doing.
            let scene = taken.world.scene();
            taken.part.after = scene.kept().await.map_err(failed_step)?;
            taken.part.scene = scene.save().map_err(failed_step)?;
        }
        Ok(missing)
    }

    async fn take_up<'p>(&self, fault: &'p Fault, part: &'p mut Part) -> Result<Taken<'p>, CommandError> {
        let recorder = Recorder::default();
        let scene = Scene::restore(self.fleet.clone(), part.scene.clone(), recorder.clone(), silent());
        let mut world = World::default();
        world.enter(scene.await.map_err(failed_step)?);
        Ok(Taken { fault, part, world, recorder })
    }

    /// Waits until the symptom is gone, if it goes.
    async fn symptom(&self, taken: &mut Taken<'_>) -> Result<Option<String>, CommandError> {
        let until = Instant::now() + Duration::from_secs(taken.fault.patience);
        while !self.findings(taken).await?.is_empty() {
            if Instant::now() > until {
                return Ok(Some(format!("it is still so: {}", taken.symptom())));
            }
            (self.tell)("looking whether the symptom is gone");
            tokio::time::sleep(LOOK).await;
        }
        Ok(None)
    }

    async fn findings(&self, taken: &mut Taken<'_>) -> Result<Vec<Finding>, CommandError> {
        let mut findings = taken.world.scene().diagnose().await.map_err(failed_step)?;
        findings.retain(|finding| !self.exercise.healthy || finding.is_failure());
        Ok(findings)
    }
}

impl Taken<'_> {
    async fn lost(&mut self) -> Result<Vec<String>, CommandError> {
        let scene = self.world.scene();
        let lost = scene.lost(&self.part.before, &self.part.after, &self.fault.may).await.map_err(failed_step)?;
        Ok(lost.iter().map(ToString::to_string).collect())
    }

    async fn run(&mut self, steps: &[gherkin::Step], vocabulary: &Collection<World>) -> Result<(), script::Failed> {
        script::run(&mut self.world, steps, vocabulary, &self.recorder).await
    }

    fn symptom(&self) -> String {
        self.part.scene.fill(&self.fault.symptom)
    }
}

/// Nobody is told what a step waits for.
#[must_use]
pub fn silent() -> Progress {
    Progress(std::sync::Arc::new(|_| {}))
}

fn said(failed: &script::Failed) -> String {
    format!("{} ({})", failed.step, failed.first_line())
}

/// A step's error as a command's.
#[must_use]
pub fn failed_step(error: StepError) -> CommandError {
    match error {
        StepError::Fleet(error) => CommandError::Fleet(error),
        error => CommandError::Environment { message: error.to_string(), hint: None },
    }
}

impl From<script::Failed> for CommandError {
    fn from(failed: script::Failed) -> Self {
        Self::Environment {
            message: format!("the exercise can't be set up: {failed}"),
            hint: Some("`fleetdrill run` with its scenario shows more".into()),
        }
    }
}
