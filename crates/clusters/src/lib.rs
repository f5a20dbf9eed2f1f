//! Where fleetdrill's clusters come from, and the toolchain that they are built from.
//!
//! [`toolchain`] turns pinned Go modules into programs in the user's cache directory. [`local`] makes clusters of those
//! programs: it asks a [`keeper`], a process of its own, to start and watch them, so that a fleet ends with its owner
//! whatever kills that, or outlives it when it is told to. [`docker`] runs each in a container, [`kind`] has the kind
//! program make them there. [`existing`] finds clusters that somebody else made. Each is a [`provider`]. Nothing here knows what a fleet's agents do.

pub mod cluster;
mod control_plane;
pub mod credentials;
pub mod docker;
pub mod error;
pub mod existing;
pub mod home;
pub mod images;
pub mod keeper;
pub mod kind;
pub mod kubeconfig;
pub mod local;
pub mod machine;
mod outside;
pub mod pki;
mod pods;
pub mod provider;
pub mod state_dir;
pub mod stderr;
pub mod toolchain;
