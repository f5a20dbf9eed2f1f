//! Taking a fleet from one version to another, phase by phase, under scenarios in flight.

use std::collections::BTreeSet;
use std::time::Instant;

use fleet::error::in_full;
use fleet::{Fleet, FleetError};
use jiff::Timestamp;
use steps::upgrade::{Upgrade, WATCHED};

use super::record::PhaseRecord;

/// Takes the fleet through an upgrade's phases, each as soon as the scenarios are ready for it. Gives the phases that were
/// reached, and why it came no further.
pub async fn go(
    fleet: &Fleet,
    upgrade: &Upgrade,
    told: &(dyn Fn(&str) + Send + Sync),
) -> (Vec<PhaseRecord>, Option<FleetError>) {
    // Members that scenarios add may have faults.
    let healthy: BTreeSet<String> = fleet.members().await.into_keys().collect();
    let mut reached = Vec::new();
    for (phase, parts) in upgrade.order().phases() {
        upgrade.awaited(*phase).await;
        let what: Vec<String> = parts.iter().map(ToString::to_string).collect();
        told(&format!("upgrading {} to {}", what.join(" and "), upgrade.to().version));
        let started = Instant::now();
        if let Err(error) = fleet.exchange(parts, upgrade.to(), &healthy).await {
            upgrade.reached(Err(in_full(&error)));
            return (reached, Some(error));
        }
        reached.push(PhaseRecord { phase: *phase, at: Timestamp::now(), seconds: started.elapsed().as_secs_f64() });
        told(&format!("{} runs on {}", upgrade.to().version, what.join(" and ")));
        upgrade.reached(Ok(*phase));
        tokio::time::sleep(WATCHED).await;
    }
    (reached, None)
}
