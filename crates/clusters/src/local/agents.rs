//! KubeFleet's agents as processes.

use crate::control_plane::MEMBER_NICENESS;
use crate::keeper::protocol::ProcessSpec;
use crate::provider::Agent;

/// The process of an agent: it reaches its own cluster by a kubeconfig, and a member's its hub with a token.
pub(super) fn process(agent: &Agent) -> ProcessSpec {
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
