//! Looks at the whole fleet, one after the other: a snapshot and what the diagnosis says of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use diagnosis::{Finding, Snapshot};
use fleet::bundle::Bundle;
use fleet::{Fleet, FleetError};
use tokio::sync::watch;
use tokio::task::JoinError;

/// Time from the start of a look to the start of the next one, if the fleet answers fast.
const PERIOD: Duration = Duration::from_secs(1);

/// Pause after a look, in times of how long the look took. While all processors are busy, looks would otherwise take a sixth of their time:
/// `run --one-per-code` took 418 s with looks without pauses, and 342 s without looks.
const PAUSE: u32 = 2;

/// Time for which the hub may not answer, e.g. while somebody restarts it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Snapshot of a fleet with its findings.
pub struct Look {
    /// Time at which the first object was asked for.
    pub begun: Instant,
    /// Time at which the last object was read.
    pub at: Instant,
    /// The snapshot.
    pub snapshot: Arc<Snapshot>,
    /// Findings of the whole fleet.
    pub findings: Vec<Finding>,
}

impl Look {
    /// Bundle of the look, without events and logs. `about` says why it is saved.
    #[must_use]
    pub fn bundle(&self, fleet: &Fleet, about: String) -> Bundle {
        Bundle {
            fleet: fleet.name().to_owned(),
            kubefleet: Some(fleet.version()),
            about: Some(about),
            snapshot: (*self.snapshot).clone(),
            events: BTreeMap::new(),
            logs: Vec::new(),
            missing: Vec::new(),
        }
    }
}

/// Snapshot that isn't diagnosed yet.
struct TakenSnapshot {
    begun: Instant,
    at: Instant,
    snapshot: Arc<Snapshot>,
}

/// Looks at a fleet until it doesn't answer for a minute, and returns the error. Each look replaces the one before in the
/// channel. A snapshot is diagnosed while the next one is taken.
pub async fn look(fleet: &Fleet, looks: &watch::Sender<Option<Arc<Look>>>) -> FleetError {
    let (mut answered, mut pause) = (Instant::now(), Duration::ZERO);
    let mut taken: Option<TakenSnapshot> = None;
    loop {
        let take = async {
            tokio::time::sleep(pause).await;
            (Instant::now(), fleet.needed_snapshot().await)
        };
        let ((begun, snapshot), ()) = tokio::join!(take, send_diagnosed(taken.take(), looks));
        pause = pause_after(begun.elapsed());
        match snapshot {
            Ok(snapshot) => {
                answered = Instant::now();
                taken = Some(TakenSnapshot { begun, at: answered, snapshot });
            }
            Err(error) if answered.elapsed() > PATIENCE => return error,
            Err(error) => tracing::debug!(%error, "a snapshot failed"),
        }
    }
}

/// Returns the pause after a look that took this long.
fn pause_after(took: Duration) -> Duration {
    PERIOD.saturating_sub(took).max(took * PAUSE)
}

/// Diagnoses a snapshot, if there is one, and sends the look.
async fn send_diagnosed(taken: Option<TakenSnapshot>, looks: &watch::Sender<Option<Arc<Look>>>) {
    let Some(TakenSnapshot { begun, at, snapshot }) = taken else { return };
    if let Some(findings) = diagnose(&snapshot).await {
        looks.send_replace(Some(Arc::new(Look { begun, at, snapshot, findings })));
    }
}

/// Diagnoses a snapshot, outside of the thread on which scenarios run. None only while the program ends.
///
/// # Panics
/// If the diagnosis panics.
async fn diagnose(snapshot: &Arc<Snapshot>) -> Option<Vec<Finding>> {
    let snapshot = Arc::clone(snapshot);
    let diagnosed = tokio::task::spawn_blocking(move || diagnosis::diagnose(&snapshot)).await;
    match diagnosed.map_err(JoinError::try_into_panic) {
        Ok(findings) => Some(findings),
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_take_a_third_of_the_time_at_most() {
        assert_eq!(pause_after(Duration::from_millis(200)), Duration::from_millis(800));
        assert_eq!(pause_after(Duration::from_millis(600)), Duration::from_millis(1200));
    }
}
