//! The vocabulary that features are written in: the [`World`] and the step definitions.
//!
//! One file per noun ([`placement`], [`workload`], [`update_run`], [`approval`], [`member`], [`diagnosing`], for Argo CD
//! [`repository`], [`application`], [`syncing`] and [`destination`], and so on); [`conditions`] holds the one
//! step that asserts conditions, whatever the object. A World leases the fleet for one scenario ([`ScenarioContext`]): it gives
//! names, remembers what was made and undoes it at the end. [`record`] is what comes out.

pub mod admission;
pub mod application;
pub mod application_deletion;
pub mod application_set;
mod application_waits;
pub mod applying;
pub mod approval;
mod argocd_retries;
mod argocd_settings;
mod attempt_end_times;
mod binding;
pub mod conditions;
mod context;
mod data_table;
pub mod deadline;
pub mod deleting;
pub mod destination;
pub mod diagnosing;
mod duplicate_works;
pub mod envelope;
pub mod error;
pub mod eviction;
pub mod expected_finding;
pub mod field_change;
pub mod fields;
pub mod finalizer;
pub mod forged_condition;
pub mod hollow;
pub mod hub;
pub mod hub_application;
pub mod included_objects;
pub mod kubectl_get;
pub mod kubectl_list;
pub mod limits;
pub mod logs;
pub mod member;
pub mod member_object;
pub mod mentions;
pub mod names;
pub mod needs;
pub mod network;
mod object_lookup;
pub mod objects;
pub mod operation_attempts;
pub mod overrides;
pub mod params;
mod pauses;
pub mod phrases;
pub mod placement;
mod placement_objects;
pub mod policy;
pub mod project;
pub mod reconcile_schedule;
mod recorder;
pub mod registration;
pub mod repository;
pub mod repository_access;
pub mod resource_results;
mod selected_members;
pub mod settings;
pub mod shared_upgrade;
pub mod survival;
mod survival_baseline;
pub mod syncing;
pub mod update_run;
pub mod upgrade;
pub mod vocabulary;
pub mod webhook;
mod wording;
pub mod workload;
mod world;

pub use context::{DeferredCrds, OwnFleetNotice, SavedScenario, ScenarioContext, ScenarioInfo, WaitNotice};
pub use deadline::Deadline;
pub use error::StepError;
pub use expected_finding::{AssertedDiagnosis, ExpectedFinding};
pub use mentions::{Mention, mentions};
pub use needs::{ProviderAbility, StepNeeds, StepRole, TableShape, needs};
pub use recorder::{OnEntry, Recorder};
pub use survival::{AllowedDifferences, RepairLoss, start_stopped_agents};
pub use survival_baseline::SurvivalBaseline;
pub use world::World;
