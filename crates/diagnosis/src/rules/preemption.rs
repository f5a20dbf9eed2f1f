//! Clusters that one update run takes from another.

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;
use serde_json::json;

use super::draft::Draft;
use super::fleet::{Fleet, Run, StageCluster};
use super::kubectl::again;
use crate::{Condition, Evidence, Object};

/// A cluster that was taken from one run by another.
pub(super) struct Taken<'a> {
    pub cluster: StageCluster<'a>,
    binding: Object<'a>,
    /// The run that took it, as far as it can be told.
    by: Option<String>,
    /// That run's object, when it is still there.
    other: Option<Run<'a>>,
}

impl<'a> Taken<'a> {
    /// The cluster that `run`, which failed `at`, has lost to another run.
    pub fn from(fleet: Fleet<'a>, run: Run<'a>, at: Option<Timestamp>) -> Option<Self> {
        run.stages().flat_map(|s| s.clusters().collect::<Vec<_>>()).find_map(|c| taken(fleet, run, c, at))
    }

    /// The code: KF-UR-003, or KF-UR-005 when the other run had finished by the time `at` which this one noticed. Then
    /// nothing was concurrent: this run was left behind, and its next look came late.
    pub fn code(&self, at: Option<Timestamp>) -> &'static str {
        let late = self.other.is_some_and(|other| finished_before(other, at));
        if late { "KF-UR-005" } else { "KF-UR-003" }
    }

    /// The finding.
    pub fn draft(&self, fleet: Fleet<'_>, run: Run<'_>, symptom: &Condition, at: Option<Timestamp>) -> Draft {
        let names = json!({
            "run": run.object.name(),
            "run_ref": run.reference(),
            "placement": run.placement_name(),
            "member": self.cluster.member,
            "stage": self.cluster.stage,
            "index": run.index().unwrap_or_default(),
            "other": self.by.as_deref().unwrap_or_default(),
            "other_index": self.other.and_then(Run::index).unwrap_or_default(),
            "other_ref": self.other.map(Run::reference).unwrap_or_default(),
            "other_over": self.other.is_none_or(Run::is_over),
            "failed": run.is_over(),
            "again": again(fleet, run, run.index()),
        });
        let subject = run.subject(fleet, Some(self.cluster.stage), Some(self.cluster.member));
        Draft::new(self.code(at), subject, &names, evidence(fleet, run, symptom, self))
    }
}

/// Whether another run has taken `cluster` before this run failed `at`.
fn taken<'a>(fleet: Fleet<'a>, run: Run<'a>, cluster: StageCluster<'a>, at: Option<Timestamp>) -> Option<Taken<'a>> {
    let started = cluster.started_at()?;
    let succeeded = cluster.condition("Succeeded");
    if succeeded.as_ref().is_some_and(|c| c.status == "True") {
        return None;
    }
    let binding = run.binding(fleet, cluster.member)?;
    let rollout = binding.condition("RolloutStarted").map(|c| c.message).unwrap_or_default();
    let named = run_named(&rollout).filter(|n| *n != run.object.name());
    let moved = run.resource_snapshot().is_some_and(|name| binding.str("/spec/resourceSnapshotName") != Some(&name));
    if named.is_none() && !moved {
        return None;
    }
    // A run that failed for another reason may have been followed by one that updates the same cluster: only what
    // began while this one ran has preempted it.
    let mut candidates: Vec<_> = run
        .siblings(fleet)
        .filter_map(|other| Some((other.cluster(cluster.member)?.started_at()?, other)))
        .filter(|(since, _)| *since >= started && at.is_none_or(|at| *since <= at))
        .collect();
    candidates.sort_by_key(|(since, other)| (*since, other.object.name()));
    let by_name = candidates.iter().find(|(_, other)| named == Some(other.object.name()));
    let other = by_name.or(candidates.last()).map(|(_, other)| *other);
    // The controller marks the very cluster that it lost; other failures leave it as it is.
    let marked = succeeded.is_some_and(|c| c.status == "False");
    if other.is_none() && !marked {
        return None;
    }
    let deleted = || named.filter(|n| run.siblings(fleet).all(|r| r.object.name() != *n));
    let by = other.map(|o| o.object.name()).or_else(deleted).map(str::to_owned);
    Some(Taken { cluster, binding, by, other })
}

/// The run that a binding's `RolloutStarted` message names; the only place where it stands.
pub(super) fn run_named(message: &str) -> Option<&str> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:cluster)?(?:staged)?update ?run:\s*`?([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)")
            .expect("a valid pattern")
    });
    NAME.captures(message)?.get(1).map(|m| m.as_str())
}

fn finished_before(other: Run<'_>, at: Option<Timestamp>) -> bool {
    let succeeded = other.condition("Succeeded").filter(|c| c.status == "True");
    succeeded.and_then(|c| c.last_transition_time).is_some_and(|end| at.is_some_and(|at| end < at))
}

fn evidence(fleet: Fleet<'_>, run: Run<'_>, failed: &Condition, taken: &Taken<'_>) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence = vec![quote.condition(run.object, failed)];
    for type_ in ["Started", "Succeeded"] {
        if let Some(condition) = taken.cluster.condition(type_) {
            evidence.push(quote.condition_in(run.object, &taken.cluster.path(), &condition));
        }
    }
    if let Some(index) = run.index() {
        let used = run.object.str("/status/resourceSnapshotIndexUsed").is_some_and(|i| !i.is_empty());
        let path = if used { "status.resourceSnapshotIndexUsed" } else { "spec.resourceSnapshotIndex" };
        evidence.push(quote.text(run.object, path, index.to_owned(), None));
    }
    evidence.push(quote.field(taken.binding, "spec.resourceSnapshotName"));
    if let Some(rollout) = taken.binding.condition("RolloutStarted") {
        evidence.push(quote.condition(taken.binding, &rollout));
    }
    if let Some(other) = taken.other {
        if let Some(started) = other.cluster(taken.cluster.member).and_then(|c| Some((c, c.condition("Started")?))) {
            evidence.push(quote.condition_in(other.object, &started.0.path(), &started.1));
        }
        let state = ["Succeeded", "Progressing"].into_iter().find_map(|t| other.condition(t));
        evidence.extend(state.map(|c| quote.condition(other.object, &c)));
    }
    evidence
}

#[cfg(test)]
mod tests {
    use super::run_named;

    #[test]
    fn the_other_run_is_read_in_every_version() {
        let start = "Detected the new changes on the resources and started the rollout process, resourceSnapshotIndex:";
        assert_eq!(run_named(&format!("{start} 1, updateRun: web-2")), Some("web-2"));
        assert_eq!(run_named(&format!("{start} 1, clusterStagedUpdateRun: web.2")), Some("web.2"));
        assert_eq!(run_named(&format!("{start} , updateRun: web-2")), Some("web-2"));
        assert_eq!(run_named("Detected the new changes on the resources and started the rollout process"), None);
    }
}
