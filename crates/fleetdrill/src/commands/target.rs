//! The fleet that a command reads: one that is up here, or one of contexts in a kubeconfig.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clusters::existing::Contexts;
use clusters::state_dir;
use fleet::bundle::Source;
use fleet::error::in_full;
use fleet::snapshot::Asked;
use fleet::{Fleet, HUB};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::Status;
use kube::{Client, Config};

use super::open_fleet;
use crate::cli::{self, Target};
use crate::error::CommandError;

/// Whether a fleet of which a process has ended will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    /// No: what is read of it would be misleading.
    Required,
    /// Yes: that is what is to be looked into.
    NotRequired,
}

/// A fleet that can be asked.
pub(super) struct Reached {
    /// The hub.
    pub(super) hub: Cluster,
    /// The members, by name.
    members: BTreeMap<String, Cluster>,
    /// The fleet that is up here, when it is one.
    fleet: Option<Fleet>,
    /// The hub's context.
    context: String,
}

impl Reached {
    /// The members, by name.
    pub(super) fn members(&self) -> BTreeMap<String, Asked> {
        self.members.iter().map(|(name, member)| (name.clone(), member.asked())).collect()
    }

    /// Where a bundle comes from.
    pub(super) fn source(&self) -> Source {
        Source {
            fleet: self.fleet.as_ref().map_or_else(|| self.context.clone(), |fleet| fleet.name().to_owned()),
            kubefleet: self.fleet.as_ref().map(Fleet::version),
            hub: self.hub.asked(),
            members: self.members(),
            directory: self.fleet.as_ref().map(|fleet| fleet.keeper().dir().to_owned()),
            processes: self.keeps_logs(),
        }
    }

    /// Whether it is up here, with its logs.
    pub(super) fn keeps_logs(&self) -> bool {
        self.fleet.as_ref().is_some_and(Fleet::keeps_logs)
    }
}

/// Finds out which fleet is meant and makes clients for it. Nothing is asked yet.
pub(super) async fn reach(target: &Target, whole: Whole) -> Result<Reached, CommandError> {
    let fleet = match named(target)? {
        Some(name) if whole == Whole::Required => Some(open_fleet(&name).await?),
        Some(name) => Some(Fleet::open(&name).await?),
        None => None,
    };
    let (kubeconfig, hub, members) = if let Some(fleet) = &fleet {
        let members = fleet.members().await.into_keys().map(|name| (name.clone(), name)).collect();
        (read(&fleet.kubeconfig_file())?, Some(HUB), members)
    } else {
        let kubeconfig = match &target.contexts.kubeconfig {
            Some(path) => read(path)?,
            None => Kubeconfig::read().map_err(|e| {
                let hint = "start a fleet (fleetdrill up), or name a kubeconfig: --kubeconfig FILE --hub CONTEXT";
                unusable(&format!("no fleet is up, and there is no usable kubeconfig: {e}"), Some(hint))
            })?,
        };
        (kubeconfig, target.contexts.hub.as_deref(), pairs(&target.contexts.member)?)
    };
    let context = hub.or(kubeconfig.current_context.as_deref()).unwrap_or_default().to_owned();
    let hub = Cluster::by(&kubeconfig, hub).await?;
    let mut reached = BTreeMap::new();
    for (name, context) in members {
        reached.insert(name, Cluster::by(&kubeconfig, Some(&context)).await?);
    }
    Ok(Reached { hub, members: reached, fleet, context })
}

/// The fleet that is up here and meant, unless contexts are.
fn named(target: &Target) -> Result<Option<String>, CommandError> {
    match &target.fleet {
        Some(name) => Ok(Some(name.clone())),
        None if !target.contexts.is_empty() => Ok(None),
        None => match &state_dir::fleets()?[..] {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            several => Err(CommandError::Usage {
                message: format!("several fleets are up: {}", several.join(", ")),
                hint: Some("say which one with --fleet NAME, or use contexts with --hub CONTEXT".into()),
            }),
        },
    }
}

/// The contexts of a fleet that exists already, which names its hub.
pub(super) fn contexts(given: &cli::Contexts) -> Result<Contexts, CommandError> {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let hub = given.hub.iter().map(|context| (HUB.to_owned(), context.clone()));
    let members = pairs(&given.member)?;
    if let Some((name, _)) = members.iter().find(|(name, _)| name == HUB) {
        return Err(unusable(&format!("a member can't be named `{name}`"), Some("the hub's context is --hub CONTEXT")));
    }
    Ok(Contexts { kubeconfig: given.kubeconfig.as_ref().map(absolute), of: hub.chain(members).collect() })
}

fn read(path: &Path) -> Result<Kubeconfig, CommandError> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| unusable(&format!("failed to read the kubeconfig {}: {e}", path.display()), None))?;
    Kubeconfig::from_yaml(&text).map_err(|e| unusable(&format!("{} is no kubeconfig: {e}", path.display()), None))
}

fn pairs(members: &[String]) -> Result<Vec<(String, String)>, CommandError> {
    let pair = |member: &String| {
        let Some((name, context)) = member.split_once('=') else {
            let hint = "write it as NAME=CONTEXT, e.g. --member east=aks-east";
            return Err(unusable(&format!("`{member}` is no member"), Some(hint)));
        };
        Ok((name.to_owned(), context.to_owned()))
    };
    members.iter().map(pair).collect()
}

/// A cluster that can be asked.
pub(super) struct Cluster {
    /// A client with limits.
    pub(super) client: Client,
    /// Its API server, e.g. `https://10.0.0.1:6443`.
    server: String,
}

impl Cluster {
    /// By a context of a kubeconfig; the current one without a name.
    async fn by(kubeconfig: &Kubeconfig, context: Option<&str>) -> Result<Self, CommandError> {
        let contexts: Vec<&str> = kubeconfig.contexts.iter().map(|c| c.name.as_str()).collect();
        let context = match context.or(kubeconfig.current_context.as_deref().filter(|c| !c.is_empty())) {
            Some(context) if contexts.contains(&context) => context,
            _ if contexts.is_empty() => return Err(unusable("the kubeconfig has no contexts", None)),
            Some(context) => {
                let hint = format!("it has: {}", contexts.join(", "));
                return Err(unusable(&format!("the kubeconfig has no context `{context}`"), Some(&hint)));
            }
            None => {
                let hint = format!("say which one is the hub's with --hub CONTEXT; it has: {}", contexts.join(", "));
                return Err(unusable("the kubeconfig has no current context", Some(&hint)));
            }
        };
        let cannot =
            |why: String| unusable(&format!("failed to use context `{context}` of the kubeconfig: {why}"), None);
        let options = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
        let mut config =
            Config::from_custom_kubeconfig(kubeconfig.clone(), &options).await.map_err(|e| cannot(e.to_string()))?;
        config.connect_timeout = Some(CONNECT_LIMIT);
        config.read_timeout = Some(ANSWER_LIMIT);
        let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let client = Client::try_from(config).map_err(|e| cannot(e.to_string()))?;
        Ok(Self { client, server })
    }

    /// As those want it who read all of it.
    pub(super) fn asked(&self) -> Asked {
        Asked { client: self.client.clone(), server: Some(self.server.clone()) }
    }

    /// Finds out whether it can be read and is a hub at all, before anything is concluded from what isn't there.
    pub(super) async fn check(&self) -> Result<(), CommandError> {
        // Members know placement.kubernetes-fleet.io, too: their AppliedWorks are of that group.
        let request = http::Request::get("/apis/cluster.kubernetes-fleet.io").body(Vec::new()).unwrap_or_default();
        let server = &self.server;
        let answer = tokio::time::timeout(CHECK_LIMIT, self.client.request_text(request)).await;
        let unreached = match answer {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(kube::Error::Api(status))) => return Err(self.refused(&status)),
            Ok(Err(error)) => in_full(&error),
            Err(_) => format!("no answer within {} s", CHECK_LIMIT.as_secs()),
        };
        Err(CommandError::Environment {
            message: format!("the hub's API server {server} can't be reached: {unreached}"),
            hint: Some("check that it runs, and that the context's address is right: kubectl cluster-info".into()),
        })
    }

    fn refused(&self, status: &Status) -> CommandError {
        let server = &self.server;
        match status.code {
            404 => unusable(
                &format!("{server} is no KubeFleet hub: it doesn't know cluster.kubernetes-fleet.io"),
                Some("name the hub's context with --hub CONTEXT"),
            ),
            401 | 403 => unusable(
                &format!("the hub's API server {server} refuses these credentials ({})", status.code),
                Some("diagnosing needs the right to list; check the context's user: kubectl auth whoami"),
            ),
            code => CommandError::Environment {
                message: format!("the hub's API server {server} answers with an error ({code} {})", status.message),
                hint: None,
            },
        }
    }
}

/// How long an API server may take until it takes a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How long the hub may take for the first and smallest answer, connecting included.
const CHECK_LIMIT: Duration = Duration::from_secs(12);

/// How long an API server may take for one answer. A large hub's lists take seconds.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

pub(super) fn unusable(message: &str, hint: Option<&str>) -> CommandError {
    CommandError::Usage { message: message.to_owned(), hint: hint.map(ToOwned::to_owned) }
}
