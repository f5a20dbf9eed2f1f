//! Upgrades a fleet from one version to another, phase by phase, with scenarios in flight.

use std::collections::BTreeSet;
use std::time::Instant;

use fleet::error::in_full;
use fleet::{Fleet, FleetError};
use jiff::Timestamp;
use steps::shared_upgrade::Upgrade;
use steps::upgrade::WATCHED;

use record::{FleetPart, UpgradePhaseRecord};

/// Runs the phases of an upgrade; each starts when the scenarios are ready for it. Returns the phases that were
/// reached, and the error that ended the upgrade early.
pub async fn go(
    fleet: &Fleet,
    upgrade: &Upgrade,
    told: &(dyn Fn(&str) + Send + Sync),
) -> (Vec<UpgradePhaseRecord>, Option<FleetError>) {
    // Only these members are waited for: members that scenarios add later may have faults.
    let healthy: BTreeSet<String> = fleet.members().await.into_keys().collect();
    let mut reached = Vec::new();
    for (phase, parts) in upgrade.phases() {
        upgrade.awaited(*phase).await;
        told(&format!("upgrading {} to {}", named(parts), upgrade.to().version()));
        let started = Instant::now();
        if let Err(error) = fleet.exchange(parts, upgrade.to(), &healthy).await {
            upgrade.reached(Err(in_full(&error)));
            return (reached, Some(error));
        }
        reached.push(UpgradePhaseRecord {
            phase: *phase,
            at: Timestamp::now(),
            seconds: started.elapsed().as_secs_f64(),
        });
        told(&running(parts, upgrade.to().version()));
        upgrade.reached(Ok(*phase));
        tokio::time::sleep(WATCHED).await;
    }
    (reached, None)
}

fn named(parts: &[FleetPart]) -> String {
    let names: Vec<String> = parts.iter().map(ToString::to_string).collect();
    names.join(" and ")
}

/// Says that a version runs. Argo CD is the product itself, and KubeFleet runs on the parts of the fleet.
fn running(parts: &[FleetPart], version: &str) -> String {
    match parts {
        [FleetPart::ArgoCd] => format!("Argo CD {version} runs"),
        parts => format!("{version} runs on {}", named(parts)),
    }
}
