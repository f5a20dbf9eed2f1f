//! A fleet that a command reads, and changes in nothing.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::Duration;

use clusters::credentials::{self, CredentialError};
use clusters::lazy_client::lazy_client;
use clusters::machine;
use diagnosis::{KubectlAccess, Snapshot};
use fleet::bundle::BundleSource;
use fleet::error::in_full;
use fleet::snapshot::ClusterAccess;
use fleet::{Fleet, HUB, kinds};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::Status;
use kube::{Client, Config};
use report::stderr_line;

use super::cluster_identity::{self, ClusterIdentity};
use super::contexts::{self, ContextTable};
use super::fleet_choice::{FleetChoice, KUBECONFIG, choose, is_of_environment, local_fleets};
use super::hub_members::{self, MemberContext};
use super::member_contexts;
use super::options::{ContextOptions, ReadableFleetOptions};
use super::running_fleet::open_whole;
use crate::error::CommandError;
use crate::hints::{self, READER_HINT};

/// State that a fleet which is up has to be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredState {
    /// All its processes run: what is read of a broken fleet would be misleading.
    Whole,
    /// Any: a broken fleet is to be looked into.
    Any,
}

/// A fleet with clients for its clusters, which are only read.
pub(crate) struct ReadableFleet {
    /// The hub.
    pub(crate) hub: ReadableCluster,
    /// Members, by name.
    members: BTreeMap<String, ReadableCluster>,
    origin: FleetOrigin,
}

/// Origin of a fleet that is read.
enum FleetOrigin {
    /// A fleet that is up here.
    Running(Fleet),
    /// Contexts of this kubeconfig, or of KUBECONFIG or the usual one.
    Contexts(Option<PathBuf>),
}

/// Contexts of the clusters of a fleet.
struct FleetContexts {
    kubeconfig: Kubeconfig,
    hub: String,
    /// Contexts of the members, by the members' names.
    members: BTreeMap<String, String>,
}

impl ReadableFleet {
    /// Finds the fleet that options name, makes clients for it, and says on stderr which it is. No cluster is asked yet.
    ///
    /// # Errors
    /// Returns an error if no fleet, or more than one, fits the options, or if a context can't be used.
    pub(crate) async fn reach(options: &ReadableFleetOptions, state: RequiredState) -> Result<Self, CommandError> {
        let local = local_fleets().await?;
        let choice = choose(options, std::env::var_os(KUBECONFIG), &local);
        let names = local.iter().map(|fleet| fleet.name.as_str()).collect::<Vec<_>>().join(", ");
        let given = &options.contexts;
        let (origin, contexts) = match &choice {
            FleetChoice::Ambiguous => {
                return Err(CommandError::usage(
                    format!("several fleets are up: {names}"),
                    Some("say which one with --fleet NAME, or use contexts with --hub CONTEXT"),
                ));
            }
            FleetChoice::Local(name) => {
                let fleet = match state {
                    RequiredState::Whole => open_whole(name).await?,
                    RequiredState::Any => Fleet::open(name).await?,
                };
                let contexts = FleetContexts::of_running(&fleet).await?;
                (FleetOrigin::Running(fleet), contexts)
            }
            FleetChoice::Contexts | FleetChoice::Environment | FleetChoice::Default => {
                (FleetOrigin::Contexts(given.kubeconfig.clone()), FleetContexts::of_options(given, &names)?)
            }
        };
        machine::allow_many_connections();
        let hub = ReadableCluster::hub(&contexts).await?;
        let mut reached = Self { hub, members: BTreeMap::new(), origin };
        stderr_line!("{}", reached.description());
        if choice == FleetChoice::Environment && !local.is_empty() {
            stderr_line!("it is the one of {KUBECONFIG}; up here are, for --fleet NAME: {names}");
        }
        let mut members = contexts.members()?;
        if let Some(from) = given.members_from.as_ref().filter(|from| hub_members::asks_hub(from)) {
            reached.hub.check().await?;
            let table = ContextTable::of(&contexts.kubeconfig);
            let found = hub_members::find(from, &reached.hub.client, &table, &contexts.hub, &contexts.members).await?;
            found.not_read.lines().for_each(|line| stderr_line!("warning: {line}"));
            members.extend(found.members);
        }
        reached.members = clusters(&reached.hub, members).await?;
        Ok(reached)
    }

    /// Finds the fleet that options without members name, with one member: `NAME`, or `NAME=CONTEXT` where the fleet isn't one that is up
    /// here.
    ///
    /// # Errors
    /// Returns an error as [`ReadableFleet::reach`] does.
    pub(crate) async fn reach_member(mut options: ReadableFleetOptions, member: &str) -> Result<Self, CommandError> {
        let choice = choose(&options, std::env::var_os(KUBECONFIG), &local_fleets().await?);
        if !matches!(choice, FleetChoice::Local(_) | FleetChoice::Ambiguous) {
            options.contexts.member.push(member.to_owned());
        }
        Self::reach(&options, RequiredState::Whole).await
    }

    /// Members, by name.
    pub(crate) fn members(&self) -> BTreeMap<String, ClusterAccess> {
        self.members.iter().map(|(name, member)| (name.clone(), member.asked())).collect()
    }

    /// Name of the fleet, or the hub's context.
    pub(crate) fn name(&self) -> &str {
        self.running().map_or(&self.hub.context, Fleet::name)
    }

    /// Contexts by cluster: `hub`, and the members by name.
    pub(crate) fn contexts(&self) -> BTreeMap<String, String> {
        let members = self.members.iter().map(|(name, member)| (name.clone(), member.context.clone()));
        std::iter::once((HUB.to_owned(), self.hub.context.clone())).chain(members).collect()
    }

    /// Returns the options with which commands reach the clusters.
    pub(crate) fn access(&self) -> KubectlAccess {
        // Commands name one kubeconfig. A member with a kubeconfig of its own counts as one without a known context, and so does a hollow
        // member, which has no cluster.
        let mut contexts = self.contexts();
        contexts.retain(|name, _| self.members.get(name).is_none_or(|member| member.file.is_none()));
        let access = KubectlAccess::named(None, contexts);
        let file = match &self.origin {
            FleetOrigin::Running(fleet) => Some(fleet.kubeconfig_file()).filter(|file| !is_of_environment(file)),
            FleetOrigin::Contexts(kubeconfig) => kubeconfig.clone(),
        };
        match file {
            Some(file) => access.in_kubeconfig(file.display().to_string()),
            None => access,
        }
    }

    /// Asks clusters of contexts what they are; nothing of a fleet that is up here.
    pub(crate) async fn identities(&self, clusters: impl Iterator<Item = &str>) -> BTreeMap<String, ClusterIdentity> {
        if self.running().is_some() {
            return BTreeMap::new();
        }
        let access = |name: &str| match name {
            HUB => Some(self.hub.asked()),
            name => self.members.get(name).map(ReadableCluster::asked),
        };
        cluster_identity::ask(clusters.filter_map(|name| Some((name.to_owned(), access(name)?)))).await
    }

    /// Checks that the contexts lead to the clusters that they were given for.
    ///
    /// # Errors
    /// Returns an error if one doesn't, or if a member isn't one of the hub's.
    pub(crate) fn check_identities(
        &self,
        identities: &BTreeMap<String, ClusterIdentity>,
        snapshot: &Snapshot,
    ) -> Result<(), CommandError> {
        let Some(hub) = snapshot.hub().filter(|hub| self.running().is_none() && hub.unreachable.is_none()) else {
            return Ok(());
        };
        let kind = kinds::MEMBER_CLUSTER;
        let joined: Vec<&str> = hub.of_kind(kind.group, kind.kind).map(|member| member.name()).collect();
        cluster_identity::check(identities, &self.contexts(), &joined)
    }

    /// Returns the source of a bundle.
    pub(crate) fn source(&self) -> BundleSource {
        BundleSource {
            fleet: self.name().to_owned(),
            kubefleet: self.running().map(Fleet::version),
            hub: self.hub.asked(),
            members: self.members(),
            directory: self.running().map(|fleet| fleet.supervisor().dir().to_owned()),
            processes: self.keeps_logs(),
            argocd_pods: false,
        }
    }

    /// True if the fleet is up here, with its logs.
    pub(crate) fn keeps_logs(&self) -> bool {
        self.running().is_some_and(Fleet::keeps_logs)
    }

    /// The fleet, if it is one that is up here.
    fn running(&self) -> Option<&Fleet> {
        match &self.origin {
            FleetOrigin::Running(fleet) => Some(fleet),
            FleetOrigin::Contexts(_) => None,
        }
    }

    /// Says in words which fleet is read.
    fn description(&self) -> String {
        match &self.origin {
            FleetOrigin::Running(fleet) => format!("reading fleet {}", fleet.name()),
            FleetOrigin::Contexts(_) => format!("reading hub {} ({})", self.hub.context, self.hub.server),
        }
    }
}

impl FleetContexts {
    /// Returns the contexts of a fleet that is up here, which have the names of its clusters.
    async fn of_running(fleet: &Fleet) -> Result<Self, CommandError> {
        let members = fleet.members().await.into_keys().map(|name| (name.clone(), name)).collect();
        Ok(Self { kubeconfig: contexts::read(&fleet.kubeconfig_file())?, hub: HUB.to_owned(), members })
    }

    /// Returns the contexts that options name. `local` names the fleets that are up here.
    fn of_options(options: &ContextOptions, local: &str) -> Result<Self, CommandError> {
        let kubeconfig = contexts::kubeconfig(options, local)?;
        let hub = contexts::hub_context(&kubeconfig, options.hub.as_deref())?;
        let members = member_contexts::resolve(options, &contexts::names(&kubeconfig), &hub)?;
        Ok(Self { kubeconfig, hub, members })
    }

    /// Returns the access to the members that the options name.
    fn members(&self) -> Result<BTreeMap<String, MemberContext>, CommandError> {
        let table = ContextTable::of(&self.kubeconfig);
        let member = |(name, context): (&String, &String)| {
            let kubeconfig = table.only(context);
            let kubeconfig = kubeconfig.ok_or_else(|| {
                CommandError::usage(format!("the kubeconfig has no context `{context}`, given for {name}"), None)
            })?;
            Ok((name.clone(), MemberContext { kubeconfig, context: context.clone(), file: None }))
        };
        self.members.iter().map(member).collect()
    }
}

/// Makes clients for members. No two of them, nor the hub, have the same API server.
async fn clusters(
    hub: &ReadableCluster,
    members: BTreeMap<String, MemberContext>,
) -> Result<BTreeMap<String, ReadableCluster>, CommandError> {
    let mut names = HashMap::new();
    if !hub.has_proxy {
        names.insert(hub.server.clone(), HUB.to_owned());
    }
    let mut clusters = BTreeMap::new();
    for (name, member) in members {
        let context = member.context.clone();
        let cluster = ReadableCluster::member(member).await?;
        let same = if cluster.has_proxy { None } else { names.insert(cluster.server.clone(), name.clone()) };
        if let Some(other) = same {
            let server = &cluster.server;
            return Err(CommandError::usage(
                format!("context `{context}`, given for {name}, has the API server of {other}: {server}"),
                Some("each cluster has a context of its own: kubectl config view"),
            ));
        }
        clusters.insert(name, cluster);
    }
    Ok(clusters)
}

/// A cluster with a client that reads it.
pub(crate) struct ReadableCluster {
    /// Client with limits of time.
    client: Client,
    /// Context in the kubeconfig.
    context: String,
    /// URL of the API server, e.g. `https://10.0.0.1:6443`.
    server: String,
    /// True if the API server is reached through a proxy, so that another cluster may have the same address.
    has_proxy: bool,
    /// Kubeconfig of the context, if it isn't the fleet's.
    file: Option<PathBuf>,
}

impl ReadableCluster {
    /// Makes a client for the hub. Its credentials are there when it returns.
    async fn hub(contexts: &FleetContexts) -> Result<Self, CommandError> {
        let context = &contexts.hub;
        let config = config(&contexts.kubeconfig, context).await?;
        let client = credentials::reading_client(config.clone()).await.map_err(|error| match &error {
            CredentialError::Client(source) => CommandError::usage(unusable(context, &in_full(source)), None),
            plugin => CommandError::Environment {
                message: unusable(context, &plugin.to_string()),
                hint: hints::for_credentials(plugin),
            },
        })?;
        Ok(Self::of(&config, client, context.clone(), None))
    }

    /// Makes a client for a member, which gets its credentials when the member is asked.
    async fn member(member: MemberContext) -> Result<Self, CommandError> {
        let MemberContext { kubeconfig, context, file } = member;
        let config = config(&kubeconfig, &context).await?;
        Ok(Self::of(&config, lazy_client(config.clone()), context, file))
    }

    fn of(config: &Config, client: Client, context: String, file: Option<PathBuf>) -> Self {
        let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        Self { client, context, server, has_proxy: config.proxy_url.is_some(), file }
    }

    /// Returns the client as a snapshot of the whole cluster needs it.
    pub(crate) fn asked(&self) -> ClusterAccess {
        ClusterAccess { client: self.client.clone(), server: Some(self.server.clone()) }
    }

    /// Checks that the cluster can be read and is a KubeFleet hub, or has Argo CD, before anything is concluded from what isn't there.
    ///
    /// # Errors
    /// Returns an error if the API server can't be reached or refuses, or if it knows neither.
    pub(crate) async fn check(&self) -> Result<(), CommandError> {
        for group in HUB_GROUPS {
            match self.serves(group).await? {
                Ok(()) => return Ok(()),
                Err(status) if status.code == 404 => {}
                Err(status) => return Err(self.refused(&status)),
            }
        }
        let server = &self.server;
        Err(CommandError::usage(
            format!("{server} has neither KubeFleet's hub nor Argo CD: it doesn't know {}", HUB_GROUPS.join(" or ")),
            Some("name the context of the hub, or of Argo CD's cluster, with --hub CONTEXT"),
        ))
    }

    /// Asks the API server for an API group. Returns its refusal, if it gives one.
    ///
    /// # Errors
    /// Returns an error if there is no answer.
    async fn serves(&self, group: &str) -> Result<Result<(), Box<Status>>, CommandError> {
        let request = http::Request::get(format!("/apis/{group}")).body(Vec::new()).unwrap_or_default();
        let server = &self.server;
        let answer = tokio::time::timeout(CHECK_LIMIT, self.client.request_text(request)).await;
        let unreached = match answer {
            Ok(Ok(_)) => return Ok(Ok(())),
            Ok(Err(kube::Error::Api(status))) => return Ok(Err(status)),
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
            401 => CommandError::usage(
                format!(
                    "the hub's API server {server} refuses these credentials (401): they aren't valid, or no longer"
                ),
                Some(READER_HINT),
            ),
            403 => CommandError::usage(
                format!("the hub's API server {server} refuses these credentials (403): {}", status.message),
                Some(READER_HINT),
            ),
            code => CommandError::Environment {
                message: format!("the hub's API server {server} answers with an error ({code} {})", status.message),
                hint: None,
            },
        }
    }
}

/// Returns the configuration of a client for a context.
async fn config(kubeconfig: &Kubeconfig, context: &str) -> Result<Config, CommandError> {
    let options = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
    let config = Config::from_custom_kubeconfig(kubeconfig.clone(), &options).await;
    let mut config = config.map_err(|e| CommandError::usage(unusable(context, &in_full(&e)), None))?;
    config.connect_timeout = Some(CONNECT_LIMIT);
    config.read_timeout = Some(ANSWER_LIMIT);
    Ok(config)
}

/// Says that a context can't be used.
fn unusable(context: &str, why: &str) -> String {
    format!("failed to use context `{context}` of the kubeconfig: {why}")
}

/// API groups of which a cluster that is read as a hub serves one: KubeFleet's, which only its hub has (members serve
/// placement.kubernetes-fleet.io, too, for their `AppliedWorks`), or Argo CD's.
const HUB_GROUPS: [&str; 2] = ["cluster.kubernetes-fleet.io", "argoproj.io"];

/// Limit of the time until an API server takes a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Limit of the time until the hub gives its first and smallest answer, connecting included.
const CHECK_LIMIT: Duration = Duration::from_secs(12);

/// Limit of the time for one answer of an API server. A large hub's lists take seconds.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
