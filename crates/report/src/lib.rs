//! Reports for people and for programs, made of records and findings.
//!
//! [`run`] reports runs: its reporters take the events of a run as they come, and write files from its record at the
//! end. [`runs`] merges the records of several runs and compares them with earlier ones. [`upgrade`] compares the runs of an upgrade and
//! reports the differences; [`comparison`] compares for both. [`accuracy`] scores what the diagnosis said in drills. [`debrief`] tells what a
//! trainee saw and did in an exercise. [`finding`] has findings as text, Markdown and data. [`document`] checks the number of a document's
//! schema before it is read. [`origin`] says what put an object on a member. [`text`] has the
//! styles and the wrapping that all texts share. [`name_masker`] masks names in controllers' texts so that the texts can be compared.
//!
//! Nothing here asks a cluster, starts a task or decides an exit code.

pub mod accuracy;
pub mod comparison;
pub mod debrief;
pub mod document;
pub mod finding;
mod html;
pub mod name_masker;
pub mod origin;
pub mod run;
pub mod runs;
pub mod text;
pub mod upgrade;
