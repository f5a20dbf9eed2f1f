//! Progress of a fleet on its way.

use std::sync::Arc;

use fleet::StartMilestone;
use toolchain::BuildEvent;

use crate::components::FleetToolchain;

/// Receiver of progress while components are built and a fleet starts.
pub trait FleetProgress: Send + Sync {
    /// Takes progress of the toolchain.
    fn build(&self, event: BuildEvent);

    /// Takes the phase that begins, in words.
    fn phase(&self, text: &str);
}

/// The toolchain and the receiver of progress of a command that makes or extends a fleet.
pub struct FleetBuilder {
    /// The toolchain.
    pub components: FleetToolchain,
    /// Receiver of progress.
    pub progress: Arc<dyn FleetProgress>,
}

/// Returns the stage that a starting fleet has reached, in words.
pub(super) fn stage_text(stage: &StartMilestone) -> String {
    match stage {
        StartMilestone::ClusterReady(cluster) => format!("starting the fleet: {cluster} answers"),
        StartMilestone::HubInstalled => "starting the fleet: KubeFleet runs on the hub".into(),
        StartMilestone::ArgoCdRuns => "starting the fleet: Argo CD runs on the hub".into(),
        StartMilestone::Joined(member) => format!("starting the fleet: {member} has joined"),
    }
}
