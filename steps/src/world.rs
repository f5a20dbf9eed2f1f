//! cucumber's World: empty until the runner hands it the scene.

use crate::context::ScenarioContext;
use crate::step_match::FUNCTIONS;

/// State that cucumber gives to each step of a scenario.
#[derive(Debug, Default, cucumber::World)]
pub struct World(Option<Box<ScenarioContext>>);

impl World {
    /// Hands over the scenario's lease on the fleet, before its first step.
    pub fn enter(&mut self, context: ScenarioContext) {
        self.0 = Some(Box::new(context));
    }

    /// Gives the lease back, after the last step.
    pub fn leave(&mut self) -> Option<ScenarioContext> {
        self.0.take().map(|context| *context)
    }

    /// The scenario's lease on the fleet.
    ///
    /// # Panics
    /// When the runner didn't hand one over, which is its defect.
    pub fn context(&mut self) -> &mut ScenarioContext {
        self.0.as_mut().expect("the runner enters a context before the first step")
    }

    /// All step definitions.
    #[must_use]
    pub fn vocabulary() -> cucumber::step::Collection<Self> {
        FUNCTIONS.clone()
    }
}
