//! An admission webhook that answers, as a policy engine's does: fleetdrill itself, over HTTPS on loopback with a certificate
//! of the fleet's CA, as a process of the fleet's keeper.
//!
//! A [`Rule`] says what it refuses and with which words. Each is a file in the fleet's directory under a name that is the path
//! by which an API server asks for it; it is read anew for each question, so that a change of it counts at once. Which objects
//! an API server asks about is for the webhook's configuration to say.

mod on_fleet;
mod rule;
mod server;

pub use self::on_fleet::PROCESS;
pub use self::rule::Rule;
pub use self::server::serve;
