//! Hollow members: members without clusters, for fleets of hundreds.
//!
//! One process, `fleetdrill hollow serve`, plays the agents of all hollow members of a fleet against the real hub: it
//! sends heartbeats, joins and leaves, and reports Works as applied and available. Everything on the hub is real: the
//! hub-agent, the scheduler, the rollouts. On the members there is nothing. What the process writes, and how, is what the
//! member-agent of KubeFleet v0.1.2 writes.
//!
//! [`HollowBehaviours`] has the delays and faults. They are in a file of the fleet's directory that the process reads again
//! when it changes. `heartbeats` and `works` have the two controllers of an agent, `work_status` the statuses of Works, and
//! `fleet_methods` the methods of [`crate::Fleet`].

mod agents;
mod behaviour;
mod behaviour_file;
mod conditions;
mod fleet_methods;
mod heartbeats;
mod names;
mod objects;
mod server;
mod work_objects;
mod work_status;
mod works;

pub use self::behaviour::{HollowBehaviour, HollowBehaviours, MemberBehaviour};
pub use self::behaviour_file::FILE;
pub use self::names::{MOST_HOLLOW_MEMBERS, PROCESS, hollow_name, ring_of};
pub use self::server::serve;
