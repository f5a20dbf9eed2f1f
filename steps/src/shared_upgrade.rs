//! An upgrade of a fleet that scenarios share, and a scenario's place in it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fleet::upgrade::{FleetPart, UpgradeOrder, UpgradePhase, UpgradeTarget};
use tokio::sync::watch;

use crate::error::StepError;

/// An upgrade of the fleet that scenarios share. It goes from phase to phase as soon as all scenarios have come to the step that
/// waits for it, or have ended. Clones are the same upgrade.
#[derive(Clone)]
pub struct Upgrade(Arc<UpgradeInner>);

struct UpgradeInner {
    order: UpgradeOrder,
    to: UpgradeTarget,
    /// Number of scenarios that aren't ready yet for a phase to begin.
    awaited: watch::Sender<BTreeMap<UpgradePhase, usize>>,
    /// The phase that the fleet is in, or why there is no other.
    reached: watch::Sender<Result<UpgradePhase, String>>,
}

impl std::fmt::Debug for Upgrade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upgrade")
            .field("order", &self.0.order)
            .field("to", &self.0.to.version())
            .finish_non_exhaustive()
    }
}

impl Upgrade {
    /// An upgrade to a version under so many scenarios.
    #[must_use]
    pub fn new(order: UpgradeOrder, to: UpgradeTarget, scenarios: usize) -> Self {
        let awaited = to.phases(order).iter().map(|(phase, _)| (*phase, scenarios)).collect();
        let (awaited, reached) = (watch::Sender::new(awaited), watch::Sender::new(Ok(UpgradePhase::Before)));
        Self(Arc::new(UpgradeInner { order, to, awaited, reached }))
    }

    /// Order of the upgrade.
    #[must_use]
    pub fn order(&self) -> UpgradeOrder {
        self.0.order
    }

    /// The version that it goes to.
    #[must_use]
    pub fn to(&self) -> &UpgradeTarget {
        &self.0.to
    }

    /// The phases of the upgrade, each with what is exchanged at its beginning.
    #[must_use]
    pub fn phases(&self) -> &'static [(UpgradePhase, &'static [FleetPart])] {
        self.0.to.phases(self.0.order)
    }

    /// Waits until all scenarios are ready for a phase to begin.
    pub async fn awaited(&self, phase: UpgradePhase) {
        // The sender is in here.
        let _ = self.0.awaited.subscribe().wait_for(|awaited| awaited.get(&phase).is_none_or(|n| *n == 0)).await;
    }

    /// Tells the scenarios that the fleet is in a phase now, or why it will never be.
    pub fn reached(&self, phase: Result<UpgradePhase, String>) {
        self.0.reached.send_modify(|reached| *reached = phase);
    }

    /// Waits until the fleet is in a phase, or in one behind it.
    pub(crate) async fn until(&self, phase: UpgradePhase) -> Result<(), StepError> {
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
pub struct UpgradeParticipant {
    upgrade: Upgrade,
    ready: Mutex<Option<UpgradePhase>>,
}

impl UpgradeParticipant {
    pub(crate) fn new(upgrade: Upgrade) -> Self {
        Self { upgrade, ready: Mutex::default() }
    }

    pub(crate) fn upgrade(&self) -> &Upgrade {
        &self.upgrade
    }

    /// The phases up to this one that the scenario hasn't waited for yet, each with what is exchanged for it.
    pub(crate) fn phases_to(&self, phase: UpgradePhase) -> Vec<(UpgradePhase, &'static [FleetPart])> {
        let before = *self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let all = self.upgrade.phases().iter().copied();
        all.filter(|(other, _)| *other <= phase && before.is_none_or(|before| *other > before)).collect()
    }

    /// Says that the scenario is ready for all phases up to this one.
    pub(crate) fn ready_for(&self, phase: UpgradePhase) {
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

impl Drop for UpgradeParticipant {
    fn drop(&mut self) {
        self.ready_for(UpgradePhase::After);
    }
}

#[cfg(test)]
mod tests {
    use fleet::agents::KubeFleetPrograms;
    use fleet::upgrade::{UpgradeOrder, UpgradePhase, UpgradeTarget};

    use super::{Upgrade, UpgradeParticipant};

    fn awaited(upgrade: &Upgrade) -> Vec<usize> {
        upgrade.0.awaited.borrow().values().copied().collect()
    }

    #[test]
    fn a_phase_begins_when_all_scenarios_are_ready_or_gone() {
        let target = UpgradeTarget::KubeFleet(KubeFleetPrograms::default());
        let upgrade = Upgrade::new(UpgradeOrder::HubFirst, target, 2);
        let (one, other) = (UpgradeParticipant::new(upgrade.clone()), UpgradeParticipant::new(upgrade.clone()));
        assert_eq!(awaited(&upgrade), [2, 2]);
        one.ready_for(UpgradePhase::Skew);
        assert_eq!(awaited(&upgrade), [1, 2]);
        let to_come = |place: &UpgradeParticipant| {
            place.phases_to(UpgradePhase::After).iter().map(|(phase, _)| *phase).collect::<Vec<_>>()
        };
        assert_eq!(to_come(&one), [UpgradePhase::After], "none is waited for or exchanged twice");
        assert_eq!(to_come(&other), [UpgradePhase::Skew, UpgradePhase::After]);
        other.ready_for(UpgradePhase::After);
        assert_eq!(awaited(&upgrade), [0, 1]);
        one.ready_for(UpgradePhase::After);
        drop((one, other));
        assert_eq!(awaited(&upgrade), [0, 0]);
    }
}
