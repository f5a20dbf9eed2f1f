//! Git servers for repositories that Argo CD reads over HTTP or HTTPS, with a password, or over SSH, with a key. fleetdrill itself serves the
//! repositories of the fleet's directory on loopback, as processes under the fleet's supervisor; git does git's part. Where Argo CD runs in
//! Pods, the server listens on the address of their network, too.
//!
//! Each repository has a password of its own, in a file beside its directory. The file is read for each request, so that a change takes
//! effect at once. A fleet has one host key and one client's key for SSH.

mod fleet_methods;
mod server;
#[cfg(feature = "ssh")]
mod ssh;
#[cfg(feature = "ssh")]
mod ssh_fleet_methods;
#[cfg(not(feature = "ssh"))]
mod without_ssh;

pub use self::server::{serve, serve_pods};
#[cfg(feature = "ssh")]
pub use self::ssh::serve_ssh;
