//! Deadline of a scenario.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Deadline of a scenario. Clones share the same moment: if a step waits on purpose, it puts off the deadline that the
/// scenario's runner watches.
#[derive(Clone, Debug)]
pub struct Deadline(Arc<Mutex<Instant>>);

impl Deadline {
    /// Creates a deadline that lies `limit` in the future.
    #[must_use]
    pub fn after(limit: Duration) -> Self {
        Self(Arc::new(Mutex::new(Instant::now() + limit)))
    }

    /// Puts the deadline off.
    pub fn put_off(&self, by: Duration) {
        *self.at() += by;
    }

    /// Returns the time until the deadline; zero after the deadline.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.at().saturating_duration_since(Instant::now())
    }

    /// Returns the time since the deadline; zero before the deadline.
    #[must_use]
    pub fn overdue(&self) -> Duration {
        Instant::now().saturating_duration_since(*self.at())
    }

    fn at(&self) -> MutexGuard<'_, Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
