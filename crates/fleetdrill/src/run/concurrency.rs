//! Concurrency limits: one for all scenarios, a lower one for those that create clusters.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::cucumber_writer::{ScenarioLocation, key};
use crate::abilities;
use crate::suite::Suite;

/// Maximum numbers of scenarios that run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConcurrencyLimits {
    /// Maximum number of all scenarios.
    pub all: usize,
    /// Maximum number of scenarios that create clusters of their own.
    pub with_clusters: usize,
}

impl ConcurrencyLimits {
    /// Sets the same maximum for all scenarios.
    #[must_use]
    pub fn all(all: usize) -> Self {
        Self { all, with_clusters: all }
    }
}

/// Limits how many scenarios run at the same time. Clones share the limits.
#[derive(Clone)]
pub(super) struct ConcurrencyLimiter {
    makers: Arc<HashSet<ScenarioLocation>>,
    places: Arc<Semaphore>,
    clusters: Arc<Semaphore>,
    taken: Arc<Mutex<HashMap<ScenarioLocation, ScenarioPermits>>>,
}

/// Permit to run, and a permit to create clusters for scenarios that need it.
type ScenarioPermits = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

impl ConcurrencyLimiter {
    /// Creates the limits for the scenarios of a suite.
    pub(super) fn new(suite: &Suite, jobs: ConcurrencyLimits) -> Self {
        let makers = suite.scenarios().filter(|(feature, scenario)| abilities::makes_clusters(feature, scenario));
        let makers = makers.map(|(feature, scenario)| key(feature, scenario)).collect();
        Self::of(makers, jobs)
    }

    fn of(makers: HashSet<ScenarioLocation>, jobs: ConcurrencyLimits) -> Self {
        Self {
            makers: Arc::new(makers),
            places: Arc::new(Semaphore::new(jobs.all)),
            clusters: Arc::new(Semaphore::new(jobs.with_clusters)),
            taken: Arc::default(),
        }
    }

    /// Returns the number of scenarios that cucumber has to start so that all slots can be used, however many scenarios
    /// wait for clusters.
    pub(super) fn most(&self) -> usize {
        let waiting = self.makers.len().saturating_sub(self.clusters.available_permits());
        self.places.available_permits() + waiting
    }

    /// Waits for a slot. A scenario that waits for clusters holds no slot meanwhile.
    pub(super) async fn wait(&self, scenario: &ScenarioLocation) {
        let makes = self.makers.contains(scenario);
        let clusters = if makes { Arc::clone(&self.clusters).acquire_owned().await.ok() } else { None };
        if let Ok(place) = Arc::clone(&self.places).acquire_owned().await {
            self.taken().insert(scenario.clone(), (place, clusters));
        }
    }

    /// Frees the scenario's slot and returns its cluster permit, which the caller drops when the clusters are deleted.
    pub(super) fn end(&self, scenario: &ScenarioLocation) -> Option<OwnedSemaphorePermit> {
        self.taken().remove(scenario)?.1
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<ScenarioLocation, ScenarioPermits>> {
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
        let turns =
            ConcurrencyLimiter::of([key(1), key(2), key(3)].into(), ConcurrencyLimits { all: 2, with_clusters: 1 });
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
        let turns = ConcurrencyLimiter::of([key(1), key(2)].into(), ConcurrencyLimits::all(1));
        let comes = |line| turns.wait(&key(line)).now_or_never().is_some();
        assert!(comes(1));
        assert!(!comes(2) && !comes(3));
        drop(turns.end(&key(1)));
        assert!(comes(3));
        assert!(!comes(2));
    }
}
