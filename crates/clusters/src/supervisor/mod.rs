//! Supervisor of a fleet: the process that is the parent of everything that runs for the fleet.
//!
//! The owner of a supervisor is the `fleetdrill` that created the fleet. The owner holds the other end of the
//! supervisor's standard input. When the owner ends, for whatever reason, the supervisor kills all its process groups,
//! removes the fleet's directory and ends, unless it was told to keep the fleet. When the supervisor itself is killed,
//! the kernel kills its children (parent death signal, Linux).
//!
//! [`serve`] runs a supervisor, [`SupervisorClient`] is its client, and [`protocol`] has their messages: JSON lines on a Unix
//! socket in the fleet's directory. The subcommand is `supervisor`. The socket and the lock are still called `keeper`, as in
//! earlier versions, so that this version finds and ends fleets that those started.

mod children;
mod client;
mod clock;
pub mod protocol;
mod server;
mod throttle;

pub use children::exec;
pub use client::{ProcessFault, SupervisorClient, SupervisorProgram};
pub(crate) use clock::{CAN_SHIFT as CAN_SHIFT_CLOCKS, shift as shift_clock};
pub use server::serve;
pub(crate) use throttle::throttle;
