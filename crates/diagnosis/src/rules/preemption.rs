//! Clusters that one update run takes over from another.

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;
use serde_json::json;

use super::code::RuleCode;
use super::draft::FindingDraft;
use super::fleet::{FleetView, StageCluster, UpdateRunView};
use super::kubectl::rerun_command;
use super::pattern::{group, pattern_of_any_case};
use crate::{Condition, Evidence, Object};

/// Cluster that another run has taken over from this run.
pub(super) struct PreemptedCluster<'a> {
    pub cluster: StageCluster<'a>,
    binding: Object<'a>,
    /// Name of the run that took the cluster over, if known.
    preempting_name: Option<String>,
    /// Run that took the cluster over, if it still exists.
    preempting_run: Option<UpdateRunView<'a>>,
}

impl<'a> PreemptedCluster<'a> {
    /// Returns the cluster that `run`, which failed at `at`, has lost to another run.
    pub fn find(fleet: FleetView<'a>, run: UpdateRunView<'a>, at: Option<Timestamp>) -> Option<Self> {
        run.stages().flat_map(|s| s.clusters().collect::<Vec<_>>()).find_map(|c| preempted(fleet, run, c, at))
    }

    /// Returns KF-UR-003, or KF-UR-005 if the other run had succeeded before `at`, when this run noticed. In that case
    /// the two runs didn't overlap: this run was left unfinished, and its next reconcile came late.
    pub fn code(&self, at: Option<Timestamp>) -> RuleCode {
        let late = self.preempting_run.is_some_and(|other| finished_before(other, at));
        if late { RuleCode::KF_UR_005 } else { RuleCode::KF_UR_003 }
    }

    /// Creates the finding.
    pub fn draft(
        &self,
        fleet: FleetView<'_>,
        run: UpdateRunView<'_>,
        symptom: &Condition,
        at: Option<Timestamp>,
    ) -> FindingDraft {
        let names = json!({
            "run": run.object.name(),
            "run_ref": run.reference(),
            "placement": run.placement_name(),
            "member": self.cluster.member,
            "stage": self.cluster.stage,
            "index": run.index().unwrap_or_default(),
            "other": self.preempting_name.as_deref().unwrap_or_default(),
            "other_index": self.preempting_run.and_then(UpdateRunView::index).unwrap_or_default(),
            "other_ref": self.preempting_run.map(UpdateRunView::reference).unwrap_or_default(),
            "other_over": self.preempting_run.is_none_or(UpdateRunView::is_finished),
            "failed": run.is_finished(),
            "again": rerun_command(fleet, run, run.index()),
        });
        let subject = run.subject(fleet, Some(self.cluster.stage), Some(self.cluster.member));
        FindingDraft::new(self.code(at), subject, &names, evidence(fleet, run, symptom, self))
    }
}

/// Returns `cluster` if another run has taken it over before this run failed at `at`.
fn preempted<'a>(
    fleet: FleetView<'a>,
    run: UpdateRunView<'a>,
    cluster: StageCluster<'a>,
    at: Option<Timestamp>,
) -> Option<PreemptedCluster<'a>> {
    let started = cluster.started_at()?;
    let succeeded = cluster.condition("Succeeded");
    if succeeded.as_ref().is_some_and(|c| c.status == "True") {
        return None;
    }
    let binding = run.binding(fleet, cluster.member)?;
    let rollout = binding.condition("RolloutStarted").map(|c| c.message).unwrap_or_default();
    let named = run_in_message(&rollout).filter(|n| *n != run.object.name());
    let moved = run.resource_snapshot().is_some_and(|name| binding.str("/spec/resourceSnapshotName") != Some(&name));
    // A binding that nothing was rolled out by is new: the one that the run had started to update is gone.
    let is_new = binding.str("/spec/resourceSnapshotName").is_none_or(str::is_empty);
    if named.is_none() && (!moved || is_new) {
        return None;
    }
    // A run that failed for another reason may have been followed by a run that updates the same cluster. Only a run
    // that started while this one was running has preempted it.
    let mut candidates: Vec<_> = run
        .siblings(fleet)
        .filter_map(|other| Some((other.cluster(cluster.member)?.started_at()?, other)))
        .filter(|(since, _)| *since >= started && at.is_none_or(|at| *since <= at))
        .collect();
    candidates.sort_by_key(|(since, other)| (*since, other.object.name()));
    let by_name = candidates.iter().find(|(_, other)| named == Some(other.object.name()));
    let other = by_name.or(candidates.last()).map(|(_, other)| *other);
    // The controller sets Succeeded to False on the cluster that the run lost. Other failures don't change the
    // cluster's condition.
    let marked = succeeded.is_some_and(|c| c.status == "False");
    if other.is_none() && !marked {
        return None;
    }
    // The binding may name a run that has been deleted since.
    let preempting_name = other.map(|o| o.object.name());
    let preempting_name = preempting_name
        .or_else(|| named.filter(|n| run.siblings(fleet).all(|r| r.object.name() != *n)))
        .map(str::to_owned);
    Some(PreemptedCluster { cluster, binding, preempting_name, preempting_run: other })
}

/// Returns the name of the run in a binding's `RolloutStarted` message, the only place that has it.
pub(super) fn run_in_message(message: &str) -> Option<&str> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        pattern_of_any_case(r"\b(?:cluster)?(?:staged)?update ?run:\s*`?(?<run>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)")
    });
    Some(group(&NAME.captures(message)?, "run"))
}

fn finished_before(other: UpdateRunView<'_>, at: Option<Timestamp>) -> bool {
    let succeeded = other.condition("Succeeded").filter(|c| c.status == "True");
    succeeded.and_then(|c| c.last_transition_time).is_some_and(|end| at.is_some_and(|at| end < at))
}

fn evidence(
    fleet: FleetView<'_>,
    run: UpdateRunView<'_>,
    failed: &Condition,
    preempted: &PreemptedCluster<'_>,
) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence = vec![quote.condition(run.object, failed)];
    for type_ in ["Started", "Succeeded"] {
        if let Some(condition) = preempted.cluster.condition(type_) {
            evidence.push(quote.condition_in(run.object, preempted.cluster.place(), &condition));
        }
    }
    if let Some(index) = run.index() {
        let used = run.object.str("/status/resourceSnapshotIndexUsed").is_some_and(|i| !i.is_empty());
        let path = if used { "status.resourceSnapshotIndexUsed" } else { "spec.resourceSnapshotIndex" };
        evidence.push(quote.text(run.object, path, index.to_owned(), None));
    }
    evidence.push(quote.field(preempted.binding, "spec.resourceSnapshotName"));
    if let Some(rollout) = preempted.binding.condition("RolloutStarted") {
        evidence.push(quote.condition(preempted.binding, &rollout));
    }
    if let Some(other) = preempted.preempting_run {
        if let Some(started) = other.cluster(preempted.cluster.member).and_then(|c| Some((c, c.condition("Started")?)))
        {
            evidence.push(quote.condition_in(other.object, started.0.place(), &started.1));
        }
        let state = ["Succeeded", "Progressing"].into_iter().find_map(|t| other.condition(t));
        evidence.extend(state.map(|c| quote.condition(other.object, &c)));
    }
    evidence
}

#[cfg(test)]
mod tests {
    use super::run_in_message;

    #[test]
    fn the_other_run_is_read_in_every_version() {
        let start = "Detected the new changes on the resources and started the rollout process, resourceSnapshotIndex:";
        assert_eq!(run_in_message(&format!("{start} 1, updateRun: web-2")), Some("web-2"));
        assert_eq!(run_in_message(&format!("{start} 1, clusterStagedUpdateRun: web.2")), Some("web.2"));
        assert_eq!(run_in_message(&format!("{start} , updateRun: web-2")), Some("web-2"));
        assert_eq!(run_in_message("Detected the new changes on the resources and started the rollout process"), None);
    }
}
