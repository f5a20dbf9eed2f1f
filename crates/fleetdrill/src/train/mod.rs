//! Training: a scenario up to its remedy is a broken fleet that somebody repairs.
//!
//! [`exercise`] says which scenario, what the page at night tells, and what a repair has to leave alone; [`script`] runs steps
//! outside of a run; [`room`] is what one exercise that goes on is, from one command to the next; [`judge`] tells whether a
//! repair holds; [`stage`] breaks the fleet; [`score`] is what is left of it; [`solution`] holds the lines that a page prints for a shell;
//! [`answer`] judges what a trainee says the cause is; [`proof`] tries each exercise out: its printed solution, and wrong repairs.

pub mod answer;
pub mod exercise;
pub mod judge;
pub mod proof;
pub mod room;
pub mod score;
pub mod script;
pub mod solution;
pub mod stage;
