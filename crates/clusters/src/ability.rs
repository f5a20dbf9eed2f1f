//! What one provider can do and another can't.

use std::fmt;

use crate::supervisor::CAN_SHIFT_CLOCKS;

/// Abilities that some providers have and others don't.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProviderAbility {
    /// Make clusters, and delete them.
    MakeClusters,
    /// Stop agents and start them again.
    StopAgents,
    /// Read the agents' logs.
    ReadAgentLogs,
    /// Run pods, also with images that can't be pulled.
    RunPods,
    /// Decide how the containers of pods end, and what their probes get in answer.
    SimulatePods,
    /// Have members on which workloads get no running pods.
    LeavePodsOut,
    /// Run an Argo CD of fleetdrill's own, on the hub.
    RunArgoCd,
    /// Run Argo CD's programs on this machine, so that its files can be changed, and it reaches servers on loopback.
    RunArgoCdHere,
    /// Have nodes that get images from this machine.
    LoadImages,
    /// Have API servers that reach a webhook on this machine.
    CallWebhooks,
    /// Have hollow members, whose agents a process on this machine plays.
    PlayMembers,
    /// Give a cluster's API server only a part of its processor time.
    ThrottleApiServers,
    /// Let a cluster's API server hang.
    HangApiServers,
    /// Have members whose network can be broken.
    BreakNetworks,
    /// Restore clusters from backups of their etcd.
    RestoreClusters,
    /// Stop a member's API server, and start it again.
    StopApiServers,
    /// Let the hub-agent hang.
    HangAgents,
    /// Shift the clocks of agents and of API servers.
    ShiftClocks,
    /// Start the hub-agent again with other flags.
    SetHubAgentFlags,
    /// Start the hub-agent with an identity of its own, from which its rights can be taken.
    LimitHubAgent,
    /// Start the hub-agent with KubeFleet's webhooks.
    ServeWebhooks,
    /// Limit the space of the hub's etcd.
    LimitStorage,
    /// Give the hub's etcd only a part of its processor time.
    SlowStorage,
    /// Have the hub's etcd defragmented.
    DefragmentStorage,
    /// Sign tokens of `ServiceAccount`s that expire when a scenario says.
    SignTokens,
    /// Let the hub's API server set priorities of requests (API Priority and Fairness).
    SetPriorities,
    /// Have the hub answer members with a certificate of another CA.
    ChangeHubCertificate,
    /// Run a member's agent with fewer rights on its own cluster than all.
    LimitAgents,
    /// Serve repositories over SSH: a matter of how fleetdrill is built, not of the provider.
    ServeSsh,
}

impl ProviderAbility {
    /// True if the heartbeats of a member may stop where this ability is used.
    #[must_use]
    pub fn disturbs_members(self) -> bool {
        matches!(
            self,
            Self::StopAgents
                | Self::BreakNetworks
                | Self::StopApiServers
                | Self::HangApiServers
                | Self::SignTokens
                | Self::ChangeHubCertificate
        )
    }

    /// True if the ability is possible on a machine like this one, whatever the provider is.
    pub(crate) fn is_possible_here(self) -> bool {
        self != Self::ShiftClocks || CAN_SHIFT_CLOCKS
    }
}

/// Completes the sentence "provider ... can't".
impl fmt::Display for ProviderAbility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MakeClusters => "make clusters",
            Self::StopAgents => "stop and start agents",
            Self::ReadAgentLogs => "read agents' logs",
            Self::RunPods => "run pods",
            Self::SimulatePods => "simulate what containers do",
            Self::LeavePodsOut => "leave workloads without pods",
            Self::RunArgoCd => "run an Argo CD of fleetdrill's own",
            Self::RunArgoCdHere => "run Argo CD's programs on this machine",
            Self::LoadImages => "load images into nodes",
            Self::CallWebhooks => "call webhooks on this machine",
            Self::PlayMembers => "have hollow members",
            Self::ThrottleApiServers => "slow API servers down",
            Self::HangApiServers => "let API servers hang",
            Self::BreakNetworks => "break the network of members",
            Self::RestoreClusters => "restore clusters from backups",
            Self::StopApiServers => "stop API servers and start them again",
            Self::HangAgents => "let the hub-agent hang",
            Self::ShiftClocks => "shift clocks",
            Self::SetHubAgentFlags => "start the hub-agent with other flags",
            Self::LimitHubAgent => "take the hub-agent's rights away",
            Self::ServeWebhooks => "start the hub-agent with its webhooks",
            Self::LimitStorage => "limit the space of etcd",
            Self::SlowStorage => "slow etcd down",
            Self::DefragmentStorage => "have etcd defragmented",
            Self::SignTokens => "sign tokens that expire",
            Self::SetPriorities => "set priorities of requests",
            Self::ChangeHubCertificate => "change the hub's certificate",
            Self::LimitAgents => "limit the rights of agents",
            Self::ServeSsh => "serve repositories over SSH",
        })
    }
}
