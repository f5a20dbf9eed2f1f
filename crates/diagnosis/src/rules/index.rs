//! Index of the hub's objects by the placement and the member that they belong to.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::fleet::{full_name, placement_of_work};
use super::scope::KindScope;
use crate::kinds::WORK;
use crate::kubefleet::{MEMBER_NAMESPACE_PREFIX, PARENT_PLACEMENT, PLACEMENT_GROUP, member_namespace};
use crate::object::text_field;
use crate::{ClusterSnapshot, JsonRef, Object, ObjectSelection};

/// Namespace and name of a placement.
pub(super) type PlacementKey<'a> = (Option<&'a str>, &'a str);

/// Namespace and name of an update run.
pub(super) type RunKey<'a> = (Option<&'a str>, &'a str);

/// Group, kind, namespace (empty for cluster-scoped kinds) and name of a resource.
pub(super) type ResourceKey<'a> = [&'a str; 4];

/// Returns the key of the resource that a reference in a status or a spec is to.
pub(super) fn resource_key(reference: JsonRef<'_>) -> ResourceKey<'_> {
    ["group", "kind", "namespace", "name"].map(|field| text_field(reference, field))
}

/// Returns the namespace of the resource that a reference is to; `None` for one of a cluster-scoped kind.
pub(super) fn resource_namespace(reference: JsonRef<'_>) -> Option<&str> {
    Some(text_field(reference, "namespace")).filter(|namespace| !namespace.is_empty())
}

/// Returns `Kind name` or `Kind namespace/name` of the resource that a reference is to.
pub(super) fn resource_name(reference: JsonRef<'_>) -> String {
    let [kind, name] = ["kind", "name"].map(|field| text_field(reference, field));
    format!("{kind} {}", full_name(resource_namespace(reference), name))
}

/// Objects of the hub by placement, and by member.
pub(super) struct FleetIndex<'a> {
    hub: &'a ClusterSnapshot,
    works: HashMap<&'a str, Vec<Object<'a>>>,
    works_of: HashMap<(PlacementKey<'a>, &'a str), Vec<Object<'a>>>,
    /// Bindings by placement, and by member.
    bindings: HashMap<PlacementKey<'a>, BTreeMap<&'a str, Vec<Object<'a>>>>,
    resource_snapshots: HashMap<PlacementKey<'a>, Vec<Object<'a>>>,
    policy_snapshots: HashMap<PlacementKey<'a>, Vec<Object<'a>>>,
    runs: HashMap<PlacementKey<'a>, Vec<Object<'a>>>,
    requests: HashMap<(KindScope, RunKey<'a>), Vec<Object<'a>>>,
    placements_of_resource: HashMap<ResourceKey<'a>, Vec<(KindScope, Object<'a>)>>,
    /// Clusters for which update runs have waited too long: namespace (empty for cluster-scoped kinds) and name of the placement, and the
    /// member. Filled when a rule needs them for the first time.
    pub overdue: OnceCell<HashSet<[String; 3]>>,
    /// True if the clock of the hub's API server is wrong. All members' heartbeats are compared for it, so that it is filled when a rule needs it for the
    /// first time.
    pub api_server_clock_is_wrong: OnceCell<bool>,
}

impl<'a> FleetIndex<'a> {
    /// Creates the index. A namespaced placement is told from a cluster-scoped one by its namespace.
    pub fn new(hub: &'a ClusterSnapshot) -> Self {
        let mut index = Self {
            hub,
            works: HashMap::new(),
            works_of: HashMap::new(),
            bindings: HashMap::new(),
            resource_snapshots: HashMap::new(),
            policy_snapshots: HashMap::new(),
            runs: HashMap::new(),
            requests: HashMap::new(),
            placements_of_resource: placements_of_resources(hub),
            overdue: OnceCell::new(),
            api_server_clock_is_wrong: OnceCell::new(),
        };
        // Objects that weren't read are asked for when a rule looks for them.
        let read = &hub.objects;
        for work in read.of_kind(PLACEMENT_GROUP, "Work") {
            index.add_work(work);
        }
        for scope in KindScope::BOTH {
            for binding in read.of_kind(PLACEMENT_GROUP, scope.binding()) {
                if let (Some(placement), Some(member)) = (parent(binding), binding.str("/spec/targetCluster")) {
                    index.bindings.entry(placement).or_default().entry(member).or_default().push(binding);
                }
            }
            add_by_parent(&mut index.resource_snapshots, read.of_kind(PLACEMENT_GROUP, scope.resource_snapshot()));
            add_by_parent(&mut index.policy_snapshots, read.of_kind(PLACEMENT_GROUP, scope.policy_snapshot()));
            for run in read.of_kind(PLACEMENT_GROUP, scope.run()) {
                let placement = (run.namespace(), run.str("/spec/placementName").unwrap_or_default());
                index.runs.entry(placement).or_default().push(run);
            }
            for request in read.of_kind(PLACEMENT_GROUP, scope.request()) {
                let run = (request.namespace(), request.str("/spec/parentStageRollout").unwrap_or_default());
                index.requests.entry((scope, run)).or_default().push(request);
            }
        }
        index.works.values_mut().for_each(|works| works.sort_by_key(Object::name));
        index.works_of.values_mut().for_each(|works| works.sort_by_key(Object::name));
        index
    }

    fn add_work(&mut self, work: Object<'a>) {
        let namespace = work.namespace().and_then(|namespace| namespace.strip_prefix(MEMBER_NAMESPACE_PREFIX));
        let Some(member) = namespace else { return };
        self.works.entry(member).or_default().push(work);
        if let Some(placement) = placement_of_work(work) {
            self.works_of.entry((placement, member)).or_default().push(work);
        }
    }

    /// Returns the Works for a member, sorted by name.
    pub fn works(&self, member: &str) -> &[Object<'a>] {
        self.hub.ask(PLACEMENT_GROUP, WORK.kind, || ObjectSelection::InNamespace(member_namespace(member)));
        self.works.get(member).map_or(&[], Vec::as_slice)
    }

    /// Returns the Works of a placement for a member, sorted by name.
    pub fn works_of(&self, placement: PlacementKey<'_>, member: &str) -> Vec<Object<'a>> {
        self.hub.ask(PLACEMENT_GROUP, WORK.kind, || of_placement(Some(&member_namespace(member)), placement));
        self.works_of.get(&(placement, member)).cloned().unwrap_or_default()
    }

    /// Returns the bindings of a placement for a member.
    pub fn bindings(&self, placement: PlacementKey<'_>, member: &str) -> Vec<Object<'a>> {
        self.ask_for_children(placement, KindScope::binding);
        self.bindings.get(&placement).and_then(|by_member| by_member.get(member)).cloned().unwrap_or_default()
    }

    /// Returns the bindings of a placement for all members, sorted by member.
    pub fn all_bindings(&self, placement: PlacementKey<'_>) -> Vec<Object<'a>> {
        self.ask_for_children(placement, KindScope::binding);
        self.bindings.get(&placement).into_iter().flat_map(BTreeMap::values).flatten().copied().collect()
    }

    /// Returns the resource snapshots of a placement.
    pub fn resource_snapshots(&self, placement: PlacementKey<'_>) -> Vec<Object<'a>> {
        self.ask_for_children(placement, KindScope::resource_snapshot);
        self.resource_snapshots.get(&placement).cloned().unwrap_or_default()
    }

    /// Returns the policy snapshots of a placement.
    pub fn policy_snapshots(&self, placement: PlacementKey<'_>) -> Vec<Object<'a>> {
        self.ask_for_children(placement, KindScope::policy_snapshot);
        self.policy_snapshots.get(&placement).cloned().unwrap_or_default()
    }

    fn ask_for_children(&self, placement: PlacementKey<'_>, kind: fn(KindScope) -> &'static str) {
        let scope = KindScope::of_namespace(placement.0);
        self.hub.ask(PLACEMENT_GROUP, kind(scope), || of_placement(placement.0, placement));
    }

    /// Returns the approval requests of an update run.
    pub fn requests(&self, scope: KindScope, run: RunKey<'_>) -> Vec<Object<'a>> {
        self.requests.get(&(scope, run)).cloned().unwrap_or_default()
    }

    /// Returns the placements that have selected a resource.
    pub fn placements_of_resource(&self, resource: ResourceKey<'_>) -> Vec<(KindScope, Object<'a>)> {
        self.placements_of_resource.get(&resource).cloned().unwrap_or_default()
    }

    /// Returns the update runs of a placement.
    pub fn runs(&self, placement: PlacementKey<'_>) -> Vec<Object<'a>> {
        self.runs.get(&placement).cloned().unwrap_or_default()
    }
}

/// Returns the selection of the objects that belong to a placement, in one namespace or in all. A cluster-scoped placement and namespaced ones may
/// have the same name.
fn of_placement(namespace: Option<&str>, placement: PlacementKey<'_>) -> ObjectSelection {
    ObjectSelection::Labeled {
        namespace: namespace.map(str::to_owned),
        key: PARENT_PLACEMENT.to_owned(),
        value: placement.1.to_owned(),
    }
}

fn placements_of_resources(hub: &ClusterSnapshot) -> HashMap<ResourceKey<'_>, Vec<(KindScope, Object<'_>)>> {
    let mut by_resource: HashMap<_, Vec<_>> = HashMap::new();
    for scope in KindScope::BOTH {
        for placement in hub.objects.of_kind(PLACEMENT_GROUP, scope.placement()) {
            for selected in placement.list("/status/selectedResources") {
                by_resource.entry(resource_key(selected)).or_default().push((scope, placement));
            }
        }
    }
    by_resource
}

fn add_by_parent<'a>(
    by_parent: &mut HashMap<PlacementKey<'a>, Vec<Object<'a>>>,
    objects: impl Iterator<Item = Object<'a>>,
) {
    for object in objects {
        if let Some(placement) = parent(object) {
            by_parent.entry(placement).or_default().push(object);
        }
    }
}

/// Returns the placement that a binding or a snapshot belongs to, by its label.
fn parent(object: Object<'_>) -> Option<PlacementKey<'_>> {
    Some((object.namespace(), object.label(PARENT_PLACEMENT)?))
}
