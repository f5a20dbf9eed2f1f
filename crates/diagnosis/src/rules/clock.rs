//! Clocks of KubeFleet's agents that differ from the clock of the hub's API server, and of an API server that differs from all of them.
//!
//! A member's agent writes the time of its own clock with each heartbeat, and the hub-agent with each condition. The API server records when a
//! write arrived. The hub-agent's scheduler compares the heartbeats' times with its own clock (v0.1.2, `pkg/scheduler/clustereligibilitychecker`).

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::evidence_source::{EvidenceSource, STATUS_WRITE};
use super::fleet::{FleetView, subject};
use super::heartbeat::{Heartbeat, MAX_QUOTED};
use super::hub_agent;
use super::obstacle::DISCONNECTION_LIMIT;
use crate::kubefleet::CLUSTER_GROUP;
use crate::{Condition, Evidence, Object, Subject};

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

/// Time by which clocks that count as the same may seem to differ: heartbeats and conditions arrive some seconds late.
const AGREEMENT_LIMIT: SignedDuration = SignedDuration::from_secs(60);

/// Time before the oldest of the last heartbeats from which on a condition of the hub-agent is compared with them. The clock may have been right
/// before.
const TELLING_DELAY: SignedDuration = SignedDuration::from_secs(60);

/// Difference of the clocks of all agents from the clock of the hub's API server.
pub(super) struct ApiServerClock<'a> {
    /// Heartbeats of all members that tell of their agent's clock.
    heartbeats: Vec<Heartbeat<'a>>,
    /// Last condition of the hub-agent, if it tells of its clock.
    hub_agent: Option<ClockReading<'a>>,
    /// Time by which the agents' clocks are ahead; negative if they are behind.
    difference: SignedDuration,
}

impl<'a> ApiServerClock<'a> {
    /// Returns the difference if the clocks of at least two agents are wrong by the same, and no agent's clock is right. `None` otherwise: one agent
    /// alone doesn't tell whose clock is wrong.
    fn of(fleet: FleetView<'a>) -> Option<Self> {
        // A heartbeat that arrived before the clock was set back tells nothing of the clock as it is now.
        let heartbeats: Vec<_> = recorded_heartbeats(fleet)
            .filter(|heartbeat| !heartbeat.is_overdue() && !is_of_the_future(heartbeat.age))
            .collect();
        let told: Vec<_> = heartbeats.iter().filter_map(Heartbeat::clock_difference).collect();
        let (least, greatest) = (told.iter().min().copied()?, told.iter().max().copied()?);
        if !is_wrong(least) || !is_wrong(greatest) || greatest - least > AGREEMENT_LIMIT {
            return None;
        }
        let first_arrival = heartbeats.iter().filter_map(Heartbeat::written_at).min()?;
        let hub_agent = last_reading(fleet).filter(|reading| reading.written_at >= first_arrival - TELLING_DELAY);
        // The reading of the hub-agent is the least by which its clock may differ.
        let agrees = |reading: &ClockReading<'_>| {
            is_wrong(reading.difference) && (reading.difference - greatest).abs() <= AGREEMENT_LIMIT
        };
        if hub_agent.as_ref().is_some_and(|reading| !agrees(reading))
            || told.len() + usize::from(hub_agent.is_some()) < 2
        {
            return None;
        }
        Some(Self { heartbeats, hub_agent, difference: greatest })
    }

    /// True if the API server's clock is wrong, and not those that differ from it.
    pub(super) fn is_wrong(fleet: FleetView<'_>) -> bool {
        *fleet.index.api_server_clock_is_wrong.get_or_init(|| ApiServerClock::of(fleet).is_some())
    }

    fn finding(&self, fleet: FleetView<'_>) -> FindingDraft {
        let quote = fleet.quote();
        let mut heartbeats: Vec<_> = self.heartbeats.iter().collect();
        heartbeats.sort_by_key(|heartbeat| heartbeat.member());
        let mut evidence: Vec<_> =
            heartbeats.iter().take(MAX_QUOTED).flat_map(|heartbeat| heartbeat.evidence_with_record(quote)).collect();
        evidence.extend(self.hub_agent.iter().flat_map(|reading| reading.evidence(quote)));
        let names = json!({
            "seconds": self.difference.abs().as_secs(),
            // The agents' clocks are behind an API server's that is ahead.
            "is_behind": !self.difference.is_negative(),
            "members": heartbeats.len(),
            "with_hub_agent": self.hub_agent.is_some(),
            "is_set_back": false,
        });
        FindingDraft::new(RuleCode::KF_HA_006, api_server(fleet), &names, evidence)
    }
}

/// Returns the Service by which everybody in the hub reaches its API server.
fn api_server(fleet: FleetView<'_>) -> Subject {
    Subject {
        cluster: fleet.hub.name.clone(),
        kind: "Service".to_owned(),
        namespace: Some("default".to_owned()),
        name: "kubernetes".to_owned(),
        stage: None,
        member: None,
    }
}

/// KF-MC-009: the clock of a member's agent is wrong.
pub(super) fn of_member(fleet: FleetView<'_>, member: Object<'_>) -> Option<FindingDraft> {
    // Before the API server's clock was set back, that clock was wrong.
    let heartbeat = Heartbeat::of(fleet, member).filter(|heartbeat| !is_of_the_future(heartbeat.age))?;
    let difference = heartbeat.clock_difference().filter(|difference| is_wrong(*difference))?;
    let is_behind = difference.is_negative();
    if is_behind && seems_set_ahead(fleet, &heartbeat, difference.abs()) {
        return None;
    }
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

/// True if the API server's clock may have been set ahead by `time` a moment ago, so that only the agent of this heartbeat, the first after it, seems to
/// be behind: the last heartbeats of all other members arrived about as long ago, counted on that clock.
fn seems_set_ahead(fleet: FleetView<'_>, heartbeat: &Heartbeat<'_>, time: SignedDuration) -> bool {
    let mut others = recorded_heartbeats(fleet).filter(|other| other.member() != heartbeat.member()).peekable();
    let is_of_before = |other: Heartbeat<'_>| {
        let until_set = fleet.age(other.written_at()?) - time;
        Some(until_set > -AGREEMENT_LIMIT && until_set <= other.overdue_age() + AGREEMENT_LIMIT)
    };
    others.peek().is_some() && others.all(|other| is_of_before(other) == Some(true))
}

/// KF-HA-006 and KF-HA-005: the clock of the hub's API server, or of the hub-agent alone, is wrong.
pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let of_api_server = || ApiServerClock::of(fleet).map(|clock| clock.finding(fleet));
    set_back(fleet).or_else(of_api_server).or_else(|| hub_agent_clock(fleet)).into_iter().collect()
}

/// KF-HA-006: the clock of the hub's API server has recorded heartbeats at times that it hasn't reached.
fn set_back(fleet: FleetView<'_>) -> Option<FindingDraft> {
    let mut future: Vec<_> = recorded_heartbeats(fleet).filter(|heartbeat| is_of_the_future(heartbeat.age)).collect();
    future.sort_by_key(|heartbeat| (heartbeat.age, heartbeat.member()));
    let last = future.first()?;
    let names = json!({
        "is_set_back": true,
        "seconds": last.age.abs().as_secs(),
        "members": future.len(),
        "member": last.member(),
    });
    let evidence = future.iter().take(MAX_QUOTED).flat_map(|heartbeat| heartbeat.evidence_with_record(fleet.quote()));
    Some(FindingDraft::new(RuleCode::KF_HA_006, api_server(fleet), &names, evidence.collect()))
}

/// Returns the heartbeats of all members whose arrival the API server has recorded.
fn recorded_heartbeats(fleet: FleetView<'_>) -> impl Iterator<Item = Heartbeat<'_>> {
    let members = fleet.hub.of_kind(CLUSTER_GROUP, "MemberCluster");
    let heartbeats = members.filter_map(move |member| Heartbeat::of(fleet, member));
    heartbeats.filter(|heartbeat| heartbeat.written_at().is_some())
}

/// True if something of this age was written at a time that the API server's clock hasn't reached.
fn is_of_the_future(age: SignedDuration) -> bool {
    age < -AHEAD_LIMIT
}

/// Returns what the last condition that the hub-agent has written tells of its clock.
fn last_reading(fleet: FleetView<'_>) -> Option<ClockReading<'_>> {
    let placements = fleet.placements().map(|placement| placement.object);
    let objects = placements.chain(fleet.runs().map(|run| run.object));
    objects.filter_map(ClockReading::of).max_by_key(ClockReading::order)
}

fn hub_agent_clock(fleet: FleetView<'_>) -> Option<FindingDraft> {
    let last = last_reading(fleet)?;
    let difference = Some(last.difference).filter(|difference| is_wrong(*difference))?;
    let age = fleet.age(last.written_at);
    // A write of the future is of an API server whose clock was ahead.
    if age > TELLING_AGE || is_of_the_future(age) {
        return None;
    }
    let is_behind = difference.is_negative();
    let evidence = last.evidence(fleet.quote()).to_vec();
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

    /// Quotes the time of the API server's clock, and the condition. The finding's time is that of the first.
    fn evidence(&self, quote: EvidenceSource<'_>) -> [Evidence; 2] {
        let (path, recorded) = self.record;
        [
            quote.text(self.object, path, recorded.to_string(), Some(recorded)),
            quote.condition(self.object, &self.condition),
        ]
    }

    /// Returns what tells which of two objects was written last: the API server counts all writes. Its records of them are in whole seconds, and of a
    /// clock that may have been set back.
    fn order(&self) -> (Option<u64>, Timestamp) {
        (self.object.str("/metadata/resourceVersion").and_then(|version| version.parse().ok()), self.written_at)
    }
}
