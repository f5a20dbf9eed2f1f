//! Members whose agent gets no answer from its own cluster's API server. The agent says so itself, with each heartbeat.

use jiff::SignedDuration;
use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, subject};
use super::heartbeat::{Heartbeat, internal_member};
use crate::object::{conditions_of_type, text_field};
use crate::{Condition, Object};

/// Time for which an agent may say so. An API server that is restarted takes half of it on a busy machine, and the agent's next attempt comes
/// after as long again.
const UNHEALTHY_LIMIT: SignedDuration = SignedDuration::from_secs(60);

/// Longest pause of an agent whose attempts fail: 1000 s (controller-runtime), and some time for the attempt. An agent that has said nothing
/// for longer has another trouble.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_mins(17);

/// Condition by which a member's agent says that its own API server doesn't answer.
pub(super) struct Unhealthy<'a> {
    /// `InternalMemberCluster` of the member, if it could be read; the `MemberCluster` otherwise.
    object: Object<'a>,
    condition: Condition,
    age: SignedDuration,
}

impl<'a> Unhealthy<'a> {
    /// Returns the condition of a joined member whose agent has said for a while that its API server doesn't answer.
    pub fn of(fleet: FleetView<'a>, member: Object<'a>) -> Option<Self> {
        Heartbeat::of(fleet, member).filter(|heartbeat| heartbeat.age < LONGEST_PAUSE)?;
        let object = internal_member(fleet, member.name()).unwrap_or(member);
        let agents = object.list("/status/agentStatus");
        let agent = agents.iter().find(|agent| text_field(*agent, "type") == "MemberAgent");
        let condition = conditions_of_type(agent, "Healthy").next().filter(|condition| condition.status == "False")?;
        let age = fleet.age(condition.last_transition_time?);
        (age >= UNHEALTHY_LIMIT).then_some(Self { object, condition, age })
    }

    /// KF-MC-008: the API server of a member doesn't answer the member's agent.
    pub fn finding(self, fleet: FleetView<'_>, member: Object<'_>) -> FindingDraft {
        let (quote, Condition { status, reason, message, last_transition_time, .. }) = (fleet.quote(), self.condition);
        let said = if message.is_empty() { reason } else { format!("{reason}: {message}") };
        let path = "status.agentStatus[MemberAgent].conditions[Healthy]";
        let evidence = vec![quote.text(self.object, path, format!("{status} {said}"), last_transition_time)];
        let names = json!({"member": member.name(), "seconds": self.age.as_secs(), "message": message});
        FindingDraft::new(RuleCode::KF_MC_008, subject(fleet, member, None, None), &names, evidence)
            .common_cause("its API server doesn't answer")
            .affects(AffectedPart::Member(member.name().to_owned()))
            .depends_on(AffectedPart::HubWrites)
    }
}
