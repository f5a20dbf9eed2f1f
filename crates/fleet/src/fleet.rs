//! A hub and its members.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clusters::keeper::protocol::Exit;
use clusters::keeper::{Keeper, Program};
use clusters::kubeconfig;
use clusters::local::{Cluster, Kind, Local, PodPrograms, Programs, write_private};
use futures::future::{try_join, try_join_all};
use kube::config::Kubeconfig;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{RwLock, Semaphore, watch};

use crate::agents::{Agents, hub_agent_name, member_agent_name};
use crate::error::FleetError;
use crate::install::{apply_crds, name, read_crds};
use crate::member::{self, Member};
use crate::observe::Observer;

/// What a fleet is made of.
#[derive(Clone, Debug)]
pub struct Options {
    /// The fleet's name; part of no object's name.
    pub name: String,
    /// How many members, named `member-1` and so on.
    pub members: usize,
    /// The control planes' programs.
    pub programs: Programs,
    /// KubeFleet's programs.
    pub agents: Agents,
    /// What pods need; without it no member can have any.
    pub pods: Option<PodPrograms>,
    /// The program that can be a keeper.
    pub keeper: Program,
}

/// Something that a fleet's start has reached; for a progress line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The API server of this cluster answers.
    ClusterReady(String),
    /// The hub has KubeFleet's CRDs and its hub-agent runs.
    HubInstalled,
    /// This member has joined.
    Joined(String),
}

/// Told of each [`Stage`].
pub type Progress = Arc<dyn Fn(Stage) + Send + Sync>;

/// A hub and its members. Clones are the same fleet.
#[derive(Clone)]
pub struct Fleet(Arc<Inner>);

struct Inner {
    name: String,
    agents: Agents,
    local: Local,
    hub: Cluster,
    crds: Vec<Value>,
    members: RwLock<BTreeMap<String, Member>>,
    pods: RwLock<Option<PodPrograms>>,
    /// Clusters that may start at the same time beside what runs: each start takes several seconds of processor time,
    /// and more of them at once make everything else wait.
    starts: Semaphore,
}

/// What another command must know of a fleet that is up.
#[derive(Serialize, Deserialize)]
struct Saved {
    name: String,
    created_at: jiff::Timestamp,
    agents: Agents,
    members: Vec<String>,
    #[serde(default)]
    pods: Option<PodPrograms>,
}

/// The hub's name as a cluster.
pub const HUB: &str = "hub";

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
        let local = Local::create(&options.keeper, &dir, options.programs.clone()).await?;
        match Self::start(local, &dir, options, progress).await {
            Ok(fleet) => Ok(fleet),
            Err((keeper, error)) => {
                // The error is what the caller must see, not a failure to clean up after it.
                let _ = keeper.end().await;
                Err(error)
            }
        }
    }

    async fn start(
        local: Local,
        dir: &Path,
        options: Options,
        progress: Progress,
    ) -> Result<Self, (Keeper, FleetError)> {
        let keeper = local.keeper().clone();
        let started = Self::start_clusters(local, dir, options, progress).await;
        started.map_err(|error| (keeper, error))
    }

    async fn start_clusters(
        local: Local,
        dir: &Path,
        options: Options,
        progress: Progress,
    ) -> Result<Self, FleetError> {
        let observer = Observer::silent(local.first_exit());
        let names: Vec<String> = (1..=options.members).map(|n| format!("member-{n}")).collect();
        let (hub_up, _) = watch::channel(None::<Cluster>);
        let agents = &options.agents;

        let hub = async {
            let (hub, crds) = try_join(
                async { Ok::<_, FleetError>(local.start_cluster(HUB).await?) },
                read_crds(agents.crds.clone()),
            )
            .await?;
            progress(Stage::ClusterReady(HUB.into()));
            let for_hub: Vec<&Value> = crds.iter().filter(|crd| is_for_hub(crd)).collect();
            try_join(apply_crds(&hub, &for_hub), member::create_system_namespace(&hub)).await?;
            local.keeper().start(agents.hub(&hub)).await?;
            progress(Stage::HubInstalled);
            hub_up.send_replace(Some(hub.clone()));
            Ok::<_, FleetError>((hub, crds))
        };
        let members = names.iter().map(|member| {
            let (local, observer, progress) = (&local, &observer, &progress);
            let mut hub_up = hub_up.subscribe();
            async move {
                let cluster = async {
                    let cluster = local.start_cluster(member).await?;
                    progress(Stage::ClusterReady(member.clone()));
                    let crds = read_crds(agents.crds.clone().into_iter().filter(|f| is_applied_work_file(f)).collect())
                        .await?;
                    apply_crds(&cluster, &crds.iter().collect::<Vec<_>>()).await?;
                    Ok::<_, FleetError>(cluster)
                };
                let registered = async {
                    let hub = hub_up.wait_for(Option::is_some).await.map_or(None, |hub| hub.clone());
                    // The hub's own failure is reported by its own branch.
                    let Some(hub) = hub else { return std::future::pending().await };
                    let token = member::register(&hub, dir, member, &json!({})).await?;
                    member::rights_granted(&hub, observer, member).await?;
                    Ok::<_, FleetError>((hub, token))
                };
                let (cluster, (hub, token)) = try_join(cluster, registered).await?;
                local.keeper().start(agents.member(&hub, &cluster, &token)).await?;
                member::joined(&hub, observer, member).await?;
                progress(Stage::Joined(member.clone()));
                Ok::<_, FleetError>((member.clone(), Member { cluster }))
            }
        });
        let ((hub, crds), members) = try_join(hub, try_join_all(members)).await?;
        let members: BTreeMap<String, Member> = members.into_iter().collect();
        // Joining needs no controllers: they start when nothing waits for the processors any more.
        local.start_controllers(&hub, Kind::Hub).await?;
        try_join_all(members.values().map(|m| local.start_controllers(&m.cluster, Kind::Member))).await?;
        let (members, pods) = (RwLock::new(members), RwLock::new(options.pods));
        let inner =
            Inner { name: options.name, agents: options.agents, local, hub, crds, members, pods, starts: starts() };
        let fleet = Self(Arc::new(inner));
        fleet.save().await?;
        Ok(fleet)
    }

    /// A fleet that is up.
    ///
    /// # Errors
    /// When there is none of that name.
    pub async fn open(name: &str) -> Result<Self, FleetError> {
        let dir = clusters::state_dir::fleet(name)?;
        let local = Local::open(&dir).await?;
        let unreadable = |why: String| FleetError::Unreadable { what: format!("the state of fleet {name}"), why };
        let text = std::fs::read_to_string(dir.join("fleet.json")).map_err(|e| unreadable(e.to_string()))?;
        let saved: Saved = serde_json::from_str(&text).map_err(|e| unreadable(e.to_string()))?;
        let hub = local.cluster(HUB).await?;
        let crds = read_crds(saved.agents.crds.clone()).await?;
        let mut members = BTreeMap::new();
        for name in saved.members {
            members.insert(name.clone(), Member { cluster: local.cluster(&name).await? });
        }
        let (members, pods) = (RwLock::new(members), RwLock::new(saved.pods));
        let (name, agents, starts) = (saved.name, saved.agents, starts());
        Ok(Self(Arc::new(Inner { name, agents, local, hub, crds, members, pods, starts })))
    }

    /// The fleet's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// KubeFleet's version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.0.agents.version
    }

    /// The `spec.state` that lets an update run go, where the installed version has one that matters: `Run` from v0.2 on.
    /// v0.1.2 has the field too, with other values, and ignores it.
    #[must_use]
    pub fn run_state(&self) -> Option<&'static str> {
        let runs = self.0.crds.iter().find(|crd| name(crd).starts_with("clusterstagedupdateruns."))?;
        let state = "/schema/openAPIV3Schema/properties/spec/properties/state/enum";
        let versions = runs.pointer("/spec/versions").and_then(Value::as_array);
        let values = versions.into_iter().flatten().filter_map(|v| v.pointer(state)?.as_array()).flatten();
        values.filter_map(Value::as_str).find(|v| *v == "Run").map(|_| "Run")
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

    /// The first process of the fleet that ended without having been stopped.
    #[must_use]
    pub fn first_exit(&self) -> watch::Receiver<Option<Exit>> {
        self.0.local.first_exit()
    }

    /// The fleet's keeper.
    #[must_use]
    pub fn keeper(&self) -> &Keeper {
        self.0.local.keeper()
    }

    /// Starts a cluster and joins it.
    ///
    /// # Errors
    /// When the cluster doesn't start or doesn't join.
    pub async fn add_member(&self, name: &str, labels: &Value) -> Result<Member, FleetError> {
        // The semaphore lives as long as the fleet and is never closed.
        let _turn = self.0.starts.acquire().await;
        let observer = Observer::silent(self.first_exit());
        let cluster = async {
            let cluster = self.0.local.start_cluster(name).await?;
            let crds: Vec<&Value> = self.0.crds.iter().filter(|crd| !is_for_hub(crd)).collect();
            apply_crds(&cluster, &crds).await?;
            Ok::<_, FleetError>(cluster)
        };
        let hub = self.hub();
        let registered = async {
            let token = member::register(hub, self.keeper().dir(), name, labels).await?;
            member::rights_granted(hub, &observer, name).await?;
            Ok::<_, FleetError>(token)
        };
        let (cluster, token) = try_join(cluster, registered).await?;
        self.keeper().start(self.0.agents.member(hub, &cluster, &token)).await?;
        member::joined(hub, &observer, name).await?;
        self.0.local.start_controllers(&cluster, Kind::Member).await?;
        let member = Member { cluster };
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
        member::register(self.hub(), self.keeper().dir(), name, labels).await?;
        member::joined(self.hub(), &Observer::silent(self.first_exit()), name).await
    }

    /// Takes a member away for good: it leaves, and its cluster ends.
    ///
    /// # Errors
    /// When it hasn't left after two minutes.
    pub async fn remove_member(&self, name: &str) -> Result<(), FleetError> {
        let left = self.leave(name).await;
        self.0.members.write().await.remove(name);
        self.keeper().remove(&member_agent_name(name)).await?;
        self.0.local.stop_cluster(name).await?;
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
        let programs = self.0.pods.read().await.clone().ok_or_else(|| FleetError::NoPods(self.0.name.clone()))?;
        Ok(self.0.local.start_pods(&member.cluster, &programs).await?)
    }

    /// Kills the hub-agent and starts it again.
    ///
    /// # Errors
    /// When it can't be started.
    pub async fn restart_hub_agent(&self) -> Result<(), FleetError> {
        self.keeper().stop(&hub_agent_name()).await?;
        Ok(self.keeper().start_again(&hub_agent_name()).await?)
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

    /// Ends the fleet and waits until nothing of it is left.
    ///
    /// # Errors
    /// When the keeper doesn't answer.
    pub async fn end(&self) -> Result<(), FleetError> {
        Ok(self.keeper().end().await?)
    }

    async fn save(&self) -> Result<(), FleetError> {
        let members = self.0.members.read().await.keys().cloned().collect();
        let (name, agents, pods) = (self.0.name.clone(), self.0.agents.clone(), self.0.pods.read().await.clone());
        let saved = Saved { name, created_at: jiff::Timestamp::now(), agents, members, pods };
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

/// AppliedWork lives on members, everything else of KubeFleet on the hub.
fn is_for_hub(crd: &Value) -> bool {
    !name(crd).starts_with("appliedworks.")
}

fn is_applied_work_file(file: &Path) -> bool {
    file.file_name().is_some_and(|n| n.to_string_lossy().contains("appliedworks"))
}
