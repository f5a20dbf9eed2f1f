//! Argo CD on a fleet: components as processes for the hub, the members as destinations, git repositories on disk, and
//! the syncs and refreshes that users request for an Application.
//!
//! Argo CD runs as processes on this machine, or in Pods on the hub ([`ArgoCdInstallation`]). As processes it runs in core mode: redis,
//! repo-server and application-controller, with the namespace [`NAMESPACE`] of the hub. The API server is only started for users of the
//! `argocd` command, and the ApplicationSet controller where somebody asks for it. Facts about Argo CD in this module were measured with
//! v3.2, if nothing else is said.
//!
//! Nothing here imports [`crate::Fleet`], which imports this module. The methods of the fleet for Argo CD are in
//! `fleet_argocd.rs`; only [`crate::Fleet::start_argocd`] is in `fleet.rs`.

mod accounts;
mod applicationset;
mod destinations;
mod install;
mod installation;
mod manifests;
mod pods;
mod probe;
mod processes;
mod programs;
mod repository;
mod server;
mod sync;
mod trusted_hosts;
mod upgrade;

use clusters::cluster::Cluster;
use clusters::home::FleetHome;
use clusters::provider::Provider;
use futures::future::{try_join, try_join_all};

pub(crate) use self::applicationset::start as start_applicationset_controller;
pub use self::destinations::{DestinationFault, limit_rights, restore_rights};
pub(crate) use self::destinations::{break_destination, move_destination, restore_destination};
pub use self::install::NAMESPACE;
pub use self::installation::ArgoCdInstallation;
pub use self::manifests::ArgoCdManifests;
pub(crate) use self::pods::ComponentPods;
pub(crate) use self::probe::compares;
pub use self::processes::ArgoCdComponent;
pub(crate) use self::processes::{ArgoCdPaths, tools};
pub use self::programs::{ArgoCdPrograms, KustomizeFault};
pub(crate) use self::repository::password_file;
pub use self::repository::{GIT_USER, Repository};
pub use self::server::ArgoCdCli;
pub(crate) use self::server::start as start_server;
pub use self::sync::{REFRESH, SyncRequest, refresh, sync, sync_again, terminate, unask};
pub use self::trusted_hosts::{CONFIG_MAP as TRUSTED_HOSTS, KNOWN_HOSTS};
pub(crate) use self::trusted_hosts::{know, trust};
pub(crate) use self::upgrade::exchange;
pub use crate::application_conditions::conditions;
use crate::error::FleetError;
use crate::observe::Observer;

/// Installs Argo CD on the hub, starts it, and makes the members its destinations.
///
/// # Errors
/// Returns an error if the hub has an Argo CD already, a component doesn't start, or a cluster refuses the request.
pub(crate) async fn start(
    (home, provider): (&FleetHome, &dyn Provider),
    hub: &Cluster,
    members: impl IntoIterator<Item = &Cluster>,
    installation: &ArgoCdInstallation,
) -> Result<(), FleetError> {
    install::namespace(hub).await?;
    let members: Vec<Cluster> = members.into_iter().map(|member| installation.reached(member)).collect();
    let destinations = try_join_all(members.iter().map(|member| add_destination(hub, member)));
    match installation {
        ArgoCdInstallation::Processes(programs) => {
            let (place, _) = try_join(install_processes(home, hub, programs), destinations).await?;
            processes::start(home, &place, programs).await
        }
        ArgoCdInstallation::Pods(manifests) => {
            let observer = Observer::silent(home.first_exit());
            try_join(pods::start(hub, provider, manifests, &observer), destinations).await.map(drop)
        }
    }
}

/// Installs what Argo CD's processes need.
async fn install_processes(
    home: &FleetHome,
    hub: &Cluster,
    programs: &ArgoCdPrograms,
) -> Result<ArgoCdPaths, FleetError> {
    let place = ArgoCdPaths::prepare(home, programs)?;
    install::install(hub, programs).await?;
    let token = install::token(hub).await?;
    place.write_kubeconfig(processes::KUBECONFIG, hub, &token)?;
    Ok(place)
}

/// True for the name of a process that belongs to Argo CD.
#[must_use]
pub fn is_process(name: &str) -> bool {
    name == server::PROCESS || ArgoCdComponent::ALL.iter().any(|component| component.process() == name)
}

/// Makes a member a destination of Argo CD.
///
/// # Errors
/// Returns an error if the member or the hub refuses the request.
pub(crate) async fn add_destination(hub: &Cluster, member: &Cluster) -> Result<(), FleetError> {
    destinations::add(hub, member).await
}

/// Removes a member from Argo CD's destinations.
///
/// # Errors
/// Returns an error if the hub refuses the request.
pub(crate) async fn remove_destination(hub: &Cluster, member: &str) -> Result<(), FleetError> {
    destinations::remove(hub, member).await
}
