//! The steps' shapes as data: what a step can be compared with that no definition fits, and what `fleetdrill list --steps`
//! prints for programs.
//!
//! The data is written from the step definitions by `make docs`; a test compares.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// A shape in which a step can be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepShape {
    /// Chapter of docs/steps.md that has it.
    pub topic: String,
    /// The step's text with its parameters in braces, e.g. `a member {string} of its own`.
    pub shape: String,
    /// The keywords that it can follow: `Given`, `When`, `Then`.
    pub keywords: Vec<String>,
    /// Explanation of the step.
    pub explanation: String,
    /// A step of this shape from the features or exercises.
    pub example: String,
}

static SHAPES: LazyLock<Vec<StepShape>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../vocabulary.json")).unwrap_or_default());

/// All shapes, in the order of docs/steps.md.
#[must_use]
pub fn shapes() -> &'static [StepShape] {
    &SHAPES
}
