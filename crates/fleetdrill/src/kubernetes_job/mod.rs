//! A run as an Indexed Job of Kubernetes, whose Pods run the shards.
//!
//! [`options`] are those of the command line; `run_options` checks those that the Pods pass to `fleetdrill run`. `manifests` makes the objects
//! from the kustomize base in `manifests/job`. A Pod publishes the record of its shard as `ConfigMaps` (`results`). `cluster` creates the
//! objects and deletes them, `follow` waits for the Job's end, and `pods` reads from the Pods which of them can't start and which ended
//! without a result.

pub(crate) mod cluster;
pub(crate) mod durations;
pub(crate) mod features_source;
pub(crate) mod follow;
pub(crate) mod manifests;
pub mod options;
pub(crate) mod pods;
pub(crate) mod results;
pub(crate) mod run_options;
