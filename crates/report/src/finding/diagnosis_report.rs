//! Output of `diagnose` besides its findings: the fleet that was read, and gaps in what was read.

use std::collections::BTreeMap;

use diagnosis::kinds;
use diagnosis::{ClusterSnapshot, Finding, Snapshot, SnapshotRole, UnreadKind, UnreadReason};
use jiff::Timestamp;
use serde::Serialize;

use super::text::write_all;
use crate::text::style::PLAIN;
use crate::text::{TextPage, clean};

/// Schema number of the JSON and YAML. It changes when a field changes its meaning or is removed.
pub const SCHEMA: u32 = 1;

/// Source of the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ObjectSource {
    /// Read from the clusters.
    Live,
    /// Read from a bundle.
    Bundle,
}

/// Diagnosis with everything that it is based on.
#[derive(Debug, Serialize)]
pub struct DiagnosisReport<'a> {
    schema: u32,
    fleetdrill: &'static str,
    fleet: &'a str,
    source: ObjectSource,
    taken_at: Timestamp,
    /// The requested object, if only one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a str>,
    complete: bool,
    counts: ObjectCounts,
    clusters: Vec<ClusterReport<'a>>,
    findings: &'a [Finding],
}

/// Objects that were read from a cluster, and the kinds that weren't.
#[derive(Debug, Serialize)]
struct ClusterReport<'a> {
    name: &'a str,
    role: SnapshotRole,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    read: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    objects: usize,
    unread: Vec<UnreadReport<'a>>,
}

/// Kind that couldn't be read from a cluster.
#[derive(Debug, Serialize)]
struct UnreadReport<'a> {
    kind: String,
    reason: UnreadReason,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
}

/// Number of objects that can be diagnosed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct ObjectCounts {
    placements: usize,
    runs: usize,
    applications: usize,
    /// Number of `MemberCluster` objects on the hub.
    members: usize,
    /// Number of members that could be reached.
    members_read: usize,
}

impl ObjectCounts {
    fn of(snapshot: &Snapshot) -> Self {
        let members = snapshot.clusters.iter().filter(|cluster| cluster.role == SnapshotRole::Member);
        Self {
            placements: count_on_hub(snapshot, &[kinds::CLUSTER_RESOURCE_PLACEMENT, kinds::RESOURCE_PLACEMENT]),
            runs: count_on_hub(snapshot, &[kinds::CLUSTER_RUN, kinds::RUN]),
            applications: count_on_hub(snapshot, &[kinds::APPLICATION]),
            members: count_on_hub(snapshot, &[kinds::MEMBER_CLUSTER]),
            members_read: members.filter(|member| member.unreachable.is_none()).count(),
        }
    }
}

/// Number of the hub's objects of some kinds.
fn count_on_hub(snapshot: &Snapshot, kinds: &[kinds::GroupKind]) -> usize {
    let hub = snapshot.hub();
    hub.map_or(0, |hub| kinds.iter().map(|kind| hub.of_kind(kind.group, kind.kind).count()).sum())
}

/// Number and noun: `1 run`, `2 runs`.
fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

impl std::fmt::Display for ObjectCounts {
    /// Formats the counts as `3 placements, 1 run, 2 members (1 read)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}", counted(self.placements, "placement"), counted(self.runs, "run"))?;
        if self.applications > 0 {
            write!(f, ", {}", counted(self.applications, "application"))?;
        }
        write!(f, ", {} ({} read)", counted(self.members, "member"), self.members_read)
    }
}

impl<'a> DiagnosisReport<'a> {
    /// Creates a report on a snapshot; `contexts` has the known kubeconfig contexts by cluster.
    #[must_use]
    pub fn new(
        (fleet, source): (&'a str, ObjectSource),
        snapshot: &'a Snapshot,
        contexts: &'a BTreeMap<String, String>,
        object: Option<&'a str>,
        findings: &'a [Finding],
    ) -> Self {
        Self {
            schema: SCHEMA,
            fleetdrill: env!("CARGO_PKG_VERSION"),
            fleet,
            source,
            taken_at: snapshot.taken_at,
            object,
            complete: snapshot.clusters.iter().all(ClusterSnapshot::is_complete),
            counts: ObjectCounts::of(snapshot),
            clusters: snapshot.clusters.iter().map(|cluster| ClusterReport::of(cluster, contexts)).collect(),
            findings,
        }
    }

    /// True if every requested object could be read.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Findings of the diagnosis.
    #[must_use]
    pub fn findings(&self) -> &'a [Finding] {
        self.findings
    }

    /// Name of the fleet, or the hub's context.
    #[must_use]
    pub fn fleet(&self) -> &'a str {
        self.fleet
    }

    /// Returns a text that says where the objects were read from, and when.
    #[must_use]
    pub fn origin(&self) -> String {
        let of = match self.source {
            ObjectSource::Live => "read from the clusters",
            ObjectSource::Bundle => "read from a bundle, which was taken",
        };
        format!("{of} at {:.0} with fleetdrill {}", self.taken_at, self.fleetdrill)
    }

    /// Returns the number of findings and of diagnosed objects, e.g.
    /// `nothing found in 3 placements, 1 run, 2 members (2 read)`.
    #[must_use]
    pub fn summary(&self) -> String {
        let about = self.object.map(|object| format!(" about {object}")).unwrap_or_default();
        match self.findings.len() {
            0 => format!("nothing found{about} in {}", self.counts),
            1 => format!("1 finding{about} in {}", self.counts),
            n => format!("{n} findings{about} in {}", self.counts),
        }
    }

    /// Returns a sentence for each cluster and reason why something couldn't be read, and for each cluster that doesn't
    /// know some kinds.
    #[must_use]
    pub fn gaps(&self) -> Vec<String> {
        self.clusters.iter().flat_map(ClusterReport::gaps).collect()
    }

    /// Returns the report as text with colours, wrapped to a width.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let mut page = TextPage::new(width);
        write_all(&mut page, self.findings);
        page.blank();
        page.text(&self.summary());
        for gap in self.gaps() {
            page.item("", PLAIN, 2, &gap);
        }
        page.finish()
    }
}

impl<'a> ClusterReport<'a> {
    fn of(cluster: &'a ClusterSnapshot, contexts: &'a BTreeMap<String, String>) -> Self {
        Self {
            name: &cluster.name,
            role: cluster.role,
            context: contexts.get(&cluster.name).map(String::as_str),
            server: cluster.server.as_deref(),
            read: cluster.unreachable.is_none(),
            reason: cluster.unreachable.as_deref(),
            objects: cluster.objects.len(),
            unread: cluster.unread.iter().map(UnreadReport::of).collect(),
        }
    }

    fn gaps(&self) -> Vec<String> {
        if let Some(reason) = self.reason {
            return vec![format!("not read: {}, nothing of it: {}", self.name, clean(reason))];
        }
        let told = [
            (UnreadReason::Forbidden, "not read on", "these credentials may not list"),
            (UnreadReason::Failed, "not read on", "the request failed for"),
            (UnreadReason::NotServed, "not there on", "the API server doesn't know"),
        ];
        let told = told.into_iter().filter_map(|(reason, what, why)| {
            let kinds = self.unread_kinds(reason);
            (!kinds.is_empty()).then(|| format!("{what} {}: {why} {}", self.name, kinds.join(", ")))
        });
        told.collect()
    }

    fn unread_kinds(&self, reason: UnreadReason) -> Vec<&str> {
        let unread = self.unread.iter().filter(|unread| unread.reason == reason);
        unread.map(|unread| unread.kind.as_str()).collect()
    }
}

impl<'a> UnreadReport<'a> {
    fn of(unread: &'a UnreadKind) -> Self {
        Self { kind: unread.full_name(), reason: unread.reason, message: &unread.message }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;
    use crate::run::fixture;
    use crate::text::style::WIDTH;

    /// A hub that refused to list roles and service accounts and doesn't know applications, a member that was read, and
    /// one that wasn't.
    pub(crate) fn snapshot() -> Snapshot {
        let placement = json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterResourcePlacement",
            "metadata": {"name": "web"}});
        let member = |name: &str| {
            json!({"apiVersion": "cluster.kubernetes-fleet.io/v1beta1", "kind": "MemberCluster",
                "metadata": {"name": name}})
        };
        let unread = |group: &str, resource: &str, reason, message: &str| UnreadKind {
            group: group.into(),
            resource: resource.into(),
            reason,
            message: message.into(),
        };
        let cluster = |name: &str, role, objects, unread, unreachable: Option<&str>| ClusterSnapshot {
            name: name.into(),
            role,
            server: Some(format!("https://{name}:6443")),
            time: None,
            objects,
            logs: Vec::new(),
            unreachable: unreachable.map(ToOwned::to_owned),
            unread,
        };
        let unread = vec![
            unread("", "serviceaccounts", UnreadReason::Forbidden, "serviceaccounts is forbidden"),
            unread("rbac.authorization.k8s.io", "roles", UnreadReason::Forbidden, "roles is forbidden"),
            unread("argoproj.io", "applications", UnreadReason::NotServed, ""),
        ];
        let objects = vec![placement, member("member-1"), member("member-2")];
        Snapshot {
            taken_at: "2026-11-21T02:11:00Z".parse().expect("a time"),
            clusters: vec![
                cluster("hub", SnapshotRole::Hub, objects, unread, None),
                cluster("member-1", SnapshotRole::Member, Vec::new(), Vec::new(), None),
                cluster(
                    "member-2",
                    SnapshotRole::Member,
                    Vec::new(),
                    Vec::new(),
                    Some("connection refused \u{1b}[31m"),
                ),
            ],
        }
    }

    fn contexts() -> BTreeMap<String, String> {
        [("hub".to_owned(), "prod-hub".to_owned())].into()
    }

    #[test]
    fn what_was_not_read_is_said_beside_nothing_found() {
        let (snapshot, contexts) = (snapshot(), contexts());
        let report = DiagnosisReport::new(("prod-hub", ObjectSource::Live), &snapshot, &contexts, None, &[]);
        insta::assert_snapshot!(report.text(WIDTH), @r"
        nothing found in 1 placement, 0 runs, 2 members (1 read)
        not read on hub: these credentials may not list serviceaccounts,
          roles.rbac.authorization.k8s.io
        not there on hub: the API server doesn't know applications.argoproj.io
        not read: member-2, nothing of it: connection refused
        ");
        assert!(!report.is_complete());
    }

    #[test]
    fn programs_get_the_fleet_what_was_read_and_every_severity() {
        let (snapshot, contexts) = (snapshot(), contexts());
        let findings = [fixture::member_namespace_finding()];
        let report =
            DiagnosisReport::new(("prod-hub", ObjectSource::Live), &snapshot, &contexts, Some("crp/web"), &findings);
        let mut report = serde_json::to_value(report).expect("JSON");
        report["fleetdrill"] = "VERSION".into();
        insta::assert_json_snapshot!(report);
    }

    #[test]
    fn a_kind_that_the_api_server_does_not_know_is_no_gap() {
        let mut snapshot = snapshot();
        snapshot.clusters.truncate(2);
        snapshot.clusters[0].unread.retain(|unread| unread.reason == UnreadReason::NotServed);
        let contexts = contexts();
        let report = DiagnosisReport::new(("b7", ObjectSource::Bundle), &snapshot, &contexts, None, &[]);
        assert!(report.is_complete());
        assert_eq!(report.gaps(), ["not there on hub: the API server doesn't know applications.argoproj.io"]);
    }
}
