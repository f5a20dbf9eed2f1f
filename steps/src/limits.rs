//! Time limits of waits. Each limit is several times the measured duration, so that a slow machine passes, and far from
//! forever, so that a lost event fails. If a number comes from a controller, the comment says so.

use std::time::Duration;

/// A condition that a controller writes as soon as it sees a change: within a second on v0.1.2.
pub const REPORTED: Duration = Duration::from_secs(90);

/// A placement's resources are applied and available: 0.7 s on a quiet fleet; after an error the work generator backs
/// off for up to 60 s.
pub const AVAILABLE: Duration = Duration::from_secs(180);

/// A busy hub-agent has a resource snapshot that it made itself in its informer cache. Nothing that the hub-agent writes tells when: the
/// step always lets this time pass. A run that was made 0.2 s after the snapshot that it asked for failed, since there was no such
/// snapshot (v0.1.2).
pub const CACHED: Duration = Duration::from_secs(1);

/// A run says whether it is initialized: within 1 s.
pub const INITIALIZED: Duration = Duration::from_secs(15);

/// A run goes through its stages: the hub-agent looks at an updating cluster after 15 s, at a waiting stage after 60 s.
pub const RUN: Duration = Duration::from_secs(240);

/// The diagnosis names a cause: at once where an object tells it, and after the time for which its state may last without counting as a
/// failure, which is 30 s in most rules and 60 s for a deletion. Measured: up to 69 s on two busy cores.
pub const DIAGNOSED: Duration = Duration::from_secs(120);

/// A member notices that something was taken from it: the namespace controller deletes a Work after 5 s, the agent its
/// workload within 6 s after that.
pub const WITHDRAWN: Duration = Duration::from_secs(90);

/// A line that a controller has logged can be read. The log of a container is behind its process by a moment.
pub const LOGGED: Duration = Duration::from_secs(15);

/// Argo CD begins what it is asked for: within a second on v3.2, within 4 s on a busy machine. What it missed it begins after
/// 120 s, or when it is asked for a comparison.
pub const NOTICED: Duration = Duration::from_secs(15);

/// Argo CD compares the Application again after a sync: within 2 s on v3.2. A sync that it missed it compares after 120 s, or when it is
/// asked to.
pub const COMPARED: Duration = Duration::from_secs(30);

/// An Application compares or syncs: within 2 s on Argo CD v3.2, and 2 s more for each further wave or phase.
pub const SYNCED: Duration = Duration::from_secs(120);

/// A hub-agent has looked at everything again after its restart: within 10 s with 202 members and 100 placements, and after 140 s or more
/// where the hub's API server has a tenth of its processor time (v0.1.2).
pub const CAUGHT_UP: Duration = Duration::from_secs(300);

/// More time for a scenario whose fleet has hundreds of members.
pub const HUNDREDS: Duration = Duration::from_secs(600);

/// The whole scenario. Whatever hangs in spite of every wait's own limit ends here, by name.
pub const SCENARIO: Duration = Duration::from_secs(600);
