//! A read-only API server for a bundle, so that kubectl, k9s and other clients can look into it.
//!
//! [`ServedBundle`] answers requests without a network: `request` parses them, `resource` has the kinds that a cluster of the bundle
//! serves, `discovery` lists them, `answer` makes the lists, objects and watches, and `table` the columns that `kubectl get` prints.
//! [`BundleServer`] is the network: HTTPS on loopback with a CA of its own, a token, and a kubeconfig with a context for each cluster.
//!
//! Nothing changes in a bundle, so a watch sends what there is and then stays silent.

mod access_review;
mod age;
mod answer;
mod cluster;
mod columns;
mod discovery;
mod json_path;
mod log;
mod protobuf_review;
mod request;
mod resource;
mod selector;
mod server;
mod status;
mod table;
#[cfg(test)]
mod tests;
mod well_known;
mod well_known_columns;

pub use self::cluster::ServedBundle;
pub use self::server::{BundleServer, BundleServerError};
