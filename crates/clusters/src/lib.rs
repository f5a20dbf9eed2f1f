//! Providers: where fleetdrill's clusters come from, and how KubeFleet's agents run for them.
//!
//! [`local`] makes clusters of programs: it asks a [`supervisor`], a process of its own, to start and watch them, so that a fleet ends
//! with its owner whatever kills that, or outlives it when it is told to. [`docker`] runs each in a container, [`kind`] has the kind
//! program make them there. [`existing`] finds clusters that somebody else made. Each is a [`provider`].
//!
//! What knows KubeFleet stands in [`agents`]: the agents' names, images, charts, rights, and the way to their hub. The rest knows
//! clusters, processes and containers only. Installing KubeFleet and joining members is crate `fleet`'s.

pub mod ability;
pub mod agents;
mod answer_limit;
pub mod cluster;
mod control_plane;
pub mod credentials;
pub mod docker;
pub mod docker_images;
pub mod error;
mod etcd;
mod exec_plugin;
pub mod existing;
mod external_program;
pub mod home;
pub mod kind;
pub mod kubeconfig;
pub mod lazy_client;
pub mod local;
pub mod machine;
pub mod pki;
mod pods;
pub mod provider;
pub mod provider_spec;
pub mod retry;
mod service_account_token;
pub mod state_dir;
pub mod stderr;
pub mod supervisor;
