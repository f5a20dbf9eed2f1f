//! All scenarios share a fleet, until one needs it for itself.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard, watch};

/// Who is on a fleet during a run. Clones are of the same run.
#[derive(Clone, Debug)]
pub struct Sharing {
    counts: Arc<watch::Sender<Counts>>,
    alone: Arc<Mutex<()>>,
}

/// How many scenarios there are, of each kind.
#[derive(Clone, Copy, Debug)]
struct Counts {
    to_come: usize,
    running: usize,
    /// Those that wait to have the fleet alone.
    waiting: usize,
    /// How many run at the same time at most.
    jobs: usize,
}

impl Counts {
    /// Nobody runs, and nobody can begin to: none is left, or those that wait leave no room.
    fn quiet(&self) -> bool {
        self.running == 0 && (self.to_come == 0 || self.waiting >= self.jobs)
    }
}

/// A scenario's share in the fleet, given back when it is dropped.
#[derive(Debug)]
pub struct Share {
    of: Sharing,
    waits: bool,
    alone: Option<OwnedMutexGuard<()>>,
}

impl Sharing {
    /// For a run of so many scenarios, of which `jobs` run at the same time.
    #[must_use]
    pub fn new(scenarios: usize, jobs: usize) -> Self {
        let counts = Counts { to_come: scenarios, running: 0, waiting: 0, jobs };
        Self { counts: Arc::new(watch::Sender::new(counts)), alone: Arc::default() }
    }

    /// A scenario begins.
    #[must_use]
    pub fn enter(&self) -> Share {
        self.counts.send_modify(|c| {
            c.to_come = c.to_come.saturating_sub(1);
            c.running += 1;
        });
        Share { of: self.clone(), waits: false, alone: None }
    }
}

impl Share {
    /// Waits until all others have ended, and has the fleet alone from then on. Others that wait for the same take turns.
    pub async fn alone(&mut self) {
        if self.alone.is_some() {
            return;
        }
        self.waits = true;
        self.of.counts.send_modify(|c| {
            c.running -= 1;
            c.waiting += 1;
        });
        let turn = Arc::clone(&self.of.alone).lock_owned().await;
        // The sender lives in `self`: it can't be gone.
        let _ = self.of.counts.subscribe().wait_for(Counts::quiet).await;
        self.of.counts.send_modify(|c| {
            c.waiting -= 1;
            c.running += 1;
        });
        self.waits = false;
        self.alone = Some(turn);
    }

    /// How many others have to end before this one can have the fleet alone, as often as it is asked.
    pub fn others(&self) -> impl Fn() -> usize + use<> {
        let counts = Arc::clone(&self.of.counts);
        move || {
            let counts = counts.borrow();
            counts.to_come + counts.running
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.counts.send_modify(|c| if self.waits { c.waiting -= 1 } else { c.running -= 1 });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::Sharing;

    #[test]
    fn alone_is_after_all_others_and_those_to_come() {
        let sharing = Sharing::new(3, 2);
        let (mut one, two) = (sharing.enter(), sharing.enter());
        assert!(one.alone().now_or_never().is_none(), "another runs");
        drop(one);
        let mut one = sharing.enter();
        drop(two);
        assert!(one.alone().now_or_never().is_some());
    }

    #[test]
    fn whoever_waits_in_the_last_place_is_alone() {
        let sharing = Sharing::new(2, 1);
        let mut one = sharing.enter();
        assert!(one.alone().now_or_never().is_some(), "the other can't begin before this one ends");
    }

    #[test]
    fn two_take_turns() {
        let sharing = Sharing::new(2, 2);
        let (mut one, mut two) = (sharing.enter(), sharing.enter());
        let mut first = Box::pin(one.alone());
        assert!(first.as_mut().now_or_never().is_none());
        let mut second = Box::pin(two.alone());
        assert!(second.as_mut().now_or_never().is_none(), "it is the first one's turn");
        assert!(first.now_or_never().is_some());
        assert!(second.as_mut().now_or_never().is_none());
        drop(one);
        assert!(second.now_or_never().is_some());
    }
}
