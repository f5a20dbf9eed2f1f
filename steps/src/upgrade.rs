//! Steps at which a fleet's KubeFleet is exchanged for another version, by `fleetdrill upgrade`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cucumber::{given, then, when};
use fleet::agents::Agents;
use fleet::placed::Placed;
use fleet::upgrade::{Order, Part, Phase};
use tokio::sync::watch;

use crate::error::StepError;
use crate::placement::latest_snapshot;
use crate::record::{Entry, What};
use crate::scene::Scene;
use crate::world::World;

/// How long a phase is watched before a scenario goes on and the next phase may begin: members send heartbeats every 15 s.
pub const WATCHED: Duration = Duration::from_secs(20);

/// How long a scenario's limit is put off for an upgrade: all scenarios have to come as far, and the agents to work again.
const LIMIT: Duration = Duration::from_mins(20);

/// An upgrade of the fleet that scenarios share. It goes from phase to phase as soon as all scenarios have come to the step that
/// waits for it, or have ended. Clones are the same upgrade.
#[derive(Clone)]
pub struct Upgrade(Arc<Inner>);

struct Inner {
    order: Order,
    to: Agents,
    /// How many scenarios aren't ready yet for a phase to begin.
    awaited: watch::Sender<BTreeMap<Phase, usize>>,
    /// The phase that the fleet is in, or why there is no other.
    reached: watch::Sender<Result<Phase, String>>,
}

impl std::fmt::Debug for Upgrade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upgrade").field("order", &self.0.order).field("to", &self.0.to.version).finish_non_exhaustive()
    }
}

impl Upgrade {
    /// An upgrade to a version under so many scenarios.
    #[must_use]
    pub fn new(order: Order, to: Agents, scenarios: usize) -> Self {
        let awaited = order.phases().iter().map(|(phase, _)| (*phase, scenarios)).collect();
        let (awaited, reached) = (watch::Sender::new(awaited), watch::Sender::new(Ok(Phase::Before)));
        Self(Arc::new(Inner { order, to, awaited, reached }))
    }

    /// Its order.
    #[must_use]
    pub fn order(&self) -> Order {
        self.0.order
    }

    /// The version that it goes to.
    #[must_use]
    pub fn to(&self) -> &Agents {
        &self.0.to
    }

    /// Waits until all scenarios are ready for a phase to begin.
    pub async fn awaited(&self, phase: Phase) {
        // The sender is in here.
        let _ = self.0.awaited.subscribe().wait_for(|awaited| awaited.get(&phase).is_none_or(|n| *n == 0)).await;
    }

    /// Tells the scenarios that the fleet is in a phase now, or why it will never be.
    pub fn reached(&self, phase: Result<Phase, String>) {
        self.0.reached.send_modify(|reached| *reached = phase);
    }

    /// Waits until the fleet is in a phase, or in one behind it.
    async fn until(&self, phase: Phase) -> Result<(), StepError> {
        let mut reached = self.0.reached.subscribe();
        let last = reached.wait_for(|last| last.as_ref().map_or(true, |last| *last >= phase)).await;
        match last.map(|last| last.clone()) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(why)) => Err(StepError::Differs(format!("the upgrade failed: {why}"))),
            Err(_) => Err(StepError::Differs("the upgrade was given up".into())),
        }
    }
}

/// A scenario's place in an upgrade. One that goes away keeps nobody waiting.
#[derive(Debug)]
pub struct Place {
    upgrade: Upgrade,
    ready: Mutex<Option<Phase>>,
}

impl Place {
    pub(crate) fn new(upgrade: Upgrade) -> Self {
        Self { upgrade, ready: Mutex::default() }
    }

    fn upgrade(&self) -> &Upgrade {
        &self.upgrade
    }

    /// The phases up to this one that the scenario hasn't waited for yet, each with what is exchanged for it.
    fn phases_to(&self, phase: Phase) -> Vec<(Phase, &'static [Part])> {
        let before = *self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let all = self.upgrade.order().phases().iter().copied();
        all.filter(|(other, _)| *other <= phase && before.is_none_or(|before| *other > before)).collect()
    }

    /// Says that the scenario is ready for all phases up to this one.
    fn ready_for(&self, phase: Phase) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        self.upgrade.0.awaited.send_modify(|awaited| {
            for (other, missing) in awaited.iter_mut() {
                if *other <= phase && ready.is_none_or(|before| *other > before) {
                    *missing = missing.saturating_sub(1);
                }
            }
        });
        *ready = (*ready).max(Some(phase));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.ready_for(Phase::After);
    }
}

/// Waits until hub and members run different versions, in the middle of an upgrade: the hub's is the newer one or the members',
/// by the upgrade's order. Where hub and members are upgraded at once there is no such time, and nothing happens. Only
/// `fleetdrill upgrade` runs scenarios with this step.
#[given("hub and members run different versions of KubeFleet")]
#[when("hub and members run different versions of KubeFleet")]
async fn half_way(world: &mut World) -> Result<(), StepError> {
    goes_to(world.scene(), Phase::Skew).await
}

/// Waits until the new version of KubeFleet runs on the hub and on all members. What the scenario has on members is compared with
/// what was there before: the report says what was deleted, created again or restarted. Only `fleetdrill upgrade` runs scenarios with
/// this step, and puts it into others before their remedy.
#[given("KubeFleet is upgraded")]
#[when("KubeFleet is upgraded")]
async fn is_upgraded(world: &mut World) -> Result<(), StepError> {
    goes_to(world.scene(), Phase::After).await
}

/// Since the scenario began, no upgrade has taken anything of it from members or restarted it there, nor left a Work behind.
#[then("nothing on members was lost in the upgrade")]
fn nothing_was_lost(world: &mut World) -> Result<(), StepError> {
    let entries = world.scene().recorder.entries();
    let lost: Vec<&str> = entries.iter().filter_map(Entry::lost).collect();
    if lost.is_empty() { Ok(()) } else { Err(StepError::Differs(lost.join("; "))) }
}

async fn goes_to(scene: &mut Scene, phase: Phase) -> Result<(), StepError> {
    let upgrade = scene.upgrade()?.upgrade().clone();
    let phases = scene.upgrade()?.phases_to(phase);
    if !upgrade.order().phases().iter().any(|(other, _)| *other == phase) {
        scene.did(format!("hub and members are upgraded {}: they never run different versions", upgrade.order()));
        return Ok(());
    }
    scene.put_off(LIMIT);
    let ours = scene.ours();
    let before = Placed::on(scene.fleet(), &ours).await?;
    let findings = scene.diagnose().await?;
    scene.recorder.add(What::Diagnosed { findings });
    scene.upgrade()?.ready_for(phase);
    if scene.owns_fleet() {
        goes_alone(scene, &upgrade, &phases).await?;
    } else {
        for (phase, _) in phases {
            upgrade.until(phase).await?;
            scene.recorder.add(What::Upgraded { phase });
        }
    }
    tokio::time::sleep(WATCHED).await;
    count_snapshots(scene).await?;
    for loss in before.lost(scene.fleet()).await? {
        scene.recorder.add(What::Lost { loss: loss.to_string() });
    }
    let findings = scene.diagnose().await?;
    scene.recorder.add(What::Diagnosed { findings });
    Ok(())
}

/// Counts the placements' resource snapshots again: a new hub-agent takes one of the same resources where it sorts them otherwise, and
/// who makes a run looks up the latest.
async fn count_snapshots(scene: &mut Scene) -> Result<(), StepError> {
    let counted = scene.placements.clone().into_iter().filter(|(_, p)| !p.snapshots_by_runs);
    for (name, mut p) in counted {
        let latest = latest_snapshot(scene, &p).await?;
        if let Some(more) = latest.filter(|latest| latest + 1 > p.snapshots) {
            scene.did(format!("KubeFleet has taken resource snapshot {more} of {} by itself", p.name));
            p.snapshots = more + 1;
            scene.placements.insert(name, p);
        }
    }
    Ok(())
}

/// Upgrades the scenario's own fleet, which nobody else waits for.
async fn goes_alone(scene: &Scene, upgrade: &Upgrade, phases: &[(Phase, &'static [Part])]) -> Result<(), StepError> {
    let healthy = scene.fleet().members().await.into_keys().collect();
    for (number, (phase, parts)) in phases.iter().enumerate() {
        if number > 0 {
            tokio::time::sleep(WATCHED).await;
        }
        scene.fleet().exchange(parts, upgrade.to(), &healthy).await?;
        scene.recorder.add(What::Upgraded { phase: *phase });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use fleet::upgrade::{Order, Phase};

    use super::{Agents, Place, Upgrade};

    fn awaited(upgrade: &Upgrade) -> Vec<usize> {
        upgrade.0.awaited.borrow().values().copied().collect()
    }

    #[test]
    fn a_phase_begins_when_all_scenarios_are_ready_or_gone() {
        let upgrade = Upgrade::new(Order::HubFirst, Agents::default(), 2);
        let (one, other) = (Place::new(upgrade.clone()), Place::new(upgrade.clone()));
        assert_eq!(awaited(&upgrade), [2, 2]);
        one.ready_for(Phase::Skew);
        assert_eq!(awaited(&upgrade), [1, 2]);
        let to_come = |place: &Place| place.phases_to(Phase::After).iter().map(|(phase, _)| *phase).collect::<Vec<_>>();
        assert_eq!(to_come(&one), [Phase::After], "none is waited for or exchanged twice");
        assert_eq!(to_come(&other), [Phase::Skew, Phase::After]);
        other.ready_for(Phase::After);
        assert_eq!(awaited(&upgrade), [0, 1]);
        one.ready_for(Phase::After);
        drop((one, other));
        assert_eq!(awaited(&upgrade), [0, 0]);
    }
}
