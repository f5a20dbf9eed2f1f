//! Fleets that commands work on: one group of options, one resolution, one acquisition.
//!
//! `run`, `up`, `upgrade` and `train` get a fleet in these steps, each a type of its own:
//!
//! 1. [`options`] has what can be named on the command line; `needs` has what scenarios need beside.
//! 2. [`resolve`] makes a [`ResolvedFleet`] of them: a new fleet, one that is up, or an external one, which exists already.
//!    What can't be had is refused here, before anything is built or started, in the words of `refusal`.
//! 3. [`ResolvedFleet::probe`] builds KubeFleet's agents, so that the capabilities of the version are known.
//! 4. [`ProbedFleet::prepare`] builds the rest, and starts a new fleet; [`PreparedFleet::take`] gives the fleet.
//!
//! `up` and `upgrade`, which know what kind of fleet they want, take the steps of [`NewFleet`] and [`RunningFleet`] themselves.
//! `diagnose` and `collect`, which only read, reach a fleet by `ReadableFleet`.
//!
//! A new provider that makes clusters is added in two files here: its name is a variant of [`options::ProviderName`], and all else
//! about it, from its options to its recipe, is a variant of [`ClusterSource`]; the compiler names the places.

mod acquire;
mod cluster_identity;
mod cluster_source;
mod contexts;
mod external_fleet;
mod fleet_choice;
mod hub_members;
mod in_cluster;
mod member_contexts;
mod members_from;
mod needs;
mod new_fleet;
pub mod options;
mod profile;
mod progress;
mod readable_fleet;
mod refusal;
mod resolve;
mod running_fleet;
mod user;

pub use acquire::{AcquiredFleet, PreparedFleet, ProbedFleet};
pub use cluster_source::ClusterSource;
pub(crate) use contexts::contexts;
pub use external_fleet::{ExternalFleet, ProbedExternalFleet};
pub(crate) use members_from::MembersFrom;
pub use needs::{FleetNeeds, members_of};
pub use new_fleet::{BuiltFleet, FleetPlan, NewFleet, ProbedNewFleet};
pub use profile::FleetProfile;
pub use progress::{FleetBuilder, FleetProgress};
pub(crate) use readable_fleet::{ReadableFleet, RequiredState};
pub use resolve::{FleetRequest, ResolvedFleet, resolve};
pub use running_fleet::RunningFleet;
pub use user::FleetUser;
