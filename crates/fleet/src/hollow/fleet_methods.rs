//! Methods of [`Fleet`] for its hollow members.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use clusters::ability::ProviderAbility;
use clusters::error::ClusterError;
use clusters::supervisor::protocol::ProcessSpec;
use diagnosis::Object;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube::api::ListParams;
use record::HOLLOW_LABEL;
use serde_json::json;

use super::behaviour::HollowBehaviours;
use super::behaviour_file;
use super::names::{PROCESS, hollow_name, labels};
use crate::Fleet;
use crate::error::FleetError;
use crate::kinds::{MEMBER_CLUSTER, SERVICE_ACCOUNT};
use crate::member::{SYSTEM, identity};
use crate::objects::{create, delete};
use crate::observe::{Observer, Verdict, WatchSelection, WatchedObjects};

/// Number of members that are created or deleted at the same time.
const AT_ONCE: usize = 16;

/// Interval between heartbeats, in seconds: KubeFleet's default. Other members of a fleet send theirs more often.
const HEARTBEAT_SECONDS: u32 = 60;

/// Time limit for hollow members to join or leave, and the time that is added to it for each.
const LIMIT: (Duration, Duration) = (Duration::from_secs(180), Duration::from_secs(1));

/// Callback with the number of hollow members that have joined, or have yet to leave.
pub type OnHollowMembers<'a> = &'a (dyn Fn(usize) + Sync);

impl Fleet {
    /// Number of hollow members.
    pub async fn hollow_members(&self) -> usize {
        *self.0.hollow_members.read().await
    }

    /// Changes the number of hollow members: missing ones join, surplus ones leave. Calls `progress` with the number of
    /// those that are there whenever it changes.
    ///
    /// # Errors
    /// Returns an error if the provider can't have hollow members, the process that plays them doesn't start, or members
    /// don't join or leave in time.
    pub async fn set_hollow_members(&self, count: usize, progress: OnHollowMembers<'_>) -> Result<(), FleetError> {
        let ability = ProviderAbility::PlayMembers;
        if !self.can(ability) {
            return Err(ClusterError::Cannot { provider: self.provider(), ability }.into());
        }
        if count > 0 {
            self.start_hollow_agents().await?;
        }
        let there = self.hollow_member_clusters().await?;
        // Saved before and not after, so that a command that is interrupted leaves no members that nobody knows of.
        *self.0.hollow_members.write().await = count.max(there.len());
        self.save().await?;
        let missing = (1..=count).filter(|number| !there.contains(&hollow_name(*number)));
        stream::iter(missing).map(Ok).try_for_each_concurrent(AT_ONCE, |number| self.register_hollow(number)).await?;
        let wanted: BTreeSet<String> = (1..=count).map(hollow_name).collect();
        let surplus = there.difference(&wanted);
        stream::iter(surplus).map(Ok).try_for_each_concurrent(AT_ONCE, |name| self.deregister_hollow(name)).await?;
        self.hollow_members_settle(count, there.len(), progress).await?;
        *self.0.hollow_members.write().await = count;
        self.save().await
    }

    /// Names of the hollow members that the hub has MemberClusters of.
    async fn hollow_member_clusters(&self) -> Result<BTreeSet<String>, FleetError> {
        let api = MEMBER_CLUSTER.api(&self.hub().client, None);
        let list = api.list_metadata(&ListParams::default().labels(HOLLOW_LABEL)).await;
        let list = list.map_err(FleetError::api("hub", "list hollow members"))?;
        Ok(list.into_iter().filter_map(|member| member.metadata.name).collect())
    }

    /// Behaviour of the hollow members.
    ///
    /// # Errors
    /// Returns an error if its file can't be read.
    pub fn hollow_behaviours(&self) -> Result<HollowBehaviours, FleetError> {
        behaviour_file::read(self.supervisor().dir())
    }

    /// Changes the behaviour of the hollow members. It takes effect within a second.
    ///
    /// # Errors
    /// Returns an error if something in it is wrong, or its file can't be written.
    pub fn set_hollow_behaviours(&self, behaviours: &HollowBehaviours) -> Result<(), FleetError> {
        behaviour_file::write(self.supervisor().dir(), behaviours)
    }

    /// Starts the process that plays the agents, unless it runs.
    async fn start_hollow_agents(&self) -> Result<(), FleetError> {
        let supervisor = self.supervisor();
        if supervisor.processes().await?.iter().any(|p| p.name == PROCESS && p.pid.is_some()) {
            return Ok(());
        }
        let paths = [self.hub().kubeconfig.as_path(), supervisor.dir()].map(|path| path.display().to_string());
        let spec = ProcessSpec {
            name: PROCESS.into(),
            program: self.0.home.program().0.clone(),
            args: ["hollow".to_owned(), "serve".into()].into_iter().chain(paths).collect(),
            ..ProcessSpec::default()
        };
        Ok(supervisor.start(spec).await?)
    }

    /// Creates what a member needs on the hub. The agents share one credential, but each member has its identity: the
    /// hub-agent grants rights to it, and the diagnosis checks both.
    async fn register_hollow(&self, number: usize) -> Result<(), FleetError> {
        let name = hollow_name(number);
        let identity = identity(&name);
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": identity}});
        create(self.hub(), SERVICE_ACCOUNT, Some(SYSTEM), account).await?;
        let member = json!({
            "apiVersion": MEMBER_CLUSTER.api_version(), "kind": "MemberCluster",
            "metadata": {"name": name, "labels": labels(number)},
            "spec": {
                "identity": {"kind": "ServiceAccount", "name": identity, "namespace": SYSTEM, "apiGroup": ""},
                "heartbeatPeriodSeconds": HEARTBEAT_SECONDS,
            },
        });
        create(self.hub(), MEMBER_CLUSTER, None, member).await
    }

    async fn deregister_hollow(&self, name: &str) -> Result<(), FleetError> {
        delete(self.hub(), MEMBER_CLUSTER, None, name).await?;
        delete(self.hub(), SERVICE_ACCOUNT, Some(SYSTEM), &identity(name)).await
    }

    /// Waits until as many hollow members have joined, or are left.
    async fn hollow_members_settle(
        &self,
        count: usize,
        before: usize,
        progress: OnHollowMembers<'_>,
    ) -> Result<(), FleetError> {
        let watched = WatchSelection::labelled("hub", MEMBER_CLUSTER, None, HOLLOW_LABEL);
        let (verb, changing) = (if count < before { "leave" } else { "join" }, count.abs_diff(before));
        let limit = LIMIT.0 + LIMIT.1 * u32::try_from(changing).unwrap_or(u32::MAX);
        let (mut last, mut said) = (before, Instant::now());
        let check = |objects: &WatchedObjects| {
            let now = if count < before { objects.len() } else { joined(objects) };
            if now != last && (said.elapsed() > PROGRESS || now == count) {
                progress(now);
                (last, said) = (now, Instant::now());
            }
            if now == count { Verdict::Holds } else { Verdict::Pending(format!("{now} of {count} are there")) }
        };
        let (observer, expectation) =
            (Observer::silent(self.first_exit()), format!("{changing} hollow members {verb}"));
        observer.until(self.hub(), &watched, &expectation, limit, check).await.map(drop)
    }
}

/// Least time between two calls of the callback for progress.
const PROGRESS: Duration = Duration::from_millis(500);

/// Number of members that have joined and sent a heartbeat.
fn joined(members: &WatchedObjects) -> usize {
    let has_joined = |member: Object<'_>| {
        ["Joined", "ReadyToJoin"].iter().all(|type_| member.condition(type_).is_some_and(|c| c.status == "True"))
            && member.at("/status/agentStatus/0/lastReceivedHeartbeat").is_some()
    };
    members.values().filter(|member| has_joined(Object::new(&**member))).count()
}
