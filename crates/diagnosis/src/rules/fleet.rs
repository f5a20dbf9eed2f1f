//! Views of the snapshot's objects for the rules: placements, update runs and the objects that belong to them, in both
//! scopes.

use jiff::{SignedDuration, Timestamp};
use record::ConditionPlace;

use super::draft::AffectedPart;
use super::evidence_source::EvidenceSource;
use super::index::{FleetIndex, PlacementKey, ResourceKey, resource_key};
use super::kubectl;
use super::scope::KindScope;
use crate::kinds::{CLUSTER_ENVELOPE, ENVELOPE, WORK};
use crate::kubefleet::{
    IS_LATEST_SNAPSHOT, PARENT_PLACEMENT, PARENT_PLACEMENT_NAMESPACE, PLACEMENT_GROUP, RESOURCE_INDEX, member_namespace,
};
use crate::object::{conditions_of_type, list_field, text_field};
use crate::{
    ClusterSnapshot, Condition, Evidence, JsonList, JsonRef, Object, ObjectSelection, Snapshot, Subject, conditions,
};

/// Snapshot whose hub could be read.
#[derive(Clone, Copy)]
pub(super) struct FleetView<'a> {
    pub snapshot: &'a Snapshot,
    pub hub: &'a ClusterSnapshot,
    pub index: &'a FleetIndex<'a>,
}

/// Placement: a `ClusterResourcePlacement` or a `ResourcePlacement`.
#[derive(Clone, Copy)]
pub(super) struct PlacementView<'a> {
    pub scope: KindScope,
    pub object: Object<'a>,
}

/// Entry in a placement's status for a member that the placement has chosen.
#[derive(Clone, Copy)]
pub(super) struct MemberPlacement<'a> {
    pub member: &'a str,
    value: JsonRef<'a>,
    generation: i64,
}

/// Update run: a `ClusterStagedUpdateRun` or a `StagedUpdateRun`.
#[derive(Clone, Copy)]
pub(super) struct UpdateRunView<'a> {
    pub scope: KindScope,
    pub object: Object<'a>,
}

/// Stage in a run's status.
#[derive(Clone, Copy)]
pub(super) struct RunStage<'a> {
    pub name: &'a str,
    value: JsonRef<'a>,
    generation: i64,
}

/// Cluster in a stage of a run's status.
#[derive(Clone, Copy)]
pub(super) struct StageCluster<'a> {
    pub stage: &'a str,
    pub member: &'a str,
    value: JsonRef<'a>,
    generation: i64,
}

impl<'a> FleetView<'a> {
    /// Calls `examine` with a view of the snapshot. Returns the default if the snapshot has no hub or the hub couldn't be
    /// read.
    pub fn with<T: Default>(snapshot: &Snapshot, examine: impl FnOnce(FleetView<'_>) -> T) -> T {
        let Some(hub) = snapshot.hub().filter(|hub| hub.unreachable.is_none()) else { return T::default() };
        examine(FleetView { snapshot, hub, index: &FleetIndex::new(hub) })
    }

    /// Present time on the hub's clock. The clock of the machine that took the snapshot may differ.
    pub fn now(self) -> Timestamp {
        self.hub.time.unwrap_or(self.snapshot.taken_at)
    }

    /// Returns the time that has passed since a moment on the hub's clock.
    pub fn age(self, since: Timestamp) -> SignedDuration {
        self.now().duration_since(since)
    }

    /// Returns a quote of the hub's objects.
    pub fn quote(self) -> EvidenceSource<'a> {
        EvidenceSource::from(&self.hub.name)
    }

    /// Returns the placements that aren't being deleted.
    pub fn placements(self) -> impl Iterator<Item = PlacementView<'a>> {
        self.all_placements().filter(|p| p.object.deleted_at().is_none())
    }

    /// Returns all placements.
    pub fn all_placements(self) -> impl Iterator<Item = PlacementView<'a>> {
        self.in_both_scopes(KindScope::placement).map(|(scope, object)| PlacementView { scope, object })
    }

    /// Returns the runs that aren't being deleted.
    pub fn runs(self) -> impl Iterator<Item = UpdateRunView<'a>> {
        self.all_runs().filter(|r| r.object.deleted_at().is_none())
    }

    /// Returns all runs.
    pub fn all_runs(self) -> impl Iterator<Item = UpdateRunView<'a>> {
        self.in_both_scopes(KindScope::run).map(|(scope, object)| UpdateRunView { scope, object })
    }

    /// Returns the approval requests that aren't being deleted, each with its scope.
    pub fn requests(self) -> impl Iterator<Item = (KindScope, Object<'a>)> {
        self.in_both_scopes(KindScope::request).filter(|(_, o)| o.deleted_at().is_none())
    }

    /// Returns an object of the placement group on the hub.
    pub fn placement_object(self, kind: &str, namespace: Option<&str>, name: &str) -> Option<Object<'a>> {
        self.hub.object(PLACEMENT_GROUP, kind, namespace, name)
    }

    /// Returns a member's namespace on the hub.
    pub fn member_namespace(self, member: &str) -> Option<Object<'a>> {
        self.hub.object("", "Namespace", None, &member_namespace(member))
    }

    /// Returns the Works for a member, sorted by name.
    pub fn works(self, member: &str) -> &'a [Object<'a>] {
        self.index.works(member)
    }

    /// Returns the bindings that are being deleted.
    pub fn deleted_bindings(self) -> Vec<Object<'a>> {
        let of_scope = |scope: KindScope| {
            let placements = || self.all_placements().filter(|placement| placement.scope == scope);
            let expected = || placements().map(|placement| placement.clusters().count()).sum();
            self.hub.ask(PLACEMENT_GROUP, scope.binding(), || ObjectSelection::Deleting { expected: expected() });
            self.hub.objects.of_kind(PLACEMENT_GROUP, scope.binding()).filter(|binding| binding.deleted_at().is_some())
        };
        KindScope::BOTH.into_iter().flat_map(of_scope).collect()
    }

    /// Returns the Works that are being deleted. A Work may hang after its binding and its placement are gone (v0.1.2).
    pub fn deleted_works(self) -> Vec<Object<'a>> {
        let expected = || self.all_placements().map(PlacementView::expected_works).sum();
        self.hub.ask(PLACEMENT_GROUP, WORK.kind, || ObjectSelection::Deleting { expected: expected() });
        self.hub.objects.of_kind(PLACEMENT_GROUP, WORK.kind).filter(|work| work.deleted_at().is_some()).collect()
    }

    /// Returns the runs of a placement that aren't being deleted.
    fn runs_of(self, scope: KindScope, placement: PlacementKey<'_>) -> impl Iterator<Item = UpdateRunView<'a>> {
        let runs = self.index.runs(placement).into_iter().map(move |object| UpdateRunView { scope, object });
        runs.filter(|run| run.object.deleted_at().is_none())
    }

    /// Returns the placements that have selected a resource, given by group, kind, namespace (empty for cluster-scoped kinds)
    /// and name, and that aren't being deleted.
    pub fn placements_of_resource(
        self,
        resource: ResourceKey<'_>,
    ) -> impl Iterator<Item = PlacementView<'a>> + use<'a> {
        let placements = self.index.placements_of_resource(resource).into_iter();
        let placements = placements.map(|(scope, object)| PlacementView { scope, object });
        placements.filter(|placement| placement.object.deleted_at().is_none())
    }

    fn in_both_scopes(self, kind: fn(KindScope) -> &'static str) -> impl Iterator<Item = (KindScope, Object<'a>)> {
        KindScope::BOTH
            .into_iter()
            .flat_map(move |scope| self.hub.of_kind(PLACEMENT_GROUP, kind(scope)).map(move |object| (scope, object)))
    }
}

impl<'a> PlacementView<'a> {
    /// Returns a condition of the present generation, by its type without the kind's prefix, e.g. `WorkSynchronized`.
    pub fn condition(self, name: &str) -> Option<Condition> {
        self.object.current_condition(&format!("{}{name}", self.scope.placement()))
    }

    /// Returns the placement's rollout strategy; `RollingUpdate` if the placement sets none.
    pub fn rollout(self) -> &'a str {
        self.object.str("/spec/strategy/type").unwrap_or("RollingUpdate")
    }

    /// True if the placement is rolled out by update runs only.
    pub fn is_external(self) -> bool {
        self.rollout() == "External"
    }

    /// Returns the placement as a part that findings affect.
    pub fn part(self) -> AffectedPart {
        AffectedPart::Placement {
            namespace: self.object.namespace().map(str::to_owned),
            name: self.object.name().to_owned(),
        }
    }

    /// Returns `name` or `namespace/name`.
    pub fn full_name(self) -> String {
        full_name(self.object.namespace(), self.object.name())
    }

    /// Returns the first evidence of a condition that is False on a member: the placement's own condition, then the
    /// member's.
    pub fn symptom(self, fleet: FleetView<'a>, status: MemberPlacement<'a>, failed: &Condition) -> Vec<Evidence> {
        let quote = fleet.quote();
        let top = self.condition(&failed.type_).filter(|c| c.status == "False");
        let mut evidence: Vec<_> = top.iter().map(|c| quote.condition(self.object, c)).collect();
        evidence.push(quote.condition_in(self.object, status.place(), failed));
        evidence
    }

    /// Returns the placement's update runs, in any state.
    pub fn runs(self, fleet: FleetView<'a>) -> impl Iterator<Item = UpdateRunView<'a>> {
        fleet.runs_of(self.scope, self.key())
    }

    /// Returns the placement's Works for a member.
    pub fn works(self, fleet: FleetView<'a>, member: &str) -> Vec<Object<'a>> {
        fleet.index.works_of(self.key(), member)
    }

    /// Returns the placement's binding for a member.
    pub fn binding(self, fleet: FleetView<'a>, member: &str) -> Option<Object<'a>> {
        binding_of(fleet, self.key(), member)
    }

    /// Returns the indices of the placement's resource snapshots in ascending order.
    pub fn indices(self, fleet: FleetView<'a>) -> Vec<&'a str> {
        indices_of(fleet, self.key())
    }

    /// True if both are the same placement.
    pub fn is_same(self, other: PlacementView<'_>) -> bool {
        (self.scope, self.key()) == (other.scope, other.key())
    }

    /// Returns the other placements that have selected one of these resources.
    pub fn others_with<'f, 'r>(
        self,
        fleet: FleetView<'f>,
        resources: impl Iterator<Item = ResourceKey<'r>>,
    ) -> Vec<PlacementView<'f>> {
        let placements = resources.flat_map(|resource| fleet.placements_of_resource(resource));
        distinct(placements.filter(|other| !self.is_same(*other)).collect())
    }

    /// Returns namespace and name.
    pub fn key(self) -> PlacementKey<'a> {
        (self.object.namespace(), self.object.name())
    }

    /// Returns the number of Works that the placement usually has: one for each member, and one more for each envelope. An envelope in a
    /// `ConfigMap` doesn't count, because its kind doesn't tell that it is one.
    fn expected_works(self) -> usize {
        let selected = self.object.list("/status/selectedResources").iter();
        let is_envelope = |kind: &str| [CLUSTER_ENVELOPE.kind, ENVELOPE.kind].contains(&kind);
        let envelopes = selected.filter(|resource| is_envelope(text_field(*resource, "kind"))).count();
        self.clusters().count() * (1 + envelopes)
    }

    /// Returns the status entry of each member that the placement has chosen.
    pub fn clusters(self) -> impl Iterator<Item = MemberPlacement<'a>> {
        let generation = self.object.generation();
        self.object.list("/status/placementStatuses").iter().filter_map(move |value| {
            let member = value.get("clusterName").and_then(JsonRef::as_str).filter(|n| !n.is_empty())?;
            Some(MemberPlacement { member, value, generation })
        })
    }

    /// Returns the placement as a finding's subject, with the member that the finding is about.
    pub fn subject(self, fleet: FleetView<'_>, member: Option<&str>) -> Subject {
        subject(fleet, self.object, None, member)
    }

    /// Returns the placement on one member as a part that findings affect.
    pub fn part_on(self, member: &str) -> AffectedPart {
        AffectedPart::PlacementOn {
            namespace: self.object.namespace().map(str::to_owned),
            name: self.object.name().to_owned(),
            member: member.to_owned(),
        }
    }

    /// Returns the parts of a placement as a whole: the placement itself, and the placement on each of its members.
    pub fn parts(self) -> impl Iterator<Item = AffectedPart> {
        std::iter::once(self.part()).chain(self.clusters().map(move |status| self.part_on(status.member)))
    }

    /// Returns the placement's Works for one member as a part that findings affect.
    pub fn works_on(self, member: &str) -> AffectedPart {
        AffectedPart::WorkOn {
            namespace: self.object.namespace().map(str::to_owned),
            name: self.object.name().to_owned(),
            member: member.to_owned(),
        }
    }

    /// Returns the placement's failing and drifted objects on one member as a part that findings affect.
    pub fn objects_on(self, member: &str) -> AffectedPart {
        AffectedPart::ObjectsOn {
            namespace: self.object.namespace().map(str::to_owned),
            name: self.object.name().to_owned(),
            member: member.to_owned(),
        }
    }

    /// True if `other` is a binding, a snapshot or a Work of this placement.
    pub fn owns(self, other: Object<'_>) -> bool {
        owns(self.object.namespace(), self.object.name(), other)
    }
}

impl<'a> MemberPlacement<'a> {
    /// Returns the objects that failed on the member.
    pub fn failed(&self) -> JsonList<'a> {
        self.list("failedPlacements")
    }

    /// Returns a list of the entry, e.g. `driftedPlacements`; empty if there is none.
    pub fn list(&self, field: &str) -> JsonList<'a> {
        list_field(self.value, field)
    }

    /// Returns a condition of the placement's present generation.
    pub fn condition(&self, name: &str) -> Option<Condition> {
        current_condition(self.value, name, self.generation)
    }

    /// Returns a condition of the placement's present generation, or of an older one.
    pub fn condition_of_any_generation(&self, name: &str) -> Option<Condition> {
        conditions_of_type(Some(self.value), name).next()
    }

    /// Returns the part of the placement that the entry is.
    pub fn place(&self) -> ConditionPlace {
        ConditionPlace::Member { member: self.member.to_owned() }
    }
}

impl<'a> UpdateRunView<'a> {
    /// Returns a condition of the generation that the controller has reconciled last.
    pub fn condition(self, name: &str) -> Option<Condition> {
        self.object.condition(name).filter(|c| c.observed_generation == self.reconciled_generation())
    }

    /// Returns the generation that the controller has reconciled last. v0.1.2 keeps conditions of older generations
    /// beside conditions of the present one. v0.3.1 leaves all conditions of a finished run unchanged when `spec.state`
    /// changes.
    fn reconciled_generation(self) -> i64 {
        self.object.conditions().iter().map(|c| c.observed_generation).max().unwrap_or_default()
    }

    /// Returns the name of the run's placement, which is in the same namespace.
    pub fn placement_name(self) -> &'a str {
        self.object.str("/spec/placementName").unwrap_or_default()
    }

    /// Returns the run's placement, if it exists.
    pub fn placement(self, fleet: FleetView<'a>) -> Option<PlacementView<'a>> {
        let object = fleet.placement_object(self.scope.placement(), self.object.namespace(), self.placement_name())?;
        Some(PlacementView { scope: self.scope, object })
    }

    /// Returns the resource snapshot index that the run asks for; `None` if the run leaves the choice to the
    /// controller.
    pub fn requested_index(self) -> Option<&'a str> {
        self.object.str("/spec/resourceSnapshotIndex").filter(|i| !i.is_empty())
    }

    /// Returns the resource snapshot index that the run rolls out. v0.14.0 doesn't write the index into the status.
    pub fn index(self) -> Option<&'a str> {
        self.object.str("/status/resourceSnapshotIndexUsed").filter(|i| !i.is_empty()).or(self.requested_index())
    }

    /// Returns the name of the resource snapshot that the run rolls out.
    pub fn resource_snapshot(self) -> Option<String> {
        self.index().map(|index| format!("{}-{index}-snapshot", self.placement_name()))
    }

    /// Returns the stages in the run's status, without the deletion stage.
    pub fn stages(self) -> impl Iterator<Item = RunStage<'a>> {
        let generation = self.reconciled_generation();
        self.object.list("/status/stagesStatus").iter().filter_map(move |value| {
            let name = value.get("stageName").and_then(JsonRef::as_str)?;
            Some(RunStage { name, value, generation })
        })
    }

    /// Returns a member's entry in the run's stages.
    pub fn cluster(self, member: &str) -> Option<StageCluster<'a>> {
        self.stages().flat_map(|s| s.clusters().collect::<Vec<_>>()).find(|c| c.member == member)
    }

    /// Returns the time of the last change of a condition of a stage or of one of its clusters.
    pub fn last_change(self) -> Option<Timestamp> {
        let of_stages = self.stages().flat_map(|stage| {
            let of_clusters = stage.clusters().flat_map(|cluster| cluster.conditions()).collect::<Vec<_>>();
            stage.conditions().into_iter().chain(of_clusters)
        });
        of_stages.filter_map(|condition| condition.last_transition_time).max()
    }

    /// True if the run has succeeded, has failed, or couldn't be initialized.
    pub fn is_finished(self) -> bool {
        let failed_to_begin = self.condition("Initialized").is_some_and(|c| c.status == "False");
        failed_to_begin || self.condition("Succeeded").is_some_and(|c| c.status != "Unknown")
    }

    /// Returns the other runs of the same placement.
    pub fn siblings(self, fleet: FleetView<'a>) -> impl Iterator<Item = UpdateRunView<'a>> {
        fleet.runs_of(self.scope, self.placement_key()).filter(move |other| other.object.name() != self.object.name())
    }

    /// Returns the binding of the run's placement for a member.
    pub fn binding(self, fleet: FleetView<'a>, member: &str) -> Option<Object<'a>> {
        binding_of(fleet, self.placement_key(), member)
    }

    /// Returns the indices of the placement's resource snapshots in ascending order.
    pub fn indices(self, fleet: FleetView<'a>) -> Vec<&'a str> {
        indices_of(fleet, self.placement_key())
    }

    /// Returns namespace and name of the run's placement.
    pub fn placement_key(self) -> PlacementKey<'a> {
        (self.object.namespace(), self.placement_name())
    }

    /// Returns the latest policy snapshot of the run's placement.
    pub fn policy_snapshot(self, fleet: FleetView<'a>) -> Option<Object<'a>> {
        let snapshots = fleet.index.policy_snapshots(self.placement_key());
        snapshots.into_iter().find(|s| s.label(IS_LATEST_SNAPSHOT) == Some("true"))
    }

    /// Returns the name of the run's strategy, which is in the same namespace.
    pub fn strategy_name(self) -> &'a str {
        self.object.str("/spec/stagedRolloutStrategyName").unwrap_or_default()
    }

    /// Returns the run's approval requests that aren't being deleted.
    pub fn requests(self, fleet: FleetView<'a>) -> impl Iterator<Item = Object<'a>> {
        let requests = fleet.index.requests(self.scope, (self.object.namespace(), self.object.name()));
        requests.into_iter().filter(|request| request.deleted_at().is_none())
    }

    /// Returns the run's strategy, if it exists.
    pub fn strategy(self, fleet: FleetView<'a>) -> Option<Object<'a>> {
        fleet.placement_object(self.scope.strategy(), self.object.namespace(), self.strategy_name())
    }

    /// Returns the stages' configuration: the copy in the run's status, or else the strategy's present stages.
    pub fn stage_specs(self, fleet: FleetView<'a>) -> JsonList<'a> {
        let own = self.object.list("/status/stagedUpdateStrategySnapshot/stages");
        if own.is_empty() { self.strategy(fleet).map(|s| s.list("/spec/stages")).unwrap_or_default() } else { own }
    }

    /// Returns `name` or `namespace/name`.
    pub fn full_name(self) -> String {
        full_name(self.object.namespace(), self.object.name())
    }

    /// Returns the run as a finding's subject, with the stage and the member that the finding is about.
    pub fn subject(self, fleet: FleetView<'_>, stage: Option<&str>, member: Option<&str>) -> Subject {
        subject(fleet, self.object, stage, member)
    }

    /// Returns the words by which kubectl finds the run.
    pub fn reference(self) -> Vec<String> {
        kubectl::reference(self.object)
    }
}

impl<'a> RunStage<'a> {
    /// Returns all conditions of the stage.
    pub fn conditions(&self) -> Vec<Condition> {
        conditions(Some(self.value))
    }

    /// Returns a condition of the run's generation that the controller has reconciled last.
    pub fn condition(&self, name: &str) -> Option<Condition> {
        current_condition(self.value, name, self.generation)
    }

    /// Returns the stage's clusters.
    pub fn clusters(&self) -> impl Iterator<Item = StageCluster<'a>> + use<'a> {
        let (stage, generation) = (self.name, self.generation);
        let clusters = list_field(self.value, "clusters");
        clusters.iter().filter_map(move |value| {
            let member = value.get("clusterName").and_then(JsonRef::as_str)?;
            Some(StageCluster { stage, member, value, generation })
        })
    }

    /// Returns the names of the approval requests that the stage needs.
    pub fn requests(&self) -> impl Iterator<Item = &'a str> {
        self.tasks().filter_map(|t| t.get("approvalRequestName")?.as_str()).filter(|n| !n.is_empty())
    }

    /// True if the run has recorded a request's approval. A later change of the request has no effect.
    pub fn has_recorded_approval(&self, request: &str) -> bool {
        self.tasks().filter(|t| t.get("approvalRequestName").and_then(JsonRef::as_str) == Some(request)).any(|t| {
            current_condition(t, "ApprovalRequestApproved", self.generation).is_some_and(|c| c.status == "True")
        })
    }

    fn tasks(&self) -> impl Iterator<Item = JsonRef<'a>> + use<'a> {
        let value = self.value;
        let lists = ["beforeStageTaskStatus", "afterStageTaskStatus"].into_iter();
        lists.filter_map(move |name| value.get(name)?.as_array()).flatten()
    }

    /// Returns the part of the run that the entry is.
    pub fn place(&self) -> ConditionPlace {
        ConditionPlace::Stage { stage: self.name.to_owned() }
    }
}

impl<'a> StageCluster<'a> {
    /// Returns all conditions of the cluster.
    pub fn conditions(&self) -> Vec<Condition> {
        conditions(Some(self.value))
    }

    /// Returns a list of the entry, e.g. `resourceOverrideSnapshots`; empty if there is none.
    pub fn list(&self, field: &str) -> JsonList<'a> {
        list_field(self.value, field)
    }

    /// True if the update of the cluster has started and hasn't ended.
    pub fn is_updating(&self) -> bool {
        self.started_at().is_some() && self.condition("Succeeded").is_none()
    }

    /// Returns a condition of the run's generation that the controller has reconciled last.
    pub fn condition(&self, name: &str) -> Option<Condition> {
        current_condition(self.value, name, self.generation)
    }

    /// Returns the time at which the update of the cluster started.
    pub fn started_at(&self) -> Option<Timestamp> {
        self.condition("Started").filter(|c| c.status == "True").and_then(|c| c.last_transition_time)
    }

    /// Returns the part of the run that the entry is.
    pub fn place(&self) -> ConditionPlace {
        ConditionPlace::StageMember { stage: self.stage.to_owned(), member: self.member.to_owned() }
    }
}

/// Returns a placement's binding for a member.
fn binding_of<'a>(fleet: FleetView<'a>, placement: PlacementKey<'_>, member: &str) -> Option<Object<'a>> {
    // A binding that is being deleted may exist beside its successor.
    fleet.index.bindings(placement, member).into_iter().min_by_key(|b| b.deleted_at().is_some())
}

/// Returns the indices of a placement's resource snapshots in ascending order.
fn indices_of<'a>(fleet: FleetView<'a>, placement: PlacementKey<'_>) -> Vec<&'a str> {
    let snapshots = fleet.index.resource_snapshots(placement).into_iter();
    let mut indices: Vec<_> = snapshots.filter_map(|s| s.label(RESOURCE_INDEX)).collect();
    indices.sort_by_key(|i| (i.parse::<u64>().unwrap_or(u64::MAX), *i));
    indices.dedup();
    indices
}

/// Returns each of the placements once: cluster-scoped ones first, each by name.
pub(super) fn distinct(mut placements: Vec<PlacementView<'_>>) -> Vec<PlacementView<'_>> {
    placements.sort_by_key(|placement| (placement.scope, placement.full_name()));
    placements.dedup_by(|a, b| a.is_same(*b));
    placements
}

/// Returns the condition by which a Work says that a resource is applied.
pub(super) fn applied(work: Object<'_>, resource: ResourceKey<'_>) -> Option<Condition> {
    let manifests = work.list("/status/manifestConditions").iter();
    let of_resource = manifests.filter(|manifest| manifest.get("identifier").map(resource_key) == Some(resource));
    let mut applied = of_resource.flat_map(|manifest| conditions_of_type(Some(manifest), "Applied"));
    applied.find(|condition| condition.status == "True")
}

/// Returns namespace and name of the placement that a Work belongs to.
pub(super) fn placement_of_work(work: Object<'_>) -> Option<(Option<&str>, &str)> {
    Some((work.label(PARENT_PLACEMENT_NAMESPACE).filter(|n| !n.is_empty()), work.label(PARENT_PLACEMENT)?))
}

/// Returns an object on the hub as a finding's subject.
pub(super) fn subject(fleet: FleetView<'_>, object: Object<'_>, stage: Option<&str>, member: Option<&str>) -> Subject {
    Subject {
        cluster: fleet.hub.name.clone(),
        kind: object.kind().to_owned(),
        namespace: object.namespace().map(str::to_owned),
        name: object.name().to_owned(),
        stage: stage.map(str::to_owned),
        member: member.map(str::to_owned),
    }
}

/// Returns `name` or `namespace/name`.
pub(super) fn full_name(namespace: Option<&str>, name: &str) -> String {
    namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"))
}

fn owns(namespace: Option<&str>, placement: &str, other: Object<'_>) -> bool {
    let parent = if other.kind() == "Work" { other.label(PARENT_PLACEMENT_NAMESPACE) } else { other.namespace() };
    other.label(PARENT_PLACEMENT) == Some(placement) && parent.filter(|n| !n.is_empty()) == namespace
}

fn current_condition(holder: JsonRef<'_>, name: &str, generation: i64) -> Option<Condition> {
    conditions_of_type(Some(holder), name).find(|condition| condition.observed_generation == generation)
}
