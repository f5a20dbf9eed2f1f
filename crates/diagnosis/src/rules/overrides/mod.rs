//! Overrides of placed resources: those that fail, and those that have no effect.
//!
//! The hub-agent takes a snapshot of each override, and a rollout gives a member's binding the names of the snapshots that
//! match. An override that matches nothing is reported nowhere (v0.1.2, v0.3.1).

mod failed;
mod unused;

use super::draft::FindingDraft;
use super::fleet::{FleetView, PlacementView, distinct};
use super::index::{ResourceKey, resource_key};
use super::matching;
use super::scope::KindScope;
use crate::kinds::{CLUSTER_OVERRIDE, NAMESPACE, OVERRIDE};
use crate::kubefleet::{CLUSTER_GROUP, PLACEMENT_GROUP};
use crate::object::{list_field, text_field};
use crate::{JsonList, JsonRef, Object};

/// Lists of a member's entry in a placement's status that name the snapshots of overrides.
const APPLICABLE: [&str; 2] = ["applicableResourceOverrides", "applicableClusterResourceOverrides"];

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = failed::findings(fleet);
    drafts.extend(unused::findings(fleet));
    drafts
}

/// Override: a `ClusterResourceOverride` or a `ResourceOverride`.
#[derive(Clone, Copy)]
struct OverrideView<'a> {
    object: Object<'a>,
}

/// Placement that an override names.
struct NamedPlacement<'a> {
    scope: KindScope,
    namespace: Option<&'a str>,
    name: &'a str,
}

impl<'a> OverrideView<'a> {
    /// Returns the overrides that aren't being deleted.
    fn all(fleet: FleetView<'a>) -> impl Iterator<Item = Self> {
        let kinds = [CLUSTER_OVERRIDE, OVERRIDE].into_iter();
        let objects = kinds.flat_map(move |kind| fleet.hub.of_kind(kind.group, kind.kind));
        objects.filter(|object| object.deleted_at().is_none()).map(|object| Self { object })
    }

    /// Returns the selectors of the resources that are overridden.
    fn selectors(self) -> JsonList<'a> {
        self.object.list(&format!("/spec/{}", self.selectors_field()))
    }

    /// Returns the field of the spec that has the selectors.
    fn selectors_field(self) -> &'static str {
        if self.object.namespace().is_some() { "resourceSelectors" } else { "clusterResourceSelectors" }
    }

    /// Returns the override's rules.
    fn rules(self) -> JsonList<'a> {
        self.object.list("/spec/policy/overrideRules")
    }

    /// Returns the placement that the override is for; `None` if it is for all. A `ClusterResourceOverride` can only be for a
    /// `ClusterResourcePlacement`.
    fn placement(self) -> Option<NamedPlacement<'a>> {
        let named = self.object.at("/spec/placement")?;
        let is_namespaced = self.object.namespace().is_some() && text_field(named, "scope") == "Namespaced";
        Some(NamedPlacement {
            scope: if is_namespaced { KindScope::Namespaced } else { KindScope::Cluster },
            namespace: self.object.namespace().filter(|_| is_namespaced),
            name: text_field(named, "name"),
        })
    }

    /// True if the override may apply to a placement.
    fn is_for(self, placement: PlacementView<'_>) -> bool {
        match self.placement() {
            Some(named) => {
                (named.scope, named.namespace, named.name)
                    == (placement.scope, placement.object.namespace(), placement.object.name())
            }
            None => true,
        }
    }

    /// Returns the placements that place a resource which the override selects, and that it may apply to.
    fn placements(self, fleet: FleetView<'a>) -> Vec<PlacementView<'a>> {
        let mut placements: Vec<PlacementView<'a>> = Vec::new();
        for selector in self.selectors() {
            let key = self.resource_key(selector);
            let of_resource = fleet.placements_of_resource(key);
            placements.extend(of_resource.filter(|p| self.is_for(*p) && selects_in_version(*p, selector, key)));
            // Who selects a namespace selects what is in it.
            if self.is_of_namespace(selector) {
                let in_namespace = fleet.placements().filter(|p| p.object.namespace() == Some(key[3]));
                placements.extend(in_namespace.filter(|p| self.is_for(*p)));
            }
        }
        distinct(placements)
    }

    /// Returns group, kind, namespace and name of the resource that a selector names.
    fn resource_key(self, selector: JsonRef<'a>) -> ResourceKey<'a> {
        let [group, kind, name] = ["group", "kind", "name"].map(|field| text_field(selector, field));
        [group, kind, self.object.namespace().unwrap_or_default(), name]
    }

    fn is_of_namespace(self, selector: JsonRef<'_>) -> bool {
        let is_namespace = text_field(selector, "group").is_empty() && text_field(selector, "kind") == NAMESPACE.kind;
        self.object.namespace().is_none() && is_namespace
    }

    /// True if one of the rules is for a member.
    fn matches(self, fleet: FleetView<'_>, member: &str) -> bool {
        let cluster = fleet.hub.object(CLUSTER_GROUP, "MemberCluster", None, member);
        cluster.is_some_and(|cluster| self.rules().iter().any(|rule| matches_cluster(rule, cluster)))
    }

    /// Returns the first label selector that can't be parsed. The hub-agent's webhook refuses such an override.
    fn invalid_selector(self) -> Option<JsonRef<'a>> {
        let terms = self.rules().iter().flat_map(cluster_terms);
        terms.filter_map(|term| term.get("labelSelector")).find(|selector| matching::is_invalid(*selector))
    }

    /// True if this is the name of one of the override's snapshots.
    fn is_snapshot_name(self, name: &str) -> bool {
        snapshot_parent(name) == self.object.name()
    }

    /// True if a list of a status or of a spec names a snapshot of the override: names of `ClusterResourceOverrideSnapshots`, or names
    /// with namespaces of `ResourceOverrideSnapshots`.
    fn is_listed_in(self, mut snapshots: impl Iterator<Item = JsonRef<'a>>) -> bool {
        snapshots.any(|snapshot| {
            let (namespace, name) = snapshot_reference(snapshot);
            namespace == self.object.namespace() && self.is_snapshot_name(name)
        })
    }
}

/// Returns the name of the override that a snapshot is of: `NAME-INDEX`.
fn snapshot_parent(snapshot: &str) -> &str {
    snapshot.rsplit_once('-').map_or(snapshot, |(name, _)| name)
}

/// Returns namespace and name of an override's snapshot in a status or a spec.
fn snapshot_reference(snapshot: JsonRef<'_>) -> (Option<&str>, &str) {
    match snapshot.as_str() {
        Some(name) => (None, name),
        None => (snapshot.get("namespace").and_then(JsonRef::as_str), text_field(snapshot, "name")),
    }
}

/// Returns the kind of the override that has a snapshot in this namespace, and the kind of the snapshot.
fn override_kinds(namespace: Option<&str>) -> (&'static str, &'static str) {
    match namespace {
        Some(_) => (OVERRIDE.kind, crate::kinds::OVERRIDE_SNAPSHOT.kind),
        None => (CLUSTER_OVERRIDE.kind, crate::kinds::CLUSTER_OVERRIDE_SNAPSHOT.kind),
    }
}

/// Returns the override with this name, if it exists and was read.
fn find<'a>(fleet: FleetView<'a>, namespace: Option<&str>, name: &str) -> Option<OverrideView<'a>> {
    let (kind, _) = override_kinds(namespace);
    fleet.hub.object(PLACEMENT_GROUP, kind, namespace, name).map(|object| OverrideView { object })
}

/// True if a rule is for a member. A rule without a selector is for none, and one without terms for all.
fn matches_cluster(rule: JsonRef<'_>, cluster: Object<'_>) -> bool {
    let Some(selector) = rule.get("clusterSelector").filter(|selector| !selector.is_null()) else { return false };
    let terms = list_field(selector, "clusterSelectorTerms");
    terms.is_empty() || terms.iter().any(|term| matching::selects(term.get("labelSelector"), cluster))
}

fn cluster_terms(rule: JsonRef<'_>) -> impl Iterator<Item = JsonRef<'_>> {
    let terms = rule.pointer("/clusterSelector/clusterSelectorTerms").and_then(JsonRef::as_array);
    terms.unwrap_or_default().iter()
}

/// True if a placement has selected the resource in the selector's version: another version is another resource.
fn selects_in_version(placement: PlacementView<'_>, selector: JsonRef<'_>, key: ResourceKey<'_>) -> bool {
    let mut selected = placement.object.list("/status/selectedResources").iter();
    selected.any(|resource| {
        resource_key(resource) == key && text_field(resource, "version") == text_field(selector, "version")
    })
}
