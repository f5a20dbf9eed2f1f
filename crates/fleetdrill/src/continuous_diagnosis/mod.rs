//! Diagnosis of a fleet all the time: looks at the whole fleet, one per second, and judges of what is said.
//!
//! 1. [`looks`] takes a snapshot of the fleet about once a second and diagnoses it, as `diagnose` would do it at that moment.
//! 2. [`owners`] tells by the names in a finding which scenarios it is about.
//! 3. [`accounted_codes`] has the failure codes that a scenario accounts for.
//! 4. [`sightings`] counts in how many looks a finding was.
//! 5. [`false_alarms`] judges findings of a run: failures that no fault of a running scenario accounts for. `watch` runs it
//!    beside the scenarios, on the run's fleet and on each fleet that a scenario has for itself.
//!
//! `accuracy` judges drills by 1 to 4. The judges, and all but `looks` and `watch`, need no cluster.

pub mod accounted_codes;
pub mod false_alarms;
pub mod looks;
pub mod owners;
pub mod running_scenarios;
pub mod sightings;
mod watch;

pub(crate) use false_alarms::DiagnosedFleet;
pub(crate) use watch::RunDiagnosis;
