//! When a scenario has to have ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// When a scenario has to have ended. Clones share it: what a step waits for on purpose, its runner allows for.
#[derive(Clone, Debug)]
pub struct Deadline(Arc<Mutex<Instant>>);

impl Deadline {
    /// So long from now.
    #[must_use]
    pub fn after(limit: Duration) -> Self {
        Self(Arc::new(Mutex::new(Instant::now() + limit)))
    }

    /// Puts it off.
    pub fn put_off(&self, by: Duration) {
        *self.at() += by;
    }

    /// How long until then.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.at().saturating_duration_since(Instant::now())
    }

    /// How long since then.
    #[must_use]
    pub fn overdue(&self) -> Duration {
        Instant::now().saturating_duration_since(*self.at())
    }

    fn at(&self) -> MutexGuard<'_, Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
