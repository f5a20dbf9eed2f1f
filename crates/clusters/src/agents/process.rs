//! KubeFleet's agents as processes.

use super::Agent;
use crate::control_plane::MEMBER_NICENESS;
use crate::supervisor::protocol::ProcessSpec;

/// Specification of an agent's process. The agent reaches its own cluster by a kubeconfig, and a member's agent reaches
/// its hub with a token.
pub(crate) fn process(agent: &Agent) -> ProcessSpec {
    let mut args = agent.flags.clone();
    args.push(format!("--kubeconfig={}", agent.cluster.kubeconfig.display()));
    let env = agent.hub.as_ref().map(|hub| hub.environment(&agent.cluster.name, &hub.token));
    ProcessSpec {
        name: agent.name.clone(),
        program: agent.program.clone(),
        args,
        env: env.into_iter().flatten().map(|(key, value)| (key.to_owned(), value)).collect(),
        niceness: if agent.hub.is_some() { MEMBER_NICENESS } else { 0 },
    }
}
