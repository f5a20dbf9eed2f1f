//! The command as a person or a CI system meets it: the real program, and where it takes one, a real fleet.
//!
//! What can be shown without a fleet stands in [`help`], [`input`], [`versions`], [`contexts`], [`cache`],
//! [`bundle`], [`guides`] and [`keeper`]. [`fleet`], [`existing`],
//! [`pods`], [`argocd`], [`run`] and [`upgrade`] start fleets, one at a time. Every test has a state directory of its own, so that fleets of others are
//! neither seen nor harmed, and leaves no process behind even when it fails.

mod api;
mod argocd;
mod bundle;
mod cache;
mod contexts;
mod existing;
mod features;
mod fleet;
mod guides;
mod help;
mod input;
mod keeper;
mod place;
mod pods;
mod proc;
mod run;
mod running;
mod setup;
mod streams;
mod train;
mod upgrade;
mod versions;
