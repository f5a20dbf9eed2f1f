//! Output of `diagnose` besides its findings: the fleet that was read, and gaps in what was read.

use std::collections::BTreeMap;

use diagnosis::kinds;
use diagnosis::{ClusterSnapshot, Diagnosis, Finding, InProgress, Snapshot, SnapshotRole};
use jiff::Timestamp;
use record::{HOLLOW_LABEL, duration_text};
use schemars::JsonSchema;
use serde::Serialize;

use super::cluster_report::{ClusterReport, is_not_needed};
use super::gaps;
use super::text::{Detail, write_all};
use crate::text::TextPage;
use crate::text::style::{HINT, PLAIN};

/// Schema number of the JSON and YAML. It changes when a field changes its meaning or is removed.
pub const SCHEMA: u32 = 1;

/// Number of objects in progress that a short report names.
const SHOWN_STATES: usize = 3;

/// Source of the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ObjectSource {
    /// Read from the clusters.
    Live,
    /// Read from a bundle.
    Bundle,
}

/// Diagnosis with everything that it is based on.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DiagnosisReport<'a> {
    /// Number of the schema.
    schema: u32,
    /// Version of fleetdrill.
    fleetdrill: &'static str,
    /// Name of the fleet, or the hub's context.
    fleet: &'a str,
    /// Source of the objects.
    source: ObjectSource,
    /// Time at which all objects had been read, on the reader's clock.
    taken_at: Timestamp,
    /// The requested object, if only one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a str>,
    /// True if every requested object could be read.
    complete: bool,
    /// Number of objects that were diagnosed.
    counts: ObjectCounts,
    /// Number of requests and objects that the diagnosis has read; none for a bundle.
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<ReadCounts>,
    /// The clusters, hub first.
    clusters: Vec<ClusterReport<'a>>,
    /// Findings: data loss first, then failures, then notices.
    findings: &'a [Finding],
    /// Objects that aren't well, but for no longer than is usual.
    in_progress: &'a [InProgress],
    /// Present time on the hub's clock; on the reader's clock if the hub didn't tell.
    #[serde(skip)]
    now: Timestamp,
}

/// Number of requests and objects that a live diagnosis has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ReadCounts {
    /// Number of requests to API servers; each page of a list is one.
    pub requests: usize,
    /// Number of objects.
    pub objects: usize,
}

/// Number of objects that can be diagnosed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
struct ObjectCounts {
    /// Number of placements.
    placements: usize,
    /// Number of update runs.
    runs: usize,
    /// Number of Argo CD's applications.
    applications: usize,
    /// Number of `MemberCluster` objects on the hub.
    members: usize,
    /// Number of members without clusters, which one process plays.
    #[serde(skip_serializing_if = "is_zero")]
    members_hollow: usize,
    /// Number of members that could be reached.
    members_read: usize,
    /// Number of members that the diagnosis didn't need anything of.
    members_not_needed: usize,
}

impl ObjectCounts {
    fn of(snapshot: &Snapshot) -> Self {
        let of_members = snapshot.clusters.iter().filter(|cluster| cluster.role == SnapshotRole::Member);
        let (not_needed, members): (Vec<_>, Vec<_>) = of_members.partition(|member| is_not_needed(member));
        Self {
            placements: count_on_hub(snapshot, &[kinds::CLUSTER_RESOURCE_PLACEMENT, kinds::RESOURCE_PLACEMENT]),
            runs: count_on_hub(snapshot, &[kinds::CLUSTER_RUN, kinds::RUN]),
            applications: count_on_hub(snapshot, &[kinds::APPLICATION]),
            members: count_on_hub(snapshot, &[kinds::MEMBER_CLUSTER]),
            members_hollow: hollow_members(snapshot),
            members_read: members.iter().filter(|member| member.unreachable.is_none()).count(),
            members_not_needed: not_needed.len(),
        }
    }
}

/// Number of the hub's objects of some kinds.
fn count_on_hub(snapshot: &Snapshot, kinds: &[kinds::GroupKind]) -> usize {
    let hub = snapshot.hub();
    hub.map_or(0, |hub| kinds.iter().map(|kind| hub.of_kind(kind.group, kind.kind).count()).sum())
}

fn hollow_members(snapshot: &Snapshot) -> usize {
    let members =
        snapshot.hub().into_iter().flat_map(|hub| hub.of_kind(kinds::MEMBER_CLUSTER.group, kinds::MEMBER_CLUSTER.kind));
    members.filter(|member| member.label(HOLLOW_LABEL) == Some("true")).count()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Number and noun: `1 run`, `2 runs`.
fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

impl std::fmt::Display for ObjectCounts {
    /// Formats the counts as `9 members (1 read, 2 not needed), 3 placements, 1 run`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // An Argo CD's cluster without KubeFleet has nothing else.
        if self.applications > 0 && self.members + self.members_read + self.placements + self.runs == 0 {
            return f.write_str(&counted(self.applications, "application"));
        }
        write!(f, "{} (", counted(self.members, "member"))?;
        if self.members_hollow > 0 {
            write!(f, "{} hollow, ", self.members_hollow)?;
        }
        write!(f, "{} read", self.members_read)?;
        if self.members_not_needed > 0 {
            write!(f, ", {} not needed", self.members_not_needed)?;
        }
        write!(f, ")")?;
        write!(f, ", {}, {}", counted(self.placements, "placement"), counted(self.runs, "run"))?;
        if self.applications > 0 {
            write!(f, ", {}", counted(self.applications, "application"))?;
        }
        Ok(())
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
        diagnosis: &'a Diagnosis,
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
            reads: None,
            clusters: snapshot.clusters.iter().map(|cluster| ClusterReport::of(cluster, contexts)).collect(),
            findings: &diagnosis.findings,
            in_progress: &diagnosis.in_progress,
            now: snapshot.hub().and_then(|hub| hub.time).unwrap_or(snapshot.taken_at),
        }
    }

    /// Adds the number of requests and objects that were read.
    #[must_use]
    pub fn with_reads(self, reads: Option<ReadCounts>) -> Self {
        Self { reads, ..self }
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

    /// Time at which the objects were read, on the reader's clock.
    pub(super) fn taken_at(&self) -> Timestamp {
        self.taken_at
    }

    /// Time of the diagnosis on the hub's clock; on the reader's clock if the hub didn't tell.
    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the number of members that were read, weren't read and weren't needed.
    pub(super) fn members_by_state(&self) -> [(&'static str, usize); 3] {
        let ObjectCounts { members_read, members_not_needed, .. } = self.counts;
        let members = self.clusters.iter().filter(|cluster| cluster.role == SnapshotRole::Member).count();
        let not_read = members.saturating_sub(members_read + members_not_needed);
        [("read", members_read), ("not_read", not_read), ("not_needed", members_not_needed)]
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

    /// Returns the number of findings and of diagnosed objects, and what isn't well yet, e.g.
    /// `nothing found in 2 members (2 read), 3 placements, 1 run: all well; 1 in progress (41 s)`.
    #[must_use]
    pub fn summary(&self) -> String {
        let about = self.object.map(|object| format!(" about {object}")).unwrap_or_default();
        let text = match self.findings.len() {
            0 if self.in_progress.is_empty() => format!("nothing found{about} in {}: all well", self.counts),
            0 => format!("nothing found{about} in {}: all others well", self.counts),
            n => format!("{}{}{about} in {}", counted(n, "finding"), self.waived(), self.counts),
        };
        let longest = self.in_progress.iter().filter_map(|state| state.seconds).max();
        let longest = longest.map(|seconds| format!(" ({})", duration_text(seconds))).unwrap_or_default();
        match self.in_progress.len() {
            0 => text,
            n => format!("{text}; {n} in progress{longest}"),
        }
    }

    /// Returns `, 2 of them waived`; empty if none is.
    fn waived(&self) -> String {
        match self.findings.iter().filter(|finding| finding.waived.is_some()).count() {
            0 => String::new(),
            n if n == self.findings.len() => ", waived,".to_owned(),
            n => format!(", {n} of them waived,"),
        }
    }

    /// Returns a sentence for each object that isn't well yet: what it waits for, how long, and what is usual.
    #[must_use]
    pub fn in_progress(&self) -> Vec<String> {
        self.in_progress.iter().map(in_progress_text).collect()
    }

    /// Returns a sentence for each reason why something couldn't be read, and for kinds that clusters don't know. A sentence is about
    /// all clusters of which it is true.
    #[must_use]
    pub fn gaps(&self) -> Vec<String> {
        gaps::sentences(&self.clusters)
    }

    /// Returns the report as text with colours, wrapped to a width. A single finding is always printed in full.
    #[must_use]
    pub fn text(&self, width: usize, detail: Detail) -> String {
        let mut page = TextPage::new(width);
        let is_single = self.findings.len() == 1 && detail == Detail::Short;
        let detail = if is_single { Detail::FirstSubjects } else { detail };
        write_all(&mut page, self.findings, detail, Some(self.now));
        page.blank();
        page.text(&self.summary());
        let states = self.in_progress();
        let shown = if detail == Detail::Short { SHOWN_STATES } else { states.len() };
        for state in states.iter().take(shown) {
            page.item("in progress: ", HINT, 2, state);
        }
        if states.len() > shown {
            page.item("in progress: ", HINT, 2, &format!("{} more", states.len() - shown));
        }
        for gap in self.gaps() {
            page.item("", PLAIN, 2, &gap);
        }
        if detail == Detail::Short && !self.findings.is_empty() {
            page.item("hint: ", HINT, 2, "--verbose prints evidence and all remedies");
        }
        page.finish()
    }
}

/// Returns `ClusterResourcePlacement/web (member-1) for 41 s, usually at most 60 s: Applied=False ApplyInProgress`. A state without a
/// usual time has no second part.
fn in_progress_text(state: &InProgress) -> String {
    let age = state.seconds.map(|seconds| format!(" for {}", duration_text(seconds)));
    let usual = state.usual_seconds.map(|seconds| format!(" usually at most {}", duration_text(seconds)));
    let times: Vec<String> = age.into_iter().chain(usual).collect();
    let waits_for = state.waits_for.as_ref().map(|evidence| match &evidence.condition {
        Some(condition) => format!(": {}={}", condition.type_, condition.state()),
        None => format!(": {} {}", evidence.path, evidence.value),
    });
    format!("{}{}{}", state.subject, times.join(","), waits_for.unwrap_or_default())
}

#[cfg(test)]
pub(crate) mod tests {
    use diagnosis::{UnreadKind, UnreadReason};
    use record::Subject;
    use schemas::DocumentSchema;
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
        let cluster =
            |name: &str, role, objects: Vec<serde_json::Value>, unread, unreachable: Option<&str>| ClusterSnapshot {
                server: Some(format!("https://{name}:6443")),
                unreachable: unreachable.map(ToOwned::to_owned),
                unread,
                ..ClusterSnapshot::new(name, role, objects)
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
        let (snapshot, contexts, diagnosis) = (snapshot(), contexts(), Diagnosis::default());
        let report = DiagnosisReport::new(("prod-hub", ObjectSource::Live), &snapshot, &contexts, None, &diagnosis);
        insta::assert_snapshot!(report.text(WIDTH, Detail::Short), @r"
        nothing found in 2 members (1 read), 1 placement, 0 runs: all well
        not read on hub: these credentials may not list serviceaccounts,
          roles.rbac.authorization.k8s.io; without them these aren't found: KF-HA-003,
          KF-MC-002, KF-MC-003
        not there on hub: the API server doesn't know applications.argoproj.io
        not read: member-2, nothing of it: connection refused; failures of workloads on
          it aren't found
        ");
        assert!(!report.is_complete());
    }

    #[test]
    fn what_is_in_progress_is_said_with_its_age() {
        let (snapshot, contexts) = (snapshot(), contexts());
        let state = |name: &str, seconds| InProgress {
            subject: Subject {
                cluster: "hub".into(),
                kind: "ClusterResourcePlacement".into(),
                namespace: None,
                name: name.into(),
                stage: None,
                member: Some("member-1".into()),
            },
            waits_for: Some(fixture::member_namespace_finding().evidence.remove(0)),
            since: None,
            seconds,
            usual_seconds: seconds.is_none_or(|seconds| seconds < 100).then_some(300),
        };
        let in_progress = vec![state("web", Some(41)), state("shop", Some(140)), state("a", None), state("b", Some(1))];
        let diagnosis = Diagnosis { findings: Vec::new(), in_progress };
        let report = DiagnosisReport::new(("prod-hub", ObjectSource::Live), &snapshot, &contexts, None, &diagnosis);
        let text = report.text(WIDTH, Detail::Short);
        insta::assert_snapshot!(anstream::adapter::strip_str(&text));
    }

    #[test]
    fn waived_findings_are_counted() {
        let (snapshot, contexts) = (snapshot(), contexts());
        let summary = |findings: Vec<Finding>| {
            let diagnosis = Diagnosis { findings, in_progress: Vec::new() };
            DiagnosisReport::new(("prod-hub", ObjectSource::Live), &snapshot, &contexts, None, &diagnosis).summary()
        };
        let (found, waived) = (fixture::stale_approval_finding(), fixture::waived_finding());
        let fleet = "2 members (1 read), 1 placement, 0 runs";
        assert_eq!(summary(vec![found, waived.clone()]), format!("2 findings, 1 of them waived, in {fleet}"));
        assert_eq!(summary(vec![waived]), format!("1 finding, waived, in {fleet}"));
    }

    #[test]
    fn programs_get_the_fleet_what_was_read_and_every_severity() {
        let (snapshot, contexts) = (snapshot(), contexts());
        let findings = vec![fixture::member_namespace_finding()];
        let diagnosis = Diagnosis { findings, in_progress: Vec::new() };
        let report =
            DiagnosisReport::new(("prod-hub", ObjectSource::Live), &snapshot, &contexts, Some("crp/web"), &diagnosis);
        let mut report = serde_json::to_value(report).expect("JSON");
        report["fleetdrill"] = "VERSION".into();
        insta::assert_json_snapshot!(report);
    }

    #[test]
    fn schema_is_published() {
        let published = DocumentSchema { document: "diagnosis", number: SCHEMA };
        published.publish::<DiagnosisReport<'_>>("Diagnosis of a fleet (`fleetdrill diagnose --output json`)");
        let (snapshot, contexts) = (snapshot(), contexts());
        let finding = fixture::member_namespace_finding();
        let waiting = InProgress {
            subject: finding.subject.clone(),
            waits_for: finding.evidence.first().cloned(),
            since: Some(snapshot.taken_at),
            seconds: Some(7),
            usual_seconds: Some(300),
        };
        let diagnosis = Diagnosis { findings: vec![finding], in_progress: vec![waiting] };
        let report =
            DiagnosisReport::new(("prod-hub", ObjectSource::Live), &snapshot, &contexts, Some("crp/web"), &diagnosis)
                .with_reads(Some(ReadCounts { requests: 7, objects: 90 }));
        published.check_that_changes_are_noticed(&serde_json::to_value(report).expect("JSON"));
        let nothing = Diagnosis::default();
        let report = DiagnosisReport::new(("b7", ObjectSource::Bundle), &snapshot, &contexts, None, &nothing);
        published.check(&serde_json::to_value(report).expect("JSON"));
    }

    #[test]
    fn a_kind_that_the_api_server_does_not_know_is_no_gap() {
        let mut snapshot = snapshot();
        snapshot.clusters.truncate(2);
        snapshot.clusters[0].unread.retain(|unread| unread.reason == UnreadReason::NotServed);
        let (contexts, diagnosis) = (contexts(), Diagnosis::default());
        let report = DiagnosisReport::new(("b7", ObjectSource::Bundle), &snapshot, &contexts, None, &diagnosis);
        assert!(report.is_complete());
        assert_eq!(report.gaps(), ["not there on hub: the API server doesn't know applications.argoproj.io"]);
    }
}
