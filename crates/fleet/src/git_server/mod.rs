//! A git server that asks for a password, for repositories that Argo CD reads over HTTP or HTTPS. fleetdrill itself serves the repositories of the
//! fleet's directory on loopback, as a process under the fleet's supervisor; `git http-backend` does git's part.
//!
//! Each repository has a password of its own, in a file beside its directory. The file is read for each request, so that a change takes
//! effect at once.

mod fleet_methods;
mod server;

pub use self::server::serve;
