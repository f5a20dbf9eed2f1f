//! Breaks a fleet: runs an exercise's scenarios up to their remedies.

use cucumber::step::Collection;
use fleet::Fleet;
use steps::Recorder;
use steps::{Deadline, ScenarioContext, ScenarioInfo, SurvivalBaseline, World, limits};

use super::exercise::FaultSteps;
use super::session::SessionFault;
use super::step_runner::{self, failed_step, silent};
use crate::error::CommandError;

/// Scenario of a fault, on its way to the fault.
pub struct BrokenScenario {
    world: World,
    recorder: Recorder,
    /// Objects that there were before the fault.
    before: SurvivalBaseline,
}

impl BrokenScenario {
    /// Runs the steps before the fault, after which everything is well. `suffix` ends all names.
    ///
    /// # Errors
    /// Returns an error if a step fails or the fleet doesn't answer.
    pub async fn set_up(
        fleet: &Fleet,
        run: &str,
        suffix: String,
        script: &FaultSteps,
        vocabulary: &Collection<World>,
    ) -> Result<Self, CommandError> {
        let recorder = Recorder::default();
        let deadline = Deadline::after(limits::SCENARIO);
        let info =
            ScenarioInfo { run: run.to_owned(), suffix, real_time: false, deadline, progress: silent(), upgrade: None };
        let mut world = World::default();
        world.enter(ScenarioContext::new(fleet.clone(), info, recorder.clone()).await);
        step_runner::run(&mut world, &script.healthy, vocabulary, &recorder).await?;
        let before = world.context().kept().await.map_err(failed_step)?;
        Ok(Self { world, recorder, before })
    }

    /// Induces the fault, until the controllers report it.
    ///
    /// # Errors
    /// Returns an error if a step fails or the fleet doesn't answer.
    pub async fn induce(
        &mut self,
        script: &FaultSteps,
        vocabulary: &Collection<World>,
    ) -> Result<SessionFault, CommandError> {
        step_runner::run(&mut self.world, &script.broken, vocabulary, &self.recorder).await?;
        let scene = self.world.context();
        let after = scene.kept().await.map_err(failed_step)?;
        Ok(SessionFault { scene: scene.save().map_err(failed_step)?, before: self.before.clone(), after })
    }

    /// Runs more steps.
    ///
    /// # Errors
    /// Returns an error if one fails.
    pub async fn run(&mut self, steps: &[gherkin::Step], vocabulary: &Collection<World>) -> Result<(), CommandError> {
        Ok(step_runner::run(&mut self.world, steps, vocabulary, &self.recorder).await?)
    }

    /// Deletes the objects of the scenario, on a fleet that other scenarios use.
    pub async fn clean_up(mut self) {
        if let Some(mut scene) = self.world.leave() {
            // CRDs stay until the fleet ends: Argo CD can't read its cluster while a CRD is being deleted.
            drop(scene.cleanup(false).await);
        }
    }
}
