//! The fleet that a command reads: one that is up here, or one of contexts in a kubeconfig.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clusters::credentials::{self, CredentialError};
use clusters::existing::Contexts;
use clusters::{state_dir, stderr_line};
use diagnosis::{Access, Snapshot};
use fleet::bundle::Source;
use fleet::error::{READER_HINT, in_full};
use fleet::snapshot::Asked;
use fleet::{Fleet, HUB, kinds};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::Status;
use kube::{Client, Config};

use super::identity::{self, Identity};
use super::{members, open_fleet};
use crate::cli::{self, Target};
use crate::error::CommandError;

/// The variable that names kubeconfigs.
const KUBECONFIG: &str = "KUBECONFIG";

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
    /// The kubeconfig that was given on the command line.
    kubeconfig: Option<PathBuf>,
}

impl Reached {
    /// The members, by name.
    pub(super) fn members(&self) -> BTreeMap<String, Asked> {
        self.members.iter().map(|(name, member)| (name.clone(), member.asked())).collect()
    }

    /// The fleet's name, or the hub's context.
    pub(super) fn name(&self) -> &str {
        self.fleet.as_ref().map_or(&self.hub.context, Fleet::name)
    }

    /// The contexts by cluster: `hub`, and the members by name.
    pub(super) fn contexts(&self) -> BTreeMap<String, String> {
        let members = self.members.iter().map(|(name, member)| (name.clone(), member.context.clone()));
        std::iter::once((HUB.to_owned(), self.hub.context.clone())).chain(members).collect()
    }

    /// How commands reach the clusters.
    pub(super) fn access(&self) -> Access {
        let (access, file) = match &self.fleet {
            Some(fleet) => {
                (Access::same_names(), Some(fleet.kubeconfig_file()).filter(|file| !is_of_environment(file)))
            }
            None => (Access::named(None, self.contexts()), self.kubeconfig.clone()),
        };
        match file {
            Some(file) => access.in_kubeconfig(file.display().to_string()),
            None => access,
        }
    }

    /// What the clusters say that they are. A fleet that fleetdrill made isn't asked.
    pub(super) async fn identities(&self) -> BTreeMap<String, Identity> {
        if self.fleet.is_some() {
            return BTreeMap::new();
        }
        identity::ask(std::iter::once((HUB.to_owned(), self.hub.asked())).chain(self.members())).await
    }

    /// Sees that the contexts lead to the clusters that they were given for.
    ///
    /// # Errors
    /// When one doesn't, or a member isn't one of the hub's.
    pub(super) fn check_identities(
        &self,
        identities: &BTreeMap<String, Identity>,
        snapshot: &Snapshot,
    ) -> Result<(), CommandError> {
        let Some(hub) = snapshot.hub().filter(|hub| self.fleet.is_none() && hub.unreachable.is_none()) else {
            return Ok(());
        };
        let kind = kinds::MEMBER_CLUSTER;
        let joined: Vec<&str> = hub.of_kind(kind.group, kind.kind).map(|member| member.name()).collect();
        identity::check(identities, &self.contexts(), &joined)
    }

    /// Where a bundle comes from.
    pub(super) fn source(&self) -> Source {
        Source {
            fleet: self.name().to_owned(),
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

    /// Which fleet is read.
    fn description(&self) -> String {
        match &self.fleet {
            Some(fleet) => format!("reading fleet {}", fleet.name()),
            None => format!("reading hub {} ({})", self.hub.context, self.hub.server),
        }
    }
}

/// A fleet that is up here, as far as choosing one needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LocalFleet {
    name: String,
    kubeconfig: PathBuf,
}

/// Which fleet is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Choice {
    /// The fleet of that name, which is up here.
    Local(String),
    /// The one of the contexts that were given.
    Contexts,
    /// The one of KUBECONFIG's current context, though nothing on the command line says so.
    Environment,
    /// The one of the usual kubeconfig's current context: nothing is up here.
    Default,
    /// None: several are up here.
    Ambiguous,
}

/// Finds out which fleet is meant and makes clients for it, and says on stderr which. Nothing is asked yet.
pub(super) async fn reach(target: &Target, whole: Whole) -> Result<Reached, CommandError> {
    let local = local_fleets()?;
    let choice = choose(target, std::env::var_os(KUBECONFIG), &local);
    let names = || local.iter().map(|fleet| fleet.name.as_str()).collect::<Vec<_>>().join(", ");
    let fleet = match &choice {
        Choice::Ambiguous => {
            return Err(CommandError::Usage {
                message: format!("several fleets are up: {}", names()),
                hint: Some("say which one with --fleet NAME, or use contexts with --hub CONTEXT".into()),
            });
        }
        Choice::Local(name) if whole == Whole::Required => Some(open_fleet(name).await?),
        Choice::Local(name) => Some(Fleet::open(name).await?),
        Choice::Contexts | Choice::Environment | Choice::Default => None,
    };
    let given = &target.contexts;
    let (kubeconfig, hub, contexts) = if let Some(fleet) = &fleet {
        let members = fleet.members().await.into_keys().map(|name| (name.clone(), name)).collect();
        (read(&fleet.kubeconfig_file())?, HUB.to_owned(), members)
    } else {
        let kubeconfig = kubeconfig(given, &names())?;
        let hub = hub_context(&kubeconfig, given.hub.as_deref())?;
        let members = members::resolve(given, &contexts_of(&kubeconfig), &hub)?;
        (kubeconfig, hub, members)
    };
    let hub = Cluster::by(&kubeconfig, &hub).await?;
    let mut reached = BTreeMap::new();
    for (name, context) in contexts {
        let member = Cluster::by(&kubeconfig, &context).await?;
        let mut others =
            std::iter::once((HUB, &hub)).chain(reached.iter().map(|(name, of): (&String, _)| (name.as_str(), of)));
        if let Some((other, _)) = others.find(|(_, other)| member.is_same_server(other)) {
            let message =
                format!("context `{context}`, given for {name}, has the API server of {other}: {}", member.server);
            return Err(unusable(&message, Some("each cluster has a context of its own: kubectl config view")));
        }
        reached.insert(name, member);
    }
    let reached = Reached { hub, members: reached, fleet, kubeconfig: given.kubeconfig.clone() };
    stderr_line!("{}", reached.description());
    if choice == Choice::Environment && !local.is_empty() {
        stderr_line!("it is the one of {KUBECONFIG}; up here are, for --fleet NAME: {}", names());
    }
    Ok(reached)
}

fn local_fleets() -> Result<Vec<LocalFleet>, CommandError> {
    let names = state_dir::fleets()?.into_iter();
    let fleets = names.map(|name| {
        let kubeconfig = state_dir::fleet(&name)?.join("kubeconfig");
        Ok(LocalFleet { name, kubeconfig })
    });
    fleets.collect()
}

fn choose(target: &Target, environment: Option<OsString>, local: &[LocalFleet]) -> Choice {
    if let Some(name) = &target.fleet {
        return Choice::Local(name.clone());
    }
    if !target.contexts.is_empty() {
        return Choice::Contexts;
    }
    if let Some(files) = environment.filter(|files| !files.is_empty()) {
        let own = local.iter().find(|fleet| is_only(&files, &fleet.kubeconfig));
        return own.map_or(Choice::Environment, |fleet| Choice::Local(fleet.name.clone()));
    }
    match local {
        [] => Choice::Default,
        [one] => Choice::Local(one.name.clone()),
        _ => Choice::Ambiguous,
    }
}

/// Whether KUBECONFIG names that file and no other.
fn is_of_environment(file: &Path) -> bool {
    std::env::var_os(KUBECONFIG).is_some_and(|files| is_only(&files, file))
}

/// Whether a list of paths has that file and no other.
fn is_only(files: &OsStr, file: &Path) -> bool {
    let same = |path: &Path| match (path.canonicalize(), file.canonicalize()) {
        (Ok(path), Ok(file)) => path == file,
        _ => path == file,
    };
    let mut paths = std::env::split_paths(files).filter(|path| !path.as_os_str().is_empty());
    matches!((paths.next(), paths.next()), (Some(one), None) if same(&one))
}

/// The kubeconfig that is meant where no fleet that is up here is. `local` names those that are up.
fn kubeconfig(given: &cli::Contexts, local: &str) -> Result<Kubeconfig, CommandError> {
    let Some(path) = &given.kubeconfig else {
        return Kubeconfig::read().map_err(|e| {
            if local.is_empty() {
                let hint = "start a fleet (fleetdrill up), or name a kubeconfig: --kubeconfig FILE --hub CONTEXT";
                unusable(&format!("no fleet is up, and there is no usable kubeconfig: {e}"), Some(hint))
            } else {
                let hint = format!(
                    "name one with --kubeconfig FILE; or read a fleet that is up here with --fleet NAME: {local}"
                );
                unusable(&format!("there is no usable kubeconfig: {e}"), Some(&hint))
            }
        });
    };
    read(path)
}

/// The contexts of a fleet that exists already, which names its hub.
pub(super) fn contexts(given: &cli::Contexts) -> Result<Contexts, CommandError> {
    let kubeconfig = kubeconfig(given, "")?;
    let hub = hub_context(&kubeconfig, given.hub.as_deref())?;
    let members = members::resolve(given, &contexts_of(&kubeconfig), &hub)?;
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let of = std::iter::once((HUB.to_owned(), hub)).chain(members).collect();
    Ok(Contexts { kubeconfig: given.kubeconfig.as_ref().map(absolute), of })
}

fn read(path: &Path) -> Result<Kubeconfig, CommandError> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| unusable(&format!("failed to read the kubeconfig {}: {e}", path.display()), None))?;
    Kubeconfig::from_yaml(&text).map_err(|e| unusable(&format!("{} is no kubeconfig: {e}", path.display()), None))
}

fn contexts_of(kubeconfig: &Kubeconfig) -> Vec<&str> {
    kubeconfig.contexts.iter().map(|context| context.name.as_str()).collect()
}

/// The hub's context: the one that was given, else the current one. It is there.
fn hub_context(kubeconfig: &Kubeconfig, given: Option<&str>) -> Result<String, CommandError> {
    let known = contexts_of(kubeconfig);
    match given.or(kubeconfig.current_context.as_deref().filter(|current| !current.is_empty())) {
        _ if known.is_empty() => Err(unusable("the kubeconfig has no contexts", None)),
        Some(context) if known.contains(&context) => Ok(context.to_owned()),
        Some(context) => {
            let hint = format!("it has: {}", known.join(", "));
            Err(unusable(&format!("the kubeconfig has no context `{context}`"), Some(&hint)))
        }
        None => {
            let hint = format!("say which one is the hub's with --hub CONTEXT; it has: {}", known.join(", "));
            Err(unusable("the kubeconfig has no current context", Some(&hint)))
        }
    }
}

/// A cluster that can be asked.
pub(super) struct Cluster {
    /// A client with limits.
    pub(super) client: Client,
    /// The context in the kubeconfig.
    context: String,
    /// The API server, e.g. `https://10.0.0.1:6443`.
    server: String,
    /// Whether the API server is reached through a proxy, so that another cluster may have the same address.
    has_proxy: bool,
}

impl Cluster {
    /// The cluster of a context that the kubeconfig has.
    async fn by(kubeconfig: &Kubeconfig, context: &str) -> Result<Self, CommandError> {
        let message = |why: String| format!("failed to use context `{context}` of the kubeconfig: {why}");
        let options = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
        let config = Config::from_custom_kubeconfig(kubeconfig.clone(), &options).await;
        let mut config = config.map_err(|e| unusable(&message(in_full(&e)), None))?;
        config.connect_timeout = Some(CONNECT_LIMIT);
        config.read_timeout = Some(ANSWER_LIMIT);
        let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let has_proxy = config.proxy_url.is_some();
        let client = credentials::client(config).await.map_err(|error| match &error {
            CredentialError::Client(source) => unusable(&message(in_full(source)), None),
            plugin => CommandError::Environment { message: message(plugin.to_string()), hint: plugin.hint() },
        })?;
        Ok(Self { client, context: context.to_owned(), server, has_proxy })
    }

    fn is_same_server(&self, other: &Self) -> bool {
        self.server == other.server && !self.has_proxy && !other.has_proxy
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
            401 => unusable(
                &format!(
                    "the hub's API server {server} refuses these credentials (401): they aren't valid, or no longer"
                ),
                Some(READER_HINT),
            ),
            403 => unusable(
                &format!("the hub's API server {server} refuses these credentials (403): {}", status.message),
                Some(READER_HINT),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explicit_kubeconfig_wins_over_a_fleet_that_is_up() {
        let fleet =
            |name: &str| LocalFleet { name: name.into(), kubeconfig: format!("/state/{name}/kubeconfig").into() };
        let (none, one, two) = (vec![], vec![fleet("default")], vec![fleet("default"), fleet("ops")]);
        let target = |fleet: Option<&str>, hub: Option<&str>| Target {
            fleet: fleet.map(ToOwned::to_owned),
            contexts: cli::Contexts { hub: hub.map(ToOwned::to_owned), ..cli::Contexts::default() },
        };
        let local = |name: &str| Choice::Local(name.into());
        for (fleet, hub, environment, up, expected) in [
            (None, None, None, &none, Choice::Default),
            (None, None, None, &one, local("default")),
            (None, None, Some(""), &one, local("default")),
            (None, None, None, &two, Choice::Ambiguous),
            (None, None, Some("/home/me/prod.yaml"), &none, Choice::Environment),
            (None, None, Some("/home/me/prod.yaml"), &one, Choice::Environment),
            (None, None, Some("/state/ops/kubeconfig"), &two, local("ops")),
            (None, None, Some("/state/ops/kubeconfig:/home/me/prod.yaml"), &two, Choice::Environment),
            (Some("ops"), None, Some("/home/me/prod.yaml"), &two, local("ops")),
            (None, Some("prod-hub"), None, &two, Choice::Contexts),
        ] {
            assert_eq!(
                choose(&target(fleet, hub), environment.map(Into::into), up),
                expected,
                "{environment:?} {up:?}"
            );
        }
    }
}
