//! Whose turn it is. So many scenarios run at the same time, and where clusters are costly, fewer of those that make some of their own.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::watcher::{Key, key};
use crate::abilities;
use crate::suite::Suite;

/// How many scenarios run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jobs {
    /// All of them.
    pub all: usize,
    /// Those among them that make clusters of their own.
    pub with_clusters: usize,
}

impl Jobs {
    /// So many, whatever they do.
    #[must_use]
    pub fn all(all: usize) -> Self {
        Self { all, with_clusters: all }
    }
}

/// Whose turn it is. Clones share it.
#[derive(Clone)]
pub(super) struct Turns {
    makers: Arc<HashSet<Key>>,
    places: Arc<Semaphore>,
    clusters: Arc<Semaphore>,
    taken: Arc<Mutex<HashMap<Key, Turn>>>,
}

/// A place, and one among those who make clusters.
type Turn = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

impl Turns {
    /// For the scenarios of a suite.
    pub(super) fn new(suite: &Suite, jobs: Jobs) -> Self {
        let makers = suite.scenarios().filter(|(feature, scenario)| abilities::makes_clusters(feature, scenario));
        let makers = makers.map(|(feature, scenario)| key(feature, scenario)).collect();
        Self::of(makers, jobs)
    }

    fn of(makers: HashSet<Key>, jobs: Jobs) -> Self {
        Self {
            makers: Arc::new(makers),
            places: Arc::new(Semaphore::new(jobs.all)),
            clusters: Arc::new(Semaphore::new(jobs.with_clusters)),
            taken: Arc::default(),
        }
    }

    /// How many scenarios have to be begun so that all places can be taken, however many wait for clusters.
    pub(super) fn most(&self) -> usize {
        let waiting = self.makers.len().saturating_sub(self.clusters.available_permits());
        self.places.available_permits() + waiting
    }

    /// Waits for a scenario's turn. Whoever waits for clusters takes no other's place meanwhile.
    pub(super) async fn wait(&self, scenario: &Key) {
        let makes = self.makers.contains(scenario);
        let clusters = if makes { Arc::clone(&self.clusters).acquire_owned().await.ok() } else { None };
        if let Ok(place) = Arc::clone(&self.places).acquire_owned().await {
            self.taken().insert(scenario.clone(), (place, clusters));
        }
    }

    /// Gives a scenario's place to the next. What it has made clusters with is to be dropped once these are gone.
    pub(super) fn end(&self, scenario: &Key) -> Option<OwnedSemaphorePermit> {
        self.taken().remove(scenario)?.1
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<Key, Turn>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn who_waits_for_clusters_takes_nobody_s_place() {
        let key = |line| ("f.feature".to_owned(), line);
        let turns = Turns::of([key(1), key(2), key(3)].into(), Jobs { all: 2, with_clusters: 1 });
        let comes = |line| turns.wait(&key(line)).now_or_never().is_some();
        assert_eq!(turns.most(), 4);
        assert!(comes(1));
        assert!(!comes(2), "there are clusters for one");
        assert!(comes(4));
        assert!(!comes(5), "two places are all there are");
        let clusters = turns.end(&key(1));
        assert!(clusters.is_some());
        assert!(!comes(2), "the clusters are still there");
        assert!(comes(5));
        drop(clusters);
        assert!(!comes(2), "no place is free");
        assert!(turns.end(&key(4)).is_none());
        assert!(comes(2));
    }

    #[test]
    fn one_at_a_time_is_one_whoever_makes_clusters() {
        let key = |line| ("f.feature".to_owned(), line);
        let turns = Turns::of([key(1), key(2)].into(), Jobs::all(1));
        let comes = |line| turns.wait(&key(line)).now_or_never().is_some();
        assert!(comes(1));
        assert!(!comes(2) && !comes(3));
        drop(turns.end(&key(1)));
        assert!(comes(3));
        assert!(!comes(2));
    }
}
