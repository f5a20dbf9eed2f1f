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

/// How many faults an exercise may have: each has a letter in the names of its objects.
pub const MOST_FAULTS: usize = 26;

/// The end of the names of one fault's objects: the beginning of the exercise's or the case's id, a letter for the fault, and a number for
/// how often it was set up again.
///
/// `fault` is below [`MOST_FAULTS`].
#[must_use]
pub fn name_suffix(id: &str, fault: usize, resets: usize) -> String {
    let letter = u32::try_from(fault + 10).ok().and_then(|digit| char::from_digit(digit, 36)).unwrap_or('z');
    let again = if resets == 0 { String::new() } else { resets.to_string() };
    format!("{id}{letter}{again}")
}

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{MOST_FAULTS, name_suffix};

    #[test]
    fn each_fault_and_each_reset_has_a_suffix_of_its_own() {
        assert_eq!(name_suffix("kv", 0, 0), "kva");
        assert_eq!(name_suffix("kv", 4, 12), "kve12");
        let all: BTreeSet<String> = (0..MOST_FAULTS).map(|fault| name_suffix("kv", fault, 0)).collect();
        assert_eq!(all.len(), MOST_FAULTS);
    }
}
