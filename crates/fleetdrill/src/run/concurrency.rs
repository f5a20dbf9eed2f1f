//! Concurrency limits: one for all scenarios, lower ones for those that create clusters and for those with fleets of their own, and one at a
//! time for those with KubeFleet's webhooks.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};

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
    fleets: Arc<PriorityPermits>,
    /// Scenarios whose fleets have KubeFleet's webhooks. Each of them creates clusters.
    with_webhooks: Arc<HashSet<ScenarioLocation>>,
    webhooks: Arc<PriorityPermits>,
    places: Arc<PriorityPermits>,
    clusters: Arc<PriorityPermits>,
    taken: Arc<Mutex<HashMap<ScenarioLocation, ScenarioPermits>>>,
}

/// Permit to run, and permits for the clusters of scenarios that create some.
type ScenarioPermits = (OwnedSemaphorePermit, ClusterPermits);

/// Permits that a scenario gives back when its clusters are deleted.
pub(super) type ClusterPermits = Vec<OwnedSemaphorePermit>;

/// Permits for which those who hold a permit of another kind needn't queue: nobody else could use that other permit meanwhile.
struct PriorityPermits {
    permits: Arc<Semaphore>,
    /// Queue of those who hold no other permit. Only the first of them waits for `permits`.
    queue: AsyncMutex<()>,
}

impl PriorityPermits {
    fn new(permits: usize) -> Arc<Self> {
        Arc::new(Self { permits: Arc::new(Semaphore::new(permits)), queue: AsyncMutex::default() })
    }

    /// Number of permits that nobody has.
    fn available(&self) -> usize {
        self.permits.available_permits()
    }

    /// Waits for a permit: behind one other at most if `first`. `None` only if the semaphore were closed.
    async fn acquire(&self, first: bool) -> Option<OwnedSemaphorePermit> {
        let _turn = if first { None } else { Some(self.queue.lock().await) };
        Arc::clone(&self.permits).acquire_owned().await.ok()
    }
}

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
            fleets: PriorityPermits::new(jobs.with_fleets),
            with_webhooks: Arc::new(with_webhooks),
            webhooks: PriorityPermits::new(1),
            places: PriorityPermits::new(jobs.all),
            clusters: PriorityPermits::new(jobs.with_clusters),
            taken: Arc::default(),
        }
    }

    /// Returns the number of scenarios that cucumber has to start so that all slots can be used, however many scenarios
    /// wait for clusters.
    pub(super) fn most(&self) -> usize {
        let for_clusters = self.makers.len().saturating_sub(self.clusters.available());
        let for_fleets = self.with_fleets.len().saturating_sub(self.fleets.available());
        self.places.available() + for_clusters + for_fleets
    }

    /// Waits for a slot. A scenario that waits for clusters holds no slot meanwhile, and one that has clusters doesn't queue for a slot.
    pub(super) async fn wait(&self, scenario: &ScenarioLocation) {
        let mut clusters = ClusterPermits::new();
        // In this order: a scenario that waits for the webhooks holds no fleet and no clusters meanwhile.
        let kinds =
            [(&self.with_webhooks, &self.webhooks), (&self.with_fleets, &self.fleets), (&self.makers, &self.clusters)];
        for (of, permits) in kinds {
            if of.contains(scenario) {
                let holds_another = !clusters.is_empty();
                clusters.extend(permits.acquire(holds_another).await);
            }
        }
        if let Some(place) = self.places.acquire(!clusters.is_empty()).await {
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

    #[tokio::test]
    async fn who_has_clusters_waits_behind_one_other_at_most() {
        let key = |line| ("f.feature".to_owned(), line);
        let turns = ConcurrencyLimiter::of(
            [key(9)].into(),
            [].into(),
            [].into(),
            ConcurrencyLimits { all: 1, with_clusters: 1, with_fleets: 1 },
        );
        turns.wait(&key(1)).await;
        let ended = Mutex::new(Vec::new());
        let take_a_turn = async |line| {
            turns.wait(&key(line)).await;
            ended.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            drop(turns.end(&key(line)));
        };
        let end_first = async { drop(turns.end(&key(1))) };
        futures::join!(take_a_turn(2), take_a_turn(3), take_a_turn(4), take_a_turn(9), end_first);
        assert_eq!(*ended.lock().unwrap_or_else(PoisonError::into_inner), [2, 9, 3, 4]);
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
