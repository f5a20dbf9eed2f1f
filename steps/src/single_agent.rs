//! Agents that a step names one at a time.

use std::fmt;

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::phrases::AgentRef;

/// Agent that has a process, and a user on the hub, of its own.
pub(crate) struct SingleAgent {
    /// Member whose agent it is; without one, it is the hub-agent.
    pub member: Option<String>,
}

impl SingleAgent {
    /// Finds an agent that is the scenario's own: of a member of its own, or the hub-agent of a fleet of its own.
    pub(crate) fn of(context: &ScenarioContext, agent: &AgentRef) -> Result<Self, StepError> {
        let member = match agent {
            AgentRef::Hub => {
                context.check_own_fleet("the hub-agent is")?;
                None
            }
            AgentRef::Member(member) => Some(context.own_member(member)?),
            AgentRef::Hollow(_) => {
                return Err(StepError::Feature(
                    "this step is about one agent: hollow members have one process, and one user, for all".into(),
                ));
            }
        };
        Ok(Self { member })
    }
}

impl fmt::Display for SingleAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.member {
            Some(member) => write!(f, "the agent of {member}"),
            None => f.write_str("the hub-agent"),
        }
    }
}
