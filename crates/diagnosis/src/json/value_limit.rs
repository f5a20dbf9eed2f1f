//! Limit for the number of JSON values that are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Largest number of values that a reader takes from the limit at once, so that readers in several threads don't wait for each other.
const PORTION: u64 = 1 << 16;

/// Part of the limit that a reader takes at most, so that something is left for the others.
const SHARE: u64 = 16;

/// Number of JSON values that may still be read, keys included. Clones share it.
#[derive(Clone, Debug)]
pub struct ValueLimit(Arc<AtomicU64>);

impl ValueLimit {
    /// Creates a limit of this many values.
    #[must_use]
    pub fn new(values: u64) -> Self {
        Self(Arc::new(AtomicU64::new(values)))
    }

    /// Returns the number of values that may still be read. Readers that haven't ended hold some more.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn take_portion(&self) -> u64 {
        let portion = |left: u64| (left / SHARE).clamp(1, PORTION).min(left);
        let update = |left: u64| Some(left - portion(left));
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, update).map(portion).unwrap_or_default()
    }
}

/// Values that one reader may read. It takes them from the limit, and gives back the rest when it is dropped.
#[derive(Debug)]
pub(crate) struct ValueAllowance {
    limit: ValueLimit,
    left: u64,
}

impl ValueAllowance {
    pub(crate) fn new(limit: ValueLimit) -> Self {
        Self { limit, left: 0 }
    }

    /// Takes one value. Returns false if there is none left.
    pub(super) fn take(&mut self) -> bool {
        if self.left == 0 {
            self.left = self.limit.take_portion();
        }
        let is_left = self.left > 0;
        self.left = self.left.saturating_sub(1);
        is_left
    }

    /// True if no value is left.
    pub(crate) fn is_used_up(&self) -> bool {
        self.left == 0 && self.limit.left() == 0
    }
}

impl Drop for ValueAllowance {
    fn drop(&mut self) {
        self.limit.0.fetch_add(self.left, Ordering::Relaxed);
    }
}
