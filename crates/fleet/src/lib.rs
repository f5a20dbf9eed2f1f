//! KubeFleet on clusters: installing it, joining members, putting faults in and taking them out, and waiting for what its
//! controllers report.
//!
//! [`Fleet`] is a hub and its members. [`observe`] watches objects and records how their conditions move; waits read
//! from there. [`argocd`] is the other product that may run on a fleet, [`webhook`] an admission webhook of the fleet's own.
//! [`snapshot`] takes what the diagnosis reads, and [`bundle`] saves it, with what a person wants to see beside it. What a
//! fault is made of stands in [`faults`].

pub mod agents;
pub mod argocd;
pub mod bundle;
pub mod capability;
pub mod error;
pub mod existing;
pub mod faults;
mod fleet;
mod install;
pub mod kinds;
mod member;
pub mod objects;
pub mod observe;
pub mod placed;
mod port;
pub mod snapshot;
mod start;
pub mod tables;
pub mod upgrade;
pub mod webhook;

pub use crate::error::FleetError;
pub use crate::fleet::{Fleet, Options};
pub use crate::install::{FIELD_MANAGER, apply_crds};
pub use crate::member::{MEMBER_LABEL, Member, SYSTEM, identity, member_namespace};
pub use crate::start::{HUB, Progress, Stage};
