//! A wait ends in one of three ways: it holds, it can no longer hold, or its time is up. A fourth way is that the fleet
//! breaks.

use std::time::{Duration, Instant};

use clusters::cluster::Cluster;
use record::{FailedWait, Observation, WaitEnd};

use super::conditions::observed;
use super::watching::{Observer, WatchSelection, WatchedObjects};
use crate::error::FleetError;

/// Result of a wait's check at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The expectation holds.
    Holds,
    /// The expectation doesn't hold yet; the text says what is seen instead.
    Pending(String),
    /// The expectation can't hold any more; the text says why.
    Never(String),
}

impl Verdict {
    /// Holds if there is no object of this name.
    #[must_use]
    pub fn gone(objects: &WatchedObjects, name: &str) -> Self {
        if objects.contains_key(name) { Self::Pending("still there".into()) } else { Self::Holds }
    }
}

/// Result of a wait that succeeded.
#[derive(Clone, Debug)]
pub struct WaitHeld {
    /// Time that the wait took.
    pub after: Duration,
    /// Objects when the wait ended.
    pub objects: WatchedObjects,
}

impl Observer {
    /// Waits until `check` holds.
    ///
    /// # Errors
    /// Returns an error if the check can no longer hold, `limit` is over, or a process of the fleet ends.
    pub async fn until(
        &self,
        cluster: &Cluster,
        watched: &WatchSelection,
        expectation: &str,
        limit: Duration,
        check: impl FnMut(&WatchedObjects) -> Verdict,
    ) -> Result<WaitHeld, FleetError> {
        let started = Instant::now();
        match self.wait(cluster, watched, limit, WaitGoal::Reach, check).await? {
            WaitOutcome::Held(objects) => Ok(WaitHeld { after: started.elapsed(), objects }),
            WaitOutcome::Failed { why, last } => {
                Err(failed(expectation, started.elapsed(), WaitEnd::Impossible { why }, last))
            }
            WaitOutcome::TimedOut { verdict, last } => Err(failed(expectation, limit, timed_out(verdict), last)),
        }
    }

    /// Watches that `check` goes on to hold for the whole of `time`.
    ///
    /// # Errors
    /// When it doesn't hold at some moment, when the objects haven't been seen at all, or when a process of the fleet ends.
    pub async fn stays(
        &self,
        cluster: &Cluster,
        watched: &WatchSelection,
        expectation: &str,
        time: Duration,
        check: impl FnMut(&WatchedObjects) -> Verdict,
    ) -> Result<(), FleetError> {
        let started = Instant::now();
        match self.wait(cluster, watched, time, WaitGoal::Keep, check).await? {
            WaitOutcome::Held(_) | WaitOutcome::TimedOut { verdict: Some(Verdict::Holds), .. } => Ok(()),
            WaitOutcome::Failed { why, last } => {
                Err(failed(expectation, started.elapsed(), WaitEnd::Changed { why }, last))
            }
            WaitOutcome::TimedOut { verdict, last } => Err(failed(expectation, time, timed_out(verdict), last)),
        }
    }

    /// Waits until `check` has decided what the goal is about, or until `limit` is over.
    async fn wait(
        &self,
        cluster: &Cluster,
        watched: &WatchSelection,
        limit: Duration,
        goal: WaitGoal,
        mut check: impl FnMut(&WatchedObjects) -> Verdict,
    ) -> Result<WaitOutcome, FleetError> {
        let deadline = tokio::time::Instant::now() + limit;
        let mut state = self.watch(&cluster.client, watched);
        let mut exits = self.first_exit.clone();
        let mut verdict = None;
        let mut last = None;
        loop {
            if let Some(exit) = exits.borrow_and_update().clone() {
                return Err(FleetError::Broken { exit });
            }
            let objects = state.borrow_and_update().clone();
            if let Some(objects) = objects {
                if let Some(name) = self.outdated(&watched.cluster, &objects) {
                    verdict = Some(Verdict::Pending(format!("{name} is seen as it was before its change")));
                } else {
                    match (goal, check(&objects)) {
                        (WaitGoal::Reach, Verdict::Holds) => return Ok(WaitOutcome::Held(objects)),
                        (_, Verdict::Never(why)) | (WaitGoal::Keep, Verdict::Pending(why)) => {
                            return Ok(WaitOutcome::Failed { why, last: observation(watched, Some(&objects)) });
                        }
                        (_, undecided) => verdict = Some(undecided),
                    }
                }
                last = Some(objects);
            }
            tokio::select! {
                // A closed channel shows nothing new. Its branch doesn't match then, and `select!` goes on with the others.
                Ok(()) = state.changed() => {}
                Ok(()) = exits.changed() => {}
                () = tokio::time::sleep_until(deadline) => {
                    return Ok(WaitOutcome::TimedOut { verdict, last: observation(watched, last.as_ref()) });
                }
            }
        }
    }
}

/// Goal of a wait.
#[derive(Clone, Copy, Debug)]
enum WaitGoal {
    /// Ends as soon as the check holds.
    Reach,
    /// Ends as soon as the check doesn't hold.
    Keep,
}

/// End of a wait, whatever the caller makes of it.
enum WaitOutcome {
    /// The goal was to reach it, and the check holds.
    Held(WatchedObjects),
    /// The check says that it can't hold, or, where the goal was to keep it, that it doesn't.
    Failed { why: String, last: Observation },
    /// The limit is over.
    TimedOut {
        /// The check's last verdict; none where nothing was seen.
        verdict: Option<Verdict>,
        last: Observation,
    },
}

fn timed_out(verdict: Option<Verdict>) -> WaitEnd {
    let pending = match verdict {
        Some(Verdict::Pending(difference)) => Some(difference),
        Some(Verdict::Holds | Verdict::Never(_)) | None => None,
    };
    WaitEnd::TimedOut { pending }
}

fn failed(expectation: &str, after: Duration, end: WaitEnd, last: Observation) -> FleetError {
    FailedWait { expectation: expectation.to_owned(), seconds: after.as_secs_f64(), end, last }.into()
}

/// Describes the objects that a failed wait saw last. It is made once, at the end: a busy fleet changes objects many times a second.
fn observation(watched: &WatchSelection, objects: Option<&WatchedObjects>) -> Observation {
    let Some(objects) = objects else {
        return Observation::NoAnswer { kind: watched.kind.kind.to_owned(), cluster: watched.cluster.clone() };
    };
    let objects = objects.values().take(Observation::MOST_OBJECTS).map(|object| observed(object));
    Observation::Objects { objects: objects.collect() }
}
