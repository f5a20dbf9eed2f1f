//! Scores the diagnosis (`fleetdrill accuracy`): drills of random faults whose causes are known from what was done.
//!
//! 1. [`DrillCatalogue`] takes faults and healthy traffic from the scenarios of features.
//! 2. [`generator`] makes drills of them, from a seed.
//! 3. `fleet_run` runs drills on one fleet, `drill_run` one of them, `scenario_run` a scenario of a drill. The looks at the fleet
//!    are those of [`continuous_diagnosis`](crate::continuous_diagnosis).
//! 4. `judge` compares what the diagnosis says with what was broken.
//!
//! [`report::accuracy`] sums up and writes the result. The catalogue, the generator and the judge need no cluster.

mod catalogue;
mod drill_run;
mod fleet_run;
pub mod generator;
mod judge;
mod scenario_run;

pub use catalogue::{DrillCatalogue, FaultCase, HealthyCase};
pub use fleet_run::{AccuracyFleet, FinishedDrills};
