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

    /// Does something whose time doesn't count.
    pub async fn not_counting<T>(&self, what: impl Future<Output = T>) -> T {
        const NEVER: Duration = Duration::from_hours(24);
        let left = self.remaining();
        self.put_off(NEVER);
        let done = what.await;
        *self.at() = Instant::now() + left;
        done
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

#[cfg(test)]
mod tests {
    use super::{Deadline, Duration};

    #[tokio::test]
    async fn what_does_not_count_neither_ends_the_time_nor_adds_to_it() {
        let deadline = Deadline::after(Duration::from_millis(50));
        let watched = deadline.clone();
        let slept = tokio::time::sleep(Duration::from_millis(100));
        deadline
            .not_counting(async {
                slept.await;
                assert!(watched.overdue().is_zero());
            })
            .await;
        assert!(deadline.remaining() <= Duration::from_millis(50));
    }
}
