//! Destination cluster of an Application's resources. Argo CD's cluster Secrets would name the cluster, but no Secret
//! is read.

use std::collections::HashMap;

use serde_json::Value;

use crate::command::{CommandWord, KubectlVerb, RemedyCommand};
use crate::rules::evidence_source::EvidenceSource;
use crate::rules::fleet::FleetView;
use crate::{
    APP_PROJECT, APPLICATION, ClusterSnapshot, DESTINATION_KINDS, MEMBER_KINDS, Object, ObjectSelection, Snapshot,
    SnapshotRole,
};

/// Argo CD's name for the cluster that it runs on.
const IN_CLUSTER: &str = "in-cluster";
/// Address by which applications name the cluster that Argo CD runs on.
const IN_CLUSTER_SERVER: &str = "https://kubernetes.default.svc";
/// Annotation of a live object with its tracking id, which names the Application and the object.
pub(super) const TRACKING_ID: &str = "argocd.argoproj.io/tracking-id";

/// Destination of an Application's resources.
#[derive(Clone, Copy)]
pub(super) struct Destination<'a> {
    pub(super) application: Object<'a>,
    /// Cluster, if it is part of the snapshot.
    pub cluster: Option<&'a ClusterSnapshot>,
}

impl<'a> Destination<'a> {
    /// Returns the member's name, if the destination is a member.
    pub fn member(self) -> Option<&'a str> {
        self.cluster.filter(|c| c.role == SnapshotRole::Member).map(|c| c.name.as_str())
    }

    /// Returns the cluster's name in the fleet, or else the name or address in the Application's spec.
    pub fn name(self) -> &'a str {
        let in_spec = ["name", "server"].map(|field| destination_field(self.application, field));
        self.cluster_name().or(in_spec.into_iter().find(|text| !text.is_empty())).unwrap_or("(unknown)")
    }

    /// Returns the cluster's name for commands; `None` if the cluster isn't part of the snapshot.
    pub fn cluster_name(self) -> Option<&'a str> {
        self.cluster.map(|c| c.name.as_str())
    }

    /// Returns a kubectl command for the destination.
    pub fn kubectl(
        self,
        kubectl: KubectlVerb,
        words: impl IntoIterator<Item = String>,
        input: Option<Value>,
    ) -> RemedyCommand {
        let cluster = self.cluster_name().map(str::to_owned);
        RemedyCommand::Kubectl { cluster, kubectl, words: words.into_iter().map(CommandWord::from).collect(), input }
    }

    /// Returns the namespace for resources that set none.
    pub fn namespace(self) -> &'a str {
        self.application.str("/spec/destination/namespace").unwrap_or_default()
    }

    /// True if the destination's objects could be read.
    pub fn is_read(self) -> bool {
        self.cluster.is_some_and(|c| c.unreachable.is_none())
    }

    pub fn quote(self) -> EvidenceSource<'a> {
        EvidenceSource::from(self.name())
    }

    pub fn object(self, group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Option<Object<'a>> {
        self.cluster?.object(group, kind, namespace, name)
    }

    pub fn of_kind(self, group: &'a str, kind: &'a str) -> impl Iterator<Item = Object<'a>> {
        self.cluster.into_iter().flat_map(move |c| c.of_kind(group, kind))
    }
}

/// True if an Application deploys its resources to the cluster that Argo CD runs on, which is the hub.
pub(super) fn deploys_to_hub(application: Object<'_>, hub: &ClusterSnapshot) -> bool {
    let server = destination_field(application, "server");
    destination_field(application, "name") == IN_CLUSTER || server == IN_CLUSTER_SERVER || has_address(hub, server)
}

/// Returns a text field of an Application's `spec.destination`; empty if absent.
fn destination_field<'a>(application: Object<'a>, field: &str) -> &'a str {
    application.str(&format!("/spec/destination/{field}")).unwrap_or_default()
}

/// True if an Application on the hub deploys its resources to the hub. A snapshot then needs the hub's own workloads,
/// too.
#[must_use]
pub fn hub_is_destination(snapshot: &Snapshot) -> bool {
    let Some(hub) = snapshot.hub() else { return false };
    hub.of_kind(APPLICATION.group, APPLICATION.kind).any(|application| deploys_to_hub(application, hub))
}

/// Records that rules need the objects of an Application's destination: of all clusters, if the Application names none of them.
pub(super) fn ask(fleet: FleetView<'_>, application: Object<'_>) {
    let named = named_cluster(fleet, application);
    let clusters = fleet.snapshot.clusters.iter();
    for cluster in clusters.filter(|cluster| named.is_none_or(|named| named.name == cluster.name)) {
        for kind in MEMBER_KINDS.iter().chain(DESTINATION_KINDS) {
            cluster.ask(kind.group, kind.kind, || ObjectSelection::All);
        }
    }
    fleet.hub.ask(APP_PROJECT.group, APP_PROJECT.kind, || ObjectSelection::All);
}

/// Returns the cluster that an Application names in its spec.
pub(super) fn named_cluster<'a>(fleet: FleetView<'a>, application: Object<'_>) -> Option<&'a ClusterSnapshot> {
    if deploys_to_hub(application, fleet.hub) {
        return Some(fleet.hub);
    }
    let [name, server] = ["name", "server"].map(|field| destination_field(application, field));
    fleet.snapshot.member(name).or_else(|| fleet.snapshot.clusters.iter().find(|cluster| has_address(cluster, server)))
}

fn has_address(cluster: &ClusterSnapshot, server: &str) -> bool {
    let server = server.trim_end_matches('/');
    !server.is_empty()
        && cluster.server.as_deref().is_some_and(|s| s.trim_end_matches('/').eq_ignore_ascii_case(server))
}

/// Clusters that have objects of an Application, keyed by the Application's name in the objects' tracking ids.
pub(super) struct ApplicationClusters<'a>(HashMap<&'a str, &'a ClusterSnapshot>);

impl<'a> ApplicationClusters<'a> {
    pub fn read(fleet: FleetView<'a>) -> Self {
        let owned = fleet
            .snapshot
            .clusters
            .iter()
            .flat_map(|cluster| cluster.objects().map(move |o| (owning_application(o), cluster)));
        let mut all = HashMap::new();
        for (owner, cluster) in owned.filter(|(owner, _)| !owner.is_empty()) {
            // If several clusters have objects of one Application, the first in the snapshot's order counts.
            all.entry(owner).or_insert(cluster);
        }
        Self(all)
    }

    /// Returns the cluster that an Application names, or else the cluster that has objects of the Application.
    pub fn cluster(&self, fleet: FleetView<'a>, application: Object<'_>) -> Option<&'a ClusterSnapshot> {
        named_cluster(fleet, application)
            .or_else(|| self.0.get(application.name()).copied())
            .or_else(|| self.0.get(qualified_name(application).as_str()).copied())
    }
}

/// Returns the name that tracking ids use for an Application outside of Argo CD's namespace.
pub(super) fn qualified_name(application: Object<'_>) -> String {
    format!("{}_{}", application.namespace().unwrap_or_default(), application.name())
}

/// Returns the name of the Application in an object's tracking id: `name`, or `namespace_name`. Empty if the object has
/// no tracking id.
pub(super) fn owning_application(object: Object<'_>) -> &str {
    tracking_id(object).and_then(|id| id.split(':').next()).unwrap_or_default()
}

/// Returns an object's tracking id.
pub(super) fn tracking_id(object: Object<'_>) -> Option<&str> {
    object.annotation(TRACKING_ID)
}
