//! Snapshots that several callers share.

use std::sync::Arc;

use diagnosis::Snapshot;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::error::FleetError;

/// Last snapshot, with the time when taking it started. Callers that arrive while a snapshot is being taken share the next one: dozens of
/// snapshots at the same time would overload the API servers.
#[derive(Debug, Default)]
pub(crate) struct SharedSnapshot(Mutex<Option<(Instant, Arc<Snapshot>)>>);

impl SharedSnapshot {
    /// Returns a snapshot that is never older than this call; `take` takes one.
    pub(crate) async fn get(
        &self,
        take: impl AsyncFnOnce() -> Result<Snapshot, FleetError>,
    ) -> Result<Arc<Snapshot>, FleetError> {
        let asked = Instant::now();
        let mut last = self.0.lock().await;
        if let Some((_, snapshot)) = last.as_ref().filter(|(begun, _)| *begun >= asked) {
            return Ok(Arc::clone(snapshot));
        }
        let begun = Instant::now();
        let snapshot = Arc::new(take().await?);
        *last = Some((begun, Arc::clone(&snapshot)));
        Ok(snapshot)
    }
}
