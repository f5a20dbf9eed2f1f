//! KubeFleet's agents, as providers run them: as processes, containers or Deployments.
//!
//! Everything in this crate that knows KubeFleet stands here: the agents' names and flags, the environment in which a member's agent
//! finds its hub, the published images, the values of KubeFleet's charts, the rights of the agents' Deployments.

mod agent;
pub(crate) mod chart;
pub(crate) mod deployment;
mod images;
mod process;

pub(crate) use agent::served_by;
pub use agent::{Agent, HUB_AGENT, HubAccess, MEMBER_AGENT, SYSTEM, is_agent, member_agent_name};
pub use images::AgentImageSource;
pub(crate) use images::{AgentImages, refresh_token};
pub(crate) use process::process;
