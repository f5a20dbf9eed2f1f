//! A wait ends in one of three ways: it holds, it can no longer hold, or its time is up. A fourth is that the fleet broke.

use std::time::{Duration, Instant};

use clusters::cluster::Cluster;

use super::conditions::describe;
use super::watching::{Objects, Observer, Watched};
use crate::error::FleetError;

/// What a wait's check says of the present moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is so.
    Holds,
    /// Not yet: what is seen instead.
    Pending(String),
    /// It can't be so any more, and why.
    Never(String),
}

impl Verdict {
    /// Holds once there is no object of that name.
    #[must_use]
    pub fn gone(objects: &Objects, name: &str) -> Self {
        if objects.contains_key(name) { Self::Pending("still there".into()) } else { Self::Holds }
    }
}

/// How a wait that succeeded went.
#[derive(Clone, Debug)]
pub struct Held {
    /// After how long.
    pub after: Duration,
    /// The objects at that moment.
    pub objects: Objects,
}

impl Observer {
    /// Waits until `check` holds.
    ///
    /// # Errors
    /// When it can no longer hold, when `limit` is over, or when a process of the fleet ends.
    pub async fn until(
        &self,
        cluster: &Cluster,
        watched: &Watched,
        expectation: &str,
        limit: Duration,
        mut check: impl FnMut(&Objects) -> Verdict,
    ) -> Result<Held, FleetError> {
        let started = Instant::now();
        let deadline = tokio::time::Instant::now() + limit;
        let mut state = self.watch(&cluster.client, watched);
        let mut exits = self.first_exit.clone();
        let mut last = format!("no answer yet for {} on {}", watched.kind.kind, watched.cluster);
        loop {
            if let Some(exit) = exits.borrow_and_update().clone() {
                return Err(FleetError::Broken { exit });
            }
            let objects = state.borrow_and_update().clone();
            if let Some(objects) = objects {
                let outdated = self.outdated(&watched.cluster, &objects);
                let unseen =
                    outdated.map(|name| Verdict::Pending(format!("{name} is seen as it was before its change")));
                match unseen.unwrap_or_else(|| check(&objects)) {
                    Verdict::Holds => return Ok(Held { after: started.elapsed(), objects }),
                    Verdict::Pending(what) => last = with_objects(&what, &objects),
                    Verdict::Never(why) => {
                        let last = with_objects("", &objects);
                        let seconds = started.elapsed().as_secs_f64();
                        return Err(FleetError::Never { expectation: expectation.into(), seconds, why, last });
                    }
                }
            }
            tokio::select! {
                changed = state.changed() => if changed.is_err() { last.push_str(" (the watch ended)"); tokio::time::sleep_until(deadline).await; },
                changed = exits.changed() => if changed.is_err() { tokio::time::sleep_until(deadline).await; },
                () = tokio::time::sleep_until(deadline) => {
                    let seconds = limit.as_secs_f64();
                    return Err(FleetError::TimedOut { expectation: expectation.into(), seconds, last });
                }
            }
        }
    }

    /// Watches that `check` goes on to hold for the whole of `time`.
    ///
    /// # Errors
    /// When it doesn't hold at some moment, or when a process of the fleet ends.
    pub async fn stays(
        &self,
        cluster: &Cluster,
        watched: &Watched,
        expectation: &str,
        time: Duration,
        mut check: impl FnMut(&Objects) -> Verdict,
    ) -> Result<(), FleetError> {
        let started = Instant::now();
        let changed = self.until(cluster, watched, expectation, time, |objects| match check(objects) {
            Verdict::Holds => Verdict::Pending("it holds".into()),
            Verdict::Pending(what) | Verdict::Never(what) => Verdict::Never(what),
        });
        match changed.await {
            Err(FleetError::TimedOut { last, .. }) if last.starts_with("it holds") => Ok(()),
            Err(FleetError::Never { expectation, why, last, .. }) => {
                let seconds = started.elapsed().as_secs_f64();
                Err(FleetError::DidNotStay { expectation, seconds, last: format!("{why}; {last}") })
            }
            Err(error) => Err(error),
            Ok(_) => Ok(()),
        }
    }
}

fn with_objects(what: &str, objects: &Objects) -> String {
    let mut text = what.to_owned();
    for object in objects.values().take(3) {
        text.push_str("\n  ");
        text.push_str(&describe(object));
    }
    if objects.is_empty() {
        text.push_str(" (no such object)");
    }
    text
}
