//! A hub and its members.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use clusters::cluster::{Cluster, Role};
use clusters::home::Home;
use clusters::keeper::protocol::Exit;
use clusters::keeper::{Keeper, Program};
use clusters::kubeconfig;
use clusters::local::PodPrograms;
use clusters::provider::{Ability, HUB_AGENT, Provider, Recipe, member_agent_name};
use clusters::state_dir::write_private;
use diagnosis::Snapshot;
use futures::future::try_join;
use kube::config::Kubeconfig;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{Mutex, RwLock, Semaphore, watch};

use crate::agents::Agents;
use crate::argocd;
use crate::capability::Capabilities;
use crate::error::FleetError;
use crate::existing;
use crate::install::read_crds;
use crate::member::{self, Member};
use crate::observe::Observer;
use crate::snapshot::{self, Asked};
use crate::start::{HUB, Progress, Stage, Start};

/// What a fleet is made of.
#[derive(Clone, Debug)]
pub struct Options {
    /// The fleet's name; part of no object's name.
    pub name: String,
    /// How many members, named `member-1` and so on.
    pub members: usize,
    /// What the clusters are made of.
    pub recipe: Recipe,
    /// KubeFleet's programs.
    pub agents: Agents,
    /// What pods need; without it no member can have any.
    pub pods: Option<PodPrograms>,
    /// Argo CD's programs; without them the fleet has no Argo CD.
    pub argocd: Option<argocd::Programs>,
    /// The program that can be a keeper.
    pub keeper: Program,
}

/// A hub and its members. Clones are the same fleet.
#[derive(Clone)]
pub struct Fleet(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub name: String,
    pub kubefleet: std::sync::RwLock<KubeFleet>,
    pub home: Arc<Home>,
    pub provider: Arc<dyn Provider>,
    recipe: Recipe,
    /// Whether it existed before fleetdrill came, and will when it has gone.
    borrowed: bool,
    hub: Cluster,
    members: RwLock<BTreeMap<String, Member>>,
    pods: RwLock<Option<PodPrograms>>,
    pub argocd: RwLock<Option<argocd::Programs>>,
    /// Held while it is seen whether the admission webhook runs.
    pub webhook: Mutex<()>,
    /// Clusters that may start at the same time beside what runs: each start takes several seconds of processor time,
    /// and more of them at once make everything else wait.
    starts: Semaphore,
    /// The last snapshot that was taken, and when it was begun.
    snapshot: Mutex<Option<(Instant, Arc<Snapshot>)>>,
}

/// Where a fleet is: its home here, and its clusters.
pub(crate) struct Site {
    pub home: Arc<Home>,
    pub provider: Arc<dyn Provider>,
    pub recipe: Recipe,
    pub hub: Cluster,
    pub members: BTreeMap<String, Member>,
}

impl Inner {
    /// A fleet of its own, without pods and Argo CD.
    fn new(name: String, site: Site, kubefleet: KubeFleet) -> Self {
        let Site { home, provider, recipe, hub, members } = site;
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
            webhook: Mutex::default(),
            starts: starts(),
            snapshot: Mutex::default(),
        }
    }
}

/// What runs on hub and members; different versions only while a fleet is upgraded.
#[derive(Clone)]
pub(crate) struct KubeFleet {
    pub hub: Arc<Release>,
    pub members: Arc<Release>,
}

/// A version of KubeFleet.
pub(crate) struct Release {
    pub agents: Agents,
    /// The hub's and the members'.
    pub crds: Vec<Value>,
}

impl Release {
    /// Reads the CRDs from their files.
    pub async fn read(agents: Agents) -> Result<Arc<Self>, FleetError> {
        let crds = read_crds(agents.crds.clone()).await?;
        Ok(Arc::new(Self { agents, crds }))
    }
}

/// What another command must know of a fleet that is up.
#[derive(Serialize, Deserialize)]
struct Saved {
    name: String,
    recipe: Recipe,
    created_at: jiff::Timestamp,
    agents: Agents,
    /// The members', where an upgrade has not come as far as both, or has stopped there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    member_agents: Option<Agents>,
    members: Vec<String>,
    #[serde(default)]
    pods: Option<PodPrograms>,
    #[serde(default)]
    argocd: Option<argocd::Programs>,
}

impl Fleet {
    /// Starts a fleet: all clusters at once, KubeFleet on the hub as soon as that is ready, each member joined as soon as
    /// both are. The fleet ends with this program unless [`Fleet::keep`] is called.
    ///
    /// # Errors
    /// When a cluster doesn't start, KubeFleet refuses, or a member doesn't join. Nothing is left behind then.
    pub async fn create(options: Options, progress: Progress) -> Result<Self, FleetError> {
        let dir = clusters::state_dir::fleet(&options.name)?;
        // What a fleet of that name left behind whose keeper died goes on the way.
        if clusters::state_dir::fleets()?.contains(&options.name) {
            return Err(clusters::error::ClusterError::FleetExists(options.name).into());
        }
        let (keeper, release) = (&options.keeper, Release::read(options.agents.clone()));
        let home = async { Ok::<_, FleetError>(Arc::new(Home::create(keeper, &dir).await?)) };
        let (home, release) = try_join(home, release).await?;
        let keeper = home.keeper().clone();
        match Self::start(home, release, options, progress).await {
            Ok(fleet) => Ok(fleet),
            Err(error) => {
                // The error is what the caller must see, not a failure to clean up after it.
                let _ = keeper.end().await;
                Err(error)
            }
        }
    }

    async fn start(
        home: Arc<Home>,
        release: Arc<Release>,
        options: Options,
        progress: Progress,
    ) -> Result<Self, FleetError> {
        let provider = options.recipe.create(Arc::clone(&home)).await?;
        let start = Start {
            home: &home,
            provider: &*provider,
            agents: &release.agents,
            crds: &release.crds,
            progress: &progress,
        };
        let (hub, members) = start.all(options.members).await?;
        let site = Site { home, provider, recipe: options.recipe, hub, members };
        let kubefleet = KubeFleet { hub: Arc::clone(&release), members: release };
        let inner = Inner { pods: RwLock::new(options.pods), ..Inner::new(options.name, site, kubefleet) };
        let fleet = Self(Arc::new(inner));
        fleet.save().await?;
        if let Some(programs) = options.argocd {
            fleet.start_argocd(programs).await?;
            progress(Stage::ArgoCdRuns);
        }
        Ok(fleet)
    }

    /// A fleet that exists already, for a run.
    pub(crate) fn borrowed(name: String, site: Site, release: Release) -> Self {
        let release = Arc::new(release);
        let kubefleet = KubeFleet { hub: Arc::clone(&release), members: release };
        Self(Arc::new(Inner { borrowed: true, ..Inner::new(name, site, kubefleet) }))
    }

    /// A fleet that is up.
    ///
    /// # Errors
    /// When there is none of that name.
    pub async fn open(name: &str) -> Result<Self, FleetError> {
        let dir = clusters::state_dir::fleet(name)?;
        let home = Arc::new(Home::open(&dir).await?);
        let unreadable = |why: String| FleetError::Unreadable { what: format!("the state of fleet {name}"), why };
        let text = std::fs::read_to_string(dir.join("fleet.json")).map_err(|e| unreadable(e.to_string()))?;
        let saved: Saved = serde_json::from_str(&text).map_err(|e| unreadable(e.to_string()))?;
        let provider = saved.recipe.open(Arc::clone(&home));
        let borrowed = matches!(saved.recipe, Recipe::Existing(_));
        let hub = provider.cluster(HUB).await?;
        let on_hub = Release::read(saved.agents).await?;
        let on_members = match saved.member_agents {
            Some(agents) => Release::read(agents).await?,
            None => Arc::clone(&on_hub),
        };
        let mut members = BTreeMap::new();
        for name in saved.members {
            members.insert(name.clone(), Member { cluster: provider.cluster(&name).await? });
        }
        let site = Site { home, provider, recipe: saved.recipe, hub, members };
        let kubefleet = KubeFleet { hub: on_hub, members: on_members };
        Ok(Self(Arc::new(Inner {
            borrowed,
            pods: RwLock::new(saved.pods),
            argocd: RwLock::new(saved.argocd),
            ..Inner::new(saved.name, site, kubefleet)
        })))
    }

    /// Starts another fleet of the same components, beside this one; with Argo CD if this one has it and it is asked for.
    ///
    /// # Errors
    /// As [`Fleet::create`].
    pub async fn beside(&self, name: String, members: usize, argocd: bool) -> Result<Self, FleetError> {
        // The semaphore lives as long as the fleet and is never closed.
        let _turn = self.0.starts.acquire().await;
        let options = Options {
            name,
            members,
            recipe: self.0.recipe.clone(),
            agents: self.kubefleet().hub.agents.clone(),
            pods: self.0.pods.read().await.clone(),
            argocd: self.0.argocd.read().await.clone().filter(|_| argocd),
            keeper: Program::this()?,
        };
        Self::create(options, Arc::new(|_| ())).await
    }

    /// The fleet's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// KubeFleet's version; the hub's, while different ones run.
    #[must_use]
    pub fn version(&self) -> String {
        self.kubefleet().hub.agents.version.clone()
    }

    /// What this version of KubeFleet can do.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.kubefleet().hub.agents.capabilities.clone()
    }

    /// What runs on hub and members.
    pub(crate) fn kubefleet(&self) -> KubeFleet {
        self.0.kubefleet.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The hub.
    #[must_use]
    pub fn hub(&self) -> &Cluster {
        &self.0.hub
    }

    /// The members that have joined, by name.
    pub async fn members(&self) -> BTreeMap<String, Member> {
        self.0.members.read().await.clone()
    }

    /// A member.
    ///
    /// # Errors
    /// When there is none of that name.
    pub async fn member(&self, name: &str) -> Result<Member, FleetError> {
        let members = self.0.members.read().await;
        members.get(name).cloned().ok_or_else(|| FleetError::NoSuchMember(name.to_owned()))
    }

    /// What the diagnosis reads, as it is from now on. Scenarios that ask while a snapshot is taken share the next one: dozens
    /// of them side by side would keep the API servers from everything else.
    ///
    /// # Errors
    /// When the hub can't be asked.
    pub async fn snapshot(&self) -> Result<Arc<Snapshot>, FleetError> {
        let asked = Instant::now();
        let mut last = self.0.snapshot.lock().await;
        if let Some((_, snapshot)) = last.as_ref().filter(|(begun, _)| *begun >= asked) {
            return Ok(Arc::clone(snapshot));
        }
        let begun = Instant::now();
        let members =
            self.members().await.into_iter().map(|(name, member)| (name, Asked::of(&member.cluster))).collect();
        let snapshot = Arc::new(snapshot::take(&Asked::of(self.hub()), &members).await?);
        *last = Some((begun, Arc::clone(&snapshot)));
        Ok(snapshot)
    }

    /// The first process of the fleet that ended without having been stopped.
    #[must_use]
    pub fn first_exit(&self) -> watch::Receiver<Option<Exit>> {
        self.0.home.first_exit()
    }

    /// The fleet's keeper.
    #[must_use]
    pub fn keeper(&self) -> &Keeper {
        self.0.home.keeper()
    }

    /// Starts a cluster and joins it.
    ///
    /// # Errors
    /// When the cluster doesn't start or doesn't join.
    pub async fn add_member(&self, name: &str, labels: &Value) -> Result<Member, FleetError> {
        // The semaphore lives as long as the fleet and is never closed.
        let _turn = self.0.starts.acquire().await;
        let (provider, release) = (&*self.0.provider, self.kubefleet().members);
        let (home, agents, crds) = (&self.0.home, &release.agents, &release.crds);
        let start = Start { home, provider, agents, crds, progress: &(Arc::new(|_| ()) as Progress) };
        let member = start.member(name, labels, std::future::ready(self.hub().clone())).await?;
        provider.start_controllers(&member.cluster, Role::Member).await?;
        if self.0.argocd.read().await.is_some() {
            argocd::add_destination(self.hub(), &member.cluster).await?;
        }
        self.0.members.write().await.insert(name.to_owned(), member.clone());
        self.save().await?;
        Ok(member)
    }

    /// Lets a member leave, as an operator would, and keeps its cluster and agent running.
    ///
    /// # Errors
    /// When it hasn't left after two minutes.
    pub async fn leave(&self, name: &str) -> Result<(), FleetError> {
        self.member(name).await?;
        member::leave(self.hub(), &Observer::silent(self.first_exit()), name).await
    }

    /// Joins a member again that has left, with the agent and token that it has.
    ///
    /// # Errors
    /// When it doesn't join.
    pub async fn rejoin(&self, name: &str, labels: &Value) -> Result<(), FleetError> {
        self.member(name).await?;
        let token = member::register(self.hub(), self.keeper().dir(), name, labels).await?;
        self.0.provider.hand_over_token(&member_agent_name(name), &token).await?;
        member::joined(self.hub(), &Observer::silent(self.first_exit()), name).await
    }

    /// Takes a member away for good: it leaves, and its cluster ends.
    ///
    /// # Errors
    /// When it hasn't left after two minutes.
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

    /// Sets labels on a member's MemberCluster; a null takes one away.
    ///
    /// # Errors
    /// When the hub refuses.
    pub async fn label_member(&self, name: &str, labels: &Value) -> Result<(), FleetError> {
        member::label(self.hub(), name, labels).await
    }

    /// Gives the programs that pods need to a fleet that was made without them.
    ///
    /// # Errors
    /// When the fleet's state can't be written.
    pub async fn allow_pods(&self, programs: PodPrograms) -> Result<(), FleetError> {
        *self.0.pods.write().await = Some(programs);
        self.save().await
    }

    /// Starts what pods need on a member: its scheduler, and KWOK as its kubelet. They end with the member's cluster. Does
    /// nothing when they run already, and doesn't wait until they work, which takes a second or two: pods wait for them.
    ///
    /// # Errors
    /// When there is no such member, the fleet was made without the programs, or they can't be started.
    pub async fn start_pods(&self, name: &str) -> Result<(), FleetError> {
        let member = self.member(name).await?;
        let programs = self.0.pods.read().await.clone();
        Ok(self.0.provider.start_pods(&member.cluster, programs.as_ref()).await?)
    }

    /// Kills the hub-agent and starts it again.
    ///
    /// # Errors
    /// When it can't be started.
    pub async fn restart_hub_agent(&self) -> Result<(), FleetError> {
        self.0.provider.stop_agent(HUB_AGENT).await?;
        Ok(self.0.provider.start_agent_again(HUB_AGENT).await?)
    }

    /// What the hub-agent has logged since it was last started.
    ///
    /// # Errors
    /// When it can't be read.
    pub async fn hub_agent_log(&self) -> Result<String, FleetError> {
        Ok(self.0.provider.agent_log(HUB_AGENT).await?)
    }

    /// One kubeconfig with the contexts `hub` and each member's name.
    ///
    /// # Errors
    /// When a cluster's own one can't be read.
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

    /// The path of the merged kubeconfig, which is written anew at each change of members.
    #[must_use]
    pub fn kubeconfig_file(&self) -> PathBuf {
        self.keeper().dir().join("kubeconfig")
    }

    /// Lets the fleet outlive this program.
    ///
    /// # Errors
    /// When the keeper doesn't answer.
    pub async fn keep(&self) -> Result<(), FleetError> {
        Ok(self.keeper().keep().await?)
    }

    /// Has the fleet end by itself after a time.
    ///
    /// # Errors
    /// When the keeper doesn't answer.
    pub async fn end_after(&self, time: Duration) -> Result<(), FleetError> {
        Ok(self.keeper().end_after(time).await?)
    }

    /// Whether it existed before the run that it is used for, and outlives it.
    #[must_use]
    pub fn is_borrowed(&self) -> bool {
        self.0.borrowed
    }

    /// Removes what a run has made here and waits until it is gone.
    ///
    /// # Errors
    /// When a cluster refuses, or something doesn't go.
    pub async fn sweep(&self, run: &str) -> Result<(), FleetError> {
        let members = self.members().await.into_values().map(|member| member.cluster);
        let clusters: Vec<Cluster> = std::iter::once(self.hub().clone()).chain(members).collect();
        existing::sweep(&clusters, run).await.map(drop)
    }

    /// Ends the fleet and waits until nothing of it is left; of one that existed before, what there is of it on this machine.
    ///
    /// # Errors
    /// When the keeper doesn't answer.
    pub async fn end(&self) -> Result<(), FleetError> {
        Ok(self.keeper().end().await?)
    }

    /// Whether where it runs can do that.
    #[must_use]
    pub fn can(&self, ability: Ability) -> bool {
        self.0.provider.can(ability)
    }

    /// Whether what its clusters and agents log is kept here, by its keeper.
    #[must_use]
    pub fn keeps_logs(&self) -> bool {
        matches!(self.0.recipe, Recipe::Local(_) | Recipe::Docker(_))
    }

    /// Whether all of it is processes on this machine: pods are played by programs that have to be given to it
    /// ([`Fleet::allow_pods`]).
    #[must_use]
    pub fn is_local(&self) -> bool {
        matches!(self.0.recipe, Recipe::Local(_))
    }

    /// The provider's name.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        self.0.provider.name()
    }

    pub(crate) async fn save(&self) -> Result<(), FleetError> {
        let members = self.0.members.read().await.keys().cloned().collect();
        let KubeFleet { hub, members: of_members } = self.kubefleet();
        let (name, recipe, agents) = (self.0.name.clone(), self.0.recipe.clone(), hub.agents.clone());
        let member_agents = (!Arc::ptr_eq(&hub, &of_members)).then(|| of_members.agents.clone());
        let (pods, argocd) = (self.0.pods.read().await.clone(), self.0.argocd.read().await.clone());
        let created_at = jiff::Timestamp::now();
        let saved = Saved { name, recipe, created_at, agents, member_agents, members, pods, argocd };
        let dir = self.keeper().dir();
        write_private(&dir.join("fleet.json"), &serde_json::to_string(&saved).unwrap_or_default())?;
        write_private(&self.kubeconfig_file(), &self.kubeconfig().await?)?;
        Ok(())
    }
}

/// As many clusters at once as there are pairs of processors, and one at least.
fn starts() -> Semaphore {
    Semaphore::new(std::thread::available_parallelism().map_or(1, |n| (n.get() / 2).max(1)))
}
