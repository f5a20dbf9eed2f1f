//! Upgrades KubeFleet or Argo CD on a fleet.
//!
//! [`fleet_upgrade`] upgrades or downgrades a fleet while scenarios run between their fault and their remedy; [`in_flight_scenarios`]
//! makes such scenarios of normal ones. The result is a [`record::UpgradeRecord`], from which [`report::upgrade`] makes
//! all reports.

pub mod fleet_upgrade;
pub mod in_flight_scenarios;
