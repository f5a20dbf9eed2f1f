//! cucumber's World: empty until the runner hands it the scene.

use cucumber::World as _;

use crate::scene::Scene;

/// What cucumber gives to each step of a scenario.
#[derive(Debug, Default, cucumber::World)]
pub struct World(Option<Box<Scene>>);

impl World {
    /// Hands over the scenario's lease on the fleet, before its first step.
    pub fn enter(&mut self, scene: Scene) {
        self.0 = Some(Box::new(scene));
    }

    /// Gives the lease back, after the last step.
    pub fn leave(&mut self) -> Option<Scene> {
        self.0.take().map(|scene| *scene)
    }

    /// The scenario's lease on the fleet.
    ///
    /// # Panics
    /// When the runner didn't hand one over, which is its defect.
    pub fn scene(&mut self) -> &mut Scene {
        self.0.as_mut().expect("the runner enters a scene before the first step")
    }

    /// All step definitions.
    #[must_use]
    pub fn vocabulary() -> cucumber::step::Collection<Self> {
        Self::collection()
    }
}
