//! Members that a placement asks for and the scheduler doesn't take, each with the reason.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::fleet::{FleetView, PlacementView};
use super::hub_agent::REACTION_LIMIT;
use super::member::JOIN_LIMIT;
use super::obstacle::{Disconnection, Obstacle};
use super::spread;
use crate::kubefleet::CLUSTER_GROUP;
use crate::{JsonRef, Object};

/// Member that the scheduler doesn't take.
#[derive(Clone, Debug)]
pub(super) struct NotTaken<'a> {
    pub member: Object<'a>,
    pub obstacle: Obstacle<'a>,
}

/// Members that a placement hasn't got.
#[derive(Clone, Debug, Default)]
pub(super) struct Shortage<'a> {
    /// Number of members that the policy asks for.
    pub wanted: usize,
    /// Number of members that the placement has.
    pub found: usize,
    /// Number of members of the fleet, with those that are leaving.
    pub fleet_size: usize,
    /// Names in the policy that no member has.
    pub unknown: Vec<&'a str>,
    /// Members that aren't taken, the nearest to being taken first.
    pub not_taken: Vec<NotTaken<'a>>,
    /// Members that the policy would take now: the scheduler hasn't looked again.
    fitting: Vec<Object<'a>>,
}

impl<'a> Shortage<'a> {
    /// Compares the policy of a placement with the fleet's members.
    pub fn of(fleet: FleetView<'a>, placement: PlacementView<'a>) -> Self {
        let policy = placement.object.at("/spec/policy");
        let members: Vec<_> = fleet.hub.of_kind(CLUSTER_GROUP, "MemberCluster").collect();
        let chosen: BTreeSet<&str> = placement.clusters().map(|cluster| cluster.member).collect();
        let mut shortage = Self { found: chosen.len(), fleet_size: members.len(), ..Self::default() };
        let is_named = placement.object.str("/spec/policy/placementType") == Some("PickFixed");
        let mut candidates = members.clone();
        if is_named {
            let names: Vec<_> = policy_names(placement).collect();
            shortage.wanted = names.len();
            candidates.retain(|member| names.contains(&member.name()));
            let is_unknown = |name: &&str| !members.iter().any(|member| member.name() == *name);
            shortage.unknown = names.into_iter().filter(is_unknown).collect();
        } else {
            let wanted = placement.object.at("/spec/policy/numberOfClusters").and_then(JsonRef::as_u64);
            shortage.wanted = wanted.and_then(|wanted| usize::try_from(wanted).ok()).unwrap_or_default();
        }
        let mut violations = spread::violations(policy, &members, &chosen);
        for member in candidates.into_iter().filter(|member| !chosen.contains(member.name())) {
            let obstacle = if is_named {
                Obstacle::of_named(fleet, member)
            } else {
                let spread = || violations.remove(member.name()).map(Obstacle::Spread);
                Obstacle::of(fleet, policy, member).or_else(spread)
            };
            match obstacle {
                Some(obstacle) => shortage.not_taken.push(NotTaken { member, obstacle }),
                None => shortage.fitting.push(member),
            }
        }
        let order = |n: &NotTaken<'a>| (n.obstacle.distance(), n.member.name());
        shortage.not_taken.sort_by(|a, b| order(a).cmp(&order(b)));
        shortage
    }

    /// Returns the number of members that are missing and that nothing in progress brings.
    pub fn missing(&self, fleet: FleetView<'_>) -> usize {
        self.wanted.saturating_sub(self.found).saturating_sub(self.arriving(fleet).count())
    }

    /// Returns the time since which, and for which at most, the placement waits for members that arrive by themselves: those that
    /// are joining, and those that the scheduler will take when it looks again. `None` if there are none.
    pub fn waits(&self, fleet: FleetView<'_>) -> Option<(Timestamp, SignedDuration)> {
        self.arriving(fleet).max()
    }

    fn arriving(&self, fleet: FleetView<'_>) -> impl Iterator<Item = (Timestamp, SignedDuration)> {
        let joining = self.not_taken.iter().filter_map(|not_taken| match not_taken.obstacle {
            Obstacle::Disconnected(Disconnection::NeverOnline | Disconnection::NotJoined) => {
                Some((not_taken.member.created_at()?, JOIN_LIMIT))
            }
            _ => None,
        });
        let changed = self.fitting.iter().filter_map(|member| Some((fits_since(*member)?, REACTION_LIMIT)));
        joining.chain(changed).filter(move |(since, limit)| fleet.age(*since) < *limit)
    }
}

/// Returns the names in a policy of type `PickFixed`.
pub(super) fn policy_names(placement: PlacementView<'_>) -> impl Iterator<Item = &str> {
    placement.object.list("/spec/policy/clusterNames").iter().filter_map(JsonRef::as_str)
}

/// Returns the time of a member's last change that can make it fit: of its labels and taints, or its join.
fn fits_since(member: Object<'_>) -> Option<Timestamp> {
    let joined = member.condition("Joined").and_then(|joined| joined.last_transition_time);
    member.changed_at().max(joined)
}
