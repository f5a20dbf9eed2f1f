//! Turns of the scenarios that make clusters of their own: where that is costly, only some of them do so at the same time.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::watcher::{Key, key};
use crate::abilities;
use crate::suite::Suite;

/// Who may make clusters. Clones share it.
#[derive(Clone)]
pub(super) struct Turns {
    makers: Arc<HashSet<Key>>,
    places: Arc<Semaphore>,
    taken: Arc<Mutex<HashMap<Key, OwnedSemaphorePermit>>>,
}

impl Turns {
    /// For the scenarios of a suite, so many at the same time.
    pub(super) fn new(suite: &Suite, places: usize) -> Self {
        let makers = suite.scenarios().filter(|(feature, scenario)| abilities::makes_clusters(feature, scenario));
        Self {
            makers: Arc::new(makers.map(|(feature, scenario)| key(feature, scenario)).collect()),
            places: Arc::new(Semaphore::new(places)),
            taken: Arc::default(),
        }
    }

    /// How many scenarios may wait for their turns at the same time.
    pub(super) fn queue(&self) -> usize {
        self.makers.len().saturating_sub(self.places.available_permits())
    }

    /// Waits for a scenario's turn. One that makes no clusters has it at once.
    pub(super) async fn wait(&self, scenario: &Key) {
        if !self.makers.contains(scenario) {
            return;
        }
        if let Ok(turn) = Arc::clone(&self.places).acquire_owned().await {
            self.taken().insert(scenario.clone(), turn);
        }
    }

    /// What a scenario's turn ends with: to be dropped once its clusters are gone.
    pub(super) fn end(&self, scenario: &Key) -> Option<OwnedSemaphorePermit> {
        self.taken().remove(scenario)
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<Key, OwnedSemaphorePermit>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
