//! Choice of the fleet that a command reads: one that is up here, or one of contexts.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clusters::state_dir;

use super::options::ReadableFleetOptions;
use crate::error::CommandError;

/// Environment variable that names kubeconfigs.
pub(super) const KUBECONFIG: &str = "KUBECONFIG";

/// A fleet that is up here, with the facts by which it is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalFleet {
    pub(super) name: String,
    kubeconfig: PathBuf,
}

/// Fleet that options and environment name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FleetChoice {
    /// Fleet that is up here, by its name.
    Local(String),
    /// Fleet of the contexts on the command line.
    Contexts,
    /// Fleet of KUBECONFIG's current context; the command line names none.
    Environment,
    /// Fleet of the usual kubeconfig's current context: nothing is up here.
    Default,
    /// No fleet: several are up here.
    Ambiguous,
}

/// Lists the fleets that are up here.
pub(super) async fn local_fleets() -> Result<Vec<LocalFleet>, CommandError> {
    let mut fleets = Vec::new();
    for name in state_dir::fleets().await? {
        let kubeconfig = state_dir::fleet(&name)?.join("kubeconfig");
        fleets.push(LocalFleet { name, kubeconfig });
    }
    Ok(fleets)
}

/// Chooses the fleet. `environment` is the value of KUBECONFIG.
pub(super) fn choose(
    options: &ReadableFleetOptions,
    environment: Option<OsString>,
    local: &[LocalFleet],
) -> FleetChoice {
    if let Some(name) = &options.fleet {
        return FleetChoice::Local(name.clone());
    }
    if !options.contexts.is_empty() {
        return FleetChoice::Contexts;
    }
    if let Some(files) = environment.filter(|files| !files.is_empty()) {
        let own = local.iter().find(|fleet| is_only(&files, &fleet.kubeconfig));
        return own.map_or(FleetChoice::Environment, |fleet| FleetChoice::Local(fleet.name.clone()));
    }
    match local {
        [] => FleetChoice::Default,
        [one] => FleetChoice::Local(one.name.clone()),
        _ => FleetChoice::Ambiguous,
    }
}

/// True if KUBECONFIG names that file and no other.
pub(super) fn is_of_environment(file: &Path) -> bool {
    std::env::var_os(KUBECONFIG).is_some_and(|files| is_only(&files, file))
}

/// True if a list of paths has that file and no other.
fn is_only(files: &OsStr, file: &Path) -> bool {
    let mut paths = std::env::split_paths(files).filter(|path| !path.as_os_str().is_empty());
    matches!((paths.next(), paths.next()), (Some(one), None) if is_same_file(&one, file))
}

/// True if two paths lead to the same file; paths that lead nowhere are compared as they are written.
fn is_same_file(path: &Path, other: &Path) -> bool {
    match (path.canonicalize(), other.canonicalize()) {
        (Ok(path), Ok(other)) => path == other,
        _ => path == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet_source::options::ContextOptions;

    #[test]
    fn an_explicit_kubeconfig_wins_over_a_fleet_that_is_up() {
        let fleet =
            |name: &str| LocalFleet { name: name.into(), kubeconfig: format!("/state/{name}/kubeconfig").into() };
        let (none, one, two) = (vec![], vec![fleet("default")], vec![fleet("default"), fleet("ops")]);
        let options = |fleet: Option<&str>, hub: Option<&str>| ReadableFleetOptions {
            fleet: fleet.map(ToOwned::to_owned),
            contexts: ContextOptions { hub: hub.map(ToOwned::to_owned), ..ContextOptions::default() },
        };
        let local = |name: &str| FleetChoice::Local(name.into());
        for (fleet, hub, environment, up, expected) in [
            (None, None, None, &none, FleetChoice::Default),
            (None, None, None, &one, local("default")),
            (None, None, Some(""), &one, local("default")),
            (None, None, None, &two, FleetChoice::Ambiguous),
            (None, None, Some("/home/me/prod.yaml"), &none, FleetChoice::Environment),
            (None, None, Some("/home/me/prod.yaml"), &one, FleetChoice::Environment),
            (None, None, Some("/state/ops/kubeconfig"), &two, local("ops")),
            (None, None, Some("/state/ops/kubeconfig:/home/me/prod.yaml"), &two, FleetChoice::Environment),
            (Some("ops"), None, Some("/home/me/prod.yaml"), &two, local("ops")),
            (None, Some("prod-hub"), None, &two, FleetChoice::Contexts),
        ] {
            assert_eq!(
                choose(&options(fleet, hub), environment.map(Into::into), up),
                expected,
                "{environment:?} {up:?}"
            );
        }
    }
}
