//! Reports of an upgrade: the differences between runs on two versions, and in scenarios during the upgrade.
//!
//! The input is a [`record::UpgradeRecord`]. [`report`] collects the [`difference`]s: [`crate::comparison`] finds those between runs
//! on two versions, `in_flight_differences` those in scenarios that were in progress, and
//! `false_alarms` what the continuous diagnosis named without a fault. A [`baseline`] has the known
//! differences, and [`advice`] says what to do about differences that break something. [`text`], [`json`] and [`html`]
//! write the report.

pub mod advice;
pub mod baseline;
pub mod difference;
mod false_alarms;
pub mod html;
mod in_flight_differences;
pub mod json;
pub mod report;
pub mod text;
mod timeline;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod fixture_argocd;
#[cfg(test)]
mod tests;
