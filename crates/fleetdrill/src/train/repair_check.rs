//! Checks a repair: objects that had to survive exist, the symptom is gone and stays gone, and a fresh change goes
//! through.

use std::time::Duration;

use cucumber::step::Collection;
use diagnosis::Finding;
use fleet::Fleet;
use steps::Recorder;
use steps::{ScenarioContext, World};
use tokio::time::Instant;

use super::exercise::{Exercise, Fault};
use super::session::SessionFault;
use super::step_runner::{self, FailedStep, failed_step, silent};
use crate::error::CommandError;

/// Interval between two diagnoses.
const LOOK: Duration = Duration::from_secs(3);

/// Time for which the symptom has to stay gone. A hub-agent reconciles a run that updates a cluster every 15 s.
pub const SETTLING: Duration = Duration::from_secs(20);

/// Check of a repair.
pub struct RepairCheck<'a> {
    /// The fleet.
    pub fleet: &'a Fleet,
    /// The exercise.
    pub exercise: &'a Exercise,
    /// Number of the check, from 1.
    pub number: usize,
    /// True if all causes have been named.
    pub named: bool,
    /// All step definitions.
    pub vocabulary: &'a Collection<World>,
    /// Callback for progress messages.
    pub tell: &'a (dyn Fn(&str) + Sync),
}

/// A fault's scene, restored from its saved state.
struct RestoredFault<'a> {
    fault: &'a Fault,
    part: &'a mut SessionFault,
    world: World,
    recorder: Recorder,
}

/// Returns a line for each object that has to be there and isn't.
async fn lost(all: &mut [RestoredFault<'_>]) -> Result<Vec<String>, CommandError> {
    let mut missing = Vec::new();
    for taken in all {
        missing.extend(taken.lost().await?);
    }
    Ok(missing)
}

impl RepairCheck<'_> {
    /// Runs the check. Returns a line for each thing that is missing, in words that don't reveal the solution; empty if
    /// the repair passes.
    ///
    /// # Errors
    /// Returns an error if the fleet doesn't answer.
    pub async fn judge(&self, parts: &mut [SessionFault]) -> Result<Vec<String>, CommandError> {
        if self.exercise.healthy && !self.named {
            return Ok(vec!["you haven't said yet what the cause is: `fleetdrill train diagnose`".into()]);
        }
        let mut all = Vec::new();
        for (fault, part) in self.exercise.faults.iter().zip(parts) {
            all.push(self.take_up(fault, part).await?);
        }
        (self.tell)("looking for what has to be there");
        let mut missing = lost(&mut all).await?;
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
        missing = self.returned_symptoms(&mut all).await?;
        if !missing.is_empty() {
            return Ok(missing);
        }
        missing = lost(&mut all).await?;
        if !missing.is_empty() {
            return Ok(missing);
        }
        self.fresh_changes(&mut all).await
    }

    /// Watches for [`SETTLING`] whether the symptoms stay gone. Returns a line for each that comes back.
    async fn returned_symptoms(&self, all: &mut [RestoredFault<'_>]) -> Result<Vec<String>, CommandError> {
        let mut returned = Vec::new();
        let until = Instant::now() + SETTLING;
        while returned.is_empty() && Instant::now() < until {
            (self.tell)(&format!("looking whether it stays so, for {} s", SETTLING.as_secs()));
            tokio::time::sleep(LOOK).await;
            for taken in all.iter_mut() {
                if !self.findings(taken).await?.is_empty() {
                    returned.push(format!("it was gone and has come back: {}", taken.symptom()));
                }
            }
        }
        Ok(returned)
    }

    /// Makes each fault's fresh change. Returns a line for each that fails.
    async fn fresh_changes(&self, all: &mut [RestoredFault<'_>]) -> Result<Vec<String>, CommandError> {
        let mut missing = Vec::new();
        for taken in all {
            let steps = taken.fault.fresh(self.number);
            if steps.is_empty() {
                continue;
            }
            (self.tell)("sending a fresh change through the whole path");
            if let Err(failed) = taken.run(&steps, self.vocabulary).await {
                missing.push(format!("a fresh change doesn't get through: {}", said(&failed)));
            }
            // The fresh change isn't the trainee's doing: save the state after it for the next check.
            let scene = taken.world.context();
            taken.part.after = scene.kept().await.map_err(failed_step)?;
            taken.part.scene = scene.save().map_err(failed_step)?;
        }
        Ok(missing)
    }

    async fn take_up<'p>(
        &self,
        fault: &'p Fault,
        part: &'p mut SessionFault,
    ) -> Result<RestoredFault<'p>, CommandError> {
        let recorder = Recorder::default();
        let scene = ScenarioContext::restore(self.fleet.clone(), part.scene.clone(), recorder.clone(), silent());
        let mut world = World::default();
        world.enter(scene.await.map_err(failed_step)?);
        Ok(RestoredFault { fault, part, world, recorder })
    }

    /// Waits until the symptom is gone. Returns a line if it is still there when the fault's patience ends.
    async fn symptom(&self, taken: &mut RestoredFault<'_>) -> Result<Option<String>, CommandError> {
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

    async fn findings(&self, taken: &mut RestoredFault<'_>) -> Result<Vec<Finding>, CommandError> {
        let mut findings = taken.world.context().diagnose().await.map_err(failed_step)?;
        findings.retain(|finding| !self.exercise.healthy || finding.is_failure());
        Ok(findings)
    }
}

impl RestoredFault<'_> {
    async fn lost(&mut self) -> Result<Vec<String>, CommandError> {
        let scene = self.world.context();
        let lost = scene.lost(&self.part.before, &self.part.after, &self.fault.may).await.map_err(failed_step)?;
        Ok(lost.iter().map(ToString::to_string).collect())
    }

    async fn run(&mut self, steps: &[gherkin::Step], vocabulary: &Collection<World>) -> Result<(), FailedStep> {
        step_runner::run(&mut self.world, steps, vocabulary, &self.recorder).await
    }

    fn symptom(&self) -> String {
        self.part.scene.fill(&self.fault.symptom)
    }
}

fn said(failed: &FailedStep) -> String {
    format!("{} ({})", failed.step, failed.first_line())
}
