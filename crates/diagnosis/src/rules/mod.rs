//! Rules: one file per family, each with a function from the fleet to findings.
//!
//! A rule decides by types, statuses, reasons and generations, and by the state of other objects. It reads a message
//! only for facts that no other field has, by a pattern that fits the wording of all versions.

mod apply;
mod apply_error;
mod approval;
mod argocd;
mod availability;
mod clock;
mod code;
mod deletion;
mod deletion_stage;
mod draft;
mod drift;
mod envelope;
mod eviction;
mod evidence_source;
mod execution;
mod fleet;
mod foreign_finalizer;
mod heartbeat;
mod hub_agent;
mod hub_writes;
mod index;
mod initialization;
mod job;
mod kubectl;
mod leaving;
mod leftover;
mod matching;
mod member;
mod member_health;
mod message;
mod missing_namespace;
mod not_taken;
mod obstacle;
mod orphaned_work;
mod outcome;
mod overrides;
mod pattern;
mod pods;
mod preemption;
mod quantity;
mod resource_snapshot;
mod rollout;
mod scheduling;
mod scope;
mod selection;
mod shortage;
mod spread;
mod stuck;
mod superseded;
mod waiting;
mod wanted_objects;
mod work_recovery;
mod work_synchronized;
mod workload_fault;

pub use argocd::{WantedLog, hub_is_destination, wanted_logs};
pub use availability::PATIENCE;
pub use wanted_objects::{WantedObjects, WantedPart, WantedResource, wanted_objects};

use draft::{FindingDraft, arrange, arrange_by_cause};
use fleet::FleetView;

use crate::{Diagnosis, FailureCode, Finding, InProgress, KubectlAccess, ObjectQuery, Snapshot, Waiver};

/// Diagnoses a snapshot: names each failure and its cause.
///
/// The same snapshot always gives the same order: data loss first, then failures, then notices, each by code and
/// subject. Findings that another finding explains are that finding's consequences. A snapshot without a readable hub
/// gives no findings. Commands are for contexts that have the names of the snapshot's clusters.
///
/// ```
/// let snapshot = diagnosis::Snapshot { taken_at: "2026-01-08T00:00:00Z".parse().unwrap(), clusters: Vec::new() };
/// assert!(diagnosis::diagnose(&snapshot).is_empty());
/// ```
#[must_use]
pub fn diagnose(snapshot: &Snapshot) -> Vec<Finding> {
    diagnose_with(snapshot, &KubectlAccess::same_names_in(snapshot))
}

/// Diagnoses a snapshot like [`diagnose`], with commands for the contexts that the reader has.
#[must_use]
pub fn diagnose_with(snapshot: &Snapshot, access: &KubectlAccess) -> Vec<Finding> {
    examine(snapshot, access).findings
}

/// Diagnoses a snapshot like [`diagnose`], as if no rule found a code. Tests of the rules check with it that they would notice.
#[must_use]
pub fn diagnose_without(snapshot: &Snapshot, code: &FailureCode) -> Vec<Finding> {
    let access = KubectlAccess::same_names_in(snapshot);
    FleetView::with(snapshot, |fleet| arrange(drafts(fleet, Some(code)).0, &access))
}

/// Diagnoses a snapshot like [`diagnose_with`], and returns the objects that aren't well yet besides the findings.
#[must_use]
pub fn examine(snapshot: &Snapshot, access: &KubectlAccess) -> Diagnosis {
    FleetView::with(snapshot, |fleet| {
        let (drafts, in_progress) = drafts(fleet, None);
        Diagnosis { findings: arrange(drafts, access), in_progress }
    })
}

/// Diagnoses a snapshot like [`examine`], and puts findings with one cause together: one finding with several subjects.
#[must_use]
pub fn examine_by_cause(snapshot: &Snapshot, access: &KubectlAccess) -> Diagnosis {
    examine_with_waivers(snapshot, access, &[])
}

/// Diagnoses a snapshot like [`examine_by_cause`], and marks the findings that waivers cover. Waived findings come last; a waived finding
/// and one that isn't waived are never put together.
#[must_use]
pub fn examine_with_waivers(snapshot: &Snapshot, access: &KubectlAccess, waivers: &[Waiver]) -> Diagnosis {
    FleetView::with(snapshot, |fleet| {
        let (mut drafts, in_progress) = drafts(fleet, None);
        for draft in &mut drafts {
            let waiver = waivers.iter().find(|waiver| waiver.covers(&draft.finding));
            draft.finding.waived = waiver.map(Waiver::mark);
        }
        Diagnosis { findings: arrange_by_cause(drafts, access), in_progress }
    })
}

/// Queries of one cluster: its name, and what the rules need to know of it.
pub type ClusterQueries = (String, Vec<ObjectQuery>);

/// Returns what the rules need to know of each cluster beyond what was read of it; nothing if everything was read that they need.
#[must_use]
pub fn unanswered_queries(snapshot: &Snapshot) -> Vec<ClusterQueries> {
    // Somebody else may have looked for objects in the snapshot.
    let take = || snapshot.clusters.iter().map(|cluster| (cluster.name.clone(), cluster.read.take_unanswered()));
    take().for_each(drop);
    FleetView::with(snapshot, |fleet| drop(drafts(fleet, None)));
    take().filter(|(_, queries)| !queries.is_empty()).collect()
}

/// True if a finding rests on the absence of an object that may exist, because objects of its kind couldn't be read.
fn rests_on_unread(fleet: FleetView<'_>, draft: &FindingDraft) -> bool {
    let absent = draft.finding.evidence.iter().filter(|evidence| evidence.is_absent);
    absent.into_iter().any(|evidence| {
        let cluster = fleet.snapshot.clusters.iter().find(|cluster| cluster.name == evidence.cluster);
        let resource = kubectl::plural(&evidence.object.kind);
        let mut unread = cluster.into_iter().flat_map(|cluster| &cluster.unread);
        unread.any(|unread| unread.may_have_objects() && unread.resource == resource)
    })
}

/// Runs all rules, and returns their findings, without those of one code, and the states that are in progress.
fn drafts(fleet: FleetView<'_>, without: Option<&FailureCode>) -> (Vec<FindingDraft>, Vec<InProgress>) {
    let rules: &[fn(FleetView<'_>) -> Vec<FindingDraft>] = &[
        hub_writes::rule,
        hub_agent::rule,
        clock::rule,
        deletion::rule,
        foreign_finalizer::rule,
        deletion_stage::rule,
        leftover::rule,
        orphaned_work::rule,
        eviction::rule,
        resource_snapshot::rule,
        work_synchronized::rule,
        scheduling::rule,
        selection::rule,
        rollout::rule,
        leaving::rule,
        overrides::rule,
        apply::rule,
        drift::rule,
        availability::rule,
        job::rule,
        member::rule,
        initialization::rule,
        execution::rule,
        stuck::rule,
        approval::rule,
        waiting::rule,
        argocd::rule,
    ];
    let mut drafts: Vec<FindingDraft> = rules.iter().flat_map(|rule| rule(fleet)).collect();
    let is_wanted = |draft: &FindingDraft| without != Some(&draft.finding.code);
    drafts.retain(|draft| is_wanted(draft) && !rests_on_unread(fleet, draft));
    let in_progress = outcome::judge(fleet, &mut drafts);
    drafts.retain(is_wanted);
    (drafts, in_progress)
}
