//! Contexts of a fleet's clusters in a kubeconfig.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clusters::existing::ClusterContexts;
use fleet::HUB;
use kube::config::Kubeconfig;
use report::text::some_names;

use super::hub_members::asks_hub;
use super::options::ContextOptions;
use super::{in_cluster, member_contexts};
use crate::error::CommandError;

/// Reads the kubeconfig that options name, or KUBECONFIG's or the usual one, or in a Pod that of its ServiceAccount. `local` names the fleets
/// that are up here.
pub(super) fn kubeconfig(given: &ContextOptions, local: &str) -> Result<Kubeconfig, CommandError> {
    if let Some(path) = &given.kubeconfig {
        return read(path);
    }
    let usual = Kubeconfig::read();
    usual.or_else(|error| in_cluster::kubeconfig().ok_or(error)).map_err(|error| {
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
    if given.members_from.as_ref().is_some_and(asks_hub) {
        let hint = "name them by --member, by --members PATTERN, or by a file for --members-from";
        return Err(CommandError::usage(
            "--members-from takes a template, a directory or clusterprofiles only for diagnose and collect",
            Some(hint),
        ));
    }
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

/// Contexts of a kubeconfig that may have thousands.
pub(super) struct ContextTable<'a> {
    kubeconfig: &'a Kubeconfig,
    /// Positions of the contexts, by name.
    contexts: HashMap<&'a str, usize>,
    clusters: HashMap<&'a str, usize>,
    users: HashMap<&'a str, usize>,
}

/// Contexts that an error names.
const NAMED: usize = 20;

impl<'a> ContextTable<'a> {
    /// Reads the names of a kubeconfig. Of two entries with the same name, the first counts.
    pub(super) fn of(kubeconfig: &'a Kubeconfig) -> Self {
        fn first<'a>(names: impl DoubleEndedIterator<Item = (usize, &'a str)>) -> HashMap<&'a str, usize> {
            names.rev().map(|(at, name)| (name, at)).collect()
        }
        Self {
            contexts: first(kubeconfig.contexts.iter().map(|named| named.name.as_str()).enumerate()),
            clusters: first(kubeconfig.clusters.iter().map(|named| named.name.as_str()).enumerate()),
            users: first(kubeconfig.auth_infos.iter().map(|named| named.name.as_str()).enumerate()),
            kubeconfig,
        }
    }

    /// Returns a kubeconfig that has this context only, with its cluster and its user; `None` if there is no such context.
    pub(super) fn only(&self, context: &str) -> Option<Kubeconfig> {
        let named = &self.kubeconfig.contexts[*self.contexts.get(context)?];
        let inner = named.context.as_ref();
        let cluster = inner.and_then(|inner| self.clusters.get(inner.cluster.as_str()));
        let user = inner.and_then(|inner| self.users.get(inner.user.as_deref()?));
        Some(Kubeconfig {
            preferences: None,
            clusters: cluster.map(|at| self.kubeconfig.clusters[*at].clone()).into_iter().collect(),
            auth_infos: user.map(|at| self.kubeconfig.auth_infos[*at].clone()).into_iter().collect(),
            contexts: vec![named.clone()],
            current_context: Some(context.to_owned()),
            extensions: None,
            kind: self.kubeconfig.kind.clone(),
            api_version: self.kubeconfig.api_version.clone(),
            ..Kubeconfig::default()
        })
    }

    /// Returns the first context whose cluster has this API server.
    pub(super) fn of_server(&self, server: &str) -> Option<&'a str> {
        let is_same = |other: &str| other.trim_end_matches('/').eq_ignore_ascii_case(server.trim_end_matches('/'));
        let mut contexts = self.kubeconfig.contexts.iter().filter(|_| !server.is_empty());
        let found = contexts.find(|named| {
            let cluster = named.context.as_ref().and_then(|inner| self.clusters.get(inner.cluster.as_str()));
            let cluster = cluster.and_then(|at| self.kubeconfig.clusters[*at].cluster.as_ref());
            cluster.and_then(|cluster| cluster.server.as_deref()).is_some_and(is_same)
        });
        found.map(|named| named.name.as_str())
    }

    /// Names of contexts, the first ones if there are many.
    pub(super) fn some_names(&self) -> String {
        some_names(&names(self.kubeconfig), NAMED)
    }
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
