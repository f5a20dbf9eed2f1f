//! Replaces Argo CD with another version on a hub that keeps all of Argo CD's objects.
//!
//! The steps are an operator's who applies the new version's manifests: CRDs and rights first, then all processes at once, with the
//! arguments that they have. Redis restarts too, because each version's manifests have another image of it, and its content goes:
//! redis stores nothing on disk. Applications, projects, Secrets and settings stay.

use clusters::cluster::Cluster;
use clusters::home::FleetHome;

use super::processes::{ArgoCdComponent, ArgoCdPaths};
use super::{ArgoCdPrograms, applicationset, install, server};
use crate::error::FleetError;
use crate::port::listens;

/// Replaces Argo CD, and waits until the components listen that run. A component that was stopped on purpose stays stopped, and starts
/// in the new version. Returns true if all components run that compare Applications.
pub(crate) async fn exchange(home: &FleetHome, hub: &Cluster, to: &ArgoCdPrograms) -> Result<bool, FleetError> {
    install::replace(hub, to).await?;
    let (place, supervisor) = (ArgoCdPaths::of(home), home.supervisor());
    place.link_tools(to)?;
    let known: Vec<String> = supervisor.processes().await?.into_iter().map(|process| process.name).collect();
    let processes = ArgoCdComponent::ALL.map(ArgoCdComponent::process).into_iter().chain([server::PROCESS]);
    for process in processes.filter(|process| known.iter().any(|name| name == process)) {
        let program = if process == ArgoCdComponent::Redis.process() { &to.redis } else { &to.argocd };
        supervisor.exchange_program(process, program).await?;
    }
    let running: Vec<String> =
        supervisor.processes().await?.into_iter().filter(|p| p.pid.is_some()).map(|p| p.name).collect();
    let runs = |process: &str| running.iter().any(|name| name == process);
    for (process, port_file) in [
        (ArgoCdComponent::RepoServer.process(), super::processes::REPO_SERVER_PORT),
        (ArgoCdComponent::ApplicationSetController.process(), applicationset::PROBE_PORT),
    ] {
        if runs(process) {
            listens(home, process, place.port(port_file)?).await?;
        }
    }
    let comparing = [ArgoCdComponent::Redis, ArgoCdComponent::RepoServer, ArgoCdComponent::Controller];
    Ok(comparing.iter().all(|component| runs(component.process())))
}
