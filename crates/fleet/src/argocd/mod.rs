//! Argo CD on a fleet: its components as processes on the hub, the members as its destinations, git repositories on disk,
//! and what a user asks of an Application.
//!
//! It runs in core mode: redis, repo-server and application-controller, in the namespace [`NAMESPACE`] of the hub. The API
//! server comes only for those who want the `argocd` command. All of it was measured with Argo CD v3.2.

mod destinations;
mod install;
mod on_fleet;
mod processes;
mod repository;
mod server;
mod sync;

use std::path::PathBuf;

use clusters::cluster::Cluster;
use clusters::home::Home;
use futures::future::{try_join, try_join_all};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::destinations::{limit_rights, restore_rights};
pub use self::install::NAMESPACE;
pub use self::processes::Component;
pub use self::repository::Repository;
pub use self::server::Cli;
pub use self::sync::{REFRESH, Request, refresh, sync, sync_again, terminate, unask};
use crate::error::FleetError;

/// The programs that Argo CD is made of and renders with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Programs {
    /// Argo CD's version, e.g. `v3.2.11`.
    pub version: String,
    /// Argo CD's one program, which takes its role from its environment.
    pub argocd: PathBuf,
    /// `redis-server`.
    pub redis: PathBuf,
    /// `kustomize`.
    pub kustomize: PathBuf,
    /// `helm`.
    pub helm: PathBuf,
    /// `git`, for the repo-server and for the repositories of scenarios.
    pub git: PathBuf,
    /// The version's CRDs, one a file.
    pub crds: Vec<PathBuf>,
    /// The version's rights for the application-controller, one object a file; none for somebody's own build.
    pub rights: Vec<PathBuf>,
}

/// Installs Argo CD on the hub, starts it, and makes the members its destinations.
///
/// # Errors
/// When the hub has an Argo CD already, a component doesn't start, or a cluster refuses.
pub(crate) async fn start(
    home: &Home,
    hub: &Cluster,
    members: impl IntoIterator<Item = &Cluster>,
    programs: &Programs,
) -> Result<(), FleetError> {
    install::namespace(hub).await?;
    let place = processes::Place::prepare(home, programs)?;
    let installed = async {
        install::install(hub, programs).await?;
        let token = install::token(hub).await?;
        place.write_kubeconfig(hub, &token)?;
        Ok::<_, FleetError>(())
    };
    let destinations = try_join_all(members.into_iter().map(|member| add_destination(hub, member)));
    try_join(installed, destinations).await?;
    processes::start(home, &place, programs).await
}

/// Makes a member a destination.
///
/// # Errors
/// When the member or the hub refuses.
pub(crate) async fn add_destination(hub: &Cluster, member: &Cluster) -> Result<(), FleetError> {
    destinations::add(hub, member).await
}

/// Takes a member from the destinations.
///
/// # Errors
/// When the hub refuses.
pub(crate) async fn remove_destination(hub: &Cluster, member: &str) -> Result<(), FleetError> {
    destinations::remove(hub, member).await
}

/// The conditions of an Application: type and message. They have no status: one that is there holds.
#[must_use]
pub fn conditions<'a>(application: &diagnosis::Object<'a>) -> Vec<(&'a str, &'a str)> {
    let text = |condition: &'a Value, key: &str| condition.get(key).and_then(Value::as_str).unwrap_or_default();
    application.list("/status/conditions").iter().map(|c| (text(c, "type"), text(c, "message"))).collect()
}
