//! Looks at the whole fleet, one after the other: a snapshot and what the diagnosis says of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use diagnosis::{Finding, Snapshot};
use fleet::bundle::Bundle;
use fleet::{Fleet, FleetError};
use tokio::sync::watch;
use tokio::task::JoinError;
use tokio::time::MissedTickBehavior;

/// Time from the start of a look to the start of the next one, if the fleet answers faster.
const PERIOD: Duration = Duration::from_secs(1);

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

/// Looks at a fleet until it doesn't answer for a minute, and returns the error. Each look replaces the one before in the
/// channel.
pub async fn look(fleet: &Fleet, looks: &watch::Sender<Option<Arc<Look>>>) -> FleetError {
    let mut ticks = tokio::time::interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut answered = Instant::now();
    loop {
        ticks.tick().await;
        let begun = Instant::now();
        match fleet.snapshot().await {
            Ok(snapshot) => {
                answered = Instant::now();
                if let Some(findings) = diagnose(&snapshot).await {
                    looks.send_replace(Some(Arc::new(Look { begun, at: answered, snapshot, findings })));
                }
            }
            Err(error) if answered.elapsed() > PATIENCE => return error,
            Err(error) => tracing::debug!(%error, "a snapshot failed"),
        }
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
