//! Upgrading KubeFleet on a fleet and seeing what differs.
//!
//! [`passage`] takes a fleet from one version to another under scenarios that are in the middle of things, which [`in_flight`]
//! makes of the others. [`record`] is what comes out, and everything that reports say is made of it: [`report`] puts the
//! [`difference`]s together, those that a [`baseline`] has among them, which `compare` finds between two versions and `flight` in
//! the middle of things; [`action`] says what to do about those that break something.

pub mod action;
pub mod baseline;
mod compare;
pub mod difference;
mod flight;
pub mod html;
pub mod in_flight;
pub mod json;
pub mod passage;
pub mod record;
pub mod report;
mod story;
pub mod text;
mod timeline;
mod words;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
