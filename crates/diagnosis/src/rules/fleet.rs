//! The snapshot as the rules see it: placements, runs and what belongs to them, in both scopes.

use jiff::Timestamp;
use serde_json::Value;

use super::draft::Topic;
use super::kubectl;
use super::quote::Quote;
use super::scope::Scope;
use crate::{ClusterSnapshot, Condition, Evidence, Object, Snapshot, Subject, conditions};

/// The group of placements, runs, bindings, snapshots and Works.
pub(super) const PLACEMENT: &str = "placement.kubernetes-fleet.io";
/// The group of `MemberClusters`.
pub(super) const CLUSTER: &str = "cluster.kubernetes-fleet.io";
/// On a snapshot, binding and Work: the placement's name, for namespaced placements too.
const PARENT: &str = "kubernetes-fleet.io/parent-CRP";
/// On a Work: the namespace of a namespaced placement.
const PARENT_NAMESPACE: &str = "kubernetes-fleet.io/parent-placement-namespace";
/// On a snapshot: whether it is the latest.
const IS_LATEST: &str = "kubernetes-fleet.io/is-latest-snapshot";
/// On a resource snapshot: its index.
const RESOURCE_INDEX: &str = "kubernetes-fleet.io/resource-index";

/// A snapshot with a hub.
#[derive(Clone, Copy)]
pub(super) struct Fleet<'a> {
    pub snapshot: &'a Snapshot,
    pub hub: &'a ClusterSnapshot,
}

/// A `ClusterResourcePlacement` or a `ResourcePlacement`.
#[derive(Clone, Copy)]
pub(super) struct Placement<'a> {
    pub scope: Scope,
    pub object: Object<'a>,
}

/// What a placement says of one member that it has chosen.
#[derive(Clone, Copy)]
pub(super) struct PlacedOn<'a> {
    pub member: &'a str,
    value: &'a Value,
    generation: i64,
}

/// A `ClusterStagedUpdateRun` or a `StagedUpdateRun`.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub scope: Scope,
    pub object: Object<'a>,
}

/// A stage in a run's status.
#[derive(Clone, Copy)]
pub(super) struct Stage<'a> {
    pub name: &'a str,
    value: &'a Value,
    generation: i64,
}

/// A cluster in a stage of a run's status.
#[derive(Clone, Copy)]
pub(super) struct StageCluster<'a> {
    pub stage: &'a str,
    pub member: &'a str,
    value: &'a Value,
    generation: i64,
}

impl<'a> Fleet<'a> {
    /// None when the snapshot has no hub or the hub couldn't be read.
    pub fn of(snapshot: &'a Snapshot) -> Option<Self> {
        let hub = snapshot.hub().filter(|hub| hub.unreachable.is_none())?;
        Some(Self { snapshot, hub })
    }

    /// Now, as the snapshot has it.
    pub fn now(self) -> Timestamp {
        self.snapshot.taken_at
    }

    /// Quotes the hub.
    pub fn quote(self) -> Quote<'a> {
        Quote::from(&self.hub.name)
    }

    /// Placements that aren't being deleted.
    pub fn placements(self) -> impl Iterator<Item = Placement<'a>> {
        self.both(Scope::placement)
            .map(|(scope, object)| Placement { scope, object })
            .filter(|p| p.object.deleted_at().is_none())
    }

    /// Runs that aren't being deleted.
    pub fn runs(self) -> impl Iterator<Item = Run<'a>> {
        self.both(Scope::run).map(|(scope, object)| Run { scope, object }).filter(|r| r.object.deleted_at().is_none())
    }

    /// Approval requests that aren't being deleted, with the scope that they are of.
    pub fn requests(self) -> impl Iterator<Item = (Scope, Object<'a>)> {
        self.both(Scope::request).filter(|(_, o)| o.deleted_at().is_none())
    }

    /// An object of the placement group on the hub.
    pub fn placement_object(self, kind: &str, namespace: Option<&str>, name: &str) -> Option<Object<'a>> {
        self.hub.object(PLACEMENT, kind, namespace, name)
    }

    /// A member's namespace on the hub.
    pub fn member_namespace(self, member: &str) -> Option<Object<'a>> {
        self.hub.object("", "Namespace", None, &member_namespace(member))
    }

    /// The Works for a member.
    pub fn works(self, member: &str) -> Vec<Object<'a>> {
        let namespace = member_namespace(member);
        let mut works: Vec<_> =
            self.hub.of_kind(PLACEMENT, "Work").filter(|w| w.namespace() == Some(namespace.as_str())).collect();
        works.sort_by_key(super::super::object::Object::name);
        works
    }

    fn both(self, kind: fn(Scope) -> &'static str) -> impl Iterator<Item = (Scope, Object<'a>)> {
        Scope::BOTH
            .into_iter()
            .flat_map(move |scope| self.hub.of_kind(PLACEMENT, kind(scope)).map(move |object| (scope, object)))
    }
}

impl<'a> Placement<'a> {
    /// A condition of the present generation, by its name without the kind's prefix, e.g. `WorkSynchronized`.
    pub fn condition(self, name: &str) -> Option<Condition> {
        self.object.current_condition(&format!("{}{name}", self.scope.placement()))
    }

    /// How it rolls out; `RollingUpdate` where it doesn't say.
    pub fn rollout(self) -> &'a str {
        self.object.str("/spec/strategy/type").unwrap_or("RollingUpdate")
    }

    /// Whether its rollout is left to update runs.
    pub fn is_external(self) -> bool {
        self.rollout() == "External"
    }

    /// The placement as a whole, as a topic.
    pub fn topic(self) -> Topic {
        Topic::Placement { namespace: self.object.namespace().map(str::to_owned), name: self.object.name().to_owned() }
    }

    /// `name` or `namespace/name`.
    pub fn full_name(self) -> String {
        full_name(self.object.namespace(), self.object.name())
    }

    /// What a person sees first of a condition that is False on a member: the placement's own, then the member's.
    pub fn symptom(self, fleet: Fleet<'a>, on: PlacedOn<'a>, failed: &Condition) -> Vec<Evidence> {
        let quote = fleet.quote();
        let top = self.condition(&failed.type_).filter(|c| c.status == "False");
        let mut evidence: Vec<_> = top.iter().map(|c| quote.condition(self.object, c)).collect();
        evidence.push(quote.condition_in(self.object, &on.path(), failed));
        evidence
    }

    /// Its runs, in whatever state.
    pub fn runs(self, fleet: Fleet<'a>) -> impl Iterator<Item = Run<'a>> {
        fleet.runs().filter(move |run| {
            run.scope == self.scope
                && run.object.namespace() == self.object.namespace()
                && run.placement_name() == self.object.name()
        })
    }

    /// Its Works for a member.
    pub fn works(self, fleet: Fleet<'a>, member: &str) -> Vec<Object<'a>> {
        fleet.works(member).into_iter().filter(|w| self.owns(*w)).collect()
    }

    /// What it says of each member that it has chosen.
    pub fn clusters(self) -> impl Iterator<Item = PlacedOn<'a>> {
        let generation = self.object.generation();
        self.object.list("/status/placementStatuses").iter().filter_map(move |value| {
            let member = value.get("clusterName").and_then(Value::as_str).filter(|n| !n.is_empty())?;
            Some(PlacedOn { member, value, generation })
        })
    }

    /// The placement, and the member that it is about.
    pub fn subject(self, fleet: Fleet<'_>, member: Option<&str>) -> Subject {
        subject(fleet, self.object, None, member)
    }

    /// The placement on one member, as a topic.
    pub fn on(self, member: &str) -> Topic {
        Topic::PlacementOn {
            namespace: self.object.namespace().map(str::to_owned),
            name: self.object.name().to_owned(),
            member: member.to_owned(),
        }
    }

    /// Whether `other` is a binding, snapshot or Work of this placement.
    pub fn owns(self, other: Object<'_>) -> bool {
        owns(self.object.namespace(), self.object.name(), other)
    }
}

impl<'a> PlacedOn<'a> {
    /// The objects that failed there.
    pub fn failed(&self) -> &'a [Value] {
        self.list("failedPlacements")
    }

    /// A list in what it says, e.g. `driftedPlacements`; empty where there is none.
    pub fn list(&self, field: &str) -> &'a [Value] {
        self.value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// A condition of the placement's present generation.
    pub fn condition(&self, name: &str) -> Option<Condition> {
        current(self.value, name, self.generation)
    }

    /// Where it stands in the placement.
    pub fn path(&self) -> String {
        format!("status.placementStatuses[{}]", self.member)
    }
}

impl<'a> Run<'a> {
    /// A condition of the generation that the controller has looked at last.
    pub fn condition(self, name: &str) -> Option<Condition> {
        self.object.condition(name).filter(|c| c.observed_generation == self.seen_generation())
    }

    /// The generation that the controller has looked at last. v0.1.2 keeps conditions of older generations beside those of
    /// the present one; v0.3.1 leaves all of a run that has ended as they are when its `spec.state` changes.
    fn seen_generation(self) -> i64 {
        self.object.conditions().iter().map(|c| c.observed_generation).max().unwrap_or_default()
    }

    /// The name of its placement, which is in the same namespace.
    pub fn placement_name(self) -> &'a str {
        self.object.str("/spec/placementName").unwrap_or_default()
    }

    /// Its placement, when there is one.
    pub fn placement(self, fleet: Fleet<'a>) -> Option<Placement<'a>> {
        let object = fleet.placement_object(self.scope.placement(), self.object.namespace(), self.placement_name())?;
        Some(Placement { scope: self.scope, object })
    }

    /// The index that it asks for; none when it leaves the choice to the controller.
    pub fn index_asked(self) -> Option<&'a str> {
        self.object.str("/spec/resourceSnapshotIndex").filter(|i| !i.is_empty())
    }

    /// The index that it rolls out. v0.14.0 doesn't write it into the status.
    pub fn index(self) -> Option<&'a str> {
        self.object.str("/status/resourceSnapshotIndexUsed").filter(|i| !i.is_empty()).or(self.index_asked())
    }

    /// The name of the resource snapshot that it rolls out.
    pub fn resource_snapshot(self) -> Option<String> {
        self.index().map(|index| format!("{}-{index}-snapshot", self.placement_name()))
    }

    /// The stages of its status, without the deletion stage.
    pub fn stages(self) -> impl Iterator<Item = Stage<'a>> {
        let generation = self.seen_generation();
        self.object.list("/status/stagesStatus").iter().filter_map(move |value| {
            let name = value.get("stageName").and_then(Value::as_str)?;
            Some(Stage { name, value, generation })
        })
    }

    /// A member in its stages.
    pub fn cluster(self, member: &str) -> Option<StageCluster<'a>> {
        self.stages().flat_map(|s| s.clusters().collect::<Vec<_>>()).find(|c| c.member == member)
    }

    /// Whether it has ended, well or badly, or failed to begin.
    pub fn is_over(self) -> bool {
        let failed_to_begin = self.condition("Initialized").is_some_and(|c| c.status == "False");
        failed_to_begin || self.condition("Succeeded").is_some_and(|c| c.status != "Unknown")
    }

    /// Runs of the same placement, without this one.
    pub fn siblings(self, fleet: Fleet<'a>) -> impl Iterator<Item = Run<'a>> {
        fleet.runs().filter(move |other| {
            other.scope == self.scope
                && other.object.namespace() == self.object.namespace()
                && other.placement_name() == self.placement_name()
                && other.object.name() != self.object.name()
        })
    }

    /// The binding of its placement on a member.
    pub fn binding(self, fleet: Fleet<'a>, member: &str) -> Option<Object<'a>> {
        fleet
            .hub
            .of_kind(PLACEMENT, self.scope.binding())
            .filter(|b| self.owns(*b) && b.str("/spec/targetCluster") == Some(member))
            // One that is being deleted may stand beside its successor.
            .min_by_key(|b| b.deleted_at().is_some())
    }

    /// The indices of the resource snapshots that its placement has, in ascending order.
    pub fn indices(self, fleet: Fleet<'a>) -> Vec<&'a str> {
        let mut indices: Vec<_> = fleet
            .hub
            .of_kind(PLACEMENT, self.scope.resource_snapshot())
            .filter(|s| self.owns(*s))
            .filter_map(|s| s.label(RESOURCE_INDEX))
            .collect();
        indices.sort_by_key(|i| (i.parse::<u64>().unwrap_or(u64::MAX), *i));
        indices.dedup();
        indices
    }

    /// The latest policy snapshot of its placement.
    pub fn policy_snapshot(self, fleet: Fleet<'a>) -> Option<Object<'a>> {
        fleet
            .hub
            .of_kind(PLACEMENT, self.scope.policy_snapshot())
            .filter(|s| self.owns(*s))
            .find(|s| s.label(IS_LATEST) == Some("true"))
    }

    /// The name of its strategy, which is in the same namespace.
    pub fn strategy_name(self) -> &'a str {
        self.object.str("/spec/stagedRolloutStrategyName").unwrap_or_default()
    }

    /// Its strategy, when there is one.
    pub fn strategy(self, fleet: Fleet<'a>) -> Option<Object<'a>> {
        fleet.placement_object(self.scope.strategy(), self.object.namespace(), self.strategy_name())
    }

    /// The stages' configuration: what the run has taken over, or else what its strategy says now.
    pub fn stage_specs(self, fleet: Fleet<'a>) -> &'a [Value] {
        let own = self.object.list("/status/stagedUpdateStrategySnapshot/stages");
        if own.is_empty() { self.strategy(fleet).map_or(&[], |s| s.list("/spec/stages")) } else { own }
    }

    /// The run, and the stage and member that it is about.
    pub fn subject(self, fleet: Fleet<'_>, stage: Option<&str>, member: Option<&str>) -> Subject {
        subject(fleet, self.object, stage, member)
    }

    /// How kubectl is told of it.
    pub fn reference(self) -> Vec<String> {
        kubectl::reference(self.object)
    }

    /// Whether `other` is a binding or snapshot of its placement.
    pub fn owns(self, other: Object<'_>) -> bool {
        owns(self.object.namespace(), self.placement_name(), other)
    }
}

impl<'a> Stage<'a> {
    /// A condition of the generation of the run that the controller has looked at last.
    pub fn condition(&self, name: &str) -> Option<Condition> {
        current(self.value, name, self.generation)
    }

    /// Its clusters.
    pub fn clusters(&self) -> impl Iterator<Item = StageCluster<'a>> + use<'a> {
        let (stage, generation) = (self.name, self.generation);
        let clusters = self.value.get("clusters").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        clusters.iter().filter_map(move |value| {
            let member = value.get("clusterName").and_then(Value::as_str)?;
            Some(StageCluster { stage, member, value, generation })
        })
    }

    /// The names of the approval requests that it wants.
    pub fn requests(&self) -> impl Iterator<Item = &'a str> {
        self.tasks().filter_map(|t| t.get("approvalRequestName")?.as_str()).filter(|n| !n.is_empty())
    }

    /// Whether the run has taken note of a request's approval: what happens to the request later is of no effect.
    pub fn has_passed(&self, request: &str) -> bool {
        self.tasks()
            .filter(|t| t.get("approvalRequestName").and_then(Value::as_str) == Some(request))
            .any(|t| current(t, "ApprovalRequestApproved", self.generation).is_some_and(|c| c.status == "True"))
    }

    fn tasks(&self) -> impl Iterator<Item = &'a Value> + use<'a> {
        let value = self.value;
        let lists = ["beforeStageTaskStatus", "afterStageTaskStatus"].into_iter();
        lists.filter_map(|name| value.get(name)?.as_array()).flatten()
    }

    /// Where it stands in the run.
    pub fn path(&self) -> String {
        format!("status.stagesStatus[{}]", self.name)
    }
}

impl StageCluster<'_> {
    /// A condition of the generation of the run that the controller has looked at last.
    pub fn condition(&self, name: &str) -> Option<Condition> {
        current(self.value, name, self.generation)
    }

    /// Since when it is being updated, or was.
    pub fn started_at(&self) -> Option<Timestamp> {
        self.condition("Started").filter(|c| c.status == "True").and_then(|c| c.last_transition_time)
    }

    /// Where it stands in the run.
    pub fn path(&self) -> String {
        format!("status.stagesStatus[{}].clusters[{}]", self.stage, self.member)
    }
}

/// The name of a member's namespace on the hub.
pub(super) fn member_namespace(member: &str) -> String {
    format!("fleet-member-{member}")
}

/// The placement that a Work belongs to: namespace and name.
pub(super) fn placement_of_work(work: Object<'_>) -> Option<(Option<&str>, &str)> {
    Some((work.label(PARENT_NAMESPACE).filter(|n| !n.is_empty()), work.label(PARENT)?))
}

/// A subject on the hub.
pub(super) fn subject(fleet: Fleet<'_>, object: Object<'_>, stage: Option<&str>, member: Option<&str>) -> Subject {
    Subject {
        cluster: fleet.hub.name.clone(),
        kind: object.kind().to_owned(),
        namespace: object.namespace().map(str::to_owned),
        name: object.name().to_owned(),
        stage: stage.map(str::to_owned),
        member: member.map(str::to_owned),
    }
}

/// `name` or `namespace/name`.
pub(super) fn full_name(namespace: Option<&str>, name: &str) -> String {
    namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"))
}

fn owns(namespace: Option<&str>, placement: &str, other: Object<'_>) -> bool {
    let parent = if other.kind() == "Work" { other.label(PARENT_NAMESPACE) } else { other.namespace() };
    other.label(PARENT) == Some(placement) && parent.filter(|n| !n.is_empty()) == namespace
}

fn current(holder: &Value, name: &str, generation: i64) -> Option<Condition> {
    conditions(Some(holder)).into_iter().find(|c| c.type_ == name && c.observed_generation == generation)
}
