//! Breaking a fleet: an exercise's scenarios up to their remedies.

use cucumber::step::Collection;
use fleet::Fleet;
use steps::record::Recorder;
use steps::{Deadline, Kept, Scene, SceneInfo, World, limits};

use super::exercise::Script;
use super::judge::{failed_step, silent};
use super::room::Part;
use super::script;
use crate::error::CommandError;

/// A fault's scenario on its way.
pub struct Stage {
    world: World,
    recorder: Recorder,
    before: Option<Kept>,
}

impl Stage {
    /// Everything is well: what comes before the fault. `suffix` ends all names.
    ///
    /// # Errors
    /// When a step fails or the fleet doesn't answer.
    pub async fn set(
        fleet: &Fleet,
        run: &str,
        suffix: String,
        script: &Script,
        vocabulary: &Collection<World>,
    ) -> Result<Self, CommandError> {
        let recorder = Recorder::default();
        let deadline = Deadline::after(limits::SCENARIO);
        let info =
            SceneInfo { run: run.to_owned(), suffix, real_time: false, deadline, progress: silent(), upgrade: None };
        let mut world = World::default();
        world.enter(Scene::new(fleet.clone(), info, recorder.clone()).await);
        let mut stage = Self { world, recorder, before: None };
        script::run(&mut stage.world, &script.healthy, vocabulary, &stage.recorder).await?;
        stage.before = Some(stage.kept().await?);
        Ok(stage)
    }

    /// The fault comes, and is there: the controllers report it.
    ///
    /// # Errors
    /// When a step fails or the fleet doesn't answer.
    pub async fn break_it(&mut self, script: &Script, vocabulary: &Collection<World>) -> Result<Part, CommandError> {
        script::run(&mut self.world, &script.broken, vocabulary, &self.recorder).await?;
        let after = self.kept().await?;
        let scene = self.world.scene().save().map_err(failed_step)?;
        Ok(Part { scene, before: self.before.clone().unwrap_or_default(), after })
    }

    /// More steps.
    ///
    /// # Errors
    /// When one fails.
    pub async fn run(&mut self, steps: &[gherkin::Step], vocabulary: &Collection<World>) -> Result<(), CommandError> {
        Ok(script::run(&mut self.world, steps, vocabulary, &self.recorder).await?)
    }

    /// Takes away what it has made, on a fleet that goes on without it.
    pub async fn strike(mut self) {
        if let Some(mut scene) = self.world.leave() {
            // CRDs stay until the fleet ends: while one goes, Argo CD can't read its cluster.
            drop(scene.strike(false).await);
        }
    }

    async fn kept(&mut self) -> Result<Kept, CommandError> {
        self.world.scene().kept().await.map_err(failed_step)
    }
}
