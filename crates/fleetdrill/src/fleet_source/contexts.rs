//! Contexts of a fleet's clusters in a kubeconfig.

use std::path::{Path, PathBuf};

use clusters::existing::ClusterContexts;
use fleet::HUB;
use kube::config::Kubeconfig;

use super::member_contexts;
use super::options::ContextOptions;
use crate::error::CommandError;

/// Reads the kubeconfig that options name, or KUBECONFIG's or the usual one. `local` names the fleets that are up here.
pub(super) fn kubeconfig(given: &ContextOptions, local: &str) -> Result<Kubeconfig, CommandError> {
    if let Some(path) = &given.kubeconfig {
        return read(path);
    }
    Kubeconfig::read().map_err(|error| {
        if local.is_empty() {
            let hint = "start a fleet (fleetdrill up), or name a kubeconfig: --kubeconfig FILE --hub CONTEXT";
            CommandError::usage(format!("no fleet is up, and there is no usable kubeconfig: {error}"), Some(hint))
        } else {
            let hint =
                format!("name one with --kubeconfig FILE; or read a fleet that is up here with --fleet NAME: {local}");
            CommandError::usage(format!("there is no usable kubeconfig: {error}"), Some(&hint))
        }
    })
}

/// Returns the contexts of a fleet that exists already.
///
/// # Errors
/// Returns an error if the kubeconfig can't be read, or if it lacks a context.
pub(crate) fn contexts(given: &ContextOptions) -> Result<ClusterContexts, CommandError> {
    let kubeconfig = kubeconfig(given, "")?;
    let hub = hub_context(&kubeconfig, given.hub.as_deref())?;
    let members = member_contexts::resolve(given, &names(&kubeconfig), &hub)?;
    let of = std::iter::once((HUB.to_owned(), hub)).chain(members).collect();
    Ok(ClusterContexts { kubeconfig: given.kubeconfig.as_deref().map(absolute), of })
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Reads a kubeconfig.
pub(super) fn read(path: &Path) -> Result<Kubeconfig, CommandError> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| CommandError::usage(format!("failed to read the kubeconfig {}: {e}", path.display()), None))?;
    Kubeconfig::from_yaml(&text)
        .map_err(|e| CommandError::usage(format!("{} is no kubeconfig: {e}", path.display()), None))
}

/// Names of a kubeconfig's contexts.
pub(super) fn names(kubeconfig: &Kubeconfig) -> Vec<&str> {
    kubeconfig.contexts.iter().map(|context| context.name.as_str()).collect()
}

/// Returns the hub's context: the given one, else the current one. The kubeconfig has it.
pub(super) fn hub_context(kubeconfig: &Kubeconfig, given: Option<&str>) -> Result<String, CommandError> {
    let known = names(kubeconfig);
    match given.or(kubeconfig.current_context.as_deref().filter(|current| !current.is_empty())) {
        _ if known.is_empty() => Err(CommandError::usage("the kubeconfig has no contexts", None)),
        Some(context) if known.contains(&context) => Ok(context.to_owned()),
        Some(context) => {
            let hint = format!("it has: {}", known.join(", "));
            Err(CommandError::usage(format!("the kubeconfig has no context `{context}`"), Some(&hint)))
        }
        None => {
            let hint = format!("say which one is the hub's with --hub CONTEXT; it has: {}", known.join(", "));
            Err(CommandError::usage("the kubeconfig has no current context", Some(&hint)))
        }
    }
}
