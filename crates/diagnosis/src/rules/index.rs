//! Index of the hub's objects by the placement and the member that they belong to.

use std::collections::HashMap;

use super::fleet::placement_of_work;
use super::scope::KindScope;
use crate::kubefleet::{MEMBER_NAMESPACE_PREFIX, PARENT_PLACEMENT, PLACEMENT_GROUP};
use crate::object::text_field;
use crate::{ClusterSnapshot, Object};

/// Namespace and name of a placement.
pub(super) type PlacementKey<'a> = (Option<&'a str>, &'a str);

/// Group, kind, namespace (empty for cluster-scoped kinds) and name of a resource.
pub(super) type ResourceKey<'a> = [&'a str; 4];

/// Objects of the hub by placement, and by member.
#[derive(Default)]
pub(super) struct FleetIndex<'a> {
    works: HashMap<&'a str, Vec<Object<'a>>>,
    works_of: HashMap<(PlacementKey<'a>, &'a str), Vec<Object<'a>>>,
    bindings: HashMap<(PlacementKey<'a>, &'a str), Vec<Object<'a>>>,
    resource_snapshots: HashMap<PlacementKey<'a>, Vec<Object<'a>>>,
    policy_snapshots: HashMap<PlacementKey<'a>, Vec<Object<'a>>>,
    runs: HashMap<PlacementKey<'a>, Vec<Object<'a>>>,
    placements_of_resource: HashMap<ResourceKey<'a>, Vec<(KindScope, Object<'a>)>>,
}

impl<'a> FleetIndex<'a> {
    /// Creates the index. A namespaced placement is told from a cluster-scoped one by its namespace.
    pub fn new(hub: &'a ClusterSnapshot) -> Self {
        let mut index = Self { placements_of_resource: placements_of_resources(hub), ..Self::default() };
        for work in hub.of_kind(PLACEMENT_GROUP, "Work") {
            index.add_work(work);
        }
        for scope in KindScope::BOTH {
            for binding in hub.of_kind(PLACEMENT_GROUP, scope.binding()) {
                if let (Some(placement), Some(member)) = (parent(binding), binding.str("/spec/targetCluster")) {
                    index.bindings.entry((placement, member)).or_default().push(binding);
                }
            }
            add_by_parent(&mut index.resource_snapshots, hub.of_kind(PLACEMENT_GROUP, scope.resource_snapshot()));
            add_by_parent(&mut index.policy_snapshots, hub.of_kind(PLACEMENT_GROUP, scope.policy_snapshot()));
            for run in hub.of_kind(PLACEMENT_GROUP, scope.run()) {
                let placement = (run.namespace(), run.str("/spec/placementName").unwrap_or_default());
                index.runs.entry(placement).or_default().push(run);
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
        self.works.get(member).map_or(&[], Vec::as_slice)
    }

    /// Returns the Works of a placement for a member, sorted by name.
    pub fn works_of(&self, placement: PlacementKey<'_>, member: &str) -> Vec<Object<'a>> {
        self.works_of.get(&(placement, member)).cloned().unwrap_or_default()
    }

    /// Returns the bindings of a placement for a member.
    pub fn bindings(&self, placement: PlacementKey<'_>, member: &str) -> Vec<Object<'a>> {
        self.bindings.get(&(placement, member)).cloned().unwrap_or_default()
    }

    /// Returns the resource snapshots of a placement.
    pub fn resource_snapshots(&self, placement: PlacementKey<'_>) -> Vec<Object<'a>> {
        self.resource_snapshots.get(&placement).cloned().unwrap_or_default()
    }

    /// Returns the policy snapshots of a placement.
    pub fn policy_snapshots(&self, placement: PlacementKey<'_>) -> Vec<Object<'a>> {
        self.policy_snapshots.get(&placement).cloned().unwrap_or_default()
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

fn placements_of_resources(hub: &ClusterSnapshot) -> HashMap<ResourceKey<'_>, Vec<(KindScope, Object<'_>)>> {
    let mut by_resource: HashMap<_, Vec<_>> = HashMap::new();
    for scope in KindScope::BOTH {
        for placement in hub.of_kind(PLACEMENT_GROUP, scope.placement()) {
            for selected in placement.list("/status/selectedResources") {
                let resource = ["group", "kind", "namespace", "name"].map(|field| text_field(selected, field));
                by_resource.entry(resource).or_default().push((scope, placement));
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
