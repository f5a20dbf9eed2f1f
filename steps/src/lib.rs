//! The vocabulary that features are written in: the [`World`] and the step definitions.
//!
//! One file per noun ([`placement`], [`workload`], [`update_run`], [`approval`], [`member`], [`diagnosing`], for Argo CD
//! [`repository`], [`application`], [`syncing`] and [`destination`], and so on); [`reports`] holds the one
//! step that asserts conditions, whatever the object. A World leases the fleet for one scenario ([`Scene`]): it gives
//! names, remembers what was made and undoes it at the end. [`record`] is what comes out.

pub mod admission;
pub mod application;
pub mod applying;
pub mod approval;
mod binding;
mod data_table;
pub mod deadline;
pub mod destination;
pub mod diagnosing;
pub mod envelope;
pub mod error;
pub mod field_change;
pub mod fields;
pub mod forging;
pub mod hub_application;
pub mod keeping;
pub mod limits;
pub mod live;
pub mod logs;
pub mod looks;
pub mod member;
pub mod names;
mod noticing;
pub mod objects;
pub mod overriding;
pub mod params;
pub mod placement;
pub mod policy;
pub mod real_time;
pub mod record;
pub mod reports;
pub mod repository;
pub mod results;
pub mod retries;
mod scene;
pub mod settings;
pub mod syncing;
pub mod table_columns;
pub mod tables;
mod twins;
pub mod update_run;
pub mod upgrade;
pub mod vocabulary;
pub mod webhook;
mod wording;
pub mod workload;
mod world;

pub use deadline::Deadline;
pub use error::StepError;
pub use keeping::{Kept, MayDiffer, RepairLoss, start_stopped_agents};
pub use scene::{Definitions, Progress, SavedScene, Scene, SceneInfo};
pub use world::World;
