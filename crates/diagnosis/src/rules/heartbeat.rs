//! Heartbeats of the members' agents.
//!
//! An agent writes its heartbeat into the `InternalMemberCluster` of its member, and the hub-agent copies it into the
//! `MemberCluster`. The two tell an agent that is silent from a hub-agent that is.

use jiff::{SignedDuration, Timestamp};

use super::evidence_source::{EvidenceSource, STATUS_WRITE};
use super::fleet::FleetView;
use crate::kubefleet::{CLUSTER_GROUP, member_namespace};
use crate::object::text_field;
use crate::{Evidence, JsonRef, Object};

/// Heartbeat period in seconds, for a `MemberCluster` that sets none.
const DEFAULT_PERIOD_SECONDS: i64 = 60;
/// Number of periods without a heartbeat after which the heartbeat counts as overdue.
const OVERDUE_PERIODS: i64 = 3;

/// Time in which the hub-agent copies a heartbeat. It takes less than a second (v0.1.2).
const COPY_LIMIT: SignedDuration = SignedDuration::from_secs(3);
/// Time by which a heartbeat may be late. On a busy machine, heartbeats with a period of 15 s have been seen almost a
/// minute late (v0.1.2).
const LATE_LIMIT: SignedDuration = SignedDuration::from_secs(90);

/// Number of members whose heartbeats a finding of all members quotes.
pub(super) const MAX_QUOTED: usize = 3;

/// Last heartbeat of a joined member's agent.
pub(super) struct Heartbeat<'a> {
    /// `InternalMemberCluster` of the member, if it could be read; the `MemberCluster` otherwise.
    object: Object<'a>,
    /// Time in the heartbeat, by the clock of the agent's machine.
    sent: Timestamp,
    /// Time at which the heartbeat arrived, by the API server's record of the write.
    written_at: Option<Timestamp>,
    /// Time that has passed on the hub's clock since the heartbeat arrived.
    pub age: SignedDuration,
    period: SignedDuration,
}

impl<'a> Heartbeat<'a> {
    /// Returns the last heartbeat of a joined member; `None` if the agent has sent none. The `MemberCluster`'s
    /// conditions don't change when the agent stops (v0.1.2), so only the heartbeat shows it.
    pub fn of(fleet: FleetView<'a>, member: Object<'a>) -> Option<Self> {
        member.condition("Joined").filter(|c| c.status == "True")?;
        let written = internal_member(fleet, member.name()).and_then(|internal| Some((internal, sent(internal)?)));
        let (object, sent) = match written {
            Some(heartbeat) => heartbeat,
            None => (member, sent(member)?),
        };
        // Who writes the status of an InternalMemberCluster is the agent alone, so that the API server's record of the
        // write is a second clock. The agent's own may be wrong.
        let written_at = object.written_at(Some("status")).filter(|_| written.is_some());
        let age = fleet.age(written_at.unwrap_or(sent));
        Some(Self { object, sent, written_at, age, period: SignedDuration::from_secs(period_seconds(member)) })
    }

    /// True if more than three periods have passed without a heartbeat.
    pub fn is_overdue(&self) -> bool {
        self.age > self.overdue_age()
    }

    /// Returns the age from which on the heartbeat counts as overdue.
    pub fn overdue_age(&self) -> SignedDuration {
        self.period * i32::try_from(OVERDUE_PERIODS).unwrap_or(i32::MAX)
    }

    /// Time at which the heartbeat arrived, by the API server's record of the write.
    pub fn written_at(&self) -> Option<Timestamp> {
        self.written_at
    }

    /// Name of the member.
    pub fn member(&self) -> &'a str {
        self.object.name()
    }

    /// Returns the time by which the agent's clock is ahead of the API server's; negative if it is behind, or the heartbeat took that time to
    /// arrive. `None` without a record of the write.
    pub fn clock_difference(&self) -> Option<SignedDuration> {
        Some(self.sent.duration_since(self.written_at?))
    }

    /// Quotes the heartbeat, and the API server's record of the write. Neither tells since when the clock is wrong.
    pub fn evidence_with_record(&self, quote: EvidenceSource<'_>) -> Vec<Evidence> {
        let record = self.written_at.map(|at| quote.text(self.object, STATUS_WRITE, at.to_string(), Some(at)));
        let quoted = self.evidence(quote).into_iter().chain(record);
        quoted.map(|evidence| Evidence { at: None, ..evidence }).collect()
    }

    /// Quotes the heartbeat.
    pub fn evidence(&self, quote: EvidenceSource<'_>) -> Vec<Evidence> {
        let path = "status.agentStatus[MemberAgent].lastReceivedHeartbeat";
        vec![quote.text(self.object, path, self.sent.to_string(), Some(self.sent))]
    }
}

/// Heartbeat that the hub-agent hasn't copied.
pub(super) struct UncopiedHeartbeat<'a> {
    /// `MemberCluster` with the older heartbeat.
    pub member: Object<'a>,
    /// Time that has passed since the heartbeat arrived on the hub.
    age: SignedDuration,
    /// Time that has passed since the first heartbeat which isn't copied was due.
    pub lag: SignedDuration,
    internal: Object<'a>,
    copied: Option<Timestamp>,
    sent: Timestamp,
}

impl<'a> UncopiedHeartbeat<'a> {
    /// Returns the heartbeat of a member that the hub-agent hasn't copied into the `MemberCluster`, if there is one.
    pub fn of(fleet: FleetView<'a>, member: Object<'a>) -> Option<Self> {
        let internal = internal_member(fleet, member.name())?;
        let (sent, copied) = (sent(internal)?, sent(member));
        let age = fleet.age(internal.written_at(Some("status")).unwrap_or(sent));
        // Both heartbeats are of the agent's clock. The age is of the API server's.
        let ahead = copied.map_or(SignedDuration::ZERO, |copied| sent.duration_since(copied));
        let period = copied.map_or(SignedDuration::ZERO, |_| SignedDuration::from_secs(period_seconds(member)));
        let lag = ahead.saturating_sub(period).max(SignedDuration::ZERO).saturating_add(age);
        copied.is_none_or(|copied| copied < sent).then_some(Self { member, age, lag, internal, copied, sent })
    }

    /// True if the hub-agent has had time enough to copy the heartbeat, however late the heartbeat itself was.
    pub fn has_waited(&self) -> bool {
        self.age >= COPY_LIMIT || self.lag > LATE_LIMIT
    }

    /// Quotes both heartbeats.
    pub fn evidence(&self, quote: EvidenceSource<'_>) -> [Evidence; 2] {
        let path = "status.agentStatus[MemberAgent].lastReceivedHeartbeat";
        let copied = self.copied.map_or_else(|| "(absent)".to_owned(), |copied| copied.to_string());
        [
            quote.text(self.internal, path, self.sent.to_string(), Some(self.sent)),
            quote.text(self.member, path, copied, self.copied),
        ]
    }
}

/// Returns a member's heartbeat period in seconds.
pub(super) fn period_seconds(member: Object<'_>) -> i64 {
    member.at("/spec/heartbeatPeriodSeconds").and_then(JsonRef::as_i64).unwrap_or(DEFAULT_PERIOD_SECONDS)
}

/// Returns the `InternalMemberCluster` of a member.
pub(super) fn internal_member<'a>(fleet: FleetView<'a>, member: &str) -> Option<Object<'a>> {
    fleet.hub.object(CLUSTER_GROUP, "InternalMemberCluster", Some(&member_namespace(member)), member)
}

/// Returns the time in the heartbeat that an object's status has.
fn sent(object: Object<'_>) -> Option<Timestamp> {
    let agents = object.list("/status/agentStatus");
    let agent = agents.iter().find(|agent| text_field(*agent, "type") == "MemberAgent")?;
    text_field(agent, "lastReceivedHeartbeat").parse().ok()
}
