//! KubeFleet's agents as processes.

use std::path::Path;

use super::{Agent, SYSTEM};
use crate::control_plane::MEMBER_NICENESS;
use crate::supervisor::protocol::ProcessSpec;

/// Specification of an agent's process. The agent reaches its own cluster by a kubeconfig, and a member's agent reaches
/// its hub with a token.
pub(crate) fn process(agent: &Agent, kubeconfig: &Path) -> ProcessSpec {
    let mut args = agent.flags.clone();
    args.push(format!("--kubeconfig={}", kubeconfig.display()));
    let hub = agent.hub.as_ref().map(|hub| hub.environment(&agent.cluster.name, &hub.token));
    // The namespace of the webhooks' Service.
    let namespace = agent.webhooks.then(|| ("POD_NAMESPACE", SYSTEM.to_owned()));
    let env = hub.into_iter().flatten().chain(namespace);
    ProcessSpec {
        name: agent.name.clone(),
        program: agent.program.clone(),
        args,
        env: env.map(|(key, value)| (key.to_owned(), value)).collect(),
        niceness: if agent.hub.is_some() { MEMBER_NICENESS } else { 0 },
    }
}
