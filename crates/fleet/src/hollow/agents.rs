//! State of the agents of all hollow members, in memory.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kube::api::PatchParams;
use kube::{Client, Error};
use tokio::sync::watch;

use super::behaviour::{HollowBehaviours, MemberBehaviour};

/// Field manager of the member-agent (v0.1.2).
const FIELD_MANAGER: &str = "member-agent";

/// Time after which a failed request is made again.
pub(super) const RETRY: Duration = Duration::from_secs(2);

/// Agents of all hollow members of a fleet.
pub(super) struct Agents {
    /// Client for the hub.
    pub client: Client,
    behaviours: watch::Receiver<Arc<HollowBehaviours>>,
    joined: Mutex<HashSet<String>>,
    /// Next heartbeat of each member, with the generation of the request that it answers.
    heartbeats: Mutex<HashMap<String, (i64, Instant)>>,
    /// Progress with each Work, by its uid.
    progress: Mutex<HashMap<String, WorkProgress>>,
}

/// Progress of an agent with a Work.
#[derive(Clone, Copy)]
pub(super) struct WorkProgress {
    generation: i64,
    /// Time when the agent saw this generation first.
    pub seen: Instant,
    /// Time when the agent reported this generation as applied.
    pub applied: Option<Instant>,
}

impl Agents {
    /// Creates agents of which none has joined.
    pub fn new(client: Client, behaviours: watch::Receiver<Arc<HollowBehaviours>>) -> Self {
        Self { client, behaviours, joined: Mutex::default(), heartbeats: Mutex::default(), progress: Mutex::default() }
    }

    /// Returns the behaviour of a member's agent.
    pub fn behaviour(&self, member: &str) -> MemberBehaviour {
        self.behaviours.borrow().of(member)
    }

    /// True if a member has joined. Its agent handles no Works before.
    pub fn has_joined(&self, member: &str) -> bool {
        locked(&self.joined).contains(member)
    }

    /// Records that a member has joined.
    pub fn join(&self, member: &str) {
        locked(&self.joined).insert(member.to_owned());
    }

    /// Records that a member leaves.
    pub fn leave(&self, member: &str) {
        locked(&self.joined).remove(member);
        locked(&self.heartbeats).remove(member);
    }

    /// Returns the time until a member's next heartbeat; none if it is due.
    pub fn until_heartbeat(&self, member: &str, generation: i64) -> Option<Duration> {
        let (answered, next) = *locked(&self.heartbeats).get(member)?;
        let left = next.saturating_duration_since(Instant::now());
        (answered == generation && !left.is_zero()).then_some(left)
    }

    /// Records a heartbeat that was sent.
    pub fn sent_heartbeat(&self, member: &str, generation: i64, next: Duration) {
        locked(&self.heartbeats).insert(member.to_owned(), (generation, Instant::now() + next));
    }

    /// Returns the progress with a Work, which starts with the first call for a generation.
    pub fn progress(&self, uid: &str, generation: i64) -> WorkProgress {
        let mut progress = locked(&self.progress);
        let new = WorkProgress { generation, seen: Instant::now(), applied: None };
        let known = progress.entry(uid.to_owned()).or_insert(new);
        if known.generation != generation {
            *known = new;
        }
        *known
    }

    /// Records that a generation of a Work was reported as applied.
    pub fn applied(&self, uid: &str, generation: i64) {
        if let Some(known) = locked(&self.progress).get_mut(uid).filter(|known| known.generation == generation) {
            known.applied.get_or_insert_with(Instant::now);
        }
    }

    /// Forgets a Work.
    pub fn forget(&self, uid: &str) {
        locked(&self.progress).remove(uid);
    }
}

/// Parameters of all writes.
pub(super) fn as_member_agent() -> PatchParams {
    PatchParams { field_manager: Some(FIELD_MANAGER.into()), ..PatchParams::default() }
}

/// True if the object that was to be written is gone, or its namespace is.
pub(super) fn is_gone(error: &Error) -> bool {
    matches!(error, Error::Api(status) if status.is_not_found())
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
