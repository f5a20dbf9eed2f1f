//! The cluster that an Application's resources are to go to. Argo CD's cluster Secrets would say it; no Secret is read.

use std::collections::HashMap;

use serde_json::Value;

use crate::command::{Command, KubectlVerb, Word};
use crate::rules::fleet::Fleet;
use crate::rules::quote::Quote;
use crate::{APPLICATION, ClusterSnapshot, Object, Role, Snapshot};

/// What Argo CD calls the cluster that it runs on.
const IN_CLUSTER: &str = "in-cluster";
/// That cluster's address, as applications name it.
const IN_CLUSTER_SERVER: &str = "https://kubernetes.default.svc";
/// On a live object: which application it is of, and which object of it.
pub(super) const TRACKING_ID: &str = "argocd.argoproj.io/tracking-id";

/// Where an Application's resources are to go.
#[derive(Clone, Copy)]
pub(super) struct Destination<'a> {
    pub(super) application: Object<'a>,
    /// The cluster, when it is part of the snapshot.
    pub cluster: Option<&'a ClusterSnapshot>,
}

impl<'a> Destination<'a> {
    /// The member's name, when it is one.
    pub fn member(self) -> Option<&'a str> {
        self.cluster.filter(|c| c.role == Role::Member).map(|c| c.name.as_str())
    }

    /// What to call it: the cluster's name in the fleet, or else the application's own words.
    pub fn name(self) -> &'a str {
        let text = |field| self.application.str(field).filter(|t| !t.is_empty());
        let named = self.cluster.map(|c| c.name.as_str());
        named.or(text("/spec/destination/name")).or(text("/spec/destination/server")).unwrap_or("(unknown)")
    }

    /// The cluster's name for commands; none for one that isn't part of the snapshot.
    pub fn cluster_name(self) -> Option<&'a str> {
        self.cluster.map(|c| c.name.as_str())
    }

    /// A command for it.
    pub fn kubectl(
        self,
        kubectl: KubectlVerb,
        words: impl IntoIterator<Item = String>,
        input: Option<Value>,
    ) -> Command {
        let cluster = self.cluster_name().map(str::to_owned);
        Command::Kubectl { cluster, kubectl, words: words.into_iter().map(Word::from).collect(), input }
    }

    /// The namespace of what doesn't say one.
    pub fn namespace(self) -> &'a str {
        self.application.str("/spec/destination/namespace").unwrap_or_default()
    }

    /// Whether its objects could be read.
    pub fn is_read(self) -> bool {
        self.cluster.is_some_and(|c| c.unreachable.is_none())
    }

    pub fn quote(self) -> Quote<'a> {
        Quote::from(self.name())
    }

    pub fn object(self, group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Option<Object<'a>> {
        self.cluster?.object(group, kind, namespace, name)
    }

    pub fn of_kind(self, group: &'a str, kind: &'a str) -> impl Iterator<Item = Object<'a>> {
        self.cluster.into_iter().flat_map(move |c| c.of_kind(group, kind))
    }
}

/// Whether an application puts its resources on the cluster that Argo CD runs on, which is the hub.
pub(super) fn is_hub(application: Object<'_>, hub: &ClusterSnapshot) -> bool {
    let text = |field: &str| application.str(&format!("/spec/destination/{field}")).unwrap_or_default();
    text("name") == IN_CLUSTER || text("server") == IN_CLUSTER_SERVER || is_at(hub, text("server"))
}

/// Whether the hub's own workloads have to be read, because one of its applications puts its resources there.
#[must_use]
pub fn hub_is_destination(snapshot: &Snapshot) -> bool {
    let Some(hub) = snapshot.hub() else { return false };
    hub.of_kind(APPLICATION.group, APPLICATION.kind).any(|application| is_hub(application, hub))
}

/// The cluster that an application names.
fn named<'a>(fleet: Fleet<'a>, application: Object<'_>) -> Option<&'a ClusterSnapshot> {
    if is_hub(application, fleet.hub) {
        return Some(fleet.hub);
    }
    let text = |field: &str| application.str(&format!("/spec/destination/{field}")).unwrap_or_default();
    let by_server = |c: &&ClusterSnapshot| is_at(c, text("server"));
    fleet.snapshot.member(text("name")).or_else(|| fleet.snapshot.clusters.iter().find(by_server))
}

fn is_at(cluster: &ClusterSnapshot, server: &str) -> bool {
    let plain = |s: &str| s.trim_end_matches('/').to_ascii_lowercase();
    !server.is_empty() && cluster.server.as_deref().is_some_and(|s| plain(s) == plain(server))
}

/// The clusters on which something says that it is an application's, by what it calls that.
pub(super) struct Owners<'a>(HashMap<&'a str, &'a ClusterSnapshot>);

impl<'a> Owners<'a> {
    pub fn of(fleet: Fleet<'a>) -> Self {
        let owned =
            fleet.snapshot.clusters.iter().flat_map(|cluster| cluster.objects().map(move |o| (owner(o), cluster)));
        let mut all = HashMap::new();
        for (owner, cluster) in owned.filter(|(owner, _)| !owner.is_empty()) {
            // The first one counts, in the snapshot's order.
            all.entry(owner).or_insert(cluster);
        }
        Self(all)
    }

    /// The cluster that an application names, or else the one that has something of it.
    pub fn cluster(&self, fleet: Fleet<'a>, application: Object<'_>) -> Option<&'a ClusterSnapshot> {
        let owned = |name: &str| self.0.get(name).copied();
        named(fleet, application).or_else(|| owned(application.name())).or_else(|| owned(&instance(application)))
    }
}

/// What an application outside of Argo CD's namespace is called in tracking ids.
pub(super) fn instance(application: Object<'_>) -> String {
    format!("{}_{}", application.namespace().unwrap_or_default(), application.name())
}

/// The application that an object says it is of: `name`, or `namespace_name`. Empty where it says none.
pub(super) fn owner(object: Object<'_>) -> &str {
    tracking_id(object).and_then(|id| id.split(':').next()).unwrap_or_default()
}

/// An object's tracking id.
pub(super) fn tracking_id(object: Object<'_>) -> Option<&str> {
    object.value().get("metadata")?.get("annotations")?.get(TRACKING_ID).and_then(Value::as_str)
}
