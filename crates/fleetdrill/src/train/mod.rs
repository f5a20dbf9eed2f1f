//! Training: a scenario up to its remedy is a broken fleet that somebody repairs.
//!
//! [`exercise`] says which scenario, what the page at night tells, and what a repair has to leave alone. A [`session`] is an exercise
//! that is running, kept in [`session_dir`] from one command to the next; [`start`], [`running_exercise`], [`check`], [`reset`], [`restart`] and
//! [`stop`] are what commands do with it. [`set_up`] breaks the fleet, by [`broken_scenario`] and [`step_runner`], which runs steps
//! outside of a run. [`repair_check`] tells whether a repair holds, [`answer`] what a trainee's answer names; [`score`] is what is left of
//! a session, of which [`debrief`] tells by its events ([`session_event`]); [`solution`] holds the lines that a page prints for a shell. [`verify`] tries exercises out by [`trials`]: the
//! printed solution, and wrong repairs.

pub mod answer;
pub mod broken_scenario;
pub mod check;
pub mod debrief;
mod directories;
pub mod exercise;
pub mod fault_names;
pub mod repair_check;
pub mod reset;
pub mod restart;
pub mod running_exercise;
pub mod score;
pub mod session;
pub mod session_dir;
pub mod session_event;
pub mod set_up;
pub mod solution;
pub mod start;
mod start_claim;
pub mod step_runner;
pub mod stop;
pub mod trials;
pub mod verify;
