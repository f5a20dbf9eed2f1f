//! Jobs of a placement. `KubeFleet` doesn't track a Job: the placement is available as soon as the Job is applied, whatever
//! becomes of it (v0.3.1).

use serde_json::{Value, json};

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::evidence_source::EvidenceSource;
use super::fleet::{FleetView, MemberPlacement, PlacementView, applied, full_name};
use super::{kubectl, pods};
use crate::kinds::JOB;
use crate::object::text_field;
use crate::{Condition, Evidence, JsonRef, Object};

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        let jobs: Vec<_> =
            placement.object.list("/status/selectedResources").iter().filter_map(SelectedJob::new).collect();
        if jobs.is_empty() {
            continue;
        }
        for status in placement.clusters() {
            drafts.extend(failed(fleet, placement, status, &jobs));
            drafts.extend(repeated(fleet, placement, status, &jobs));
        }
    }
    drafts
}

/// Job that a placement has selected by itself, in no envelope.
struct SelectedJob<'a> {
    namespace: &'a str,
    name: &'a str,
}

impl<'a> SelectedJob<'a> {
    fn new(selected: JsonRef<'a>) -> Option<Self> {
        let is_job = text_field(selected, "group") == JOB.group && text_field(selected, "kind") == JOB.kind;
        is_job.then(|| Self { namespace: text_field(selected, "namespace"), name: text_field(selected, "name") })
    }

    fn on<'f>(&self, fleet: FleetView<'f>, member: &str) -> Option<Object<'f>> {
        let cluster = fleet.snapshot.member(member)?;
        cluster.object(JOB.group, JOB.kind, Some(self.namespace), self.name)
    }

    fn reference(&self) -> Vec<String> {
        kubectl::reference_by_name(JOB.group, JOB.kind, Some(self.namespace), self.name)
    }

    fn in_words(&self) -> String {
        format!("Job {}", full_name(Some(self.namespace), self.name))
    }
}

/// KF-AV-011: Jobs have failed on a member on which the placement is available.
fn failed(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    jobs: &[SelectedJob<'_>],
) -> Option<FindingDraft> {
    let available = status.condition("Available").filter(|c| c.status == "True")?;
    let cluster = fleet.snapshot.member(status.member)?;
    let mut evidence = vec![fleet.quote().condition_in(placement.object, status.place(), &available)];
    let (mut failed, mut reason) = (Vec::new(), None);
    for job in jobs {
        let Some(object) = job.on(fleet, status.member) else { continue };
        let Some(condition) = object.condition("Failed").filter(|c| c.status == "True") else { continue };
        let state = pods::workload_state(cluster, object);
        evidence.extend(state.evidence);
        reason.get_or_insert(condition.reason);
        failed.push(job);
    }
    let mut names = names(placement, status, &failed)?;
    names["reason"] = reason.into();
    Some(draft(RuleCode::KF_AV_011, fleet, placement, status, &names, evidence))
}

/// KF-AV-012: a Job was deleted after its end and made again, and will be again.
fn repeated(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    jobs: &[SelectedJob<'_>],
) -> Option<FindingDraft> {
    let (mut evidence, mut repeated, mut first_ttl) = (Vec::new(), Vec::new(), None);
    for job in jobs {
        let Some(object) = job.on(fleet, status.member) else { continue };
        let Some(ttl) = object.at("/spec/ttlSecondsAfterFinished").and_then(JsonRef::as_i64) else { continue };
        let Some((work, applied)) = first_applied(fleet, placement, status.member, job) else { continue };
        let (Some(created), Some(since)) = (object.created_at(), applied.last_transition_time) else { continue };
        if created <= since {
            continue;
        }
        let of_member = EvidenceSource::from(status.member);
        let path = format!("status.manifestConditions[{}].conditions[Applied]", job.in_words());
        evidence.push(fleet.quote().text(work, &path, "True".to_owned(), Some(since)));
        evidence.push(of_member.field(object, "spec.ttlSecondsAfterFinished"));
        evidence.push(Evidence { at: Some(created), ..of_member.field(object, "metadata.creationTimestamp") });
        first_ttl.get_or_insert(ttl);
        repeated.push(job);
    }
    let mut names = names(placement, status, &repeated)?;
    names["ttl"] = first_ttl.into();
    Some(draft(RuleCode::KF_AV_012, fleet, placement, status, &names, evidence))
}

/// Returns the condition by which a Work has said since its first success that a Job is applied. The Work keeps the time when the
/// member agent makes the Job again (v0.3.1).
fn first_applied<'a>(
    fleet: FleetView<'a>,
    placement: PlacementView<'a>,
    member: &str,
    job: &SelectedJob<'_>,
) -> Option<(Object<'a>, Condition)> {
    placement.works(fleet, member).into_iter().find_map(|work| {
        let applied = applied(work, [JOB.group, JOB.kind, job.namespace, job.name])?;
        Some((work, applied))
    })
}

/// Returns the names for a finding about these Jobs; `None` without a Job.
fn names(placement: PlacementView<'_>, status: MemberPlacement<'_>, jobs: &[&SelectedJob<'_>]) -> Option<Value> {
    let first = jobs.first()?;
    Some(json!({
        "placement": placement.full_name(),
        "member": status.member,
        "objects": jobs.iter().map(|job| job.in_words()).collect::<Vec<_>>().join(", "),
        "job": first.name,
        "namespace": first.namespace,
        "refs": jobs.iter().map(|job| job.reference()).collect::<Vec<_>>(),
    }))
}

fn draft(
    code: RuleCode,
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    names: &Value,
    evidence: Vec<Evidence>,
) -> FindingDraft {
    let draft = FindingDraft::new(code, placement.subject(fleet, Some(status.member)), names, evidence);
    draft.depends_on(AffectedPart::Member(status.member.to_owned()))
}
