//! Clocks of KubeFleet's agents that differ from the clock of the hub's API server.
//!
//! A member's agent writes the time of its own clock with each heartbeat, and the hub-agent with each condition. The API server records when a
//! write arrived. The hub-agent's scheduler compares the heartbeats' times with its own clock (v0.1.2, `pkg/scheduler/clustereligibilitychecker`).

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::evidence_source::STATUS_WRITE;
use super::fleet::{FleetView, subject};
use super::heartbeat::Heartbeat;
use super::hub_agent;
use super::obstacle::DISCONNECTION_LIMIT;
use crate::{Condition, Object};

/// Time by which a clock may be ahead. No write arrives before it is sent.
const AHEAD_LIMIT: SignedDuration = SignedDuration::from_secs(60);

/// Time by which a clock may seem to be behind: a write may arrive late, as when the API server hangs for two minutes.
const BEHIND_LIMIT: SignedDuration = SignedDuration::from_mins(3);

/// Age of a condition up to which it tells of the hub-agent's clock: nothing tells that a clock was set right if the hub-agent writes no condition.
const TELLING_AGE: SignedDuration = SignedDuration::from_hours(1);

/// Conditions with times of the hub-agent's clock alone. Others take over times that the members' agents have written.
const HUB_AGENT_CONDITIONS: [&str; 5] = [
    "ClusterResourcePlacementScheduled",
    "ClusterResourcePlacementRolloutStarted",
    "ResourcePlacementScheduled",
    "ResourcePlacementRolloutStarted",
    "Initialized",
];

/// KF-MC-009: the clock of a member's agent is wrong.
pub(super) fn of_member(fleet: FleetView<'_>, member: Object<'_>) -> Option<FindingDraft> {
    let heartbeat = Heartbeat::of(fleet, member)?;
    let difference = heartbeat.clock_difference().filter(|difference| is_wrong(*difference))?;
    let is_behind = difference.is_negative();
    let names = json!({
        "member": member.name(),
        "seconds": difference.abs().as_secs(),
        "is_behind": is_behind,
        "is_disconnected": is_behind && difference.abs() > DISCONNECTION_LIMIT,
    });
    let evidence = heartbeat.evidence_with_record(fleet.quote());
    let draft = FindingDraft::new(RuleCode::KF_MC_009, subject(fleet, member, None, None), &names, evidence);
    Some(draft.common_cause("its clock is wrong").affects(AffectedPart::Member(member.name().to_owned())))
}

/// KF-HA-005: the hub-agent's clock is wrong.
pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    hub_agent_clock(fleet).into_iter().collect()
}

fn hub_agent_clock(fleet: FleetView<'_>) -> Option<FindingDraft> {
    let placements = fleet.placements().map(|placement| placement.object);
    let objects = placements.chain(fleet.runs().map(|run| run.object));
    let last = objects.filter_map(ClockReading::of).max_by_key(ClockReading::order)?;
    let difference = Some(last.difference).filter(|difference| is_wrong(*difference))?;
    let age = fleet.age(last.written_at);
    if age > TELLING_AGE {
        return None;
    }
    let is_behind = difference.is_negative();
    let quote = fleet.quote();
    let (path, recorded) = last.record;
    // The finding's time is that of the first: of the clock that is right.
    let evidence = vec![
        quote.text(last.object, path, recorded.to_string(), Some(recorded)),
        quote.condition(last.object, &last.condition),
    ];
    let names = json!({
        "seconds": difference.abs().as_secs(),
        "age": age.as_secs(),
        "is_behind": is_behind,
        "is_alone": !is_behind && difference > DISCONNECTION_LIMIT,
    });
    let draft = FindingDraft::new(RuleCode::KF_HA_005, hub_agent::subject(fleet), &names, evidence);
    Some(draft.affects(AffectedPart::HubAgentClock))
}

/// True if a clock that differs by so much from the API server's counts as wrong; negative if it is behind.
pub(super) fn is_wrong(difference: SignedDuration) -> bool {
    difference > AHEAD_LIMIT || difference < -BEHIND_LIMIT
}

/// What a condition tells of the hub-agent's clock.
struct ClockReading<'a> {
    object: Object<'a>,
    condition: Condition,
    /// Field of the object with a time of the API server's clock, and the time.
    record: (&'static str, Timestamp),
    /// Time of the last write of the object's status, by the API server's clock.
    written_at: Timestamp,
    /// Time by which the hub-agent's clock is ahead at least; negative if it is behind.
    difference: SignedDuration,
}

impl<'a> ClockReading<'a> {
    /// Reads the newest of the conditions of an object. `None` if it may have been written at any time between the object's creation and the last
    /// write of its status.
    fn of(object: Object<'a>) -> Option<Self> {
        let written_at = object.written_at(Some("status"))?;
        let conditions = object.conditions().into_iter().filter(|c| HUB_AGENT_CONDITIONS.contains(&c.type_.as_str()));
        let condition = conditions.max_by_key(|condition| condition.last_transition_time)?;
        let told = condition.last_transition_time?;
        let of_write = (STATUS_WRITE, written_at);
        let ahead = told.duration_since(written_at);
        let (record, difference) = if ahead > -AHEAD_LIMIT {
            (of_write, ahead)
        } else {
            // The condition may be older than the last write. It can't be older than the object.
            let created_at = object.created_at()?;
            let behind = told.duration_since(created_at);
            (behind < SignedDuration::ZERO).then_some((("metadata.creationTimestamp", created_at), behind))?
        };
        Some(Self { object, condition, record, written_at, difference })
    }

    /// Returns what tells which of two objects was written last: records of writes are in whole seconds, and the API server counts all writes.
    fn order(&self) -> (Timestamp, Option<u64>) {
        (self.written_at, self.object.str("/metadata/resourceVersion").and_then(|version| version.parse().ok()))
    }
}
