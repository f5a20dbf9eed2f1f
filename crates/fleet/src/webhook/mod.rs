//! An admission webhook that answers like a policy engine's. fleetdrill itself serves it over HTTPS on loopback, with a
//! certificate of the fleet's CA, as a process under the fleet's supervisor.
//!
//! A [`RequiredLabelRule`] says which objects are refused, and with which message. Each rule is a file in the fleet's directory. The
//! file's name is the path by which an API server asks for the rule. The file is read again for each request, so that a
//! change takes effect at once. The webhook configuration on the API server selects the objects that the webhook is
//! asked about.

mod fleet_methods;
mod rule;
mod server;

pub use self::fleet_methods::PROCESS;
pub use self::rule::RequiredLabelRule;
pub use self::server::serve;
