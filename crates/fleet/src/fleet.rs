//! A hub and its members.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use clusters::ability::ProviderAbility;
use clusters::agents::{Agent, HUB_AGENT, member_agent_name};
use clusters::cluster::{Cluster, FleetRole, HUB};
use clusters::error::ClusterError;
use clusters::home::FleetHome;
use clusters::kubeconfig;
use clusters::local::PodPrograms;
use clusters::provider::Provider;
use clusters::provider_spec::ProviderSpec;
use clusters::state_dir::write_private;
use clusters::supervisor::protocol::ProcessExit;
use clusters::supervisor::{ProcessFault, SupervisorClient, SupervisorProgram};
use diagnosis::Snapshot;
use futures::FutureExt as _;
use futures::future::try_join;
use kube::config::Kubeconfig;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{Mutex, RwLock, Semaphore, watch};

use crate::agent_access::AgentAccess;
use crate::agents::KubeFleetPrograms;
use crate::argocd::{self, ArgoCdInstallation};
use crate::capability::{Capabilities, Capability};
use crate::error::FleetError;
use crate::hub_probe;
use crate::install::read_crds;
use crate::kubefleet_webhooks;
use crate::member::{self, Member};
use crate::observe::Observer;
use crate::redact::Redactor;
use crate::snapshot::{self, ClusterAccess, ReadCounter, ReadOptions, SharedSnapshot};
use crate::start::{FleetStartInputs, OnStartMilestone, StartMilestone};

/// Options for [`Fleet::create`].
#[derive(Clone, Debug)]
pub struct FleetCreateOptions {
    /// Name of the fleet. No object's name contains it.
    pub name: String,
    /// Number of members. Their names are `member-1`, `member-2` and so on.
    pub members: usize,
    /// Provider of the clusters, with its programs or settings.
    pub recipe: ProviderSpec,
    /// Programs of KubeFleet.
    pub agents: KubeFleetPrograms,
    /// Programs that pods need. Without them no member can run pods.
    pub pods: Option<PodPrograms>,
    /// Argo CD. Without it the fleet has none.
    pub argocd: Option<ArgoCdInstallation>,
    /// Path of Toxiproxy. Without it the networks of members can't be broken.
    pub toxiproxy: Option<PathBuf>,
    /// True if the hub-agent runs with KubeFleet's webhooks.
    pub webhooks: bool,
    /// Program to start as the supervisor of the fleet's processes.
    pub supervisor: SupervisorProgram,
}

/// Parts of a child fleet besides its clusters and agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChildFleetParts {
    /// Argo CD on the hub.
    pub argocd: bool,
    /// KubeFleet's webhooks.
    pub webhooks: bool,
}

/// A hub and its members. A clone is a handle of the same fleet.
#[derive(Clone)]
pub struct Fleet(pub(crate) Arc<FleetInner>);

pub(crate) struct FleetInner {
    pub name: String,
    pub kubefleet: std::sync::RwLock<KubeFleetReleases>,
    pub home: Arc<FleetHome>,
    pub provider: Arc<dyn Provider>,
    recipe: ProviderSpec,
    /// True for an external fleet: its clusters existed before fleetdrill used them, and stay when fleetdrill is done.
    borrowed: bool,
    hub: Cluster,
    pub members: RwLock<BTreeMap<String, Member>>,
    pods: RwLock<Option<PodPrograms>>,
    pub argocd: RwLock<Option<ArgoCdInstallation>>,
    /// Path of Toxiproxy. Also the lock for checking whether it runs, and for starting it.
    pub toxiproxy: RwLock<Option<PathBuf>>,
    /// Number of hollow members.
    pub hollow_members: RwLock<usize>,
    /// True if the hub-agent runs with KubeFleet's webhooks.
    pub webhooks: bool,
    /// Lock for checking whether the admission webhook runs, and for starting it.
    pub webhook: Mutex<()>,
    /// Lock for checking whether a git server runs, for starting it, and for changing the known hosts.
    pub git_server: Mutex<()>,
    /// Permits to start clusters while scenarios run. Each start takes several seconds of processor time; too many at
    /// once delay everything else.
    starts: Semaphore,
    /// Last snapshot of everything.
    snapshot: SharedSnapshot,
    /// Last snapshot of what the rules needed.
    needed_snapshot: SharedSnapshot,
}

/// Home of a fleet on this machine, its provider and its clusters.
pub(crate) struct FleetClusters {
    pub home: Arc<FleetHome>,
    pub provider: Arc<dyn Provider>,
    pub recipe: ProviderSpec,
    pub hub: Cluster,
    pub members: BTreeMap<String, Member>,
}

impl FleetInner {
    /// State of a fleet that fleetdrill has made, without pods and Argo CD.
    fn new(name: String, site: FleetClusters, kubefleet: KubeFleetReleases) -> Self {
        let FleetClusters { home, provider, recipe, hub, members } = site;
        let starts = starts(&recipe);
        Self {
            name,
            kubefleet: std::sync::RwLock::new(kubefleet),
            home,
            provider,
            recipe,
            borrowed: false,
            hub,
            members: RwLock::new(members),
            pods: RwLock::default(),
            argocd: RwLock::default(),
            toxiproxy: RwLock::default(),
            hollow_members: RwLock::default(),
            webhooks: false,
            webhook: Mutex::default(),
            git_server: Mutex::default(),
            starts,
            snapshot: SharedSnapshot::default(),
            needed_snapshot: SharedSnapshot::default(),
        }
    }
}

/// Releases of KubeFleet on the hub and on the members. They differ only while a fleet is upgraded.
#[derive(Clone)]
pub(crate) struct KubeFleetReleases {
    pub hub: Arc<Release>,
    pub members: Arc<Release>,
}

/// A version of KubeFleet: its programs and its CRDs.
pub(crate) struct Release {
    pub agents: KubeFleetPrograms,
    /// CRDs for the hub and for the members.
    pub crds: Vec<Value>,
}

impl Release {
    /// Reads the CRDs from their files.
    pub async fn read(agents: KubeFleetPrograms) -> Result<Arc<Self>, FleetError> {
        let crds = read_crds(agents.crds.clone()).await?;
        Ok(Arc::new(Self { agents, crds }))
    }
}

/// State of a running fleet that other commands read, stored in `fleet.json`.
#[derive(Serialize, Deserialize)]
struct SavedFleet {
    name: String,
    recipe: ProviderSpec,
    agents: KubeFleetPrograms,
    /// Agents of the members, if they differ from the hub's: an upgrade hasn't reached both yet, or it stopped in
    /// between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    member_agents: Option<KubeFleetPrograms>,
    members: Vec<String>,
    /// How the agent of each member reaches hub and member. A fleet that an earlier version of fleetdrill started has none.
    #[serde(default)]
    agent_access: BTreeMap<String, AgentAccess>,
    #[serde(default)]
    pods: Option<PodPrograms>,
    #[serde(default)]
    argocd: Option<ArgoCdInstallation>,
    #[serde(default)]
    toxiproxy: Option<PathBuf>,
    #[serde(default)]
    hollow_members: usize,
    #[serde(default)]
    webhooks: bool,
}

/// The file in a fleet's directory that other commands read.
const STATE: &str = "fleet.json";

impl SavedFleet {
    /// Returns the state as JSON.
    ///
    /// # Errors
    /// Returns an error if a path isn't UTF-8.
    fn to_json(&self) -> Result<String, FleetError> {
        serde_json::to_string(self).map_err(|source| FleetError::NotSaved { fleet: self.name.clone(), source })
    }
}

/// Time in which a supervisor reports the end of a process. Requests to that process fail earlier.
const EXIT_REPORTED: Duration = Duration::from_secs(1);

/// Returns the end of the process by which an error came, if one has ended, and otherwise the error.
async fn explained_by_exit(error: FleetError, mut exits: watch::Receiver<Option<ProcessExit>>) -> FleetError {
    if matches!(error, FleetError::Broken { .. } | FleetError::Cluster(ClusterError::Died { .. })) {
        return error;
    }
    match tokio::time::timeout(EXIT_REPORTED, exits.wait_for(Option::is_some)).await.map(|exit| exit.map(|e| e.clone()))
    {
        Ok(Ok(Some(exit))) => FleetError::Broken { exit },
        _ => error,
    }
}

impl Fleet {
    /// Starts a fleet: all clusters at once, KubeFleet as soon as the hub is ready, and the join of each member as soon
    /// as hub and member are ready. The fleet ends with this program unless [`Fleet::keep`] is called.
    ///
    /// # Errors
    /// Returns an error if a cluster doesn't start, KubeFleet can't be installed, or a member doesn't join. Nothing is
    /// left behind then.
    pub async fn create(options: FleetCreateOptions, progress: OnStartMilestone) -> Result<Self, FleetError> {
        let dir = clusters::state_dir::fleet(&options.name)?;
        // `fleets()` also deletes the leftovers of dead fleets, so a stale directory of this name doesn't count.
        if clusters::state_dir::fleets().await?.contains(&options.name) {
            return Err(ClusterError::FleetExists(options.name).into());
        }
        let (supervisor, release) = (&options.supervisor, Release::read(options.agents.clone()));
        let home = async { Ok::<_, FleetError>(Arc::new(FleetHome::create(supervisor, &dir).await?)) };
        let (home, release) = try_join(home, release).await?;
        let (supervisor, exits) = (home.supervisor().clone(), home.first_exit());
        match Self::start(home, release, options, progress).await {
            Ok(fleet) => Ok(fleet),
            Err(error) => {
                let error = explained_by_exit(error, exits).await;
                // The caller needs this error, not the error of a failed cleanup.
                let _ = supervisor.end().await;
                Err(error)
            }
        }
    }

    async fn start(
        home: Arc<FleetHome>,
        release: Arc<Release>,
        options: FleetCreateOptions,
        progress: OnStartMilestone,
    ) -> Result<Self, FleetError> {
        let provider = options.recipe.create(Arc::clone(&home)).await?;
        let start = FleetStartInputs {
            home: &home,
            provider: &*provider,
            agents: &release.agents,
            crds: &release.crds,
            webhooks: options.webhooks,
            progress: &progress,
        };
        let (hub, members) = start.all(options.members).await?;
        let site = FleetClusters { home, provider, recipe: options.recipe, hub, members };
        let kubefleet = KubeFleetReleases { hub: Arc::clone(&release), members: release };
        let inner = FleetInner {
            pods: RwLock::new(options.pods),
            toxiproxy: RwLock::new(options.toxiproxy),
            webhooks: options.webhooks,
            ..FleetInner::new(options.name, site, kubefleet)
        };
        let fleet = Self(Arc::new(inner));
        fleet.save().await?;
        if let Some(installation) = options.argocd {
            fleet.start_argocd(installation).await?;
            progress(StartMilestone::ArgoCdRuns);
        }
        Ok(fleet)
    }

    /// Makes the handle of an external fleet, for a run.
    pub(crate) fn borrowed(name: String, site: FleetClusters, release: Release) -> Self {
        let release = Arc::new(release);
        let kubefleet = KubeFleetReleases { hub: Arc::clone(&release), members: release };
        Self(Arc::new(FleetInner { borrowed: true, ..FleetInner::new(name, site, kubefleet) }))
    }

    /// Opens a fleet that is up.
    ///
    /// # Errors
    /// Returns an error if no fleet of this name is up.
    pub async fn open(name: &str) -> Result<Self, FleetError> {
        let dir = clusters::state_dir::fleet(name)?;
        let home = Arc::new(FleetHome::open(&dir).await?);
        let state = format!("the state of fleet {name}");
        let text = std::fs::read_to_string(dir.join(STATE));
        let text = text.map_err(|e| FleetError::unreadable(&state, e.to_string()))?;
        let mut saved: SavedFleet =
            serde_json::from_str(&text).map_err(|e| FleetError::unreadable(state, e.to_string()))?;
        let provider = saved.recipe.open(Arc::clone(&home));
        let borrowed = matches!(saved.recipe, ProviderSpec::Existing(_));
        let hub = provider.cluster(HUB).await?;
        let on_hub = Release::read(saved.agents).await?;
        let on_members = match saved.member_agents {
            Some(agents) => Release::read(agents).await?,
            None => Arc::clone(&on_hub),
        };
        let mut members = BTreeMap::new();
        for name in saved.members {
            let access = saved.agent_access.remove(&name).unwrap_or_default();
            members.insert(name.clone(), Member { cluster: provider.cluster(&name).await?, access });
        }
        let site = FleetClusters { home, provider, recipe: saved.recipe, hub, members };
        let kubefleet = KubeFleetReleases { hub: on_hub, members: on_members };
        Ok(Self(Arc::new(FleetInner {
            borrowed,
            pods: RwLock::new(saved.pods),
            argocd: RwLock::new(saved.argocd),
            toxiproxy: RwLock::new(saved.toxiproxy),
            hollow_members: RwLock::new(saved.hollow_members),
            webhooks: saved.webhooks,
            ..FleetInner::new(saved.name, site, kubefleet)
        })))
    }

    /// Starts a child fleet: a second fleet of the same components, while this fleet runs. The child fleet gets Argo CD
    /// if this fleet has Argo CD and the parts say so.
    ///
    /// # Errors
    /// Returns the same errors as [`Fleet::create`].
    pub async fn beside(&self, name: String, members: usize, parts: ChildFleetParts) -> Result<Self, FleetError> {
        // The semaphore lives as long as the fleet and is never closed.
        let _turn = self.0.starts.acquire().await;
        let options = FleetCreateOptions {
            name,
            members,
            recipe: self.0.recipe.clone(),
            agents: self.kubefleet().hub.agents.clone(),
            pods: self.0.pods.read().await.clone(),
            argocd: self.0.argocd.read().await.clone().filter(|_| parts.argocd),
            toxiproxy: self.0.toxiproxy.read().await.clone(),
            webhooks: parts.webhooks,
            supervisor: self.0.home.program().clone(),
        };
        Self::create(options, Arc::new(|_| ())).await
    }

    /// Name of the fleet.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Version of KubeFleet; the hub's version while the members run another.
    #[must_use]
    pub fn version(&self) -> String {
        self.kubefleet().hub.agents.version.clone()
    }

    /// Capabilities of the hub's version of KubeFleet.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.kubefleet().hub.agents.capabilities.clone()
    }

    /// Releases of KubeFleet on the hub and on the members.
    pub(crate) fn kubefleet(&self) -> KubeFleetReleases {
        self.0.kubefleet.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The hub's cluster.
    #[must_use]
    pub fn hub(&self) -> &Cluster {
        &self.0.hub
    }

    /// Members that have joined, by name.
    pub async fn members(&self) -> BTreeMap<String, Member> {
        self.0.members.read().await.clone()
    }

    /// Returns the member of this name.
    ///
    /// # Errors
    /// Returns an error if there is no such member.
    pub async fn member(&self, name: &str) -> Result<Member, FleetError> {
        let members = self.0.members.read().await;
        members.get(name).cloned().ok_or_else(|| FleetError::NoSuchMember(name.to_owned()))
    }

    /// Takes a snapshot of everything for the diagnosis; it is never older than this call. Callers that arrive while a snapshot is
    /// being taken share the next one.
    ///
    /// # Errors
    /// Returns an error if the hub doesn't answer.
    pub async fn snapshot(&self) -> Result<Arc<Snapshot>, FleetError> {
        let take = async || snapshot::take(&ClusterAccess::of(self.hub()), &self.member_access().await).await;
        self.0.snapshot.get(take).await
    }

    /// Takes a snapshot of what the rules need, as `fleetdrill diagnose` does; it is never older than this call, and shared like
    /// [`Self::snapshot`].
    ///
    /// # Errors
    /// Returns an error if the hub doesn't answer.
    pub async fn needed_snapshot(&self) -> Result<Arc<Snapshot>, FleetError> {
        let take = async || {
            let (redactor, counter) = (Redactor::default(), ReadCounter::default());
            let limit = snapshot::DEFAULT_LIMIT;
            let options = ReadOptions { redactor: &redactor, focus: None, limit, counter: &counter };
            snapshot::take_as_needed(&ClusterAccess::of(self.hub()), &self.member_access().await, &options)
                .boxed()
                .await
        };
        self.0.needed_snapshot.get(take).await
    }

    /// Access to the members, for a snapshot, with the addresses by which Argo CD knows them.
    pub(crate) async fn member_access(&self) -> BTreeMap<String, ClusterAccess> {
        let (members, installation) = (self.members().await.into_iter(), self.0.argocd.read().await.clone());
        let access = |cluster: &Cluster| match &installation {
            Some(argocd) => ClusterAccess::of(&argocd.reached(cluster)),
            None => ClusterAccess::of(cluster),
        };
        members.map(|(name, member)| (name, access(&member.cluster))).collect()
    }

    /// Receiver of the first process of the fleet that ended without having been stopped.
    #[must_use]
    pub fn first_exit(&self) -> watch::Receiver<Option<ProcessExit>> {
        self.0.home.first_exit()
    }

    /// Supervisor of the fleet's processes.
    #[must_use]
    pub fn supervisor(&self) -> &SupervisorClient {
        self.0.home.supervisor()
    }

    /// Starts a cluster and joins it as a member.
    ///
    /// # Errors
    /// Returns an error if the cluster doesn't start or doesn't join.
    pub async fn add_member(&self, name: &str, labels: &Value) -> Result<Member, FleetError> {
        self.add_member_by(name, labels, AgentAccess::default()).await
    }

    /// Starts a cluster and joins it as a member whose agent has this access to the hub.
    pub(crate) async fn add_member_by(
        &self,
        name: &str,
        labels: &Value,
        access: AgentAccess,
    ) -> Result<Member, FleetError> {
        // The semaphore lives as long as the fleet and is never closed.
        let _turn = self.0.starts.acquire().await;
        let (provider, release) = (&*self.0.provider, self.kubefleet().members);
        let (home, agents, crds) = (&self.0.home, &release.agents, &release.crds);
        let start = FleetStartInputs {
            home,
            provider,
            agents,
            crds,
            webhooks: self.0.webhooks,
            progress: &(Arc::new(|_| ()) as OnStartMilestone),
        };
        let member = start.member(name, labels, std::future::ready(self.hub().clone()), access).await?;
        provider.start_controllers(&member.cluster, FleetRole::Member).await?;
        if let Some(installation) = &*self.0.argocd.read().await {
            argocd::add_destination(self.hub(), &installation.reached(&member.cluster)).await?;
        }
        self.0.members.write().await.insert(name.to_owned(), member.clone());
        self.save().await?;
        Ok(member)
    }

    /// Makes a member leave the fleet, as an operator does. The member's cluster and agent keep running.
    ///
    /// # Errors
    /// Returns an error if the member hasn't left after two minutes.
    pub async fn leave(&self, name: &str) -> Result<(), FleetError> {
        self.member(name).await?;
        member::leave(self.hub(), &Observer::silent(self.first_exit()), name).await
    }

    /// Joins a member that has left: registers it on the hub again and hands a new token to its agent.
    ///
    /// # Errors
    /// Returns an error if the member doesn't join.
    pub async fn rejoin(&self, name: &str, labels: &Value) -> Result<(), FleetError> {
        self.member(name).await?;
        let token = member::register(self.hub(), self.supervisor().dir(), name, labels).await?;
        self.0.provider.hand_over_token(&member_agent_name(name), &token).await?;
        member::joined(self.hub(), &Observer::silent(self.first_exit()), name).await
    }

    /// Removes a member for good: the member leaves, and its cluster is stopped.
    ///
    /// # Errors
    /// Returns an error if the member hasn't left after two minutes.
    pub async fn remove_member(&self, name: &str) -> Result<(), FleetError> {
        let left = self.leave(name).await;
        if self.0.argocd.read().await.is_some() {
            argocd::remove_destination(self.hub(), name).await?;
        }
        self.0.members.write().await.remove(name);
        self.0.provider.remove_agent(&member_agent_name(name)).await?;
        self.0.provider.stop_cluster(name).await?;
        self.save().await?;
        left
    }

    /// Sets labels on a member's MemberCluster. A null value removes a label.
    ///
    /// # Errors
    /// Returns an error if the hub refuses the request.
    pub async fn label_member(&self, name: &str, labels: &Value) -> Result<(), FleetError> {
        member::label(self.hub(), name, labels).await
    }

    /// Installs and starts Argo CD on the hub, with all members as its destinations. Does nothing if Argo CD runs
    /// already.
    ///
    /// # Errors
    /// Returns an error if the hub has an Argo CD that isn't fleetdrill's, or a component doesn't start.
    pub async fn start_argocd(&self, installation: ArgoCdInstallation) -> Result<(), FleetError> {
        let mut running = self.0.argocd.write().await;
        if running.is_some() {
            return Ok(());
        }
        let members = self.members().await;
        let clusters = members.values().map(|member| &member.cluster);
        let site = (&*self.0.home, &*self.0.provider);
        argocd::start(site, self.hub(), clusters, &installation).await?;
        let has_pods = installation.has_pods();
        *running = Some(installation);
        drop(running);
        self.save().await?;
        // A Pod of the controller is ready before the controller has read the hub.
        if has_pods { self.argocd_compares().await } else { Ok(()) }
    }

    /// Sets the programs that pods need, on a fleet that was created without them.
    ///
    /// # Errors
    /// Returns an error if the fleet's state can't be written.
    pub async fn allow_pods(&self, programs: PodPrograms) -> Result<(), FleetError> {
        *self.0.pods.write().await = Some(programs);
        self.save().await
    }

    /// Starts what pods need on a member: a scheduler, and KWOK as the kubelet. Both end with the member's cluster.
    /// Does nothing if both run already. Doesn't wait until both work, which takes a second or two: pods can be created
    /// before.
    ///
    /// # Errors
    /// Returns an error if there is no such member, the fleet was created without the programs, or a program can't be
    /// started.
    pub async fn start_pods(&self, name: &str) -> Result<(), FleetError> {
        let member = self.member(name).await?;
        let programs = self.0.pods.read().await.clone();
        Ok(self.0.provider.start_pods(&member.cluster, programs.as_ref()).await?)
    }

    /// Kills the hub-agent. [`Fleet::restart_hub_agent`] starts it again.
    ///
    /// # Errors
    /// Returns an error if the provider can't stop agents.
    pub async fn stop_hub_agent(&self) -> Result<(), FleetError> {
        Ok(self.0.provider.stop_agent(HUB_AGENT).await?)
    }

    /// Kills the hub-agent, starts it again, and waits until it notices changes of resources.
    ///
    /// # Errors
    /// Returns an error if the hub-agent can't be started or doesn't work in time.
    pub async fn restart_hub_agent(&self) -> Result<(), FleetError> {
        self.restart_hub_agent_by(self.0.provider.start_agent_again(HUB_AGENT)).await
    }

    /// Restarts the hub-agent with these flags after its own. Of a flag that is given twice, the last one counts. The flags stay with the
    /// hub-agent until it is upgraded.
    ///
    /// # Errors
    /// Returns an error if the provider can't replace agents, or the hub-agent doesn't work in time.
    pub async fn restart_hub_agent_with(&self, flags: &[String]) -> Result<(), FleetError> {
        let mut agent = self.hub_agent(self.hub());
        agent.flags.extend_from_slice(flags);
        self.restart_hub_agent_as(&agent).await
    }

    /// Describes the hub-agent that works for a hub which it reaches by this access.
    pub(crate) fn hub_agent(&self, hub: &Cluster) -> Agent {
        self.kubefleet().hub.agents.hub(hub, self.0.webhooks)
    }

    /// Kills the hub-agent, starts another in its place, and waits until it works.
    pub(crate) async fn restart_hub_agent_as(&self, agent: &Agent) -> Result<(), FleetError> {
        let provider = &self.0.provider;
        self.restart_hub_agent_by(async {
            provider.exchange_agent(agent).await?;
            provider.start_agent_again(HUB_AGENT).await
        })
        .await
    }

    /// Kills the hub-agent, starts it again by `start`, and waits until it works: until it notices changes of resources.
    async fn restart_hub_agent_by(
        &self,
        start: impl Future<Output = Result<(), ClusterError>>,
    ) -> Result<(), FleetError> {
        self.stop_hub_agent().await?;
        // The hub-agent replaces its webhooks' configuration at its start.
        let webhooks_before = if self.0.webhooks { kubefleet_webhooks::configuration(self.hub()).await? } else { None };
        start.await?;
        let capabilities = self.kubefleet().hub.agents.capabilities.clone();
        // The fleet may still report the end of the process that ran before.
        let observer = Observer::ignoring_exits();
        if self.0.webhooks {
            kubefleet_webhooks::answer(self.hub(), &observer, webhooks_before).await?;
        }
        // Without ResourcePlacements, there is no change that it could miss.
        if !capabilities.can(Capability::NamespacedPlacements) {
            return hub_probe::schedules(self.hub(), &observer).await;
        }
        hub_probe::notices_changes(self.hub(), &capabilities, &observer).await
    }

    /// Lets the hub-agent hang: its process runs, and does nothing, until the returned value is dropped.
    ///
    /// # Errors
    /// Returns an error if the provider can't let agents hang.
    pub async fn hang_hub_agent(&self) -> Result<ProcessFault, FleetError> {
        Ok(self.0.provider.hang_agent(HUB_AGENT).await?)
    }

    /// Shifts the clock of a member's agent, or of the hub-agent without a member, by a number of seconds until the returned value is
    /// dropped ([`Provider::shift_agent_clock`]).
    ///
    /// # Errors
    /// Returns an error if the provider can't shift clocks, or the agent doesn't run.
    pub async fn shift_agent_clock(&self, member: Option<&str>, seconds: i32) -> Result<ProcessFault, FleetError> {
        let name = member.map_or_else(|| HUB_AGENT.to_owned(), clusters::agents::member_agent_name);
        Ok(self.0.provider.shift_agent_clock(&name, seconds).await?)
    }

    /// Shifts the clock of the API server of the hub or of a member by a number of seconds until the returned value is dropped
    /// ([`Provider::shift_agent_clock`]).
    ///
    /// # Errors
    /// Returns an error if the provider can't shift clocks, or the API server doesn't run.
    pub async fn shift_api_server_clock(&self, cluster: &str, seconds: i32) -> Result<ProcessFault, FleetError> {
        Ok(self.0.provider.shift_api_server_clock(cluster, seconds).await?)
    }

    /// Limits the space of the hub's etcd to less than it uses, so that it takes no writes, or takes the limit back. The etcd of a local fleet
    /// is the members', too.
    ///
    /// # Errors
    /// Returns an error if the provider can't limit etcd's space.
    pub async fn limit_storage(&self, limited: bool) -> Result<(), FleetError> {
        Ok(self.0.provider.limit_storage(limited).await?)
    }

    /// Gives the hub's etcd only a part of its processor time, `percent` of it, until the returned value is dropped. The etcd of a local fleet is
    /// the members', too.
    ///
    /// # Errors
    /// Returns an error if the provider can't slow etcd down.
    pub async fn throttle_storage(&self, percent: u8) -> Result<ProcessFault, FleetError> {
        Ok(self.0.provider.throttle_storage(percent).await?)
    }

    /// Has the hub's etcd defragmented.
    ///
    /// # Errors
    /// Returns an error if the provider can't, or etcd refuses.
    pub async fn defragment_storage(&self) -> Result<(), FleetError> {
        Ok(self.0.provider.defragment_storage().await?)
    }

    /// Gives the API server of the hub or of a member only a part of its processor time, `percent` of it, until the returned value is dropped.
    ///
    /// # Errors
    /// Returns an error if the provider can't slow API servers down.
    pub async fn throttle_api_server(&self, cluster: &str, percent: u8) -> Result<ProcessFault, FleetError> {
        Ok(self.0.provider.throttle_api_server(cluster, percent).await?)
    }

    /// Lets the API server of the hub or of a member hang: it runs, and does nothing, until the returned value is dropped.
    ///
    /// # Errors
    /// Returns an error if the provider can't let API servers hang.
    pub async fn hang_api_server(&self, cluster: &str) -> Result<ProcessFault, FleetError> {
        Ok(self.0.provider.hang_api_server(cluster).await?)
    }

    /// Stops the API server of the hub or of a member, or starts it again and waits until it is ready.
    ///
    /// # Errors
    /// Returns an error if the provider can't stop API servers, or the API server doesn't get ready.
    pub async fn run_api_server(&self, cluster: &str, running: bool) -> Result<(), FleetError> {
        Ok(self.0.provider.run_api_server(cluster, running).await?)
    }

    /// Log of the hub-agent since its last start.
    ///
    /// # Errors
    /// Returns an error if the log can't be read.
    pub async fn hub_agent_log(&self) -> Result<String, FleetError> {
        Ok(self.0.provider.agent_log(HUB_AGENT).await?)
    }

    /// Log of a member's agent.
    ///
    /// # Errors
    /// Returns an error if the provider can't read the log.
    pub async fn member_agent_log(&self, member: &str) -> Result<String, FleetError> {
        Ok(self.0.provider.agent_log(&member_agent_name(member)).await?)
    }

    /// Merged kubeconfig of all clusters, with the context `hub` and one context for each member, named after the
    /// member.
    ///
    /// # Errors
    /// Returns an error if the kubeconfig of a cluster can't be read.
    pub async fn kubeconfig(&self) -> Result<String, FleetError> {
        let mut merged: Option<Kubeconfig> = None;
        let members = self.members().await;
        for cluster in std::iter::once(self.hub()).chain(members.values().map(|m| &m.cluster)) {
            let unreadable =
                |why: String| FleetError::Unreadable { what: cluster.kubeconfig.display().to_string(), why };
            let one = Kubeconfig::read_from(&cluster.kubeconfig).map_err(|e| unreadable(e.to_string()))?;
            merged = Some(match merged {
                Some(all) => all.merge(one).map_err(|e| unreadable(e.to_string()))?,
                None => one,
            });
        }
        Ok(kubeconfig::text(&merged.unwrap_or_default()))
    }

    /// Path of the merged kubeconfig. The file is rewritten whenever the members change.
    #[must_use]
    pub fn kubeconfig_file(&self) -> PathBuf {
        self.supervisor().dir().join("kubeconfig")
    }

    /// Keeps the fleet up after this program has ended.
    ///
    /// # Errors
    /// Returns an error if the supervisor doesn't answer.
    pub async fn keep(&self) -> Result<(), FleetError> {
        Ok(self.supervisor().keep().await?)
    }

    /// Makes the fleet end by itself after this time.
    ///
    /// # Errors
    /// Returns an error if the supervisor doesn't answer.
    pub async fn end_after(&self, time: Duration) -> Result<(), FleetError> {
        Ok(self.supervisor().end_after(time).await?)
    }

    /// True for an external fleet, which existed before this run and outlives it.
    #[must_use]
    pub fn is_borrowed(&self) -> bool {
        self.0.borrowed
    }

    /// Ends the fleet and waits until nothing of it is left. Of an external fleet, only the part on this machine ends.
    ///
    /// # Errors
    /// Returns an error if the supervisor doesn't answer.
    pub async fn end(&self) -> Result<(), FleetError> {
        Ok(self.supervisor().end().await?)
    }

    /// True if the fleet's provider has this ability.
    #[must_use]
    pub fn can(&self, ability: ProviderAbility) -> bool {
        self.0.provider.can(ability)
    }

    /// True if the fleet's supervisor stores the logs of clusters and agents on this machine.
    #[must_use]
    pub fn keeps_logs(&self) -> bool {
        matches!(self.0.recipe, ProviderSpec::Local(_) | ProviderSpec::Docker(_))
    }

    /// True if the whole fleet runs as processes on this machine. Pods need programs then, which [`Fleet::allow_pods`]
    /// sets.
    #[must_use]
    pub fn is_local(&self) -> bool {
        matches!(self.0.recipe, ProviderSpec::Local(_))
    }

    /// Name of the provider.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        self.0.provider.name()
    }

    pub(crate) async fn save(&self) -> Result<(), FleetError> {
        let joined = self.members().await;
        let agent_access = joined.iter().map(|(name, member)| (name.clone(), member.access.clone())).collect();
        let members = joined.into_keys().collect();
        let KubeFleetReleases { hub, members: of_members } = self.kubefleet();
        let (name, recipe, agents) = (self.0.name.clone(), self.0.recipe.clone(), hub.agents.clone());
        let member_agents = (!Arc::ptr_eq(&hub, &of_members)).then(|| of_members.agents.clone());
        let webhooks = self.0.webhooks;
        let (pods, argocd) = (self.0.pods.read().await.clone(), self.0.argocd.read().await.clone());
        let hollow_members = *self.0.hollow_members.read().await;
        let toxiproxy = self.0.toxiproxy.read().await.clone();
        let saved = SavedFleet {
            name,
            recipe,
            agents,
            member_agents,
            members,
            agent_access,
            pods,
            argocd,
            toxiproxy,
            hollow_members,
            webhooks,
        };
        let dir = self.supervisor().dir();
        write_private(&dir.join(STATE), &saved.to_json()?)?;
        write_private(&self.kubeconfig_file(), &self.kubeconfig().await?)?;
        Ok(())
    }
}

/// Permits to start clusters: one for each processor, and at least one. Nodes of kind, and clusters in containers, take more of a processor:
/// there is one permit for each pair.
fn starts(recipe: &ProviderSpec) -> Semaphore {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let permits = if matches!(recipe, ProviderSpec::Local(_)) { processors } else { processors / 2 };
    Semaphore::new(permits.max(1))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use clusters::local::ControlPlanePrograms;
    use serde_json::json;

    use super::*;

    fn saved(etcd: PathBuf) -> SavedFleet {
        let programs = ControlPlanePrograms { etcd, apiserver: "/a".into(), controller_manager: "/c".into() };
        SavedFleet {
            name: "web".into(),
            recipe: ProviderSpec::Local(programs),
            agents: KubeFleetPrograms::default(),
            member_agents: None,
            members: vec!["member-1".into()],
            agent_access: BTreeMap::new(),
            pods: None,
            argocd: None,
            toxiproxy: None,
            hollow_members: 0,
            webhooks: false,
        }
    }

    #[test]
    fn a_state_that_can_not_be_written_is_an_error_and_not_an_empty_file() {
        let path = PathBuf::from(OsStr::from_bytes(b"/opt/\xff/etcd"));
        let error = saved(path).to_json().expect_err("it isn't UTF-8");
        assert_eq!(error.to_string(), "failed to save the state of fleet web");
    }

    #[test]
    fn the_state_of_an_older_fleetdrill_can_be_read() {
        let mut older = serde_json::to_value(saved("/e".into())).expect("JSON");
        older["created_at"] = json!("2026-01-01T00:00:00Z");
        let read: SavedFleet = serde_json::from_value(older).expect("a state");
        assert_eq!(read.members, ["member-1"]);
    }

    #[tokio::test]
    async fn an_error_is_explained_by_the_end_of_a_process() {
        let refused = || FleetError::NoSuchMember("member-1".into());
        let (sender, exits) = watch::channel(None);
        assert!(matches!(explained_by_exit(refused(), exits.clone()).await, FleetError::NoSuchMember(_)));
        let exit =
            |name: &str| ProcessExit { name: name.into(), status: "signal: 9 (SIGKILL)".into(), log: String::new() };
        let ends = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            sender.send_replace(Some(exit("hub-kube-apiserver")));
        };
        let (explained, ()) = tokio::join!(explained_by_exit(refused(), exits.clone()), ends);
        assert_eq!(explained.to_string(), "hub-kube-apiserver ended (signal: 9 (SIGKILL))");
        let named = explained_by_exit(FleetError::Broken { exit: exit("etcd") }, exits).await;
        assert!(matches!(named, FleetError::Broken { exit } if exit.name == "etcd"));
    }
}
