//! Tests of the command as a person or a CI system uses it: the real program, with a real fleet where a test needs one.
//!
//! Tests without a fleet are in [`help`], [`input`], [`versions`], [`contexts`], [`cache`], [`bundle`], [`bundle_serve`], [`config`],
//! [`guides`], [`report`] and [`supervisor`]. [`fleet`], [`existing`], [`pods`], [`argocd`], [`run`], [`upgrade`], [`argocd_upgrade`],
//! [`accuracy`] and [`continuous_diagnosis`] start fleets, one at a
//! time. Each test has a state directory of its own, so that it neither sees nor harms other fleets, and leaves no process behind
//! even if it fails.
//!
//! Tests that take long and repeat what others show in another way are ignored: `make test-long` runs them.

mod accuracy;
mod action;
mod api;
mod argocd;
mod argocd_upgrade;
mod bundle;
mod bundle_serve;
mod cache;
mod config;
mod contexts;
mod continuous_diagnosis;
mod existing;
mod features;
mod fleet;
mod guides;
mod help;
mod hostile;
mod input;
mod members;
mod place;
mod pods;
mod proc;
mod report;
mod run;
mod running;
mod setup;
mod streams;
mod supervisor;
mod train;
mod upgrade;
mod versions;
