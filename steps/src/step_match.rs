//! Finds the function of a step by its text.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use cucumber::World as _;
use cucumber::gherkin::{Step, StepType};
use cucumber::step::{AmbiguousMatchError, Collection, Context, Location};

use crate::world::World;

/// All step functions with their expressions.
pub(crate) static FUNCTIONS: LazyLock<Collection<World>> = LazyLock::new(World::collection);

/// Function of a step, with the parameters that its expression takes out of the step's text.
#[derive(Debug)]
pub struct StepMatch {
    /// Place of the function; none if cucumber doesn't know it.
    pub(crate) location: Option<Location>,
    /// Texts of the parameters, in their order; without the quotes of a `{string}`.
    pub(crate) parameters: Vec<String>,
}

type FoundMatch = Result<Option<Arc<StepMatch>>, AmbiguousMatchError>;

/// Matches by keyword and text. To find one, cucumber tries the expressions of all functions; the same step stands in
/// many scenarios, and several parts of fleetdrill ask for the needs of each of them.
static FOUND: LazyLock<Mutex<HashMap<StepType, HashMap<String, FoundMatch>>>> = LazyLock::new(Mutex::default);

/// Returns the function of a step; none if no expression matches its text.
///
/// # Errors
/// Returns an error if more than one expression matches.
pub fn step_match(step: &Step) -> Result<Option<Arc<StepMatch>>, AmbiguousMatchError> {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let of_keyword = found.entry(step.ty).or_default();
    if let Some(known) = of_keyword.get(&step.value) {
        return known.clone();
    }
    let new = FUNCTIONS.find(step).map(|function| {
        let (_, _, location, context) = function?;
        Some(Arc::new(StepMatch { location, parameters: parameters(&context) }))
    });
    of_keyword.insert(step.value.clone(), new.clone());
    new
}

/// Groups the captures of a match by parameter: `{string}` has one for each kind of quotes, named `__0_0` and `__0_1`, of which one is
/// empty.
fn parameters(context: &Context) -> Vec<String> {
    let mut parameters: Vec<(Option<&str>, String)> = Vec::new();
    for (name, text) in context.matches.iter().skip(1) {
        let parameter = name.as_deref().and_then(|name| Some(name.strip_prefix("__")?.split_once('_')?.0));
        match parameters.last_mut() {
            Some((last, texts)) if parameter.is_some() && *last == parameter => texts.push_str(text),
            _ => parameters.push((parameter, text.clone())),
        }
    }
    parameters.into_iter().map(|(_, text)| text).collect()
}
