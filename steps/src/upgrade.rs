//! Steps at which a fleet's KubeFleet or Argo CD is exchanged for another version, by `fleetdrill upgrade`.

use std::time::Duration;

use cucumber::{given, then, when};
use fleet::placed_resources::PlacedResources;
use fleet::upgrade::{FleetPart, UpgradePhase};
use record::{Product, RecordEntry, RecordedEvent};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::needs::{StepRole, needs};
use crate::objects::latest_snapshot;
use crate::pauses::settle;
use crate::shared_upgrade::Upgrade;
use crate::world::World;

/// Time for which a phase is watched before a scenario goes on and the next phase may begin: members send heartbeats every 15 s, and an
/// application-controller that was just started reads all clusters before it compares.
pub const WATCHED: Duration = Duration::from_secs(20);

/// Time by which a scenario's limit is put off for an upgrade: all scenarios have to come as far, and the agents to work again.
const LIMIT: Duration = Duration::from_mins(20);

/// Returns the text that `fleetdrill upgrade` puts into scenarios: the step that waits for the end of the upgrade. Scenarios that have the
/// step already are found by [`StepRole::Upgrades`].
#[must_use]
pub fn upgrade_step(product: Product) -> &'static str {
    match product {
        Product::KubeFleet => "KubeFleet is upgraded",
        Product::ArgoCd => "Argo CD is upgraded",
    }
}

/// Waits until hub and members run different versions, in the middle of an upgrade: the hub's is the newer one or the members',
/// by the upgrade's order. Where hub and members are upgraded at once there is no such time, and nothing happens. Only
/// `fleetdrill upgrade` runs scenarios with this step.
#[needs(settles: WATCHED)]
#[given("hub and members run different versions of KubeFleet")]
#[when("hub and members run different versions of KubeFleet")]
async fn half_way(world: &mut World) -> Result<(), StepError> {
    goes_to(world.context(), Product::KubeFleet, UpgradePhase::Skew).await
}

/// Waits until the new version of KubeFleet runs on the hub and on all members. What the scenario has on members is compared with
/// what was there before: the report says what was deleted, created again or restarted. Only `fleetdrill upgrade` runs scenarios with
/// this step, and puts it into others before their remedy.
#[needs(settles: WATCHED, role: Some(StepRole::Upgrades(Product::KubeFleet)))]
#[given("KubeFleet is upgraded")]
#[when("KubeFleet is upgraded")]
async fn is_upgraded(world: &mut World) -> Result<(), StepError> {
    goes_to(world.context(), Product::KubeFleet, UpgradePhase::After).await
}

/// Waits until the new version of Argo CD runs and compares Applications. The scenario's own Applications are compared when Argo CD does
/// so by itself, within three minutes of their last comparison, or when a later step requests it. Only `fleetdrill upgrade --argocd` runs
/// scenarios with this step, and puts it into others before their remedy.
#[needs(settles: WATCHED, role: Some(StepRole::Upgrades(Product::ArgoCd)))]
#[given("Argo CD is upgraded")]
#[when("Argo CD is upgraded")]
async fn argocd_is_upgraded(world: &mut World) -> Result<(), StepError> {
    goes_to(world.context(), Product::ArgoCd, UpgradePhase::After).await
}

/// Since the scenario began, no upgrade has taken anything of it from members or restarted it there, nor left a Work behind.
#[then("nothing on members was lost in the upgrade")]
fn nothing_was_lost(world: &mut World) -> Result<(), StepError> {
    let entries = world.context().recorder.entries();
    let lost: Vec<String> = entries.iter().filter_map(RecordEntry::lost).map(ToString::to_string).collect();
    if lost.is_empty() { Ok(()) } else { Err(StepError::Differs(lost.join("; "))) }
}

async fn goes_to(context: &mut ScenarioContext, product: Product, phase: UpgradePhase) -> Result<(), StepError> {
    let upgrade = context.upgrade_of(product)?.upgrade().clone();
    let phases = context.upgrade_of(product)?.phases_to(phase);
    if !upgrade.phases().iter().any(|(other, _)| *other == phase) {
        context.did(format!("hub and members are upgraded {}: they never run different versions", upgrade.order()));
        return Ok(());
    }
    context.put_off(LIMIT);
    let before = placed(context).await?;
    let findings = context.diagnose().await?;
    context.recorder.add(RecordedEvent::Diagnosed { findings });
    context.upgrade_of(product)?.ready_for(phase);
    if context.owns_fleet() {
        goes_alone(context, &upgrade, &phases).await?;
    } else {
        for (phase, _) in phases {
            upgrade.until(phase).await?;
            context.recorder.add(RecordedEvent::Upgraded { phase });
        }
    }
    settle(WATCHED).await;
    count_snapshots(context).await?;
    if let Some(before) = before {
        for loss in before.lost(context.fleet()).await? {
            context.recorder.add(RecordedEvent::Lost(loss));
        }
    }
    let findings = context.diagnose().await?;
    context.recorder.add(RecordedEvent::Diagnosed { findings });
    Ok(())
}

/// Returns what KubeFleet has placed on members for the scenario; `None` for a scenario without a placement, as most of those about Argo CD
/// are. Such a scenario can't lose anything placed, and doesn't need members that another scenario has stopped to answer.
async fn placed(context: &ScenarioContext) -> Result<Option<PlacedResources>, StepError> {
    if context.ledger.placements.is_empty() {
        return Ok(None);
    }
    Ok(Some(PlacedResources::on(context.fleet(), &context.ours()).await?))
}

/// Counts the placements' resource snapshots again: a new hub-agent takes one of the same resources where it sorts them otherwise, and
/// who makes a run looks up the latest.
async fn count_snapshots(context: &mut ScenarioContext) -> Result<(), StepError> {
    let counted = context.ledger.placements.clone().into_iter().filter(|(_, p)| !p.snapshots_by_runs);
    for (name, mut p) in counted {
        let latest = latest_snapshot(&context.hub(), &p).await?;
        if let Some(more) = latest.filter(|latest| latest + 1 > p.snapshots) {
            context.did(format!("KubeFleet has taken resource snapshot {more} of {} by itself", p.name));
            p.snapshots = more + 1;
            context.ledger.placements.insert(name, p);
        }
    }
    Ok(())
}

/// Upgrades the scenario's own fleet, which nobody else waits for.
async fn goes_alone(
    context: &ScenarioContext,
    upgrade: &Upgrade,
    phases: &[(UpgradePhase, &'static [FleetPart])],
) -> Result<(), StepError> {
    let healthy = context.fleet().members().await.into_keys().collect();
    for (number, (phase, parts)) in phases.iter().enumerate() {
        if number > 0 {
            settle(WATCHED).await;
        }
        context.fleet().exchange(parts, upgrade.to(), &healthy).await?;
        context.recorder.add(RecordedEvent::Upgraded { phase: *phase });
    }
    Ok(())
}
