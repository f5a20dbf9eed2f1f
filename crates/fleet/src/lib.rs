//! KubeFleet on clusters: installs it, joins members, induces faults and undoes them, and waits for what its
//! controllers report.
//!
//! [`Fleet`] is a hub and its members. `fleet.rs` has its main methods. Further methods, none of which `fleet.rs`
//! calls, are in `fleet_argocd.rs`, `cluster_backup.rs`, `hub_credentials.rs`, `request_limits.rs`, [`request_flood`], [`existing`], [`hollow`],
//! [`network`], [`upgrade`] and [`webhook`].
//!
//! [`observe`] watches objects and records the transitions of their conditions; waits are built on it. [`argocd`] is
//! the other product that can run on a fleet, [`webhook`] is an admission webhook for the fleet's API servers, and [`hollow`]
//! plays the agents of members that have no clusters. [`pages`] lists a kind page by page.
//! [`snapshot`] takes the objects that the diagnosis reads, and [`bundle`] saves them together with events and logs for
//! people; both remove secrets with [`redact`]. [`bundle_server`] serves a bundle to kubectl. [`existing`] finds and checks fleets that exist already.
//! [`faults`] has the faults that scenarios induce, [`network`] those of connections, and [`kubefleet_webhooks`] starts KubeFleet's own webhooks.
//!
//! The modules import each other without circles. [`error`] and [`kinds`] are at the bottom. [`observe`] is above them,
//! then `member`, then [`argocd`] and `start`, then `fleet.rs`. The modules that import [`Fleet`] are at the top:
//! [`bundle`], [`existing`], [`faults`], `fleet_argocd`, [`hollow`], [`network`], [`placed_resources`], [`upgrade`] and [`webhook`].

mod agent_access;
pub mod agent_rights;
pub mod agents;
mod application_conditions;
pub mod argocd;
pub mod bundle;
pub mod bundle_server;
pub mod capability;
mod cluster_backup;
pub mod error;
pub mod existing;
mod existing_error;
pub mod faults;
mod fleet;
mod fleet_argocd;
pub mod git_server;
pub mod hollow;
mod hub_credentials;
mod hub_probe;
mod install;
pub mod kinds;
pub mod kubectl_table;
pub mod kubefleet_webhooks;
pub mod labels;
mod list_error;
pub mod local_server;
mod member;
pub mod network;
pub mod objects;
pub mod observe;
pub mod origin;
pub mod pages;
pub mod placed_resources;
mod port;
pub mod redact;
pub mod request_flood;
mod request_limits;
mod seen_objects;
pub mod snapshot;
mod start;
pub mod upgrade;
pub mod webhook;

pub use crate::error::FleetError;
pub use crate::fleet::{ChildFleetParts, Fleet, FleetCreateOptions};
pub use crate::install::{FIELD_MANAGER, apply_crds};
pub use crate::labels::MEMBER_LABEL;
pub use crate::member::{Member, SYSTEM, identity, member_namespace};
pub use crate::start::{OnStartMilestone, StartMilestone};
pub use clusters::cluster::HUB;
