//! Concurrency limits: one for all scenarios, lower ones for those that create clusters and for those with fleets of their own, and one at a
//! time for those with KubeFleet's webhooks.

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
    /// Maximum number of scenarios with fleets of their own.
    pub with_fleets: usize,
}

impl ConcurrencyLimits {
    /// Sets the same maximum for all scenarios.
    #[must_use]
    pub fn all(all: usize) -> Self {
        Self { all, with_clusters: all, with_fleets: all }
    }
}

/// Limits how many scenarios run at the same time. Clones share the limits.
#[derive(Clone)]
pub(super) struct ConcurrencyLimiter {
    makers: Arc<HashSet<ScenarioLocation>>,
    /// Scenarios with fleets of their own. Each of them creates clusters.
    with_fleets: Arc<HashSet<ScenarioLocation>>,
    fleets: Arc<Semaphore>,
    /// Scenarios whose fleets have KubeFleet's webhooks. Each of them creates clusters.
    with_webhooks: Arc<HashSet<ScenarioLocation>>,
    webhooks: Arc<Semaphore>,
    places: Arc<Semaphore>,
    clusters: Arc<Semaphore>,
    taken: Arc<Mutex<HashMap<ScenarioLocation, ScenarioPermits>>>,
}

/// Permit to run, and permits for the clusters of scenarios that create some.
type ScenarioPermits = (OwnedSemaphorePermit, ClusterPermits);

/// Permits that a scenario gives back when its clusters are deleted.
pub(super) type ClusterPermits = Vec<OwnedSemaphorePermit>;

impl ConcurrencyLimiter {
    /// Creates the limits for the scenarios of a suite.
    pub(super) fn new(suite: &Suite, jobs: ConcurrencyLimits) -> Self {
        let makers = suite.scenarios().filter(|(feature, scenario)| abilities::makes_clusters(feature, scenario));
        let makers = makers.map(|(feature, scenario)| key(feature, scenario)).collect();
        let fleets = suite.scenarios().filter(|(feature, scenario)| abilities::has_own_fleet(feature, scenario));
        let fleets = fleets.map(|(feature, scenario)| key(feature, scenario)).collect();
        let webhooks = suite.scenarios().filter(|(feature, scenario)| abilities::serves_webhooks(feature, scenario));
        let webhooks = webhooks.map(|(feature, scenario)| key(feature, scenario)).collect();
        Self::of(makers, fleets, webhooks, jobs)
    }

    fn of(
        makers: HashSet<ScenarioLocation>,
        with_fleets: HashSet<ScenarioLocation>,
        with_webhooks: HashSet<ScenarioLocation>,
        jobs: ConcurrencyLimits,
    ) -> Self {
        Self {
            makers: Arc::new(makers),
            with_fleets: Arc::new(with_fleets),
            fleets: Arc::new(Semaphore::new(jobs.with_fleets)),
            with_webhooks: Arc::new(with_webhooks),
            webhooks: Arc::new(Semaphore::new(1)),
            places: Arc::new(Semaphore::new(jobs.all)),
            clusters: Arc::new(Semaphore::new(jobs.with_clusters)),
            taken: Arc::default(),
        }
    }

    /// Returns the number of scenarios that cucumber has to start so that all slots can be used, however many scenarios
    /// wait for clusters.
    pub(super) fn most(&self) -> usize {
        let for_clusters = self.makers.len().saturating_sub(self.clusters.available_permits());
        let for_fleets = self.with_fleets.len().saturating_sub(self.fleets.available_permits());
        self.places.available_permits() + for_clusters + for_fleets
    }

    /// Waits for a slot. A scenario that waits for clusters holds no slot meanwhile.
    pub(super) async fn wait(&self, scenario: &ScenarioLocation) {
        let mut clusters = ClusterPermits::new();
        // In this order: a scenario that waits for the webhooks holds no fleet and no clusters meanwhile.
        let kinds =
            [(&self.with_webhooks, &self.webhooks), (&self.with_fleets, &self.fleets), (&self.makers, &self.clusters)];
        for (of, permits) in kinds {
            if of.contains(scenario) {
                clusters.extend(Arc::clone(permits).acquire_owned().await.ok());
            }
        }
        if let Ok(place) = Arc::clone(&self.places).acquire_owned().await {
            self.taken().insert(scenario.clone(), (place, clusters));
        }
    }

    /// Frees the scenario's slot and returns its cluster permits, which the caller drops when the clusters are deleted.
    pub(super) fn end(&self, scenario: &ScenarioLocation) -> ClusterPermits {
        self.taken().remove(scenario).map(|(_, clusters)| clusters).unwrap_or_default()
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
        let turns = ConcurrencyLimiter::of(
            [key(1), key(2), key(3)].into(),
            [].into(),
            [].into(),
            ConcurrencyLimits { all: 2, with_clusters: 1, with_fleets: 1 },
        );
        let comes = |line| turns.wait(&key(line)).now_or_never().is_some();
        assert_eq!(turns.most(), 4);
        assert!(comes(1));
        assert!(!comes(2), "there are clusters for one");
        assert!(comes(4));
        assert!(!comes(5), "two places are all there are");
        let clusters = turns.end(&key(1));
        assert_eq!(clusters.len(), 1);
        assert!(!comes(2), "the clusters are still there");
        assert!(comes(5));
        drop(clusters);
        assert!(!comes(2), "no place is free");
        assert!(turns.end(&key(4)).is_empty());
        assert!(comes(2));
    }

    #[test]
    fn one_at_a_time_is_one_whoever_makes_clusters() {
        let key = |line| ("f.feature".to_owned(), line);
        let turns = ConcurrencyLimiter::of([key(1), key(2)].into(), [].into(), [].into(), ConcurrencyLimits::all(1));
        let comes = |line| turns.wait(&key(line)).now_or_never().is_some();
        assert!(comes(1));
        assert!(!comes(2) && !comes(3));
        drop(turns.end(&key(1)));
        assert!(comes(3));
        assert!(!comes(2));
    }

    #[test]
    fn one_scenario_with_webhooks_runs_at_a_time_and_the_others_hold_no_clusters() {
        let key = |line| ("f.feature".to_owned(), line);
        let turns = ConcurrencyLimiter::of(
            [key(1), key(2), key(3)].into(),
            [].into(),
            [key(1), key(2)].into(),
            ConcurrencyLimits { all: 3, with_clusters: 2, with_fleets: 2 },
        );
        let comes = |line| turns.wait(&key(line)).now_or_never().is_some();
        assert!(comes(1));
        assert!(!comes(2), "the webhooks are another's");
        assert!(comes(3), "there are clusters for two");
        let clusters = turns.end(&key(1));
        assert_eq!(clusters.len(), 2);
        drop(clusters);
        assert!(comes(2));
    }
}
