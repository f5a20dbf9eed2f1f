//! A scenario's lease on the fleet: its names, what it has made, and what it has seen.

mod cleanup;
mod ledger;
mod saved;

pub use cleanup::DeferredCrds;
pub use saved::SavedScenario;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clusters::cluster::Cluster;
use clusters::supervisor::ProcessFault;
use diagnosis::{Diagnosis, Finding, KubectlAccess, Snapshot};
use fleet::kinds::{self, ResourceKind};
use fleet::labels::RUN_LABEL;
use fleet::objects;
use fleet::observe::{Observer, Verdict, WaitHeld, WatchSelection, WatchedObjects};
use fleet::request_flood::RequestFlood;
use fleet::{ChildFleetParts, Fleet, FleetError, HUB};
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use record::{Action, ControllerRace, FailedWait, ObjectPath, Product, RecordedEvent};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use self::ledger::{Ledger, MadeObject};
use crate::attempt_end_times::AttemptEndTimes;
use crate::deadline::Deadline;
use crate::error::StepError;
use crate::names::ScenarioNames;
use crate::phrases::{CertificateAudience, FileChange};
use crate::recorder::Recorder;
use crate::shared_upgrade::{Upgrade, UpgradeParticipant};
use crate::wording;

/// Facts by which a scenario differs from the others of a run.
#[derive(Clone, Debug)]
pub struct ScenarioInfo {
    /// The run's id; a label on all that is made.
    pub run: String,
    /// Unique in the run, at most 6 characters; the end of all names.
    pub suffix: String,
    /// True if controllers' thresholds are waited out instead of moved.
    pub real_time: bool,
    /// Deadline of the scenario.
    pub deadline: Deadline,
    /// Callback that is told what a step waits for, and how far it is.
    pub progress: WaitNotice,
    /// The upgrade that goes on under the scenario.
    pub upgrade: Option<Upgrade>,
}

/// Callback that is told, in a few words, what a step waits for and how far it is.
#[derive(Clone)]
pub struct WaitNotice(pub Arc<dyn Fn(&str) + Send + Sync>);

impl std::fmt::Debug for WaitNotice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WaitNotice")
    }
}

/// Process of a fleet that a scenario lets hang, gives only a part of its processor time, or a clock that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FaultyProcess {
    /// API server of the cluster with this name.
    ApiServer(String),
    /// The hub-agent.
    HubAgent,
    /// The hub's etcd.
    Etcd,
    /// Clock of the agent of the member with this name; of the hub-agent without one.
    Clock(Option<String>),
    /// Clock of the API server of the cluster with this name.
    ApiServerClock(String),
}

/// CAs of a hub's certificate for agents.
#[derive(Clone, Debug)]
pub(crate) struct HubCas {
    /// Agents that call the hub by the name for which the certificate is.
    pub audience: CertificateAudience,
    /// Certificate of the CA that the hub has at first, in PEM.
    pub first: String,
    /// Certificate of the CA that takes its place, once it is made.
    pub next: Option<String>,
}

/// Callback that is told of a fleet which a scenario has started for itself.
#[derive(Clone)]
pub struct OwnFleetNotice(pub Arc<dyn Fn(&Fleet) + Send + Sync>);

/// Interval at which progress is told.
const TELL: Duration = Duration::from_secs(5);

/// A scenario's lease on the fleet.
pub struct ScenarioContext {
    pub(crate) fleet: Fleet,
    /// Everything that the scenario has made, as data that can be saved.
    pub(crate) ledger: Ledger,
    pub(crate) recorder: Recorder,
    /// End times of attempts of its Applications' operations.
    pub(crate) attempts: AttemptEndTimes,
    observer: Arc<Observer>,
    info: ScenarioInfo,
    /// True if the fleet is this scenario's own.
    owns_fleet: bool,
    own_fleet_notice: Option<OwnFleetNotice>,
    /// Time of the last remedy.
    remedied_at: Mutex<Option<Instant>>,
    /// Place of the scenario in the upgrade that goes on under it.
    place: Option<UpgradeParticipant>,
    /// Tasks that run beside the steps until the scenario ends.
    pub(crate) beside: JoinSet<()>,
    /// Faults of processes, which end when they are taken out of here.
    pub(crate) process_faults: BTreeMap<FaultyProcess, ProcessFault>,
    /// Requests of another user that use up the priority level of an agent.
    pub(crate) request_flood: Option<RequestFlood>,
    /// CAs of the hub's certificate for agents, if it isn't of the fleet's CA.
    pub(crate) hub_cas: Option<HubCas>,
}

/// An object, in most cases something to delete at the end.
#[derive(Clone)]
pub(crate) struct ObjectHandle {
    cluster: Cluster,
    pub(crate) kind: ResourceKind,
    namespace: Option<String>,
    name: String,
}

impl ObjectHandle {
    /// The object as it is now, if it is there.
    pub(crate) async fn read(&self) -> Result<Option<DynamicObject>, FleetError> {
        let api = self.kind.api(&self.cluster.client, self.namespace.as_deref());
        let failed = FleetError::api(&self.cluster.name, format!("read {}/{}", self.kind.kind, self.name));
        let object = api.get_opt(&self.name).await.map_err(failed)?;
        Ok(object.filter(|object| object.metadata.deletion_timestamp.is_none()))
    }
}

impl std::fmt::Debug for ScenarioContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScenarioContext")
            .field("info", &self.info)
            .field("names", &self.ledger.names)
            .finish_non_exhaustive()
    }
}

impl ScenarioContext {
    /// A scene on `fleet`, which it shares with others, that records into `recorder`.
    pub async fn new(fleet: Fleet, info: ScenarioInfo, recorder: Recorder) -> Self {
        let attempts = AttemptEndTimes::default();
        Self {
            ledger: Ledger::new(ScenarioNames::new(&info.suffix, fleet.members().await.into_keys())),
            observer: observer(&fleet, &recorder, &attempts),
            attempts,
            remedied_at: Mutex::default(),
            owns_fleet: false,
            own_fleet_notice: None,
            place: info.upgrade.clone().map(UpgradeParticipant::new),
            beside: JoinSet::new(),
            process_faults: BTreeMap::new(),
            request_flood: None,
            hub_cas: None,
            fleet,
            recorder,
            info,
        }
    }

    /// Sets who is told when the scenario has started a fleet for itself.
    #[must_use]
    pub fn telling_own_fleet(mut self, notice: OwnFleetNotice) -> Self {
        self.own_fleet_notice = Some(notice);
        self
    }

    /// The hub.
    pub(crate) fn hub(&self) -> Cluster {
        self.fleet.hub().clone()
    }

    /// Says what a step did, with real names.
    pub(crate) fn did(&self, action: impl Into<Action>) {
        self.recorder.add(RecordedEvent::Did(action.into()));
    }

    /// Says which race of a controller a step worked around, and how.
    pub(crate) fn worked_around(&self, race: ControllerRace, action: impl Into<Action>) {
        self.recorder.add(RecordedEvent::WorkedAround { race, action: action.into() });
    }

    /// Says which fault a step put in.
    pub(crate) fn induced(&self, action: impl Into<Action>) {
        self.recorder.add(RecordedEvent::Induced(action.into()));
    }

    /// Says which change a step made, as a fault or as its repair.
    pub(crate) fn changed(&self, change: FileChange, action: impl Into<Action>) {
        if change.repairs {
            self.remedied(action);
        } else {
            self.induced(action);
        }
    }

    /// Says which start time a step moved into the past.
    pub(crate) fn fast_forwarded(&self, action: impl Into<Action>) {
        self.recorder.add(RecordedEvent::FastForwarded(action.into()));
    }

    /// Says which remedy a step applied.
    pub(crate) fn remedied(&self, action: impl Into<Action>) {
        *self.remedied_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.recorder.add(RecordedEvent::Remedied(action.into()));
    }

    /// Returns the time since the last remedy; `None` if there was none.
    pub(crate) fn since_remedy(&self) -> Option<Duration> {
        self.remedied_at.lock().unwrap_or_else(PoisonError::into_inner).map(|at| at.elapsed())
    }

    /// Returns true if controllers' thresholds are waited out.
    pub(crate) fn real_time(&self) -> bool {
        self.info.real_time
    }

    /// Returns the scenario's place in the upgrade that goes on under it.
    ///
    /// # Errors
    /// Returns an error if no upgrade of this product goes on.
    pub(crate) fn upgrade_of(&self, product: Product) -> Result<&UpgradeParticipant, StepError> {
        let place = self.place.as_ref().filter(|place| place.upgrade().to().product() == product);
        place.ok_or_else(|| StepError::Feature(format!("only `fleetdrill upgrade` upgrades {}", product.name())))
    }

    /// Puts the scenario's limit off by what a step waits on purpose.
    pub(crate) fn put_off(&self, by: Duration) {
        self.info.deadline.put_off(by);
    }

    /// Returns true if the fleet is the scenario's own.
    pub(crate) fn owns_fleet(&self) -> bool {
        self.owns_fleet
    }

    /// Ends a fault of a process, if there is one, and waits until it has ended.
    ///
    /// # Errors
    /// Returns an error if it doesn't end.
    pub(crate) async fn end_process_fault(&mut self, process: &FaultyProcess) -> Result<(), FleetError> {
        match self.process_faults.remove(process) {
            Some(fault) => Ok(fault.end().await?),
            None => Ok(()),
        }
    }

    /// Checks that the fleet is the scenario's own, because others would feel what the step does to `part`, e.g. `the hub is`.
    ///
    /// # Errors
    /// Returns an error if the fleet is shared.
    pub(crate) fn check_own_fleet(&self, part: &str) -> Result<(), StepError> {
        if self.owns_fleet {
            return Ok(());
        }
        Err(StepError::Feature(format!("{part} everybody's: take a fleet of its own")))
    }

    /// Returns the text that all names of this scenario's objects contain.
    pub(crate) fn ours(&self) -> String {
        format!("-{}", self.info.suffix)
    }

    /// Leaves the shared fleet for one that is made for this scenario and ends with it.
    pub(crate) async fn move_to_own_fleet(&mut self, members: usize, parts: ChildFleetParts) -> Result<(), StepError> {
        let has_begun =
            !self.ledger.made.is_empty() || !self.ledger.own_members.is_empty() || !self.ledger.labels.is_empty();
        if self.owns_fleet || has_begun || !self.ledger.repositories.is_empty() || !self.ledger.settings.is_empty() {
            return Err(StepError::Feature("a fleet of its own has to be a scenario's first step".into()));
        }
        let name = format!("{}-{}", self.fleet.name(), self.info.suffix);
        self.fleet = self.fleet.beside(name, members, parts).await?;
        self.owns_fleet = true;
        self.ledger.names = ScenarioNames::new(&self.info.suffix, self.fleet.members().await.into_keys());
        self.observer = observer(&self.fleet, &self.recorder, &self.attempts);
        if let Some(notice) = &self.own_fleet_notice {
            (notice.0)(&self.fleet);
        }
        Ok(())
    }

    /// The fleet that the scenario is on.
    #[must_use]
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// Lets what the scenario made outlive it, for a look.
    ///
    /// # Errors
    /// When its own fleet's supervisor doesn't answer.
    pub async fn keep(&self) -> Result<(), FleetError> {
        if self.owns_fleet { self.fleet.keep().await } else { Ok(()) }
    }

    /// Watches that something stays as it is while a controller's threshold passes. The scenario's limit isn't about
    /// this: it is put off.
    pub(crate) async fn wait_out(
        &self,
        cluster: &Cluster,
        watched: &WatchSelection,
        expectation: &str,
        time: Duration,
        check: impl FnMut(&WatchedObjects) -> Verdict,
    ) -> Result<(), StepError> {
        self.put_off(time);
        let since = Instant::now();
        telling(
            &self.info.progress,
            || format!("real time: {} of {} have passed", minutes(since.elapsed()), minutes(time)),
            self.stays(cluster, watched, expectation, time, check),
        )
        .await
    }

    /// A step's JSON, with the real names of what the scenario calls so.
    pub(crate) fn json(&self, text: &str) -> Result<Value, StepError> {
        let text = self.ledger.names.fill(text);
        serde_json::from_str(&text).map_err(|e| StepError::Feature(format!("`{text}` is not JSON: {e}")))
    }

    /// Rewords a feature's text for the fleet's version, and replaces the scenario's names in it by the real names.
    pub(crate) fn words(&self, text: &str) -> String {
        self.ledger.fill(&wording::text(&self.fleet.capabilities(), text))
    }

    /// Returns false if a member, or an agent that is called after it, belongs to another scene on the same fleet.
    pub(crate) fn uses(&self, member: &str) -> bool {
        let others = format!("-{}", self.info.run);
        !member.contains(&others) || self.ledger.own_members.iter().any(|own| member.starts_with(own.as_str()))
    }

    /// Returns the objects that the scenario has made, and the MemberClusters that it uses.
    pub(crate) async fn belongings(&self) -> Vec<ObjectHandle> {
        let members = self.fleet.members().await.into_keys().filter(|name| self.uses(name)).map(|name| ObjectHandle {
            cluster: self.hub(),
            kind: kinds::MEMBER_CLUSTER,
            namespace: None,
            name,
        });
        let mut belongings = self.resolved().await;
        belongings.extend(members);
        belongings
    }

    /// The objects in its ledger, oldest first, with their clusters; without those on members that are gone.
    async fn resolved(&self) -> Vec<ObjectHandle> {
        self.resolve(&self.ledger.made).await
    }

    /// Objects with their clusters; without those on members that are gone.
    async fn resolve(&self, objects: &[MadeObject]) -> Vec<ObjectHandle> {
        let mut resolved = Vec::new();
        for made in objects {
            let Some(kind) = made.kind() else { continue };
            let cluster = match made.cluster.as_str() {
                HUB => self.hub(),
                member => match self.fleet.member(member).await {
                    Ok(member) => member.cluster,
                    Err(_) => continue,
                },
            };
            resolved.push(ObjectHandle { cluster, kind, namespace: made.namespace.clone(), name: made.name.clone() });
        }
        resolved
    }

    /// Creates an object on the hub and remembers to delete it at the end.
    pub(crate) async fn make(
        &mut self,
        kind: ResourceKind,
        namespace: Option<&str>,
        value: Value,
    ) -> Result<(), StepError> {
        self.make_on(&self.hub(), kind, namespace, value).await
    }

    /// Creates an object on a cluster and remembers to delete it at the end.
    pub(crate) async fn make_on(
        &mut self,
        cluster: &Cluster,
        kind: ResourceKind,
        namespace: Option<&str>,
        mut value: Value,
    ) -> Result<(), StepError> {
        let labels = json!({RUN_LABEL: self.info.run, "fleetdrill.dev/scenario": self.info.suffix});
        merge(&mut value["metadata"]["labels"], &labels);
        let name = value["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        create(cluster, kind, namespace, value).await?;
        self.remember(cluster, kind, namespace, name);
        Ok(())
    }

    /// Remembers to delete an object at the end.
    pub(crate) fn remember(&mut self, cluster: &Cluster, kind: ResourceKind, namespace: Option<&str>, name: String) {
        self.ledger.made.push(MadeObject::new(&cluster.name, kind, namespace, name));
    }

    /// Remembers to take the finalizers off an object at the end.
    pub(crate) fn hold(&mut self, cluster: &Cluster, kind: ResourceKind, namespace: Option<&str>, name: &str) {
        self.ledger.held.push(MadeObject::new(&cluster.name, kind, namespace, name.to_owned()));
    }

    /// Returns true if a finalizer of the scenario holds an object on a cluster, or something in a namespace.
    pub(crate) fn holds(&self, cluster: &str, kind: ResourceKind, path: &ObjectPath) -> bool {
        let mut held = self.ledger.held.iter().filter(|held| held.cluster == cluster);
        held.any(|held| {
            let is_object = held.kind() == Some(kind) && held.name == path.name && held.namespace == path.namespace;
            is_object || (kind == kinds::NAMESPACE && held.namespace.as_deref() == Some(path.name.as_str()))
        })
    }

    /// Patches an object on the hub (JSON merge patch).
    pub(crate) async fn patch(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        name: &str,
        patch: Value,
    ) -> Result<(), StepError> {
        self.patch_on(&self.hub(), kind, namespace, name, patch).await
    }

    /// Patches an object on a cluster (JSON merge patch).
    pub(crate) async fn patch_on(
        &self,
        cluster: &Cluster,
        kind: ResourceKind,
        namespace: Option<&str>,
        name: &str,
        patch: Value,
    ) -> Result<(), StepError> {
        let api = kind.api(&cluster.client, namespace);
        let patched = api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
        let patched = patched.map_err(FleetError::api(&cluster.name, format!("change {}/{name}", kind.kind)))?;
        self.observer.wrote(&cluster.name, &patched);
        Ok(())
    }

    /// Takes note of an object on the hub as it is after a change: waits don't count what it was before.
    pub(crate) fn wrote(&self, object: &DynamicObject) {
        self.observer.wrote(HUB, object);
    }

    /// Sees to it that the API server refused a change as invalid, with `why` in what it says.
    pub(crate) fn refused(&self, changed: Result<(), StepError>, why: &str) -> Result<(), StepError> {
        match changed {
            Ok(()) => Err(StepError::Differs("the API server took it".into())),
            Err(StepError::Fleet(error)) if error.status().is_some_and(kube::core::Status::is_invalid) => {
                let said = fleet::error::in_full(&error);
                self.did(said.as_str());
                let other = StepError::Differs(format!("the API server doesn't say `{why}` but: {said}"));
                if said.contains(why) { Ok(()) } else { Err(other) }
            }
            Err(error) => Err(error),
        }
    }

    /// Deletes an object on the hub; none is no error.
    pub(crate) async fn delete(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<(), StepError> {
        Ok(objects::delete(&self.hub(), kind, namespace, name).await?)
    }

    /// Sets labels on a shared or own member and remembers to take them away.
    pub(crate) async fn label_member(&mut self, member: &str, labels: Value) -> Result<(), StepError> {
        let keys = labels.as_object().into_iter().flat_map(|l| l.keys().cloned());
        self.ledger.labels.entry(member.to_owned()).or_default().extend(keys);
        Ok(self.fleet.label_member(member, &labels).await?)
    }

    /// The labels that this scenario has set on a member, all `true`; a member that joins again needs them.
    pub(crate) fn labels_of(&self, member: &str) -> Value {
        let keys = self.ledger.labels.get(member).into_iter().flatten();
        Value::Object(keys.map(|key| (key.clone(), "true".into())).collect())
    }

    /// Returns true if a member was joined for this scenario.
    pub(crate) fn is_own(&self, member: &str) -> bool {
        self.ledger.own_members.iter().any(|own| own == member)
    }

    /// Returns the real name of a member that nobody else uses: one that was joined for this scenario, or one of the scenario's own fleet.
    ///
    /// # Errors
    /// Returns an error if the member is everybody's.
    pub(crate) fn own_member(&self, member: &str) -> Result<String, StepError> {
        let real = self.ledger.names.get(member)?;
        if self.owns_fleet || self.is_own(&real) {
            return Ok(real);
        }
        Err(StepError::Feature(format!("{member} is everybody's: take a member of its own")))
    }

    /// Returns a member, or the hub, if nobody else uses it. `hub` is the beginning of a sentence, e.g. `the hub is`.
    ///
    /// # Errors
    /// Returns an error if the member, or the fleet, is everybody's.
    pub(crate) async fn own_cluster(&self, member: Option<&str>, hub: &str) -> Result<Cluster, StepError> {
        let Some(member) = member else {
            self.check_own_fleet(hub)?;
            return Ok(self.hub());
        };
        Ok(self.fleet.member(&self.own_member(member)?).await?.cluster)
    }

    /// Remembers a member that was joined for this scenario.
    pub(crate) fn own(&mut self, member: String) {
        self.ledger.own_members.push(member);
    }

    /// Waits, and says how long it took.
    pub(crate) async fn wait(
        &self,
        cluster: &Cluster,
        watched: &WatchSelection,
        expectation: &str,
        limit: Duration,
        check: impl FnMut(&WatchedObjects) -> Verdict,
    ) -> Result<WaitHeld, StepError> {
        let limit = limit.min(self.info.deadline.remaining());
        let held = self.observer.until(cluster, watched, expectation, limit, check).await;
        let held = held.map_err(|error| self.record_failure(error))?;
        let seconds = held.after.as_secs_f64();
        self.recorder.add(RecordedEvent::Held { expectation: expectation.to_owned(), seconds });
        Ok(held)
    }

    /// Watches that something stays as it is.
    pub(crate) async fn stays(
        &self,
        cluster: &Cluster,
        watched: &WatchSelection,
        expectation: &str,
        time: Duration,
        check: impl FnMut(&WatchedObjects) -> Verdict,
    ) -> Result<(), StepError> {
        let stayed = self.observer.stays(cluster, watched, expectation, time, check).await;
        stayed.map_err(|error| self.record_failure(error))?;
        let expectation = format!("{expectation}, and goes on so");
        self.recorder.add(RecordedEvent::Held { expectation, seconds: time.as_secs_f64() });
        Ok(())
    }

    /// Records a wait that failed, with what was seen last.
    fn record_failure(&self, error: FleetError) -> FleetError {
        if let FleetError::Wait(wait) = &error {
            self.recorder.add(RecordedEvent::WaitFailed(FailedWait::clone(wait)));
        }
        error
    }

    /// Begins to watch something now, so that its transitions are recorded from here on.
    pub(crate) fn follow(&self, cluster: &Cluster, watched: &WatchSelection) {
        drop(self.observer.watch(&cluster.client, watched));
    }

    /// Diagnoses this scenario's own objects. Others share the fleet and have faults of their own.
    ///
    /// # Errors
    /// When the fleet can't be read.
    pub async fn diagnose(&self) -> Result<Vec<Finding>, StepError> {
        Ok(self.findings_in(&*self.fleet.needed_snapshot().await?))
    }

    /// Diagnoses this scenario's own objects in a snapshot that was taken already.
    #[must_use]
    pub fn findings_in(&self, snapshot: &Snapshot) -> Vec<Finding> {
        self.examine(snapshot).findings
    }

    /// Diagnoses this scenario's own objects in a snapshot, and everything that is in progress on the fleet.
    pub(crate) fn examine(&self, snapshot: &Snapshot) -> Diagnosis {
        let mut diagnosis = diagnosis::examine(snapshot, &KubectlAccess::same_names_in(snapshot));
        diagnosis.findings.retain(|finding| self.is_ours(finding));
        diagnosis
    }

    fn is_ours(&self, finding: &Finding) -> bool {
        if self.owns_fleet {
            return true;
        }
        let suffix = self.ours();
        let subject = &finding.subject;
        has_suffix(&subject.name, &suffix)
            || subject.namespace.as_deref().is_some_and(|namespace| has_suffix(namespace, &suffix))
            || finding.consequences.iter().any(|c| self.is_ours(c))
    }
}

/// True if a name ends with a suffix, or has it before a `-`.
fn has_suffix(name: &str, suffix: &str) -> bool {
    name.ends_with(suffix) || name.contains(&format!("{suffix}-"))
}

fn observer(fleet: &Fleet, recorder: &Recorder, attempts: &AttemptEndTimes) -> Arc<Observer> {
    let (into, attempts) = (recorder.clone(), attempts.clone());
    let observer = Observer::new(fleet.first_exit(), Arc::new(move |t| into.add(RecordedEvent::Transition(t))));
    Arc::new(observer.telling(Arc::new(move |object| attempts.note(object))))
}

/// Does something that takes long and tells meanwhile how far it is.
async fn telling<T>(progress: &WaitNotice, tell: impl Fn() -> String, what: impl Future<Output = T>) -> T {
    let told = async {
        loop {
            (progress.0)(&tell());
            tokio::time::sleep(TELL).await;
        }
    };
    tokio::select! {
        done = what => done,
        () = told => unreachable!("telling doesn't end"),
    }
}

/// `4:05`.
fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// Creates an object, given without its kind, on a cluster.
pub(crate) async fn create(
    cluster: &Cluster,
    kind: ResourceKind,
    namespace: Option<&str>,
    mut value: Value,
) -> Result<(), StepError> {
    value["apiVersion"] = kind.api_version().into();
    value["kind"] = kind.kind.into();
    let name = format!("{}/{}", kind.kind, value["metadata"]["name"].as_str().unwrap_or_default());
    let object: DynamicObject =
        serde_json::from_value(value).map_err(|e| StepError::Feature(format!("{name}: {e}")))?;
    let created = kind.api(&cluster.client, namespace).create(&PostParams::default(), &object).await;
    created.map_err(FleetError::api(&cluster.name, format!("create {name}")))?;
    Ok(())
}

fn merge(into: &mut Value, labels: &Value) {
    if !into.is_object() {
        *into = json!({});
    }
    for (key, value) in labels.as_object().into_iter().flatten() {
        into[key] = value.clone();
    }
}
